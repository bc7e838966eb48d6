package controllerruntime

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/orrery-dev/orrery/core"
)

// webhookSelectors tell about which objects a webhook is asked.
type webhookSelectors struct {
	objects, namespaces labels.Selector
}

// selectors reads the selectors of the configuration.
func (c *webhookConfiguration) selectors() (webhookSelectors, error) {
	objects, err := selectorOr(c.ObjectSelector)
	if err != nil {
		return webhookSelectors{}, fmt.Errorf("objectSelector: %w", err)
	}
	namespaces, err := selectorOr(c.NamespaceSelector)
	if err != nil {
		return webhookSelectors{}, fmt.Errorf("namespaceSelector: %w", err)
	}
	return webhookSelectors{objects, namespaces}, nil
}

// selectorOr reads a selector. None selects everything.
func selectorOr(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

// reviewing is how a webhook is asked.
type reviewing func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// guard allows what is not selected without asking.
func (s webhookSelectors) guard(review reviewing) reviewing {
	if s.objects.Empty() && s.namespaces.Empty() {
		return review
	}
	return func(state core.Snapshot, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
		after, err := labelsOf(request.Object.Raw)
		if err != nil {
			return nil, err
		}
		before, err := labelsOf(request.OldObject.Raw)
		if err != nil {
			return nil, err
		}
		if !s.selectsObject(after, before) || !s.selectsNamespace(state, request, after, before) {
			return &admissionv1.AdmissionResponse{Allowed: true}, nil
		}
		return review(state, request)
	}
}

// selectsObject reports whether one of the two selects. There is none (nil) before a
// creation and after a deletion.
func (s webhookSelectors) selectsObject(after, before labels.Set) bool {
	return s.objects.Empty() ||
		after != nil && s.objects.Matches(after) ||
		before != nil && s.objects.Matches(before)
}

// selectsNamespace looks at the labels of the object's namespace: those of the object
// itself if it is a Namespace. Other objects without a namespace are always selected. A
// namespace without a Namespace object has the label that all namespaces have.
func (s webhookSelectors) selectsNamespace(state core.Snapshot, request *admissionv1.AdmissionRequest, after, before labels.Set) bool {
	const namespace = "Namespace"
	if request.Kind.Group == corev1.GroupName && request.Kind.Kind == namespace {
		if after == nil {
			after = before
		}
		return s.namespaces.Matches(after)
	}
	if s.namespaces.Empty() || request.Namespace == "" {
		return true
	}
	found := labels.Set{corev1.LabelMetadataName: request.Namespace}
	if content := state.Get(core.Key{Kind: namespace, Name: request.Namespace}); content != nil {
		fields, _ := content.Fields().(map[string]any)
		metadata, _ := fields["metadata"].(map[string]any)
		given, _ := metadata["labels"].(map[string]any)
		for name, value := range given {
			found[name], _ = value.(string)
		}
	}
	return s.namespaces.Matches(found)
}

// labelsOf returns the labels of an object, nil if there is no object.
func labelsOf(object []byte) (labels.Set, error) {
	if len(object) == 0 {
		return nil, nil
	}
	var named struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &named); err != nil {
		return nil, err
	}
	found := labels.Set(named.Metadata.Labels)
	if found == nil {
		found = labels.Set{}
	}
	return found, nil
}
