package builtin

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/validation"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
)

// ownRules are those that this package knows of a kind.
type ownRules struct{ resource *kinds.Resource }

var _ kindrules.Rules = ownRules{}

// Of returns the rules of a kind.
func Of(r *kinds.Resource) kindrules.Rules { return ownRules{r} }

// Covers implements [kindrules.Rules].
func (o ownRules) Covers(kind schema.GroupVersionKind) bool {
	return kind.GroupKind() == o.resource.StorageKind().GroupKind()
}

// AllowCreateOnUpdate implements [kindrules.Rules].
func (o ownRules) AllowCreateOnUpdate(schema.GroupVersionKind) bool {
	return o.resource.CreatedByUpdate()
}

// AllowUnconditionalUpdate implements [kindrules.Rules].
func (o ownRules) AllowUnconditionalUpdate(schema.GroupVersionKind) bool {
	return o.resource.Unconditional()
}

// Read implements [kindrules.Rules].
func (o ownRules) Read(object runtime.Object) (runtime.Object, error) {
	setDefaults(object)
	return object, nil
}

// Create implements [kindrules.Rules].
func (o ownRules) Create(request kindrules.Request) (*unstructured.Unstructured, error) {
	o.forgetEmpty(request.Object)
	prepareCreate(o.resource, request.Object)
	typed := o.validated(request)
	if drop(request, o.resource.Fields) {
		typed = nil // what was read is not what is stored
	}
	return o.answer(request, validation.Create(o.resource, request.Object, typed, request.Version))
}

// Update implements [kindrules.Rules].
func (o ownRules) Update(request kindrules.Request) (*unstructured.Unstructured, error) {
	object, current, typed := request.Object, request.Current, o.validated(request)
	o.forgetEmpty(object)
	switch request.Subresource {
	case kinds.StatusSubresource:
		prepareStatus(o.resource, object, current)
		drop(request, o.resource.StatusFields)
		keepSystemFields(object, current)
	case "":
		changed := o.resource.Name == kinds.EndpointSlice && changesDesired(o.resource, object, current) // what is dropped from it counts
		if drop(request, o.resource.Fields) {
			typed = nil // what was read is not what is stored
		}
		prepareUpdate(o.resource, object, current)
		keepSystemFields(object, current)
		nextGeneration(o.resource, object, current, changed || desiresEmpty(request.Typed))
	default:
		prepareSubresource(request.Subresource, object, current)
		keepSystemFields(object, current)
		nextGeneration(o.resource, object, current, false)
	}
	return o.answer(request, validation.Update(o.resource, object, current, typed, request.Version, request.Subresource))
}

// validated is what is wanted of an object as its Go type, nil if that is not known: if the
// object is not as it was read, or the rules themselves have a say in it.
func (o ownRules) validated(request kindrules.Request) runtime.Object {
	if request.Subresource != "" {
		return nil
	}
	switch o.resource.Name {
	case "ConfigMap", "Secret", "Lease.coordination.k8s.io", "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps":
		return request.Typed
	}
	return nil
}

// forgetEmpty makes empty lists null, as the store of a server does, which cannot tell the
// two apart.
func (o ownRules) forgetEmpty(object *unstructured.Unstructured) {
	if !o.resource.Custom && o.resource.Name != "ControllerRevision.apps" {
		forgetEmptyIn(object.Object)
	}
}

func forgetEmptyIn(tree map[string]any) {
	for name, value := range tree {
		switch value := value.(type) {
		case map[string]any:
			forgetEmptyIn(value)
		case []any:
			if len(value) == 0 {
				tree[name] = nil
			}
			for _, item := range value {
				if object, ok := item.(map[string]any); ok {
					forgetEmptyIn(object)
				}
			}
		}
	}
}

// drop takes away from what is to be stored what a server does not keep, and reports whether there was such.
func drop(request kindrules.Request, rules *fieldrules.Rules) bool {
	var old map[string]any
	if request.Current != nil {
		old = request.Current.Object
	}
	return rules.Drop(request.Object.Object, old)
}

// answer returns the object of a request, or if there is something wrong with it the refusal.
func (o ownRules) answer(request kindrules.Request, wrong field.ErrorList) (*unstructured.Unstructured, error) {
	if len(wrong) > 0 {
		return nil, apierrors.NewInvalid(request.Kind.GroupKind(), request.Name, wrong)
	}
	return request.Object, nil
}
