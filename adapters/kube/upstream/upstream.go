package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	kjson "sigs.k8s.io/json"

	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
)

// Rules returns the rules of a real API server for the kinds of Kubernetes.
func Rules() kindrules.Rules { return rules{registrations()} }

// rules follow the strategies of a real server.
type rules struct {
	registered map[string]registration
}

var _ kindrules.Rules = rules{}

// Covers implements [kindrules.Rules].
func (r rules) Covers(kind schema.GroupVersionKind) bool {
	_, known := r.registered[kind.GroupKind().String()]
	return known && legacyscheme.Scheme.Recognizes(kind)
}

func (r rules) of(kind schema.GroupVersionKind) registration {
	return r.registered[kind.GroupKind().String()]
}

// AllowCreateOnUpdate implements [kindrules.Rules].
func (r rules) AllowCreateOnUpdate(kind schema.GroupVersionKind) bool {
	return allows(r.of(kind).object.AllowCreateOnUpdate)
}

// AllowUnconditionalUpdate implements [kindrules.Rules].
func (r rules) AllowUnconditionalUpdate(kind schema.GroupVersionKind) bool {
	return allows(r.of(kind).object.AllowUnconditionalUpdate)
}

// allows asks a method of a strategy. Since Kubernetes 1.37 it takes a context.
func allows(method any) bool {
	if withContext, ok := method.(func(context.Context) bool); ok {
		return withContext(context.Background())
	}
	return method.(func() bool)()
}

// Read implements [kindrules.Rules].
func (r rules) Read(object runtime.Object) (runtime.Object, error) {
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	return asSeen(object, kinds[0])
}

// Create implements [kindrules.Rules].
func (r rules) Create(request kindrules.Request) (*unstructured.Unstructured, error) {
	began := time.Now()
	object, err := wanted(request)
	if err != nil {
		return nil, err
	}
	if err := rest.BeforeCreate(r.of(request.Kind).object, contextOf(request), object); err != nil {
		return nil, err
	}
	return written(object, request, began)
}

// Update implements [kindrules.Rules].
func (r rules) Update(request kindrules.Request) (*unstructured.Unstructured, error) {
	began := time.Now()
	strategy := rest.RESTUpdateStrategy(r.of(request.Kind).object)
	if request.Subresource != "" {
		part, known := r.of(request.Kind).parts[request.Subresource]
		if !known {
			return nil, fmt.Errorf("%s has no strategy for the subresource %q", request.Kind.Kind, request.Subresource)
		}
		strategy = part
	}
	object, err := wanted(request)
	if err != nil {
		return nil, err
	}
	current, err := read(request.Current, request.Kind)
	if err != nil {
		return nil, err
	}
	if err := rest.BeforeUpdate(strategy, contextOf(request), object, current); err != nil {
		return nil, err
	}
	return written(object, request, began)
}

// contextOf is what strategies look up of a request. Nobody in particular makes it, and
// nobody reads what a server logs.
func contextOf(request kindrules.Request) context.Context {
	ctx := klog.NewContext(context.Background(), logr.Discard())
	ctx = genericrequest.WithNamespace(ctx, request.Namespace)
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true,
		APIGroup:          request.Kind.Group, APIVersion: request.Kind.Version,
		Resource: request.Resource, Subresource: request.Subresource,
		Namespace: request.Namespace, Name: request.Name,
	})
}

// wanted is what a request asks for, in the internal version.
func wanted(request kindrules.Request) (runtime.Object, error) {
	if request.Typed == nil {
		return read(request.Object, request.Kind)
	}
	typed := request.Typed.DeepCopyObject()
	described, ok := typed.(metav1.ObjectMetaAccessor)
	if !ok {
		return nil, fmt.Errorf("a %T has no metadata", typed)
	}
	metadata, ok := described.GetObjectMeta().(*metav1.ObjectMeta)
	if !ok {
		return nil, fmt.Errorf("the metadata of a %T are of a type of their own", typed)
	}
	fields, _ := request.Object.Object["metadata"].(map[string]any)
	*metadata = metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, metadata); err != nil {
		return nil, err
	}
	return internal(typed, request.Kind)
}

// read converts a tree to the internal version of its kind, with defaults.
func read(object *unstructured.Unstructured, kind schema.GroupVersionKind) (runtime.Object, error) {
	typed, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, err
	}
	return internal(typed, kind)
}

// internal converts an object of a Go type to the internal version, with defaults. The
// object is changed.
func internal(object runtime.Object, kind schema.GroupVersionKind) (runtime.Object, error) {
	legacyscheme.Scheme.Default(object)
	// A copy would part the labels that a Job and its template share by default.
	return legacyscheme.Scheme.UnsafeConvertToVersion(object, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
}

// external converts an object from the internal version.
func external(object runtime.Object, kind schema.GroupVersionKind) (runtime.Object, error) {
	typed, err := legacyscheme.Scheme.ConvertToVersion(object, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(kind)
	return typed, nil
}

// message is an object in the form in which it is stored, which does not tell an empty list
// from none.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(text []byte) error
}

// reread is an object as it is read after it was stored.
func reread(object runtime.Object, kind schema.GroupVersionKind) (runtime.Object, error) {
	from, ok := object.(message)
	if !ok {
		return nil, fmt.Errorf("a %T cannot be stored", object)
	}
	text, err := from.Marshal()
	if err != nil {
		return nil, err
	}
	typed, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := typed.(message).Unmarshal(text); err != nil {
		return nil, err
	}
	return asSeen(typed, kind)
}

// asSeen is an object with the defaults, and with what conversions add: the kinds of embedded
// objects, which are not stored, and one of two fields that say the same. The given object is changed.
func asSeen(object runtime.Object, kind schema.GroupVersionKind) (runtime.Object, error) {
	setDefaults(object)
	converted, err := legacyscheme.Scheme.UnsafeConvertToVersion(object, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, err
	}
	return external(converted, kind)
}

// setDefaults sets the defaults of an object, but for the labels of a Job: package kube
// knows when they are seen.
func setDefaults(object runtime.Object) {
	job, ok := object.(*batchv1.Job)
	unlabeled := ok && len(job.Labels) == 0
	legacyscheme.Scheme.Default(object)
	if unlabeled {
		job.Labels = nil
	}
}

// written returns an object as it is stored.
func written(object runtime.Object, request kindrules.Request, began time.Time) (*unstructured.Unstructured, error) {
	typed, err := external(object, request.Kind)
	if err != nil {
		return nil, err
	}
	if typed, err = reread(typed, request.Kind); err != nil {
		return nil, err
	}
	text, err := json.Marshal(typed)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &tree); err != nil {
		return nil, err
	}
	timeless(tree, request, began)
	return &unstructured.Unstructured{Object: tree}, nil
}
