package companions

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
)

func nodeKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Node") }

// isSelected reports whether a Pod may run on a Node, as far as it selects Nodes by their labels and names.
func isSelected(pod *corev1.PodSpec, node *corev1.Node) bool {
	if !labels.SelectorFromSet(pod.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return true
	}
	required := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return required == nil || slices.ContainsFunc(required.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool { return meets(node, term) })
}

// meets reports whether a Node has all that a term asks for. A term that asks for nothing selects no Node.
func meets(node *corev1.Node, term corev1.NodeSelectorTerm) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	return matchesAll(term.MatchExpressions, node.Labels) && matchesAll(term.MatchFields, labels.Set{metav1.ObjectNameField: node.Name})
}

// matchesAll reports whether labels, or fields, are as all requirements ask for. What cannot be read is not met.
func matchesAll(required []corev1.NodeSelectorRequirement, has labels.Set) bool {
	return !slices.ContainsFunc(required, func(r corev1.NodeSelectorRequirement) bool {
		requirement, err := labels.NewRequirement(r.Key, operator(r.Operator), r.Values)
		return err != nil || !requirement.Matches(has)
	})
}

// operator is that of a selector for labels.
func operator(of corev1.NodeSelectorOperator) selection.Operator {
	switch of {
	case corev1.NodeSelectorOpIn:
		return selection.In
	case corev1.NodeSelectorOpNotIn:
		return selection.NotIn
	case corev1.NodeSelectorOpExists:
		return selection.Exists
	case corev1.NodeSelectorOpDoesNotExist:
		return selection.DoesNotExist
	case corev1.NodeSelectorOpGt:
		return selection.GreaterThan
	case corev1.NodeSelectorOpLt:
		return selection.LessThan
	}
	return ""
}

// isTainted reports whether a Node has a taint of one of these effects that a Pod does not tolerate.
func isTainted(node *corev1.Node, tolerations []corev1.Toleration, effects ...corev1.TaintEffect) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return slices.Contains(effects, taint.Effect) &&
			!slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) })
	})
}

// tolerates reports whether a toleration is for a taint. One that compares numbers is for none, as without the feature
// gate for it.
func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", corev1.TolerationOpEqual:
		return t.Value == taint.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}
