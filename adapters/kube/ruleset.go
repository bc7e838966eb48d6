package kube

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

// Rules are what an API server does with the objects of a kind between reading and storing
// them: the defaults, what a request cannot change, and the validation. A [Server] has rules
// of its own, which leave out the rarer checks of Kubernetes' own kinds; with [WithRules] it
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
	Create(request RulesRequest) (*unstructured.Unstructured, error)
	// Update returns the form in which a changed object is stored, or a refusal as a
	// StatusError. Any other error means that the request is not modelled.
	Update(request RulesRequest) (*unstructured.Unstructured, error)
}

// RulesRequest is a create or an update that [Rules] are asked about.
type RulesRequest struct {
	// Kind is that of the objects, with the version in which they are stored.
	Kind schema.GroupVersionKind
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

	// version is the one that the request was made in.
	version string
	// validated is what the package's own validation is about, nil if that has to be made of Object.
	validated runtime.Object
}

// WithRules makes the server follow rules for Kubernetes' own kinds, where they cover a
// kind, in place of its own.
func WithRules(rules Rules) Option {
	return func(s *settings) { s.rules = rules }
}

// follow makes every built-in kind that is covered follow rules.
func (g *registry) follow(rules Rules) {
	for _, r := range g.resources {
		if kind := r.storageKind(); !r.custom && rules.Covers(kind) {
			r.rules, r.coverage = rules, nil
		}
	}
}

// storageKind is the kind with the version in which objects are stored.
func (r *resource) storageKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.group, Version: r.storage, Kind: r.kind}
}

// rulesRequest is the request to the rules of a kind to write an object.
func (op *operation) rulesRequest(object, current *unstructured.Unstructured) RulesRequest {
	request := RulesRequest{
		Kind: op.resource.storageKind(), Resource: op.resource.plural, Subresource: op.request.Subresource,
		Namespace: op.namespace(), Name: object.GetName(), Now: virtualTime(), Object: object, Current: current,
		Typed: op.asRead(object), version: op.request.Kind.Version, validated: op.typed(object),
	}
	if request.Subresource == scaleSubresource {
		request.Subresource = ""
	}
	return request
}

// ownRules are those that this package knows of a kind.
type ownRules struct{ *resource }

var _ Rules = ownRules{}

// Covers implements [Rules].
func (o ownRules) Covers(kind schema.GroupVersionKind) bool {
	return kind.GroupKind() == o.storageKind().GroupKind()
}

// AllowCreateOnUpdate implements [Rules].
func (o ownRules) AllowCreateOnUpdate(schema.GroupVersionKind) bool { return o.createdByUpdate() }

// AllowUnconditionalUpdate implements [Rules].
func (o ownRules) AllowUnconditionalUpdate(schema.GroupVersionKind) bool { return o.unconditional() }

// Read implements [Rules].
func (o ownRules) Read(object runtime.Object) (runtime.Object, error) {
	setDefaults(object)
	return object, nil
}

// Create implements [Rules].
func (o ownRules) Create(request RulesRequest) (*unstructured.Unstructured, error) {
	o.forgetEmpty(request.Object)
	o.prepareCreate(request.Object)
	request.drop(o.fields)
	return o.answer(request, o.validateCreate(request.Object, request.validated, request.version))
}

// Update implements [Rules].
func (o ownRules) Update(request RulesRequest) (*unstructured.Unstructured, error) {
	object, current := request.Object, request.Current
	o.forgetEmpty(object)
	switch request.Subresource {
	case statusSubresource:
		o.prepareStatus(object, current)
		request.drop(o.statusFields)
		keepSystemFields(object, current)
	case "":
		changed := o.name == kindEndpointSlice && o.changesDesired(object, current) // what is dropped from it counts
		request.drop(o.fields)
		o.prepareUpdate(object, current)
		keepSystemFields(object, current)
		o.nextGeneration(object, current, changed || desiresEmpty(request.Typed))
	default:
		o.prepareSubresource(request.Subresource, object, current)
		keepSystemFields(object, current)
		o.nextGeneration(object, current, false)
	}
	return o.answer(request, o.validateUpdate(object, current, request.validated, request.version, request.Subresource))
}

// forgetEmpty makes empty lists null, as the store of a server does, which cannot tell the
// two apart.
func (o ownRules) forgetEmpty(object *unstructured.Unstructured) {
	if !o.custom && o.name != "ControllerRevision.apps" {
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

// drop takes away from what is to be stored what a server does not keep.
func (r *RulesRequest) drop(rules *fieldrules.Rules) {
	var old map[string]any
	if r.Current != nil {
		old = r.Current.Object
	}
	if rules.Drop(r.Object.Object, old) {
		r.validated = nil // what was read is not what is stored
	}
}

// answer returns the object of a request, or if there is something wrong with it the refusal.
func (o ownRules) answer(request RulesRequest, wrong field.ErrorList) (*unstructured.Unstructured, error) {
	if len(wrong) > 0 {
		return nil, apierrors.NewInvalid(request.Kind.GroupKind(), request.Name, wrong)
	}
	return request.Object, nil
}
