package observe

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/orrery-dev/orrery/core"
)

// kinds knows the kinds of types: a scheme is asked once for each.
type kinds struct{ known sync.Map }

type (
	// schemeType is a type in a scheme.
	schemeType struct {
		scheme *runtime.Scheme
		of     reflect.Type
	}
	// kindOfType is what a scheme says of a type. Kind is that of the items of a list.
	kindOfType struct {
		full schema.GroupVersionKind
		kind core.Kind
	}
)

// of returns the kind of an object, or of the items of a list.
func (k *kinds) of(scheme *runtime.Scheme, o runtime.Object) core.Kind {
	if known, ok := k.look(scheme, o); ok {
		return known.kind
	}
	return "unknown"
}

// copyOf returns a copy that says of which kind it is.
func (k *kinds) copyOf(scheme *runtime.Scheme, o runtime.Object) runtime.Object {
	out := o.DeepCopyObject()
	if kind := out.GetObjectKind(); kind.GroupVersionKind().Empty() {
		if known, ok := k.look(scheme, o); ok {
			kind.SetGroupVersionKind(known.full)
		}
	}
	return out
}

func (k *kinds) look(scheme *runtime.Scheme, o runtime.Object) (kindOfType, bool) {
	which := schemeType{scheme, reflect.TypeOf(o)}
	if known, ok := k.known.Load(which); ok {
		found, is := known.(kindOfType)
		return found, is
	}
	full, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		return kindOfType{}, false
	}
	kind := full.GroupKind()
	if meta.IsListType(o) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	found := kindOfType{full, core.Kind(kind.String())}
	switch o.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList: // each is of the kind that it says
	default:
		k.known.Store(which, found)
	}
	return found, true
}
