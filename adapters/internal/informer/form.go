package informer

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

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Representation is how objects are handed to a controller.
type Representation uint8

// The representations of objects.
const (
	// Typed objects are of the Go type of the scheme.
	Typed Representation = iota
	// Untyped objects are trees.
	Untyped
	// MetadataOnly is nothing but their metadata.
	MetadataOnly
)

// Form is a kind in one representation. A cache keeps the forms of a
// kind apart: each has its own informer and its own indexes.
type Form struct {
	Kind schema.GroupVersionKind
	As   Representation
}

// Of returns the form of an object, or of the items of a list.
func Of(object runtime.Object, scheme *runtime.Scheme) (Form, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return Form{}, err
	}
	if meta.IsListType(object) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	switch object.(type) {
	case runtime.Unstructured:
		return Form{kind, Untyped}, nil
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return Form{kind, MetadataOnly}, nil
	}
	return Form{kind, Typed}, nil
}

// decode reads an object into fresh memory. Its kind is set. Whole numbers of a tree are of the type int64, as in what
// a real client decodes.
func (f Form) decode(raw []byte, scheme *runtime.Scheme) (client.Object, error) {
	object, err := f.empty(scheme)
	if err != nil {
		return nil, err
	}
	into := any(object)
	if u, ok := object.(*unstructured.Unstructured); ok {
		into = &u.Object
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("a %s cannot be read into a %T: %w", f.Kind.Kind, object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(f.Kind)
	return object, nil
}

// empty returns a new object of the form.
func (f Form) empty(scheme *runtime.Scheme) (client.Object, error) {
	switch f.As {
	case Untyped:
		return &unstructured.Unstructured{}, nil
	case MetadataOnly:
		return &metav1.PartialObjectMetadata{}, nil
	}
	fresh, err := scheme.New(f.Kind)
	if err != nil {
		return nil, err
	}
	object, ok := fresh.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object: it has no metadata", fresh)
	}
	return object, nil
}

// Name is the kind in the words of the store.
func (f Form) Name() core.Kind { return kube.KindOf(f.Kind.GroupKind()) }
