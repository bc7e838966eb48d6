package builtin

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// setDefaults fills in what a server fills in wherever it reads an object of one of
// Kubernetes' own kinds, as of Kubernetes 1.36.
func setDefaults(object runtime.Object) {
	switch o := object.(type) {
	case *corev1.Pod:
		defaultPod(o)
	case *corev1.PodTemplate:
		defaultPodSpec(&o.Template.Spec)
	case *corev1.ReplicationController:
		defaultReplicationController(o)
	case *corev1.Service:
		defaultService(o)
	case *corev1.Endpoints: //nolint:staticcheck // deprecated, and still used by many
		defaultEndpoints(o)
	case *corev1.Secret:
		fill(&o.Type, corev1.SecretTypeOpaque)
	case *corev1.Namespace:
		defaultNamespace(o)
	case *corev1.Node:
		defaultNode(o)
	case *corev1.PersistentVolume:
		fill(&o.Status.Phase, corev1.VolumePending)
		fill(&o.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		point(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(o.Spec.Capacity)
		defaultVolumeSources(&o.Spec.PersistentVolumeSource)
		if o.Spec.HostPath != nil {
			point(&o.Spec.HostPath.Type, corev1.HostPathUnset)
		}
	case *corev1.PersistentVolumeClaim:
		defaultClaim(o)
	case *corev1.ResourceQuota:
		roundUp(o.Spec.Hard, o.Status.Hard, o.Status.Used)
	case *corev1.LimitRange:
		for i := range o.Spec.Limits {
			defaultLimits(&o.Spec.Limits[i])
		}
	case *appsv1.Deployment:
		defaultDeployment(o)
	case *appsv1.DaemonSet:
		defaultDaemonSet(o)
	case *appsv1.StatefulSet:
		defaultStatefulSet(o)
	case *appsv1.ReplicaSet:
		point(&o.Spec.Replicas, 1)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *batchv1.Job:
		defaultJob(o)
	case *batchv1.CronJob:
		defaultCronJob(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		defaultAutoscaler(o)
	case *networkingv1.NetworkPolicy:
		defaultNetworkPolicy(o)
	case *networkingv1.IngressClass:
		if o.Spec.Parameters != nil {
			point(&o.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
		}
	case *discoveryv1.EndpointSlice:
		for i := range o.Ports {
			point(&o.Ports[i].Name, "")
			point(&o.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	case *storagev1.StorageClass:
		point(&o.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		point(&o.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *schedulingv1.PriorityClass:
		point(&o.PreemptionPolicy, corev1.PreemptLowerPriority)
	case *rbacv1.RoleBinding:
		defaultBinding(&o.RoleRef, o.Subjects)
	case *rbacv1.ClusterRoleBinding:
		defaultBinding(&o.RoleRef, o.Subjects)
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for i := range o.Webhooks {
			w := &o.Webhooks[i]
			point(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds, &w.ClientConfig, w.Rules)
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			w := &o.Webhooks[i]
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds, &w.ClientConfig, w.Rules)
		}
	}
}

// fill sets a field that is empty.
func fill[T comparable](field *T, value T) {
	var empty T
	if *field == empty {
		*field = value
	}
}

// point sets an optional field that is not there.
func point[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// defaultNamespace labels a Namespace with its name.
func defaultNamespace(n *corev1.Namespace) {
	fill(&n.Status.Phase, corev1.NamespaceActive)
	if n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

// defaultNode completes what a Node has, and makes the first of its ranges of addresses, which
// has a field of its own, the same in both places.
func defaultNode(n *corev1.Node) {
	roundUp(n.Status.Capacity, n.Status.Allocatable)
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = n.Status.Capacity
	}
	switch ranges := n.Spec.PodCIDRs; {
	case n.Spec.PodCIDR != "" && (len(ranges) == 0 || ranges[0] != n.Spec.PodCIDR):
		n.Spec.PodCIDRs = []string{n.Spec.PodCIDR}
	case n.Spec.PodCIDR == "" && len(ranges) > 0:
		n.Spec.PodCIDR = ranges[0]
	}
}

// defaultVolumeSources sets the defaults of the volumes that have them in a Pod too. Their Go types differ
// in who has their secrets.
func defaultVolumeSources(v *corev1.PersistentVolumeSource) {
	defaultSources(nil, nil, v.AzureDisk, nil)
	if v.ISCSI != nil {
		fill(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		like := corev1.RBDVolumeSource{RBDPool: v.RBD.RBDPool, RadosUser: v.RBD.RadosUser, Keyring: v.RBD.Keyring}
		defaultSources(nil, &like, nil, nil)
		v.RBD.RBDPool, v.RBD.RadosUser, v.RBD.Keyring = like.RBDPool, like.RadosUser, like.Keyring
	}
	if v.ScaleIO != nil {
		like := corev1.ScaleIOVolumeSource{StorageMode: v.ScaleIO.StorageMode, FSType: v.ScaleIO.FSType}
		defaultSources(nil, nil, nil, &like)
		v.ScaleIO.StorageMode, v.ScaleIO.FSType = like.StorageMode, like.FSType
	}
}

// defaultLimits sets what containers get that ask for nothing: as much as they may have.
func defaultLimits(l *corev1.LimitRangeItem) {
	roundUp(l.Max, l.Min, l.Default, l.DefaultRequest, l.MaxLimitRequestRatio)
	if l.Type != corev1.LimitTypeContainer {
		return
	}
	fillFrom := func(to *corev1.ResourceList, from corev1.ResourceList) {
		for name, amount := range from {
			suggestAmount(to, name, amount)
		}
	}
	fillFrom(&l.Default, l.Max)
	fillFrom(&l.DefaultRequest, l.Default)
	fillFrom(&l.DefaultRequest, l.Min)
}

func defaultClaim(c *corev1.PersistentVolumeClaim) {
	roundUp(c.Spec.Resources.Limits, c.Spec.Resources.Requests, c.Status.Capacity, c.Status.AllocatedResources)
	fill(&c.Status.Phase, corev1.ClaimPending)
	point(&c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// defaultBinding completes what a binding of roles refers to.
func defaultBinding(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	fill(&role.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			fill(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}
