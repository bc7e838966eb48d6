package players

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// remaining is what is left in a Namespace that is being emptied.
type remaining struct {
	// resources say how many objects of which resources are left.
	resources []string
	// finalizers are how many objects wait for them.
	finalizers map[string]int
	failed     []error
}

// add notes the objects of a resource that are left.
func (r *remaining) add(of *resource, left []metav1.PartialObjectMetadata) {
	if len(left) == 0 {
		return
	}
	r.resources = append(r.resources, fmt.Sprintf("%s.%s has %d resource instances", of.plural, of.kind.Group, len(left)))
	for _, object := range left {
		for _, finalizer := range object.Finalizers {
			if r.finalizers == nil {
				r.finalizers = map[string]int{}
			}
			r.finalizers[finalizer]++
		}
	}
}

// conditions brings the conditions of a Namespace up to date, and reports whether that changed any.
func (r *remaining) conditions(status *corev1.NamespaceStatus) bool {
	changed := false
	for _, condition := range []corev1.NamespaceCondition{
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		r.failure(), r.content(), r.waiting(),
	} {
		if condition.Status == "" {
			condition.Status = corev1.ConditionFalse
		}
		condition.LastTransitionTime = storage.Now()
		at := slices.IndexFunc(status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Type == condition.Type })
		if at < 0 {
			status.Conditions = append(status.Conditions, condition)
			changed = true
			continue
		}
		before := &status.Conditions[at]
		if before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		if *before != condition {
			*before = condition
			changed = true
		}
	}
	return changed
}

// failure is the condition that the server refuses to delete objects.
func (r *remaining) failure() corev1.NamespaceCondition {
	if len(r.failed) == 0 {
		return corev1.NamespaceCondition{
			Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization",
		}
	}
	messages := make([]string, len(r.failed))
	for i, err := range r.failed {
		messages[i] = err.Error()
	}
	slices.Sort(messages)
	return corev1.NamespaceCondition{
		Type: corev1.NamespaceDeletionContentFailure, Status: corev1.ConditionTrue, Reason: "ContentDeletionFailed",
		Message: fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(messages), strings.Join(messages, ", ")),
	}
}

// content is the condition that objects are left.
func (r *remaining) content() corev1.NamespaceCondition {
	if len(r.resources) == 0 {
		return corev1.NamespaceCondition{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"}
	}
	return corev1.NamespaceCondition{
		Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Reason: "SomeResourcesRemain",
		Message: "Some resources are remaining: " + strings.Join(slices.Sorted(slices.Values(r.resources)), ", "),
	}
}

// waiting is the condition that objects wait for finalizers.
func (r *remaining) waiting() corev1.NamespaceCondition {
	if len(r.finalizers) == 0 {
		return corev1.NamespaceCondition{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"}
	}
	var waits []string
	for _, finalizer := range slices.Sorted(maps.Keys(r.finalizers)) {
		waits = append(waits, fmt.Sprintf("%s in %d resource instances", finalizer, r.finalizers[finalizer]))
	}
	slices.Sort(waits)
	return corev1.NamespaceCondition{
		Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionTrue, Reason: "SomeFinalizersRemain",
		Message: "Some content in the namespace has finalizers remaining: " + strings.Join(waits, ", "),
	}
}
