package observe

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// requests records what clients send to an API server, and its answers.
type requests struct {
	http.RoundTripper
	recorder *Recorder
	scheme   *runtime.Scheme
	decoder  runtime.Decoder
	kinds    map[schema.GroupResource]string
}

// newRequests returns what puts a recorder between clients and what sends their requests.
func newRequests(r *Recorder, scheme *runtime.Scheme) func(http.RoundTripper) http.RoundTripper {
	kinds := map[schema.GroupResource]string{}
	for kind := range scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		kinds[plural.GroupResource()] = kind.Kind
	}
	decoder := serializer.NewCodecFactory(scheme).UniversalDeserializer()
	return func(inner http.RoundTripper) http.RoundTripper { return &requests{inner, r, scheme, decoder, kinds} }
}

// WrappedRoundTripper lets others find what is behind.
func (t *requests) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// RoundTrip implements http.RoundTripper. The request is sent as it is, and the answer returned as it is.
func (t *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	c := t.begins(request)
	response, err := t.RoundTripper.RoundTrip(request)
	switch {
	case c == nil:
		return response, err
	case err != nil:
		c.ends(err)
		return response, err
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it is read
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), &failing{err}))
	if err != nil {
		c.ends(err)
		return response, nil // whoever reads it meets the error
	}
	t.answered(c, response, text)
	return response, nil
}

// begins begins the call that a request is. It returns nil if that is not to be recorded.
func (t *requests) begins(request *http.Request) *call {
	defer t.recorder.contain()
	path, ok := objectPath(request.URL.Path)
	query := request.URL.Query()
	if !ok || !t.recorder.on.Load() || query.Get("watch") == "true" || query.Get("watch") == "1" {
		return nil
	}
	within := t.recorder.runOf(request.Context())
	verb := verbOf(request, path.name)
	if verb == "" || verb == live.List && within == nil && query.Get("resourceVersion") == "0" {
		return nil // such a list fills a cache
	}
	ctx := context.Background()
	if within != nil {
		ctx = context.WithValue(ctx, runKey{}, within)
	}
	c, _ := t.recorder.call(ctx, t.scheme, alwaysServed, verb)
	if c == nil {
		return nil
	}
	c.entry.Object = core.Key{Kind: t.kindOf(path.resource), Namespace: path.namespace, Name: path.name}
	c.entry.Subresource = path.subresource
	if verb == live.List || verb == live.DeleteCollection {
		c.entry.Selection = selected(query)
	}
	if verb != live.Get && verb != live.List {
		t.writes(c, request, query)
	}
	return c
}

// writes takes what a request that writes says.
func (t *requests) writes(c *call, request *http.Request, query url.Values) {
	c.entry.Write = writing(query["dryRun"], query.Get("fieldManager"))
	c.entry.Write.Force = query.Get("force") == "true"
	text, known := bodyOf(request)
	if !known || len(text) == 0 {
		return
	}
	media := request.Header.Get("Content-Type")
	switch c.entry.Verb {
	case live.Patch:
		c.entry.Write.Patch, c.sent.text = mediaType(media), text
	case live.Apply:
		if o := t.decode("application/json", text); o != nil {
			c.sent.text = text
		}
	case live.Delete, live.DeleteCollection:
		t.deletes(c, media, text)
	default:
		if o := t.decode(media, text); o != nil {
			c.sent.object = o
			if accessor, err := meta.Accessor(o); err == nil {
				c.entry.Base = accessor.GetResourceVersion()
				if c.entry.Object.Name == "" {
					c.entry.Object.Name = accessor.GetName()
				}
			}
		}
	}
}

// deletes takes the options of a deletion.
func (t *requests) deletes(c *call, media string, text []byte) {
	options := &metav1.DeleteOptions{}
	switch o := t.decode(media, text).(type) {
	case *metav1.DeleteOptions:
		options = o
	case *unstructured.Unstructured:
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, options) != nil {
			return
		}
	}
	w := c.entry.Write
	w.DryRun, w.Grace = w.DryRun || len(options.DryRun) > 0, options.GracePeriodSeconds
	if options.PropagationPolicy != nil {
		w.Propagation = string(*options.PropagationPolicy)
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil {
			w.UID = string(*p.UID)
		}
		if p.ResourceVersion != nil {
			w.ResourceVersion = *p.ResourceVersion
		}
	}
}

// answered records the end of a call.
func (t *requests) answered(c *call, response *http.Response, text []byte) {
	defer t.recorder.contain()
	o := t.decode(response.Header.Get("Content-Type"), text)
	if response.StatusCode >= http.StatusBadRequest {
		failed := &live.Failure{Code: response.StatusCode, Message: response.Status}
		switch status := o.(type) {
		case *metav1.Status:
			failed.Reason, failed.Message = string(status.Reason), status.Message
		case *unstructured.Unstructured:
			reason, _, _ := unstructured.NestedString(status.Object, "reason") // of something else there is none
			message, _, _ := unstructured.NestedString(status.Object, "message")
			failed.Reason, failed.Message = reason, message
		}
		c.refused(failed)
		return
	}
	var objects []client.Object
	switch {
	case o == nil, c.entry.Verb == live.Delete, c.entry.Verb == live.DeleteCollection, c.entry.Write != nil && c.entry.Write.DryRun:
	case c.entry.Verb == live.List:
		if list, err := meta.ListAccessor(o); err == nil {
			c.entry.ListVersion, c.entry.Continues = list.GetResourceVersion(), list.GetContinue() != ""
		}
		_ = meta.EachListItem(o, func(item runtime.Object) error { // of what is no list there are no items
			objects = t.objects(c, objects, item)
			return nil
		})
	default:
		objects = t.objects(c, objects, o)
	}
	c.ends(nil, objects...)
}

// objects adds an object of an answer, unless it is of another kind, as of a subresource, or only metadata.
func (t *requests) objects(c *call, objects []client.Object, o runtime.Object) []client.Object {
	object, ok := o.(client.Object)
	if !ok || t.recorder.kinds.of(t.scheme, o) != c.entry.Object.Kind {
		return objects
	}
	return append(objects, object)
}

// decode returns an object that was sent, nil if it cannot be told. JSON is kept as it is.
func (t *requests) decode(media string, text []byte) runtime.Object {
	var o runtime.Object
	var err error
	if mediaType(media) == runtime.ContentTypeProtobuf {
		o, _, err = t.decoder.Decode(text, nil, nil)
	} else {
		o, _, err = unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
	}
	if err != nil {
		return nil
	}
	return o
}

// kindOf returns the kind of a resource. One that the scheme does not have is called as it is itself.
func (t *requests) kindOf(resource schema.GroupResource) core.Kind {
	kind, known := t.kinds[resource]
	if !known {
		kind = resource.Resource
	}
	return core.Kind(schema.GroupKind{Group: resource.Group, Kind: kind}.String())
}

// verbOf returns the verb of a request, empty if it has none that is recorded.
func verbOf(request *http.Request, name string) string {
	one := name != ""
	switch request.Method {
	case http.MethodGet:
		if one {
			return live.Get
		}
		return live.List
	case http.MethodPost:
		return live.Create
	case http.MethodPut:
		return live.Update
	case http.MethodPatch:
		if strings.HasPrefix(mediaType(request.Header.Get("Content-Type")), "application/apply-patch+") {
			return live.Apply
		}
		return live.Patch
	case http.MethodDelete:
		if one {
			return live.Delete
		}
		return live.DeleteCollection
	}
	return ""
}

// selected returns which objects a query means, nil for all.
func selected(query url.Values) *live.Selection {
	limit, _ := strconv.ParseInt(query.Get("limit"), 10, 64) // what is no number is no limit
	s := live.Selection{Labels: query.Get("labelSelector"), Fields: query.Get("fieldSelector"), Limit: limit, Continue: query.Has("continue")}
	if s == (live.Selection{}) {
		return nil
	}
	return &s
}

// bodyOf returns the body of a request, which stays there to be sent. It reports whether it could be read.
func bodyOf(request *http.Request) ([]byte, bool) {
	if request.Body == nil || request.GetBody == nil {
		return nil, request.Body == nil
	}
	reader, err := request.GetBody()
	if err != nil {
		return nil, false
	}
	defer func() { _ = reader.Close() }() // it was only read
	text, err := io.ReadAll(reader)
	return text, err == nil
}

// mediaType returns a media type without its parameters.
func mediaType(text string) string {
	media, _, err := mime.ParseMediaType(text)
	if err != nil {
		return text
	}
	return media
}

// requestPath is what the path of a request about objects says.
type requestPath struct {
	resource                     schema.GroupResource
	namespace, name, subresource string
}

// objectPath takes a path apart. It reports whether it is about objects, and not about what is behind them. Prefixes of
// proxies are passed over.
func objectPath(path string) (p requestPath, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	start := slices.IndexFunc(parts, func(part string) bool { return part == "api" || part == "apis" })
	if start < 0 {
		return p, false
	}
	head := 2 // api, version
	if parts[start] == "apis" {
		head = 3
	}
	rest := parts[start:]
	if len(rest) <= head {
		return p, false
	}
	if head == 3 {
		p.resource.Group = rest[1]
	}
	rest = rest[head:]
	if rest[0] == "namespaces" && len(rest) > 2 && rest[2] != "status" && rest[2] != "finalize" {
		p.namespace, rest = rest[1], rest[2:]
	}
	p.resource.Resource = rest[0]
	if len(rest) > 1 {
		p.name = rest[1]
	}
	if len(rest) > 2 {
		p.subresource = rest[2]
	}
	behind := []string{"attach", "exec", "log", "portforward", "proxy"}
	return p, rest[0] != "watch" && !slices.Contains(behind, p.subresource) && len(rest) <= 3
}
