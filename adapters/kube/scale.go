package kube

import (
	"fmt"
	"math"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/orrery-dev/orrery/adapters/kube/internal/apply"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// scale reads or changes the scale of an object.
func (op *operation) scale() (*Response, error) {
	from := op.find(op.key(op.request.Name))
	if from == nil {
		return nil, op.notFound()
	}
	current, err := op.scaleOf(from, from.Version)
	if err != nil {
		return nil, err
	}
	_, set, err := unstructured.NestedInt64(from.Tree, op.resource.Scale.Wanted...)
	switch {
	case err != nil:
		return nil, builtin.InternalError(err.Error())
	case op.request.Verb != Get:
		return op.setScale(from, current)
	case !set:
		return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", kinds.Dotted(op.resource.Scale.Wanted)))
	}
	return done(jsontree.Canonical(current.Object)), nil
}

// scaleOf is the scale of an object.
func (op *operation) scaleOf(o *storage.Object, version string) (*unstructured.Unstructured, error) {
	paths, meta := op.resource.Scale, o.Meta()
	wanted, _, _ := unstructured.NestedInt64(o.Tree, paths.Wanted...)
	actual, _, _ := unstructured.NestedInt64(o.Tree, paths.Actual...)
	selector, err := paths.SelectorOf(meta)
	if err != nil {
		return nil, builtin.InternalError(err.Error())
	}
	tree, err := jsontree.Of(&autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: autoscalingv1.SchemeGroupVersion.String(), Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              meta.GetName(),
			Namespace:         meta.GetNamespace(),
			UID:               meta.GetUID(),
			ResourceVersion:   version,
			CreationTimestamp: meta.GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(wanted)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(actual), Selector: selector},
	})
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// ofScale is the operation as one on the scale.
func (op *operation) ofScale() *operation {
	request := *op.request
	request.Kind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	return &operation{server: op.server, state: op.state, request: &request, resource: op.server.scales}
}

// notWanted is the wanted number of what does not say how many there are to be.
const notWanted = math.MinInt32

// setScale changes how many there are to be. A scale without a resourceVersion is set
// in any case.
func (op *operation) setScale(from *storage.Object, current *unstructured.Unstructured) (*Response, error) {
	if op.request.Verb == Patch {
		if err := op.checkPatch(); err != nil {
			return nil, err
		}
	}
	live := from.Copy()
	live.SetResourceVersion(from.Version)
	applied := op.request.Verb == Patch && op.request.PatchType == types.ApplyYAMLPatchType
	if applied {
		if err := op.recordFirst(live); err != nil {
			return nil, err
		}
	}
	recorded := op.server.managedFields || len(live.GetManagedFields()) > 0
	managers := op.scaleManagers(live)
	entries, err := managers.ToSubresource()
	if err != nil {
		return nil, builtin.InternalError(err.Error())
	}
	if applied && op.resource.Custom && len(entries) == 0 {
		return nil, builtin.InternalError("failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: " +
			"request to convert CR to an invalid group/version: autoscaling/v1")
	}
	current.SetManagedFields(entries)
	if jsontree.At(live, op.resource.Scale.Wanted...) == nil {
		jsontree.Set(current.Object, int64(notWanted), "spec", "replicas")
	}
	sent, err := op.ofScale().sentScale(current, recorded)
	if err != nil {
		return nil, err
	}
	if applied && op.resource.Custom && !jsontree.Same(jsontree.Unrecorded(sent.Object), jsontree.Unrecorded(current.Object)) {
		// A server takes the outcome for a custom resource itself.
		return nil, builtin.InternalError(fmt.Sprintf("failed to convert new object (%s/%s; %s) to proper version: request to convert CR to an invalid group/version: %s",
			current.GetNamespace(), current.GetName(), current.GroupVersionKind(), current.GroupVersionKind().GroupVersion()))
	}
	scale, err := op.checkScale(sent, current)
	if err != nil {
		return nil, err
	}
	object := live.DeepCopy()
	jsontree.Set(object.Object, int64(scale.Spec.Replicas), op.resource.Scale.Wanted...)
	if scale.ResourceVersion != "" {
		object.SetResourceVersion(scale.ResourceVersion)
	}
	if entries, err = managers.ToParent(sent.GetManagedFields()); err != nil {
		return nil, builtin.InternalError(err.Error())
	}
	object.SetManagedFields(entries)
	apply.SettleManagers(object)
	to, version, err := op.put(from, object)
	if err != nil {
		return nil, err
	}
	changed, err := op.scaleOf(to, version)
	if err != nil {
		return nil, err
	}
	return done(jsontree.Canonical(changed.Object)), nil
}

// scaleManagers brings who manages the wanted number of an object to its scale and back.
func (op *operation) scaleManagers(live *unstructured.Unstructured) *managedfields.ScaleHandler {
	parts := make([]any, len(op.resource.Scale.Wanted))
	for i, name := range op.resource.Scale.Wanted {
		parts[i] = name
	}
	mappings := managedfields.ResourcePathMappings{}
	for _, version := range op.resource.Served {
		mappings[schema.GroupVersion{Group: op.resource.Group, Version: version}.String()] = fieldpath.MakePathOrDie(parts...)
	}
	return managedfields.NewScaleHandler(live.GetManagedFields(), op.request.Kind.GroupVersion(), mappings)
}

// sentScale is the scale that the request asks for, with the record of who manages it if
// there is one.
func (op *operation) sentScale(current *unstructured.Unstructured, recorded bool) (*unstructured.Unstructured, error) {
	if op.request.Verb == Patch && op.request.PatchType == types.ApplyYAMLPatchType {
		wanted, err := op.appliedBody()
		if err != nil {
			return nil, err
		}
		return op.merge(current, wanted)
	}
	body := op.request.Body
	if op.request.Verb == Patch {
		var err error
		if body, err = op.patchDocument(jsontree.Canonical(current.Object), &autoscalingv1.Scale{}); err != nil {
			return nil, err
		}
	}
	sent, err := op.decode(body)
	if err != nil {
		return nil, err
	}
	if err := op.matchRequest(sent); err != nil {
		return nil, err
	}
	if !recorded {
		sent.SetManagedFields(nil)
		return sent, nil
	}
	manager, err := op.fieldManager(false)
	if err != nil {
		return nil, err
	}
	if _, err := manager.Update(current, sent, op.request.FieldManager); err != nil {
		sent.SetManagedFields(nil) // The real server gives up the record as well.
	}
	return sent, nil
}

// checkScale reads the scale that was sent. What the object of a custom resource says to
// it is seen later.
func (op *operation) checkScale(sent, current *unstructured.Unstructured) (*autoscalingv1.Scale, error) {
	scale := &autoscalingv1.Scale{}
	jsontree.MustInto(sent, scale)
	switch {
	case scale.Spec.Replicas == notWanted:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", kinds.Dotted(op.resource.Scale.Wanted)))
	case scale.Spec.Replicas < 0 && !op.resource.Custom:
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), op.request.Name,
			validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas")))
	case scale.UID != "" && scale.UID != current.GetUID():
		resource := op.groupResource()
		resource.Resource += "/scale"
		return nil, apierrors.NewConflict(resource, op.request.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", scale.UID, current.GetUID())) //nolint:staticcheck // the server's words
	}
	return scale, nil
}
