package kube

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// operation is one request at work. Its methods return a StatusError for what a
// real server refuses, and any other error for what is not modelled.
type operation struct {
	server   *Server
	state    core.Snapshot
	request  *Request
	resource *kinds.Resource
	writes   []core.Write
	// presumed are objects that were taken to be there.
	presumed []core.Key
	// read is what was decoded last.
	read kinds.Decoded
	// unshown are the fields that are empty in what is stored now, and are shown otherwise.
	unshown []string
}

func (op *operation) run() (*Response, error) {
	if err := op.check(); err != nil {
		return nil, err
	}
	switch op.request.Verb {
	case Update, Patch, Delete:
		if key := op.key(op.request.Name); op.implied(key) && op.find(key) == nil {
			return nil, op.mustBeGiven()
		}
	}
	if op.request.Subresource == kinds.ScaleSubresource {
		return op.scale()
	}
	switch op.request.Verb {
	case Get:
		if op.request.Subresource == LogSubresource {
			return op.log()
		}
		return op.get()
	case List:
		return op.list()
	case Create:
		if op.request.Subresource != "" {
			return op.createSubresource()
		}
		return op.create()
	case Update:
		return op.update()
	case Patch:
		return op.patch()
	case Delete:
		return op.delete()
	case DeleteCollection:
		return op.deleteCollection()
	}
	return nil, fmt.Errorf("the API server has no verb %q", op.request.Verb)
}

// maxBody is the largest body of a request, in bytes.
const maxBody = 3 << 20

// check refuses what no verb can do anything with.
func (op *operation) check() error {
	r := op.request
	switch {
	case len(r.Body) > maxBody:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	case r.FromCache && r.Verb != Get && r.Verb != List:
		return errors.New("a cache can only be read")
	case r.Subresource != "":
		if err := op.checkSubresource(); err != nil {
			return err
		}
	}
	named := r.Verb != List && r.Verb != DeleteCollection && (r.Verb != Create || r.Subresource != "")
	switch {
	case r.FromCache && named && (r.Name == "" || op.resource.Namespaced && r.Namespace == ""):
		return op.notFound() // a cache has no such key, and asks nobody
	case named && r.Name == "" && !op.resource.Custom && (r.Verb == Update || r.Verb == Patch):
		return op.noSuchMethod()
	case named && r.Name == "":
		return apierrors.NewBadRequest("name must be provided")
	case r.Verb == Create && r.Subresource == "" && r.Name != "" && !op.resource.Custom,
		r.Verb == DeleteCollection && op.resource.Name == kinds.Namespace:
		return op.noSuchMethod()
	case op.resource.Namespaced && r.Namespace == "" && named:
		return apierrors.NewBadRequest("an empty namespace may not be set when a resource name is provided")
	case op.resource.Namespaced && r.Namespace == "" && r.Verb != List:
		if op.resource.Custom {
			return op.noSuchPath()
		}
		return op.noSuchMethod()
	}
	return nil
}

// noSuchMethod is the refusal of what cannot be done at a path.
func (op *operation) noSuchMethod() error {
	if op.resource.Custom {
		return apierrors.NewMethodNotSupported(op.groupResource(), string(op.request.Verb))
	}
	return unrouted(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
}

// unrouted is the refusal of a request that does not even come to a resource.
func unrouted(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{},
	}}
}

// method is the HTTP method of the request.
func (op *operation) method() string {
	return map[Verb]string{Get: "get", List: "get", Create: "post", Update: "put", Patch: "patch", Delete: "delete", DeleteCollection: "delete"}[op.request.Verb]
}

// noSuchPath is the refusal of a request to a path that the server does not know.
func (op *operation) noSuchPath() error {
	if !op.resource.Custom {
		return unrouted(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, op.method(), op.groupResource(), op.request.Name, "404 page not found", 0, true)
}

// groupResource is how error messages name the resource.
func (op *operation) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: op.resource.Group, Resource: op.resource.Plural}
}

// namespace is the namespace of the request, empty for cluster-scoped kinds.
func (op *operation) namespace() string {
	if op.resource.Namespaced {
		return op.request.Namespace
	}
	return ""
}

// key names an object of the request's kind and namespace.
func (op *operation) key(name string) core.Key {
	return core.Key{Kind: op.resource.Name, Namespace: op.namespace(), Name: name}
}

// find reads one object, nil if there is none.
func (op *operation) find(key core.Key) *storage.Object {
	content := op.state.Get(key)
	if content == nil {
		return nil
	}
	return storage.Of(content)
}

// notFound is the refusal for an object that is not there. Caches name the kind
// where servers name the resource.
func (op *operation) notFound() error {
	resource := op.groupResource()
	if op.request.FromCache {
		resource.Resource = op.resource.Kind
	}
	return apierrors.NewNotFound(resource, op.request.Name)
}

// conflict is the refusal of a write that does not fit the current version.
func (op *operation) conflict(name string, reason error) error {
	return apierrors.NewConflict(op.groupResource(), name, reason)
}

// show is the answer with one object, in the version that was asked for.
func (op *operation) show(o *storage.Object, resourceVersion string) *Response {
	var response *Response
	if op.request.MetadataOnly {
		response = done(metadataOf(o, resourceVersion))
	} else {
		response = done(op.encode(o, resourceVersion))
	}
	response.versions = []core.Object{{Key: op.key(o.Meta().GetName()), Content: o}}
	return response
}

// metadataKind is the kind of an object of which only the metadata is sent.
const metadataKind = "PartialObjectMetadata"

// metadataOf is the metadata of an object as clients are sent it.
func metadataOf(o *storage.Object, resourceVersion string) json.RawMessage {
	tree := o.Shown("", resourceVersion)
	return jsontree.Canonical(map[string]any{
		"apiVersion": metav1.SchemeGroupVersion.String(),
		"kind":       metadataKind,
		"metadata":   builtin.WithoutTemplateGeneration(tree),
	})
}

func (op *operation) encode(o *storage.Object, resourceVersion string) json.RawMessage {
	if op.resource.Name == kinds.Service && op.request.Subresource == kinds.StatusSubresource {
		// What is left out for those who read a Service is not left out here.
		return jsontree.Canonical(o.Shown(op.request.Kind.GroupVersion().String(), resourceVersion))
	}
	return o.Encode(op.request.Kind.GroupVersion().String(), resourceVersion)
}

// next is a new version of an object, told apart from all equal ones that somebody may
// still refer to, and newer than all versions if their order is shown.
func (op *operation) next(key core.Key, tree map[string]any) *storage.Object {
	held, again := op.state.Held(key), 0
	if op.server.form.Ordered {
		for _, version := range append(slices.Clip(held), op.state.Get(key)) {
			if version != nil {
				again = max(again, storage.Of(version).Again+1)
			}
		}
	}
	o := storage.New(tree, again, op.unshown...)
	for slices.ContainsFunc(held, func(c core.Content) bool { return c.Canonical() == o.Canonical() }) {
		again++
		o = storage.New(tree, again, op.unshown...)
	}
	o.Coverage = op.resource.Coverage
	return o
}

// commit writes a version of an object, or removes the object if to is nil, and
// keeps the server's records.
func (op *operation) commit(key core.Key, from, to *storage.Object) {
	op.writes = append(op.writes, write(key, to))
	op.writes = append(op.writes, storage.RecordWrites(key, from, to)...)
}

// write makes sure that a removal has no content at all.
func write(key core.Key, o *storage.Object) core.Write {
	if o == nil {
		return core.Write{Key: key}
	}
	return core.Write{Key: key, Content: o}
}

// decode reads an object that was sent in the version of the request, and returns
// it in the storage version. Unknown fields are dropped, and those with a default
// in the schema of a custom resource are set.
func (op *operation) decode(data []byte) (*unstructured.Unstructured, error) {
	version := op.request.Kind.Version
	if op.read = op.resource.DecodePlain(data, version); op.read.Object != nil {
		return op.read.Object, nil
	}
	// A type of its own, as the server has it: the message of an error names it.
	var said struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	unrecognized := func(err error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", op.resource.Kind, err, beginningOf(data)))
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, unrecognized(fmt.Errorf("couldn't get version/kind; json parse error: %w", err))
	}
	switch {
	case op.resource.Schemas == nil:
	case said.Kind == "":
		return nil, unrecognized(runtime.NewMissingKindErr(string(data)))
	case said.APIVersion == "":
		return nil, unrecognized(runtime.NewMissingVersionErr(string(data)))
	}
	of := op.request.Kind
	if said.APIVersion != "" {
		of = schema.FromAPIVersionAndKind(said.APIVersion, of.Kind)
	}
	if said.Kind != "" {
		of.Kind = said.Kind
	}
	if op.resource.Custom && of.GroupVersion() != op.request.Kind.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			of.GroupVersion(), op.request.Kind.GroupVersion()))
	}
	object, err := op.resource.DecodeOdd(data, version)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", of.Kind, of.Version, op.resource.Kind, err))
	}
	return object, nil
}

// beginningOf is how messages quote a body that cannot be read.
func beginningOf(data []byte) string {
	const enough = 30
	rest := ""
	if len(data) > enough {
		data, rest = data[:enough], " ..."
	}
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		return string(data) + rest
	}
	return hex.EncodeToString(data) + rest
}

// asRead is the Go type that an object was made of, nil if it was not read from a body or if
// more than its metadata may have changed since.
func (op *operation) asRead(object *unstructured.Unstructured) runtime.Object {
	if op.read.Object != object || op.request.Subresource == kinds.ScaleSubresource {
		return nil
	}
	switch op.resource.Name {
	case kinds.Pod, kinds.Service, kinds.Node:
		return nil
	}
	return op.read.Typed
}

// rulesRequest is the request to the rules of a kind to write an object.
func (op *operation) rulesRequest(object, current *unstructured.Unstructured) kindrules.Request {
	request := kindrules.Request{
		Kind: op.resource.StorageKind(), Resource: op.resource.Plural, Subresource: op.request.Subresource,
		Namespace: op.namespace(), Name: object.GetName(), Now: op.server.now(), Object: object, Current: current,
		Typed: op.asRead(object), Version: op.request.Kind.Version,
	}
	if request.Subresource == kinds.ScaleSubresource {
		request.Subresource = ""
	}
	return request
}
