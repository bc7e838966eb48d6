package leadergroups

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// setLabel is on all that belongs to a GroupSet, with its name.
	setLabel = "example.orrery.dev/group-set"
	// roleLabel tells leaders and workers apart, and leaderLabel is on workers, with the name of their leader.
	roleLabel   = "example.orrery.dev/role"
	leaderLabel = "example.orrery.dev/leader"

	leaderRole = "leader"
	workerRole = "worker"
)

// newLeaders returns the StatefulSet with the leaders of a set.
func newLeaders(set *GroupSet, revision *appsv1.ControllerRevision) *appsv1.StatefulSet {
	key := revision.Labels[revisionLabel]
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name,
			Labels: map[string]string{setLabel: set.Name, revisionLabel: key},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            &set.Spec.Groups,
			ServiceName:         set.Name,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{setLabel: set.Name, roleLabel: leaderRole}},
			Template:            leaderTemplate(set, key),
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](0)},
			},
		},
	}
}

func leaderTemplate(set *GroupSet, revision string) corev1.PodTemplateSpec {
	return podTemplate(set.Spec.Template.Image, map[string]string{setLabel: set.Name, roleLabel: leaderRole, revisionLabel: revision})
}

// newWorkers returns the StatefulSet with the workers of a leader.
func newWorkers(leader *corev1.Pod, revision *appsv1.ControllerRevision) (*appsv1.StatefulSet, error) {
	template, err := templateOf(revision)
	if err != nil {
		return nil, err
	}
	selected := map[string]string{setLabel: leader.Labels[setLabel], roleLabel: workerRole, leaderLabel: leader.Name}
	labels := map[string]string{revisionLabel: revision.Labels[revisionLabel]}
	for name, value := range selected {
		labels[name] = value
	}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: leader.Namespace, Name: leader.Name, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            ptr.To(template.Size - 1),
			Ordinals:            &appsv1.StatefulSetOrdinals{Start: 1},
			ServiceName:         leader.Labels[setLabel],
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: selected},
			Template:            podTemplate(template.Image, labels),
		},
	}, nil
}

func podTemplate(image string, labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "work", Image: image}}},
	}
}

// controllerIndex finds Pods by the name of the StatefulSet that controls them.
const controllerIndex = ".metadata.controller"

// setupIndexes registers how Pods are found.
func setupIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Pod{}, controllerIndex, func(object client.Object) []string {
		owner := metav1.GetControllerOf(object)
		if owner == nil || owner.Kind != "StatefulSet" {
			return nil
		}
		return []string{owner.Name}
	})
}
