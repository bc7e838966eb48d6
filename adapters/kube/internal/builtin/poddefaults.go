package builtin

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

func defaultPod(pod *corev1.Pod) {
	point(&pod.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		*grace = 1
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
			if pod.Spec.HostNetwork {
				for j := range containers[i].Ports {
					port := &containers[i].Ports[j]
					fill(&port.HostPort, port.ContainerPort)
				}
			}
		}
	}
	defaultPodResources(&pod.Spec)
	defaultPodSpec(&pod.Spec)
	defaultPodStatus(&pod.Status)
}

// defaultPodStatus brings the status of a Pod into the one form that it is read in. The first of its
// addresses, which has a field of its own, is the same in both places.
func defaultPodStatus(status *corev1.PodStatus) {
	switch {
	case status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP):
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	case status.PodIP == "" && len(status.PodIPs) > 0:
		status.PodIP = status.PodIPs[0].IP
	}
	all := anyPodStatus{PodStatus: status}
	roundUp(all.AllocatedResources)
	roundUpRequirements(all.Resources)
	for _, containers := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range containers {
			roundUp(containers[i].AllocatedResources)
			roundUpRequirements(containers[i].Resources)
		}
	}
}

// anyPodStatus is the status of a Pod in any version. Before v0.35, Pods have no resources of their own: what is
// embedded less deeply counts, where it is there.
type anyPodStatus struct {
	*corev1.PodStatus
	olderPodStatus
}

type olderPodStatus struct{ podResources }

type podResources struct {
	AllocatedResources corev1.ResourceList
	Resources          *corev1.ResourceRequirements
}

func roundUpRequirements(resources *corev1.ResourceRequirements) {
	if resources != nil {
		roundUp(resources.Limits, resources.Requests)
	}
}

// roundUp rounds amounts up to what is counted at least, a thousandth.
func roundUp(lists ...corev1.ResourceList) {
	for _, list := range lists {
		for name, amount := range list {
			amount.RoundUp(apiresource.Milli)
			list[name] = amount
		}
	}
}

// requestLimits requests as much of each resource as there is a limit for.
func requestLimits(resources *corev1.ResourceRequirements) {
	for name, limit := range resources.Limits {
		suggestAmount(&resources.Requests, name, limit)
	}
}

// suggestAmount sets an amount that is not there.
func suggestAmount(list *corev1.ResourceList, name corev1.ResourceName, amount apiresource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	if _, there := (*list)[name]; !there {
		(*list)[name] = amount.DeepCopy()
	}
}

// defaultPodSpec sets the defaults that hold for templates of Pods as well.
func defaultPodSpec(spec *corev1.PodSpec) {
	roundUp(spec.Overhead)
	roundUpRequirements(spec.Resources)
	fill(&spec.DNSPolicy, corev1.DNSClusterFirst)
	fill(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&spec.SchedulerName, corev1.DefaultSchedulerName)
	point(&spec.SecurityContext, corev1.PodSecurityContext{})
	point(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	// The name has an older field, which wins only where it is alone.
	fill(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i])
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		defaultContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func defaultContainer(c *corev1.Container) {
	roundUp(c.Resources.Limits, c.Resources.Requests)
	fill(&c.ImagePullPolicy, pullPolicy(c.Image))
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			fill(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProbe(probe)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	for _, hook := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if hook != nil && hook.HTTPGet != nil {
			defaultHTTPGet(hook.HTTPGet)
		}
	}
}

// imageReference is what names an image. What does not is taken as it is.
var imageReference = regexp.MustCompile(`^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@[A-Za-z0-9+.:_-]+)?$`)

// pullPolicy is Always for an image that may have changed under its name.
func pullPolicy(image string) corev1.PullPolicy {
	const longest = 255
	if name, _, _ := strings.Cut(image, "@"); len(name) > longest || !imageReference.MatchString(image) {
		return corev1.PullIfNotPresent
	}
	name, _, digested := strings.Cut(image[strings.LastIndex(image, "/")+1:], "@")
	_, tag, tagged := strings.Cut(name, ":")
	if tag == "latest" || name != "" && !tagged && !digested {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultProbe(p *corev1.Probe) {
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		defaultHTTPGet(p.HTTPGet)
	}
	if p.GRPC != nil {
		point(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(get *corev1.HTTPGetAction) {
	fill(&get.Path, "/")
	fill(&get.Scheme, corev1.URISchemeHTTP)
}

// defaultVolume sets the defaults of the volumes that are in wide use.
func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	defaultSources(v.ISCSI, v.RBD, v.AzureDisk, v.ScaleIO)
	switch {
	case v.Secret != nil:
		point(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.ConfigMap != nil:
		point(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.HostPath != nil:
		point(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Ephemeral != nil:
		if v.Ephemeral.VolumeClaimTemplate != nil {
			resources := v.Ephemeral.VolumeClaimTemplate.Spec.Resources
			roundUp(resources.Limits, resources.Requests)
			point(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		}
	case v.DownwardAPI != nil:
		point(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultFieldReferences(v.DownwardAPI.Items)
	case v.Projected != nil:
		point(&v.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for _, source := range v.Projected.Sources {
			if source.DownwardAPI != nil {
				defaultFieldReferences(source.DownwardAPI.Items)
			}
			if source.ServiceAccountToken != nil {
				const hour = int64(3600)
				point(&source.ServiceAccountToken.ExpirationSeconds, hour)
			}
		}
	case v.Image != nil:
		fill(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
}

// defaultSources sets the defaults of the volumes that have some in a Pod and in a
// PersistentVolume alike. Those that are not there are nil.
func defaultSources(iscsi *corev1.ISCSIVolumeSource, rbd *corev1.RBDVolumeSource, disk *corev1.AzureDiskVolumeSource, scaleIO *corev1.ScaleIOVolumeSource) {
	if iscsi != nil {
		fill(&iscsi.ISCSIInterface, "default")
	}
	if rbd != nil {
		fill(&rbd.RBDPool, "rbd")
		fill(&rbd.RadosUser, "admin")
		fill(&rbd.Keyring, "/etc/ceph/keyring")
	}
	if disk != nil {
		point(&disk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		point(&disk.Kind, corev1.AzureSharedBlobDisk)
		point(&disk.FSType, "ext4")
		point(&disk.ReadOnly, false)
	}
	if scaleIO != nil {
		fill(&scaleIO.StorageMode, "ThinProvisioned")
		fill(&scaleIO.FSType, "xfs")
	}
}

func defaultFieldReferences(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if files[i].FieldRef != nil {
			fill(&files[i].FieldRef.APIVersion, "v1")
		}
	}
}

// defaultPodResources completes what a Pod says of its containers together, if it says
// anything: the limits of huge pages and all requests are those of its containers, and
// requests that no container has are as high as the limits.
func defaultPodResources(spec *corev1.PodSpec) {
	r := spec.Resources
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	for name, amount := range fieldrules.PodLimits(spec) {
		if _, requested := r.Requests[name]; isHugePages(name) && !requested {
			suggestAmount(&r.Limits, name, amount)
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	for name, amount := range fieldrules.PodRequests(spec) {
		if ofWholePod(name) && !isHugePages(name) {
			suggestAmount(&r.Requests, name, amount)
		}
	}
	for name, amount := range r.Limits {
		if ofWholePod(name) {
			suggestAmount(&r.Requests, name, amount)
		}
	}
}

// ofWholePod reports whether a resource can be given to all containers of a Pod together.
func ofWholePod(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
