package zookeeper

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newServers returns the StatefulSet of a cluster.
func newServers(cluster *ZookeeperCluster) *appsv1.StatefulSet {
	labels := map[string]string{label: cluster.Name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &cluster.Spec.Replicas,
			ServiceName: cluster.Name,
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "zookeeper"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
					},
				},
			}},
		},
	}
}

// claimName is what the claim of a server is called.
func claimName(set string, server int32) string { return fmt.Sprintf("data-%s-%d", set, server) }

// StatefulSets stands in for the controller of Kubernetes. Like that one it makes sure
// of the volume of a server when it starts the server, and never looks at it again; nor
// does it delete any. The servers themselves are left out, but for their number.
type StatefulSets struct{ client.Client }

// Reconcile starts the servers that are missing, and stops those that are too many.
func (s *StatefulSets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var set appsv1.StatefulSet
	if err := s.Get(ctx, request.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if set.Status.Replicas == *set.Spec.Replicas {
		return ctrl.Result{}, nil
	}
	for server := set.Status.Replicas; server < *set.Spec.Replicas; server++ {
		claim := set.Spec.VolumeClaimTemplates[0].DeepCopy()
		claim.Namespace, claim.Name = set.Namespace, claimName(set.Name, server)
		if err := s.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
	}
	set.Status.Replicas, set.Status.ReadyReplicas = *set.Spec.Replicas, *set.Spec.Replicas
	return ctrl.Result{}, s.Status().Update(ctx, &set)
}

// SetupWithManager registers the controller.
func (s *StatefulSets) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("statefulset").For(&appsv1.StatefulSet{}).Complete(s)
}
