package fieldrules

import corev1 "k8s.io/api/core/v1"

// PodRequests returns what the containers of a Pod request of each resource at the same time.
func PodRequests(spec *corev1.PodSpec) corev1.ResourceList {
	return needed(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
}

// PodLimits returns what the containers of a Pod are limited to at the same time.
func PodLimits(spec *corev1.PodSpec) corev1.ResourceList {
	return needed(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
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
