package kube

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// specValidator is the function that validates the objects of a kind, nil if there is
// none.
func (r *resource) specValidator() func(runtime.Object) field.ErrorList {
	switch r.group {
	case "":
		return r.coreValidator()
	case "apps", "batch", "autoscaling", "policy":
		return r.workloadValidator()
	}
	switch r.name {
	case "Lease.coordination.k8s.io":
		return validator(validateLease)
	case "Role.rbac.authorization.k8s.io":
		return validator(validateRole)
	case "ClusterRole.rbac.authorization.k8s.io":
		return validator(validateClusterRole)
	case "RoleBinding.rbac.authorization.k8s.io":
		return validator(validateRoleBinding)
	case "ClusterRoleBinding.rbac.authorization.k8s.io":
		return validator(validateClusterRoleBinding)
	case "Ingress.networking.k8s.io":
		return validator(validateIngress)
	case "IngressClass.networking.k8s.io":
		return validator(validateIngressClass)
	case "NetworkPolicy.networking.k8s.io":
		return validator(validateNetworkPolicy)
	case kindEndpointSlice:
		return validator(validateEndpointSlice)
	case kindStorageClass:
		return validator(validateStorageClass)
	case kindPriorityClass:
		return validator(validatePriorityClass)
	case kindSigningRequest:
		return validator(validateSigningRequest)
	case "RuntimeClass.node.k8s.io":
		return validator(validateRuntimeClass)
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return validator(validateValidatingWebhooks)
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		return validator(validateMutatingWebhooks)
	}
	return nil
}

// coreValidator is the validator of a kind of the core group.
func (r *resource) coreValidator() func(runtime.Object) field.ErrorList {
	switch r.name {
	case "ConfigMap":
		return validator(validateConfigMap)
	case "Secret":
		return validator(validateSecret)
	case kindService:
		return validator(validateService)
	case kindNode:
		return validator(validateNode)
	case "Endpoints":
		return validator(validateEndpoints)
	case "Event":
		return validator(validateEvent)
	}
	return nil
}

// workloadValidator is the validator of a kind that has to do with running Pods.
func (r *resource) workloadValidator() func(runtime.Object) field.ErrorList {
	switch r.name {
	case kindJob:
		return validator(validateJob)
	case "CronJob.batch":
		return validator(validateCronJob)
	case "Deployment.apps":
		return validator(validateDeployment)
	case "ReplicaSet.apps":
		return validator(validateReplicaSet)
	case "StatefulSet.apps":
		return validator(validateStatefulSet)
	case kindDaemonSet:
		return validator(validateDaemonSet)
	case "ControllerRevision.apps":
		return validator(validateControllerRevision)
	case "HorizontalPodAutoscaler.autoscaling":
		return validator(validateAutoscaler)
	case kindBudget:
		return validator(validateBudget)
	}
	return nil
}

// validator makes a function for one Go type one for all. A scheme that has another
// type for the kind is not known here.
func validator[T runtime.Object](validate func(T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(object runtime.Object) field.ErrorList {
		if typed, ok := object.(T); ok {
			return validate(typed)
		}
		return nil
	}
}
