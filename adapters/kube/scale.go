package kube

import (
	"fmt"
	"math"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// scalePaths say where in an object its scale is.
type scalePaths struct {
	// wanted and actual are the paths to the two numbers.
	wanted, actual []string
	// selector is the path to a label selector, as text or as an object; nil if there is none.
	selector []string
}

// builtinScale returns where the scale is in one of Kubernetes' own kinds, nil if it
// has none.
func builtinScale(kind core.Kind) *scalePaths {
	switch kind {
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "ReplicationController":
		return &scalePaths{
			wanted: []string{"spec", "replicas"}, actual: []string{"status", "replicas"}, selector: []string{"spec", "selector"},
		}
	}
	return nil
}

// customScale reads where the scale is from a definition.
func customScale(s *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	paths := &scalePaths{wanted: split(s.SpecReplicasPath), actual: split(s.StatusReplicasPath)}
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		paths.selector = split(*s.LabelSelectorPath)
	}
	return paths
}

// scale reads or changes the scale of an object.
func (op *operation) scale() (*Response, error) {
	from := op.find(op.key(op.request.Name))
	if from == nil {
		return nil, op.notFound()
	}
	current, err := op.scaleOf(from, from.version)
	if err != nil {
		return nil, err
	}
	_, set, err := unstructured.NestedInt64(from.tree, op.resource.scale.wanted...)
	switch {
	case err != nil:
		return nil, internalError(err.Error())
	case op.request.Verb != Get:
		return op.setScale(from, current)
	case !set:
		return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", dotted(op.resource.scale.wanted)))
	}
	return done(jsontree.Canonical(current.Object)), nil
}

// scaleOf is the scale of an object.
func (op *operation) scaleOf(o *Object, version string) (*unstructured.Unstructured, error) {
	paths, meta := op.resource.scale, o.meta()
	wanted, _, _ := unstructured.NestedInt64(o.tree, paths.wanted...)
	actual, _, _ := unstructured.NestedInt64(o.tree, paths.actual...)
	selector, err := paths.selectorOf(meta)
	if err != nil {
		return nil, internalError(err.Error())
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

// selectorOf writes the selector of an object as text.
func (p *scalePaths) selectorOf(object *unstructured.Unstructured) (string, error) {
	switch selector := jsontree.At(object, p.selector...).(type) {
	case string:
		return selector, nil
	case map[string]any:
		if object.GetKind() == "ReplicationController" {
			selector = map[string]any{"matchLabels": selector}
		}
		typed := &metav1.LabelSelector{}
		if err := jsontree.Into(selector, typed); err != nil {
			return "", err
		}
		parsed, err := metav1.LabelSelectorAsSelector(typed)
		if err != nil {
			return "", err
		}
		return parsed.String(), nil
	}
	return "", nil
}

// scaleResource is the scale as a resource of its own. It is read and merged as others
// are, and never stored.
func scaleResource() (*resource, error) {
	scheme := runtime.NewScheme()
	if err := autoscalingv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	version := autoscalingv1.SchemeGroupVersion
	r := &resource{
		name: "Scale.autoscaling", group: version.Group, kind: "Scale", plural: "scales", namespaced: true,
		served: []string{version.Version}, storage: version.Version,
		scheme: scheme, types: sync.OnceValues(scaleTypes),
	}
	r.rules = ownRules{r}
	return r, nil
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
func (op *operation) setScale(from *Object, current *unstructured.Unstructured) (*Response, error) {
	if op.request.Verb == Patch {
		if err := op.checkPatch(); err != nil {
			return nil, err
		}
	}
	live := from.copy()
	live.SetResourceVersion(from.version)
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
		return nil, internalError(err.Error())
	}
	if applied && op.resource.custom && len(entries) == 0 {
		return nil, internalError("failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: " +
			"request to convert CR to an invalid group/version: autoscaling/v1")
	}
	current.SetManagedFields(entries)
	if jsontree.At(live, op.resource.scale.wanted...) == nil {
		jsontree.Set(current.Object, int64(notWanted), "spec", "replicas")
	}
	sent, err := op.ofScale().sentScale(current, recorded)
	if err != nil {
		return nil, err
	}
	if applied && op.resource.custom && !jsontree.Same(jsontree.Unrecorded(sent.Object), jsontree.Unrecorded(current.Object)) {
		// A server takes the outcome for a custom resource itself.
		return nil, internalError(fmt.Sprintf("failed to convert new object (%s/%s; %s) to proper version: request to convert CR to an invalid group/version: %s",
			current.GetNamespace(), current.GetName(), current.GroupVersionKind(), current.GroupVersionKind().GroupVersion()))
	}
	scale, err := op.checkScale(sent, current)
	if err != nil {
		return nil, err
	}
	object := live.DeepCopy()
	jsontree.Set(object.Object, int64(scale.Spec.Replicas), op.resource.scale.wanted...)
	if scale.ResourceVersion != "" {
		object.SetResourceVersion(scale.ResourceVersion)
	}
	if entries, err = managers.ToParent(sent.GetManagedFields()); err != nil {
		return nil, internalError(err.Error())
	}
	object.SetManagedFields(entries)
	settleManagers(object)
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
	parts := make([]any, len(op.resource.scale.wanted))
	for i, name := range op.resource.scale.wanted {
		parts[i] = name
	}
	mappings := managedfields.ResourcePathMappings{}
	for _, version := range op.resource.served {
		mappings[schema.GroupVersion{Group: op.resource.group, Version: version}.String()] = fieldpath.MakePathOrDie(parts...)
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
	mustRead(sent, scale)
	switch {
	case scale.Spec.Replicas == notWanted:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", dotted(op.resource.scale.wanted)))
	case scale.Spec.Replicas < 0 && !op.resource.custom:
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

// validateWanted checks the wanted number of a custom resource. Without a scale there
// is none.
func (p *scalePaths) validateWanted(tree map[string]any) field.ErrorList {
	if p == nil {
		return nil
	}
	return validateCount(tree, p.wanted)
}

// validateActual checks the actual number of a custom resource, and its selector.
func (p *scalePaths) validateActual(tree map[string]any) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := validateCount(tree, p.actual)
	if p.selector != nil {
		if _, _, err := unstructured.NestedString(tree, p.selector...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(dotted(p.selector)), "", err.Error()))
		}
	}
	return errs
}

func validateCount(tree map[string]any, path []string) field.ErrorList {
	at := field.NewPath(dotted(path))
	switch n, _, err := unstructured.NestedInt64(tree, path...); {
	case err != nil:
		return field.ErrorList{field.Invalid(at, n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(at, n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

// dotted writes a path as definitions do.
func dotted(path []string) string { return "." + strings.Join(path, ".") }
