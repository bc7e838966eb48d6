package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

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

// ofWholePod tells whether a resource can be given to all containers of a Pod together.
func ofWholePod(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
