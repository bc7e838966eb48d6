package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// defaultPodResources completes what a Pod says of its containers together, if it says
// anything: the limits of huge pages and all requests are those of its containers, and
// requests that no container has are as high as the limits.
func defaultPodResources(spec *corev1.PodSpec) {
	r := spec.Resources
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	for name, amount := range needed(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits }) {
		if _, requested := r.Requests[name]; isHugePages(name) && !requested {
			suggestAmount(&r.Limits, name, amount)
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	for name, amount := range needed(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests }) {
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

// needed is what a Pod needs if its containers need some resources: the containers that run
// at the same time together, or an init container with those that were started before it
// and keep running, whichever is more.
func needed(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	starting, kept, running := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			addAmounts(kept, of(c))
			raiseAmounts(starting, kept)
			continue
		}
		alone := corev1.ResourceList{}
		addAmounts(alone, of(c))
		addAmounts(alone, kept)
		raiseAmounts(starting, alone)
	}
	for i := range spec.Containers {
		addAmounts(running, of(&spec.Containers[i]))
	}
	addAmounts(running, kept)
	raiseAmounts(running, starting)
	return running
}

func addAmounts(to, amounts corev1.ResourceList) {
	for name, amount := range amounts {
		sum := to[name].DeepCopy()
		sum.Add(amount)
		to[name] = sum
	}
}

// raiseAmounts makes amounts as high as others, where these are higher.
func raiseAmounts(to, amounts corev1.ResourceList) {
	for name, amount := range amounts {
		if have, there := to[name]; !there || amount.Cmp(have) > 0 {
			to[name] = amount.DeepCopy()
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
