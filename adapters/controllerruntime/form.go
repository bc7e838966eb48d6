package controllerruntime

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// representation is how objects are handed to a controller.
type representation uint8

const (
	typed representation = iota
	untyped
	metadataOnly
)

// form is a kind in one representation. A manager's cache keeps the forms of a
// kind apart: each has its own informer and its own indexes.
type form struct {
	kind schema.GroupVersionKind
	as   representation
}

// formOf returns the form of an object, or of the items of a list.
func formOf(object runtime.Object, scheme *runtime.Scheme) (form, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return form{}, err
	}
	if meta.IsListType(object) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	switch object.(type) {
	case runtime.Unstructured:
		return form{kind, untyped}, nil
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return form{kind, metadataOnly}, nil
	}
	return form{kind, typed}, nil
}

// decode reads an object into fresh memory. Its kind is set.
func (f form) decode(raw []byte, scheme *runtime.Scheme) (client.Object, error) {
	object, err := f.empty(scheme)
	if err != nil {
		return nil, err
	}
	into := any(object)
	if u, ok := object.(*unstructured.Unstructured); ok {
		into = &u.Object
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("a %s cannot be read into a %T: %w", f.kind.Kind, object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(f.kind)
	return object, nil
}

// empty returns a new object of the form.
func (f form) empty(scheme *runtime.Scheme) (client.Object, error) {
	switch f.as {
	case untyped:
		return &unstructured.Unstructured{}, nil
	case metadataOnly:
		return &metav1.PartialObjectMetadata{}, nil
	}
	fresh, err := scheme.New(f.kind)
	if err != nil {
		return nil, err
	}
	object, ok := fresh.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object: it has no metadata", fresh)
	}
	return object, nil
}

// groupResource is how the cache names a kind in its errors: by the kind itself.
func (f form) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: f.kind.Group, Resource: f.kind.Kind}
}
