package kinds

import (
	"fmt"
	"math"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// scalePaths say where in an object its scale is.
type scalePaths struct {
	// Wanted and actual are the paths to the two numbers.
	Wanted, Actual []string
	// selector is the path to a label selector, as text or as an object; nil if there is none.
	selector []string
}

// builtinScale returns where the scale is in one of Kubernetes' own kinds, nil if it
// has none.
func builtinScale(kind core.Kind) *scalePaths {
	switch kind {
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "ReplicationController":
		return &scalePaths{
			Wanted: []string{"spec", "replicas"}, Actual: []string{"status", "replicas"}, selector: []string{"spec", "selector"},
		}
	}
	return nil
}

// customScale reads where the scale is from a definition.
func customScale(s *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	paths := &scalePaths{Wanted: split(s.SpecReplicasPath), Actual: split(s.StatusReplicasPath)}
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		paths.selector = split(*s.LabelSelectorPath)
	}
	return paths
}

// SelectorOf writes the selector of an object as text.
func (p *scalePaths) SelectorOf(object *unstructured.Unstructured) (string, error) {
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

// validateWanted checks the wanted number of a custom resource. Without a scale there
// is none.
func (p *scalePaths) validateWanted(tree map[string]any) field.ErrorList {
	if p == nil {
		return nil
	}
	return validateCount(tree, p.Wanted)
}

// validateActual checks the actual number of a custom resource, and its selector.
func (p *scalePaths) validateActual(tree map[string]any) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := validateCount(tree, p.Actual)
	if p.selector != nil {
		if _, _, err := unstructured.NestedString(tree, p.selector...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(Dotted(p.selector)), "", err.Error()))
		}
	}
	return errs
}

func validateCount(tree map[string]any, path []string) field.ErrorList {
	at := field.NewPath(Dotted(path))
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

// Dotted writes a path as definitions do.
func Dotted(path []string) string { return "." + strings.Join(path, ".") }

// ScaleResource is the scale as a resource of its own. It is read and merged as others
// are, and never stored.
func ScaleResource(own func(*Resource) kindrules.Rules) (*Resource, error) {
	scheme := runtime.NewScheme()
	if err := autoscalingv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	version := autoscalingv1.SchemeGroupVersion
	r := &Resource{
		Name: "Scale.autoscaling", Group: version.Group, Kind: "Scale", Plural: "scales", Namespaced: true,
		Served: []string{version.Version}, Storage: version.Version,
		scheme: scheme, Types: sync.OnceValues(scaleTypes),
	}
	r.Rules = own(r)
	return r, nil
}
