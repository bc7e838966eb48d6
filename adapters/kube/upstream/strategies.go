package upstream

import (
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/coordination/leasecandidate"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// strategy is what the server does with the objects of a kind.
type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// registration has the strategies of a kind: that of the objects themselves, and those of
// its subresources.
type registration struct {
	object strategy
	parts  map[string]rest.RESTUpdateStrategy
}

// status are the parts of a kind that has no subresource but its status.
func status(s rest.RESTUpdateStrategy) map[string]rest.RESTUpdateStrategy {
	return map[string]rest.RESTUpdateStrategy{"status": s}
}

// registrations returns the strategies of all kinds, by "Kind.group".
func registrations() map[string]registration {
	return map[string]registration{
		"ConfigMap":             {configmap.Strategy, nil},
		"Endpoints":             {endpoint.Strategy, nil},
		"Event":                 {event.Strategy, nil},
		"LimitRange":            {limitrange.Strategy, nil},
		"Namespace":             {namespace.Strategy, map[string]rest.RESTUpdateStrategy{"status": namespace.StatusStrategy, "finalize": namespace.FinalizeStrategy}},
		"Node":                  {node.Strategy, status(node.StatusStrategy)},
		"PersistentVolume":      {persistentvolume.Strategy, status(persistentvolume.StatusStrategy)},
		"PersistentVolumeClaim": {persistentvolumeclaim.Strategy, status(persistentvolumeclaim.StatusStrategy)},
		"Pod": {pod.Strategy, map[string]rest.RESTUpdateStrategy{
			"status": pod.StatusStrategy, "ephemeralcontainers": pod.EphemeralContainersStrategy, "resize": pod.ResizeStrategy,
		}},
		"PodTemplate":           {podtemplate.Strategy, nil},
		"ReplicationController": {replicationcontroller.Strategy, status(replicationcontroller.StatusStrategy)},
		"ResourceQuota":         {resourcequota.Strategy, status(resourcequota.StatusStrategy)},
		"Secret":                {secret.Strategy, nil},
		"Service":               {service.Strategy, status(service.StatusStrategy)},
		"ServiceAccount":        {serviceaccount.Strategy, nil},

		"MutatingWebhookConfiguration.admissionregistration.k8s.io":   {mutatingwebhookconfiguration.Strategy, nil},
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io": {validatingwebhookconfiguration.Strategy, nil},
		"ControllerRevision.apps":                                     {controllerrevision.Strategy, nil},
		"DaemonSet.apps":                                              {daemonset.Strategy, status(daemonset.StatusStrategy)},
		"Deployment.apps":                                             {deployment.Strategy, status(deployment.StatusStrategy)},
		"ReplicaSet.apps":                                             {replicaset.Strategy, status(replicaset.StatusStrategy)},
		"StatefulSet.apps":                                            {statefulset.Strategy, status(statefulset.StatusStrategy)},
		"HorizontalPodAutoscaler.autoscaling":                         {horizontalpodautoscaler.Strategy, status(horizontalpodautoscaler.StatusStrategy)},
		"CronJob.batch":                                               {cronjob.Strategy, status(cronjob.StatusStrategy)},
		"Job.batch":                                                   {job.Strategy, status(job.StatusStrategy)},
		"CertificateSigningRequest.certificates.k8s.io": {certificates.Strategy, map[string]rest.RESTUpdateStrategy{
			"status": certificates.StatusStrategy, "approval": certificates.ApprovalStrategy,
		}},
		"ClusterTrustBundle.certificates.k8s.io":                  {clustertrustbundle.Strategy, nil},
		"Lease.coordination.k8s.io":                               {lease.Strategy, nil},
		"LeaseCandidate.coordination.k8s.io":                      {leasecandidate.Strategy, nil},
		"EndpointSlice.discovery.k8s.io":                          {endpointslice.Strategy, nil},
		"Event.events.k8s.io":                                     {event.Strategy, nil},
		"FlowSchema.flowcontrol.apiserver.k8s.io":                 {flowschema.Strategy, status(flowschema.StatusStrategy)},
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": {prioritylevelconfiguration.Strategy, status(prioritylevelconfiguration.StatusStrategy)},
		"IPAddress.networking.k8s.io":                             {ipaddress.Strategy, nil},
		"Ingress.networking.k8s.io":                               {ingress.Strategy, status(ingress.StatusStrategy)},
		"IngressClass.networking.k8s.io":                          {ingressclass.Strategy, nil},
		"NetworkPolicy.networking.k8s.io":                         {networkpolicy.Strategy, nil},
		"ServiceCIDR.networking.k8s.io":                           {servicecidr.Strategy, status(servicecidr.StatusStrategy)},
		"RuntimeClass.node.k8s.io":                                {runtimeclass.Strategy, nil},
		"PodDisruptionBudget.policy":                              {poddisruptionbudget.Strategy, status(poddisruptionbudget.StatusStrategy)},
		"ClusterRole.rbac.authorization.k8s.io":                   {clusterrole.Strategy, nil},
		"ClusterRoleBinding.rbac.authorization.k8s.io":            {clusterrolebinding.Strategy, nil},
		"Role.rbac.authorization.k8s.io":                          {role.Strategy, nil},
		"RoleBinding.rbac.authorization.k8s.io":                   {rolebinding.Strategy, nil},
		"DeviceClass.resource.k8s.io":                             {deviceclass.Strategy, nil},
		"ResourceSlice.resource.k8s.io":                           {resourceslice.Strategy, nil},
		"PriorityClass.scheduling.k8s.io":                         {priorityclass.Strategy, nil},
		"CSIDriver.storage.k8s.io":                                {csidriver.Strategy, nil},
		"CSINode.storage.k8s.io":                                  {csinode.Strategy, nil},
		"CSIStorageCapacity.storage.k8s.io":                       {csistoragecapacity.Strategy, nil},
		"StorageClass.storage.k8s.io":                             {storageclass.Strategy, nil},
		"VolumeAttachment.storage.k8s.io":                         {volumeattachment.Strategy, status(volumeattachment.StatusStrategy)},
		"VolumeAttributesClass.storage.k8s.io":                    {volumeattributesclass.Strategy, nil},
	}
}
