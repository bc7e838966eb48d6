package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// specValidator is the function that validates the objects of a kind, nil if there is
// none.
func specValidator(r *kinds.Resource) func(runtime.Object) field.ErrorList {
	switch r.Group {
	case "":
		return coreValidator(r)
	case "apps", "batch", "autoscaling", "policy":
		return workloadValidator(r)
	}
	switch r.Name {
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
	case kinds.EndpointSlice:
		return validator(validateEndpointSlice)
	case kinds.StorageClass:
		return validator(validateStorageClass)
	case kinds.PriorityClass:
		return validator(validatePriorityClass)
	case kinds.SigningRequest:
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
func coreValidator(r *kinds.Resource) func(runtime.Object) field.ErrorList {
	switch r.Name {
	case "ConfigMap":
		return validator(validateConfigMap)
	case "Secret":
		return validator(validateSecret)
	case kinds.Service:
		return validator(validateService)
	case kinds.Node:
		return validator(validateNode)
	case "Endpoints":
		return validator(validateEndpoints)
	case "Event":
		return validator(validateEvent)
	}
	return nil
}

// workloadValidator is the validator of a kind that has to do with running Pods.
func workloadValidator(r *kinds.Resource) func(runtime.Object) field.ErrorList {
	switch r.Name {
	case kinds.Job:
		return validator(validateJob)
	case "CronJob.batch":
		return validator(validateCronJob)
	case "Deployment.apps":
		return validator(validateDeployment)
	case "ReplicaSet.apps":
		return validator(validateReplicaSet)
	case "StatefulSet.apps":
		return validator(validateStatefulSet)
	case kinds.DaemonSet:
		return validator(validateDaemonSet)
	case "ControllerRevision.apps":
		return validator(validateControllerRevision)
	case "HorizontalPodAutoscaler.autoscaling":
		return validator(validateAutoscaler)
	case kinds.Budget:
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
