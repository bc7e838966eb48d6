package observe

import (
	"bytes"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// observedReader records reads.
type observedReader struct {
	client.Reader
	recorder *Recorder
	scheme   *runtime.Scheme
	reads    answeredBy
}

// Get implements client.Reader.
func (r observedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	c, ctx := r.recorder.call(ctx, r.scheme, r.reads, live.Get)
	err := r.Reader.Get(ctx, key, o, options...)
	c.about(o, key.Namespace, key.Name)
	c.ends(err, o)
	return err
}

// List implements client.Reader.
func (r observedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c, ctx := r.recorder.call(ctx, r.scheme, r.reads, live.List)
	err := r.Reader.List(ctx, list, options...)
	if c != nil {
		c.listed(list, options, err)
	}
	return err
}

// listed records the end of a call that lists.
func (c *call) listed(list client.ObjectList, options []client.ListOption, err error) {
	defer c.recorder.contain()
	var o client.ListOptions
	o.ApplyOptions(options)
	c.about(list, o.Namespace, "")
	c.entry.Selection = selection(o)
	var items []client.Object
	if err == nil {
		c.entry.ListVersion, c.entry.Continues = list.GetResourceVersion(), list.GetContinue() != ""
		_ = meta.EachListItem(list, func(item runtime.Object) error { // of what is no list there are no items
			if object, ok := item.(client.Object); ok {
				items = append(items, object)
			}
			return nil
		})
	}
	c.ends(err, items...)
}

// selection returns which objects options mean, nil for all.
func selection(o client.ListOptions) *live.Selection {
	s := live.Selection{Limit: o.Limit, Continue: o.Continue != ""}
	if o.LabelSelector != nil {
		s.Labels = o.LabelSelector.String()
	}
	if o.FieldSelector != nil {
		s.Fields = o.FieldSelector.String()
	}
	if s == (live.Selection{}) {
		return nil
	}
	return &s
}

// observedClient records reads and writes.
type observedClient struct {
	client.Client
	recorder *Recorder
	reader   observedReader
}

// newObservedClient returns a client that records. If the given one can watch, it can, too: some code asks for that.
func newObservedClient(c client.Client, r *Recorder, reads answeredBy) client.Client {
	observed := &observedClient{c, r, observedReader{c, r, c.Scheme(), reads}}
	if watcher, ok := c.(client.WithWatch); ok {
		return &observedWatcher{observed, watcher}
	}
	return observed
}

// newObservedReader returns a reader that records. If the given one is a client, so is that.
func newObservedReader(reader client.Reader, r *Recorder, scheme *runtime.Scheme) client.Reader {
	if c, ok := reader.(client.Client); ok {
		return newObservedClient(c, r, alwaysServed)
	}
	return observedReader{reader, r, scheme, alwaysServed}
}

// observedWatcher is a client that can watch. Watches are not recorded.
type observedWatcher struct {
	*observedClient
	watcher client.WithWatch
}

// Watch implements client.WithWatch.
func (o *observedWatcher) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	return o.watcher.Watch(ctx, list, options...)
}

// Get implements client.Reader.
func (o *observedClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return o.reader.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (o *observedClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return o.reader.List(ctx, list, options...)
}

// write records a write of an object.
func (o *observedClient) write(ctx context.Context, verb string, object client.Object, how *live.Write, sends bool, do func(context.Context, *call) error) error {
	c, ctx := o.recorder.call(ctx, o.Scheme(), alwaysServed, verb)
	if c != nil {
		c.about(object, object.GetNamespace(), object.GetName())
		c.entry.Write, c.entry.Base = how, object.GetResourceVersion()
		if sends {
			c.sends(object)
		}
	}
	err := do(ctx, c)
	if verb == live.Delete {
		c.ends(err) // the answer is not handed out
	} else {
		c.ends(err, object)
	}
	return err
}

// Create implements client.Writer.
func (o *observedClient) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	var how client.CreateOptions
	how.ApplyOptions(options)
	return o.write(ctx, live.Create, object, writing(how.DryRun, how.FieldManager), true, func(ctx context.Context, _ *call) error {
		return o.Client.Create(ctx, object, options...)
	})
}

// Update implements client.Writer.
func (o *observedClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	var how client.UpdateOptions
	how.ApplyOptions(options)
	return o.write(ctx, live.Update, object, writing(how.DryRun, how.FieldManager), true, func(ctx context.Context, _ *call) error {
		return o.Client.Update(ctx, object, options...)
	})
}

// Patch implements client.Writer.
func (o *observedClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	var how client.PatchOptions
	how.ApplyOptions(options)
	return o.write(ctx, live.Patch, object, patching(patch, how), isApply(patch), func(ctx context.Context, c *call) error {
		return o.Client.Patch(ctx, object, c.captured(patch), options...)
	})
}

// Delete implements client.Writer.
func (o *observedClient) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	var how client.DeleteOptions
	how.ApplyOptions(options)
	w := &live.Write{DryRun: dry(how.DryRun), Grace: how.GracePeriodSeconds}
	if p := how.Preconditions; p != nil {
		w.UID, w.ResourceVersion = text(p.UID), text(p.ResourceVersion)
	}
	w.Propagation = text(how.PropagationPolicy)
	return o.write(ctx, live.Delete, object, w, false, func(ctx context.Context, _ *call) error {
		return o.Client.Delete(ctx, object, options...)
	})
}

// DeleteAllOf implements client.Writer.
func (o *observedClient) DeleteAllOf(ctx context.Context, object client.Object, options ...client.DeleteAllOfOption) error {
	var how client.DeleteAllOfOptions
	how.ApplyOptions(options)
	c, ctx := o.recorder.call(ctx, o.Scheme(), alwaysServed, live.DeleteCollection)
	if c != nil {
		c.about(object, how.Namespace, "")
		c.entry.Selection = selection(how.ListOptions)
		c.entry.Write = &live.Write{DryRun: dry(how.DryRun), Grace: how.GracePeriodSeconds, Propagation: text(how.PropagationPolicy)}
	}
	err := o.Client.DeleteAllOf(ctx, object, options...)
	c.ends(err)
	return err
}

// Apply implements client.Writer.
func (o *observedClient) Apply(ctx context.Context, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	var how client.ApplyOptions
	how.ApplyOptions(options)
	c, ctx := o.recorder.call(ctx, o.Scheme(), alwaysServed, live.Apply)
	if c != nil {
		c.applies(configuration)
		c.entry.Write = writing(how.DryRun, how.FieldManager)
		c.entry.Write.Force = how.Force != nil && *how.Force
	}
	err := o.Client.Apply(ctx, configuration, options...)
	c.ends(err, c.applied(configuration, err)...)
	return err
}

// applies keeps what is applied.
func (c *call) applies(configuration runtime.ApplyConfiguration) {
	defer c.recorder.contain()
	o, text := asObject(configuration)
	kind := o.GroupVersionKind().GroupKind()
	c.entry.Object = core.Key{Kind: core.Kind(kind.String()), Namespace: o.GetNamespace(), Name: o.GetName()}
	c.sent.text = text
}

// applied returns the answer, which the client wrote over what was applied.
func (c *call) applied(configuration runtime.ApplyConfiguration, err error) []client.Object {
	if c == nil || err != nil {
		return nil
	}
	defer c.recorder.contain()
	o, _ := asObject(configuration)
	if o.GetResourceVersion() == "" {
		return nil
	}
	return []client.Object{o}
}

// asObject returns what is applied as an object, and as JSON.
func asObject(configuration runtime.ApplyConfiguration) (*unstructured.Unstructured, []byte) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	text, err := marshal(&bytes.Buffer{}, configuration)
	if err == nil {
		_ = o.UnmarshalJSON(text) // what has no kind is not much of an object; the server says so
	}
	return o, text
}

// Status implements client.StatusClient.
func (o *observedClient) Status() client.SubResourceWriter { return o.SubResource("status") }

// SubResource implements client.SubResourceClientConstructor.
func (o *observedClient) SubResource(name string) client.SubResourceClient {
	return &observedSubresource{o.Client.SubResource(name), o, name}
}

// observedSubresource records what is done to a subresource. What applies it is recorded by the transport: not all
// versions of controller-runtime that Orrery works with have it.
type observedSubresource struct {
	client.SubResourceClient
	client *observedClient
	name   string
}

// Get implements client.SubResourceReader.
func (s *observedSubresource) Get(ctx context.Context, object, subresource client.Object, options ...client.SubResourceGetOption) error {
	c, ctx := s.client.recorder.call(ctx, s.client.Scheme(), alwaysServed, live.Get)
	err := s.SubResourceClient.Get(ctx, object, subresource, options...)
	c.about(object, object.GetNamespace(), object.GetName())
	c.of(s.name)
	c.ends(err, subresource)
	return err
}

// of says which subresource the call is about.
func (c *call) of(subresource string) {
	if c != nil {
		c.entry.Subresource = subresource
	}
}

// Create implements client.SubResourceWriter.
func (s *observedSubresource) Create(ctx context.Context, object, subresource client.Object, options ...client.SubResourceCreateOption) error {
	var how client.SubResourceCreateOptions
	how.ApplyOptions(options)
	return s.write(ctx, live.Create, object, subresource, writing(how.DryRun, how.FieldManager), true, func(ctx context.Context, _ *call) error {
		return s.SubResourceClient.Create(ctx, object, subresource, options...)
	})
}

// Update implements client.SubResourceWriter.
func (s *observedSubresource) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	var how client.SubResourceUpdateOptions
	how.ApplyOptions(options)
	sent := object
	if how.SubResourceBody != nil {
		sent = how.SubResourceBody
	}
	return s.write(ctx, live.Update, object, sent, writing(how.DryRun, how.FieldManager), true, func(ctx context.Context, _ *call) error {
		return s.SubResourceClient.Update(ctx, object, options...)
	})
}

// Patch implements client.SubResourceWriter.
func (s *observedSubresource) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	var how client.SubResourcePatchOptions
	how.ApplyOptions(options)
	sent := object
	if how.SubResourceBody != nil {
		sent = how.SubResourceBody
	}
	return s.write(ctx, live.Patch, object, sent, patching(patch, how.PatchOptions), isApply(patch), func(ctx context.Context, c *call) error {
		return s.SubResourceClient.Patch(ctx, object, c.captured(patch), options...)
	})
}

// write records a write of a subresource of an object, whose body may be an object of another kind.
func (s *observedSubresource) write(ctx context.Context, verb string, object, sent client.Object, how *live.Write, sends bool, do func(context.Context, *call) error) error {
	c, ctx := s.client.recorder.call(ctx, s.client.Scheme(), alwaysServed, verb)
	if c != nil {
		c.about(object, object.GetNamespace(), object.GetName())
		c.entry.Subresource, c.entry.Write, c.entry.Base = s.name, how, object.GetResourceVersion()
		if sends {
			c.sends(sent)
		}
	}
	err := do(ctx, c)
	c.ends(err, sent)
	return err
}

// writing returns how a write is done, for the options that most have.
func writing(dryRun []string, manager string) *live.Write {
	return &live.Write{DryRun: dry(dryRun), Manager: manager}
}

func dry(dryRun []string) bool { return slices.Contains(dryRun, metav1.DryRunAll) }

// text returns a string that may be missing.
func text[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// patching returns how a patch is done.
func patching(patch client.Patch, o client.PatchOptions) *live.Write {
	how := writing(o.DryRun, o.FieldManager)
	if patch != nil {
		how.Patch = string(patch.Type())
	}
	how.Force = o.Force != nil && *o.Force
	return how
}

// isApply reports whether a patch sends the object itself.
func isApply(patch client.Patch) bool { return patch != nil && patch.Type() == types.ApplyPatchType }

// captured returns a patch that keeps what it sends for the recorder. An apply patch stays what it is: its object is
// kept already.
func (c *call) captured(patch client.Patch) client.Patch {
	if c == nil || patch == nil || isApply(patch) {
		return patch
	}
	return &capturedPatch{patch, c}
}

// capturedPatch keeps what a patch sends.
type capturedPatch struct {
	client.Patch
	call *call
}

// Data implements client.Patch.
func (p *capturedPatch) Data(o client.Object) ([]byte, error) {
	data, err := p.Patch.Data(o)
	if err == nil {
		p.call.sent.text = slices.Clone(data)
	}
	return data, err
}
