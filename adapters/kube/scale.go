package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	return done(current), nil
}

// scaleOf is the scale of an object as JSON.
func (op *operation) scaleOf(o *Object, version string) (json.RawMessage, error) {
	paths, meta := op.resource.scale, o.meta()
	wanted, _, _ := unstructured.NestedInt64(o.tree, paths.wanted...)
	actual, _, _ := unstructured.NestedInt64(o.tree, paths.actual...)
	selector, err := paths.selectorOf(meta)
	if err != nil {
		return nil, internalError(err.Error())
	}
	tree, err := treeOf(&autoscalingv1.Scale{
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
	return canonicalJSON(tree), nil
}

// selectorOf writes the selector of an object as text.
func (p *scalePaths) selectorOf(object *unstructured.Unstructured) (string, error) {
	switch selector := at(object, p.selector...).(type) {
	case string:
		return selector, nil
	case map[string]any:
		if object.GetKind() == "ReplicationController" {
			selector = map[string]any{"matchLabels": selector}
		}
		typed := &metav1.LabelSelector{}
		if err := fromTree(selector, typed); err != nil {
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

// setScale changes how many there are to be. A scale without a resourceVersion is set
// in any case.
func (op *operation) setScale(from *Object, current json.RawMessage) (*Response, error) {
	scale, err := op.sentScale(current)
	if err != nil {
		return nil, err
	}
	object := from.copy()
	setNested(object.Object, int64(scale.Spec.Replicas), op.resource.scale.wanted...)
	object.SetResourceVersion(scale.ResourceVersion)
	if scale.ResourceVersion == "" {
		object.SetResourceVersion(from.version)
	}
	live := from.copy()
	live.SetResourceVersion(from.version)
	if err := op.recordManagers(live, object); err != nil {
		return nil, err
	}
	to, version, err := op.put(from, object)
	if err != nil {
		return nil, err
	}
	changed, err := op.scaleOf(to, version)
	if err != nil {
		return nil, err
	}
	return done(changed), nil
}

// sentScale is the scale that the request asks for.
func (op *operation) sentScale(current json.RawMessage) (*autoscalingv1.Scale, error) {
	body := op.request.Body
	if op.request.Verb == Patch {
		if op.request.PatchType == types.ApplyYAMLPatchType {
			return nil, errors.New("server-side apply to a scale is not modelled: apply the object itself, or update the scale")
		}
		if err := op.checkPatch(); err != nil {
			return nil, err
		}
		var err error
		if body, err = op.patchDocument(current, &autoscalingv1.Scale{}); err != nil {
			return nil, err
		}
	}
	scale := &autoscalingv1.Scale{}
	if err := decodeJSON(body, scale); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var was autoscalingv1.Scale
	if err := decodeJSON(current, &was); err != nil {
		return nil, err
	}
	metadata := &unstructured.Unstructured{Object: map[string]any{}}
	metadata.SetName(scale.Name)
	metadata.SetNamespace(scale.Namespace)
	if err := op.matchRequest(metadata); err != nil {
		return nil, err
	}
	switch {
	case scale.Spec.Replicas < 0:
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), op.request.Name,
			validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas")))
	case scale.UID != "" && scale.UID != was.UID:
		resource := op.groupResource()
		resource.Resource += "/scale"
		return nil, apierrors.NewConflict(resource, op.request.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", scale.UID, was.UID)) //nolint:staticcheck // the server's words
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
