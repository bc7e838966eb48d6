// Package kindrules is the port for what an API server does with the objects of a kind between
// reading and storing them. A server has rules of its own. Others, such as those of a real server
// in adapters/kube/upstream, are an option of kube.NewServer.
package kindrules

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules are what an API server does with the objects of a kind between reading and storing
// them: the defaults, what a request cannot change, and the validation. A server has rules
// of its own, which leave out the rarer checks of Kubernetes' own kinds; with kube.WithRules it
// follows others where they cover a kind. The package adapters/kube/upstream, a module of
// its own, has those of k8s.io/kubernetes.
//
// All methods are pure: they depend on nothing but their arguments, and the time is that of
// the request. They may be called at the same time.
type Rules interface {
	// Covers reports whether there are rules for the objects of a kind in a version. The
	// other methods are only called for such kinds.
	Covers(kind schema.GroupVersionKind) bool
	// AllowCreateOnUpdate reports whether an update of an object that is not there creates it.
	AllowCreateOnUpdate(kind schema.GroupVersionKind) bool
	// AllowUnconditionalUpdate reports whether an update may leave out the resourceVersion.
	AllowUnconditionalUpdate(kind schema.GroupVersionKind) bool
	// Read returns an object that was sent or stored as the server sees it, with the
	// defaults. The object may be changed.
	Read(object runtime.Object) (runtime.Object, error)
	// Create returns the form in which a new object is stored, or a refusal as a
	// StatusError. The object has a name, a uid and a creationTimestamp. Any other error
	// means that the request is not modelled.
	Create(request Request) (*unstructured.Unstructured, error)
	// Update returns the form in which a changed object is stored, or a refusal as a
	// StatusError. Any other error means that the request is not modelled.
	Update(request Request) (*unstructured.Unstructured, error)
}

// Request is a create or an update that [Rules] are asked about.
type Request struct {
	// Kind is that of the objects, with the version in which they are stored.
	Kind schema.GroupVersionKind
	// Version is the one that the request was made in.
	Version string
	// Resource is the plural.
	Resource string
	// Subresource is the part that is written, empty for the object itself. An update of
	// the scale is one of the object.
	Subresource     string
	Namespace, Name string
	// Now is the time that the request is made at.
	Now metav1.Time
	// Object is what the client wants. It may be changed.
	Object *unstructured.Unstructured
	// Typed is the Go type that Object was made of, nil if that is not known. It tells an
	// empty list from none. Its metadata are not those of Object. It must not be changed.
	Typed runtime.Object
	// Current is what is there, nil for a new object. It must not be changed.
	Current *unstructured.Unstructured
}
