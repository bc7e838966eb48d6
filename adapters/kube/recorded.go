package kube

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"time"
)

// Recorded returns a call as the recording of a running process would have it. If recordings have no such calls, it
// returns the response that the call gets without them. The error says why the call cannot be held against a recording.
func (s *Server) Recorded(call core.Call) (live.Call, core.Response, error) {
	var r *Request
	switch c := call.(type) {
	case *Request:
		r = c
	case *Enqueue:
		return live.Call{}, done(nil), nil
	case *Unmodelled:
		return live.Call{}, nil, fmt.Errorf("%s: %s", c.Asked, c.Reason)
	default:
		return live.Call{}, nil, fmt.Errorf("%q is no request to an API server, and recordings hold only those", call)
	}
	if r.LifetimeOnly {
		return live.Call{}, nil, errors.New("no client asks for so little of an object")
	}
	if r.ControlledBy != "" {
		return live.Call{}, nil, errors.New("no client asks for what an object controls")
	}
	out := live.Call{
		Verb:        string(r.Verb),
		Object:      core.Key{Kind: KindOf(r.Kind.GroupKind()), Namespace: r.Namespace, Name: r.Name},
		Subresource: r.Subresource,
		Cached:      r.FromCache,
		Sent:        r.Body,
	}
	if r.Name == "" && r.Verb == Create {
		var body struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(r.Body, &body) // what has no name is told apart by its body
		out.Object.Name = body.Metadata.Name
	}
	if r.Verb == List || r.Verb == DeleteCollection {
		out.Selection = &live.Selection{Labels: r.LabelSelector, Fields: plainTerms(r), Limit: r.Limit, Continue: r.Continue != ""}
	}
	if r.Verb != Get && r.Verb != List {
		out.Write = &live.Write{
			DryRun: r.DryRun, Manager: r.FieldManager, Force: r.Force, UID: r.PreconditionUID, ResourceVersion: r.PreconditionResourceVersion,
			Propagation: r.Propagation, Grace: r.GracePeriodSeconds,
		}
	}
	if r.Verb == Patch {
		out.Write.Patch = string(r.PatchType)
		if r.PatchType == types.ApplyPatchType {
			out.Verb, out.Write.Patch = live.Apply, ""
		}
	}
	return out, nil, nil
}

// plainTerms are the fields that a request selects by, as its caller names them. A cache has an index for each form of
// a kind.
func plainTerms(r *Request) string {
	if !r.FromCache {
		return r.FieldSelector
	}
	text := strings.NewReplacer(" (untyped)=", "=", " (metadata)=", "=").Replace(r.FieldSelector)
	if !strings.Contains(text, "%") {
		return text // as hardly any index has a name that selectors cannot have
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return text
	}
	var terms []string
	for _, term := range selector.Requirements() {
		terms = append(terms, indexNamed(term.Field)+"="+fields.EscapeValue(term.Value))
	}
	return strings.Join(terms, ",")
}

// Answered returns what a call got, from the recorded call and the objects of its answer.
func (s *Server) Answered(call core.Call, recorded live.Call, answer []live.Object) (core.Response, error) {
	r, ok := call.(*Request)
	if !ok {
		return nil, fmt.Errorf("%q is no request to an API server", call)
	}
	if f := recorded.Failed; f != nil {
		if f.Code == 0 {
			return nil, fmt.Errorf("%s had no answer of the API server: %s", r, f.Message)
		}
		return Refused(&metav1.Status{Status: metav1.StatusFailure, Code: int32(f.Code), Reason: metav1.StatusReason(f.Reason), Message: f.Message}), nil
	}
	var items []json.RawMessage
	for _, o := range answer {
		item, err := shownTo(r, o)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	switch {
	case r.Verb == List:
		return listed(r, recorded, items)
	case r.Verb == Delete || r.Verb == DeleteCollection:
		return done(nil), nil
	case len(items) == 1:
		return done(items[0]), nil
	}
	return nil, fmt.Errorf("the answer to %s is not recorded", r)
}

// shownTo returns an object of an answer in the form that a request asked for.
func shownTo(r *Request, o live.Object) (json.RawMessage, error) {
	tree, err := treeOf(o)
	if err != nil {
		return nil, err
	}
	if !r.MetadataOnly {
		return jsontree.Canonical(tree), nil
	}
	return jsontree.Canonical(map[string]any{"apiVersion": metav1.SchemeGroupVersion.String(), "kind": metadataKind, "metadata": tree["metadata"]}), nil
}

// listed is the answer to a list.
func listed(r *Request, recorded live.Call, items []json.RawMessage) (core.Response, error) {
	meta := map[string]any{"resourceVersion": recorded.ListVersion}
	if recorded.Continues {
		meta["continue"] = "recorded" // the token is not, and means nothing
	}
	list, err := json.Marshal(map[string]any{
		"apiVersion": r.Kind.GroupVersion().String(), "kind": r.Kind.Kind + "List", "metadata": meta, "items": slices.Concat([]json.RawMessage{}, items),
	})
	return DoneList(list, len(items)), err
}

// Kept returns an object of a recording as the server keeps its own, under the version that it had.
func (s *Server) Kept(o live.Object) (core.Content, error) {
	tree, err := treeOf(o)
	if err != nil {
		return nil, err
	}
	meta, _ := tree["metadata"].(map[string]any)
	version, _ := meta["resourceVersion"].(string)
	delete(meta, "resourceVersion")
	kept := storage.New(tree, 0)
	kept.Version = version
	return kept, nil
}

// treeOf reads an object of a recording. What stands for the values of a Secret can be read as values are.
func treeOf(o live.Object) (map[string]any, error) {
	if len(o.Value) == 0 {
		return nil, fmt.Errorf("%s at version %s is not in the recording, only its name", o.Key, o.ResourceVersion)
	}
	var tree map[string]any
	if err := utiljson.Unmarshal(o.Value, &tree); err != nil {
		return nil, fmt.Errorf("%s at version %s cannot be read: %w", o.Key, o.ResourceVersion, err)
	}
	if data, ok := tree["data"].(map[string]any); ok && o.Kind == "Secret" {
		for key, value := range data {
			if text, ok := value.(string); ok && live.IsRedacted(text) {
				data[key] = base64.StdEncoding.EncodeToString([]byte(text))
			}
		}
	}
	return tree, nil
}

// Takes returns a recorded call as a request, for holding recordings against the server. The error says why it cannot
// be one.
func (s *Server) Takes(c live.Call) (*Request, error) {
	resource := s.registry.Named(c.Object.Kind)
	if resource == nil {
		return nil, fmt.Errorf("the server does not serve %s: name a system that has its definition, or add it to the scheme", c.Object.Kind)
	}
	r := &Request{
		Verb: Verb(c.Verb), Kind: resource.StorageKind(), Subresource: c.Subresource, Namespace: c.Object.Namespace, Name: c.Object.Name, FromCache: c.Cached, Body: c.Sent,
	}
	if version := versionOf(c.Sent); version != "" {
		r.Kind.Version = version
	}
	if c.Verb == live.Create && c.Subresource == "" {
		r.Name = ""
	}
	if sel := c.Selection; sel != nil {
		r.LabelSelector, r.FieldSelector, r.Limit = sel.Labels, sel.Fields, sel.Limit
		if sel.Continue {
			return nil, errors.New("the rest of a list is not held against the server")
		}
	}
	if w := c.Write; w != nil {
		r.DryRun, r.FieldManager, r.Force, r.PatchType = w.DryRun, w.Manager, w.Force, types.PatchType(w.Patch)
		r.PreconditionUID, r.PreconditionResourceVersion, r.Propagation, r.GracePeriodSeconds = w.UID, w.ResourceVersion, w.Propagation, w.Grace
	}
	if c.Verb == live.Apply {
		r.Verb, r.PatchType = Patch, types.ApplyPatchType
	}
	if _, err := s.registry.Find(r.Kind); err != nil {
		return nil, err
	}
	return r, nil
}

// versionOf returns the version of the API that a body names.
func versionOf(body []byte) string {
	var said struct {
		APIVersion string `json:"apiVersion"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	_, version, found := strings.Cut(said.APIVersion, "/")
	if !found {
		return said.APIVersion
	}
	return version
}

// Start is what the clock of the server shows when a search begins.
func (s *Server) Start() time.Time { return storage.Now().Time }

// Knows implements [core.Knowing].
func (s *Server) Knows(kind core.Kind) bool { return s.Keeps(kind) }

// Keeps reports whether objects of a kind are the server's: those that clients see, and records that it keeps for
// itself.
func (s *Server) Keeps(kind core.Kind) bool {
	return storage.IsRecord(kind) || s.registry.Named(kind) != nil
}

// Stored returns an object of a recording as the server would have stored it by itself, with its times moved as the
// clock is. Before is how many versions of the object there were before, as far as it is known. The error says why it
// cannot be stored.
func (s *Server) Stored(o live.Object, moved time.Duration, before int) (core.Content, error) {
	resource := s.registry.Named(o.Kind)
	if resource == nil {
		return nil, fmt.Errorf("the system does not know %s: add its definition or its Go type to the system", o.Kind)
	}
	tree, err := treeOf(o)
	if err != nil {
		return nil, err
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		delete(meta, "resourceVersion")
	}
	read, err := resource.Decode(jsontree.Canonical(tree), versionOf(o.Value))
	if err != nil {
		return nil, fmt.Errorf("%s at version %s cannot be stored: %w", o.Key, o.ResourceVersion, err)
	}
	s.form.Move(o.Kind, read.Object, moved)
	content := storage.New(read.Object, before)
	content.Coverage = resource.Coverage
	return content, nil
}

// WithRecords returns objects with the records that the server keeps of them for itself, in the order of their keys.
func (s *Server) WithRecords(objects []core.Object) []core.Object {
	state := initialState{}
	for _, o := range objects {
		state[o.Key] = o.Content
	}
	for _, o := range slices.Clone(objects) {
		if content, ok := o.Content.(*storage.Object); ok {
			for _, w := range storage.RecordWrites(o.Key, nil, content) {
				state[w.Key] = w.Content
			}
		}
	}
	return state.objects()
}
