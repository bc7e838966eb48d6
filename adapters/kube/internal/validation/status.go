package validation

import (
	"net"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// validateStatus returns what is wrong with the status of an object of one of
// Kubernetes' own kinds: counts and addresses that cannot be.
func validateStatus(r *kinds.Resource, object, current *unstructured.Unstructured) field.ErrorList {
	status := field.NewPath("status")
	count := func(name string) int64 {
		n, _, _ := unstructured.NestedInt64(object.Object, "status", name)
		return n
	}
	var errs field.ErrorList
	for _, name := range counts(r.Name) {
		errs = append(errs, validation.ValidateNonnegativeField(count(name), status.Child(name))...)
	}
	for _, b := range bounds(r.Name) {
		if n := count(b.name); n > count(b.by) {
			errs = append(errs, field.Invalid(status.Child(b.name), n, b.message))
		}
	}
	if r.Name == kinds.Service && jsontree.At(object, "spec", "type") != "LoadBalancer" && len(jsontree.ListAt(object, "status", "loadBalancer", "ingress")) > 0 {
		errs = append(errs, field.Forbidden(status.Child("loadBalancer", "ingress"), "may only be used when `spec.type` is 'LoadBalancer'"))
	}
	errs = append(errs, r.StatusFields.Validate(object.Object, false)...)
	if qos := jsontree.At(current, "status", "qosClass"); r.Name == kinds.Pod && qos != nil && jsontree.At(object, "status", "qosClass") != qos {
		errs = append(errs, field.Invalid(status.Child("qosClass"), jsontree.At(object, "status", "qosClass"), validation.FieldImmutableErrorMsg))
	}
	if r.Name == "Ingress.networking.k8s.io" {
		errs = append(errs, validateIngressStatus(object, current)...)
	}
	return errs
}

// validateIngressStatus checks where an Ingress can be reached. What was there is let pass.
func validateIngressStatus(object, current *unstructured.Unstructured) field.ErrorList {
	read := func(o *unstructured.Unstructured) []networkingv1.IngressLoadBalancerIngress {
		var ingress networkingv1.Ingress
		jsontree.MustInto(o, &ingress)
		return ingress.Status.LoadBalancer.Ingress
	}
	var known []string
	for _, i := range read(current) {
		known = append(known, i.IP)
	}
	var errs field.ErrorList
	for n, i := range read(object) {
		at := field.NewPath("status", "loadBalancer", "ingress").Index(n)
		if i.IP != "" {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("ip"), i.IP, true, known)...)
		}
		if i.Hostname == "" {
			continue
		}
		for _, message := range utilvalidation.IsDNS1123Subdomain(i.Hostname) {
			errs = append(errs, field.Invalid(at.Child("hostname"), i.Hostname, message))
		}
		if net.ParseIP(i.Hostname) != nil {
			errs = append(errs, field.Invalid(at.Child("hostname"), i.Hostname, "must be a DNS name, not an IP address"))
		}
	}
	return errs
}

// counts are the fields of a status that must not be below zero.
func counts(kind core.Kind) []string {
	switch kind {
	case "Deployment.apps":
		return []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"}
	case "ReplicaSet.apps":
		return []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"}
	case "StatefulSet.apps":
		return []string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration"}
	case "DaemonSet.apps":
		return []string{
			"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
			"observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
		}
	case "ReplicationController":
		return []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"}
	case kinds.Budget:
		return []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}
	case "HorizontalPodAutoscaler.autoscaling":
		return []string{"currentReplicas", "desiredReplicas"}
	}
	return nil
}

// bound says that one count of a status must not be greater than another one.
type bound struct{ name, by, message string }

func bounds(kind core.Kind) []bound {
	within := func(name string) bound { return bound{name, "replicas", "cannot be greater than status.replicas"} }
	switch kind {
	case "Deployment.apps":
		return []bound{
			within("updatedReplicas"), within("readyReplicas"), within("availableReplicas"),
			{"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"},
		}
	case "ReplicaSet.apps", "ReplicationController":
		return []bound{
			within("fullyLabeledReplicas"), within("readyReplicas"), within("availableReplicas"),
			{"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"},
		}
	case "StatefulSet.apps":
		return []bound{
			within("readyReplicas"), within("currentReplicas"), within("updatedReplicas"), within("availableReplicas"),
			{"availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"},
		}
	}
	return nil
}

// validatePhase refuses a phase that does not say whether a Namespace is being deleted.
func validatePhase(object *unstructured.Unstructured) field.ErrorList {
	phase := jsontree.At(object, "status", "phase")
	switch {
	case object.GetDeletionTimestamp() == nil && phase != string(corev1.NamespaceActive):
		return field.ErrorList{field.Invalid(field.NewPath("status", "Phase"), phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case object.GetDeletionTimestamp() != nil && phase != string(corev1.NamespaceTerminating):
		return field.ErrorList{field.Invalid(field.NewPath("status", "Phase"), phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
