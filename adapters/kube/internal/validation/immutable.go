package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// validateImmutable returns which fields of Kubernetes' own kinds an update changes
// that cannot be changed. Where a real server adds a textual difference to its
// message, that is left out.
func validateImmutable(r *kinds.Resource, object, current *unstructured.Unstructured) field.ErrorList {
	switch r.Name {
	case kinds.Pod:
		return validatePodChanges(object, current)
	case "Deployment.apps", "DaemonSet.apps", "ReplicaSet.apps":
		return unchanged(object, current, "spec", "selector")
	case "StatefulSet.apps":
		return onlyChanged(object, current,
			"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
			"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds")
	case kinds.Claim:
		return validateClaimChanges(object, current)
	case kinds.Service:
		return append(validateAddresses(object, current), validateBalancer(object, current)...)
	case "ControllerRevision.apps":
		return unchanged(object, current, "data")
	case "Secret":
		return append(unchanged(object, current, "type"), validateSealed(object, current, "data")...)
	case "ConfigMap":
		return validateSealed(object, current, "data", "binaryData")
	case "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		if !jsontree.Same(object.Object["roleRef"], current.Object["roleRef"]) {
			return field.ErrorList{field.Invalid(field.NewPath("roleRef"), object.Object["roleRef"], "cannot change roleRef")}
		}
	case kinds.Volume:
		return validateVolumeChanges(object, current)
	case kinds.StorageClass:
		var errs field.ErrorList
		for _, name := range []string{"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"} {
			errs = append(errs, unchanged(object, current, name)...)
		}
		return errs
	case kinds.PriorityClass:
		if object.Object["value"] != current.Object["value"] {
			return append(field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}, unchanged(object, current, "preemptionPolicy")...)
		}
		return unchanged(object, current, "preemptionPolicy")
	case "RuntimeClass.node.k8s.io":
		return unchanged(object, current, "handler")
	case "IngressClass.networking.k8s.io":
		return unchanged(object, current, "spec", "controller")
	case kinds.EndpointSlice:
		return unchanged(object, current, "addressType")
	case "ResourceQuota":
		return unchanged(object, current, "spec", "scopes")
	case kinds.Node:
		return validateNodeChanges(object, current)
	}
	return nil
}

// unchanged refuses a change of one field.
func unchanged(object, current *unstructured.Unstructured, path ...string) field.ErrorList {
	if jsontree.Same(jsontree.At(object, path...), jsontree.At(current, path...)) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path[0], path[1:]...), jsontree.At(object, path...), validation.FieldImmutableErrorMsg)}
}

// onlyChanged refuses changes of fields of the spec other than those that are named.
func onlyChanged(object, current *unstructured.Unstructured, message string, changeable ...string) field.ErrorList {
	if jsontree.Same(jsontree.Without(jsontree.At(object, "spec"), changeable...), jsontree.Without(jsontree.At(current, "spec"), changeable...)) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), message)}
}

// validateSealed refuses changes of the contents of a ConfigMap or Secret that says
// that it is immutable.
func validateSealed(object, current *unstructured.Unstructured, contents ...string) field.ErrorList {
	if jsontree.At(current, "immutable") != true {
		return nil
	}
	var errs field.ErrorList
	if jsontree.At(object, "immutable") != true {
		contents = append([]string{"immutable"}, contents...)
	}
	for _, name := range contents {
		if !jsontree.Same(jsontree.At(object, name), jsontree.At(current, name)) {
			errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
		}
	}
	return errs
}

// validateAddresses refuses another address for a Service that has one.
func validateAddresses(object, current *unstructured.Unstructured) field.ErrorList {
	const elsewhere = "ExternalName"
	if jsontree.At(object, "spec", "type") == elsewhere || jsontree.At(current, "spec", "type") == elsewhere {
		return nil
	}
	if jsontree.Same(jsontree.At(object, "spec", "clusterIPs"), jsontree.At(current, "spec", "clusterIPs")) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), jsontree.At(object, "spec", "clusterIPs"), "may not change once set")}
}

// validateBalancer refuses another class for a Service that is balanced and stays so.
func validateBalancer(object, current *unstructured.Unstructured) field.ErrorList {
	class := func(o *unstructured.Unstructured) any { return jsontree.At(o, "spec", "loadBalancerClass") }
	balanced := func(o *unstructured.Unstructured) bool { return jsontree.At(o, "spec", "type") == "LoadBalancer" }
	if !balanced(object) || !balanced(current) || class(object) == class(current) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "loadBalancerClass"), class(object), "may not change once set")}
}
