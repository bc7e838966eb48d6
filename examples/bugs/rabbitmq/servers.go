package rabbitmq

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newServers returns the StatefulSet of a cluster.
func newServers(cluster *RabbitmqCluster) *appsv1.StatefulSet {
	labels := map[string]string{label: cluster.Name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &cluster.Spec.Replicas,
			ServiceName: cluster.Name,
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "rabbitmq"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					StorageClassName: ptr.To(growingClass),
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: cluster.Spec.Storage},
					},
				},
			}},
		},
	}
}

// growingClass is the name of a class of volumes that can grow.
const growingClass = "growing"

// newStorageClass returns that class: without it a real API server lets no volume grow.
func newStorageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: growingClass},
		Provisioner:          "example.orrery.dev/disks",
		AllowVolumeExpansion: ptr.To(true),
	}
}

// StatefulSets stands in for the controller of Kubernetes, and for what binds claims to
// volumes. It makes sure of the volume of a server when it starts the server, and never
// looks at it again. The servers themselves are left out, but for their number.
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
		if err := s.ensureVolume(ctx, &set, server); err != nil {
			return ctrl.Result{}, err
		}
	}
	set.Status.Replicas, set.Status.ReadyReplicas = *set.Spec.Replicas, *set.Spec.Replicas
	return ctrl.Result{}, s.Status().Update(ctx, &set)
}

// ensureVolume makes sure that a server has its claim, and that this is bound.
func (s *StatefulSets) ensureVolume(ctx context.Context, set *appsv1.StatefulSet, server int32) error {
	claim := set.Spec.VolumeClaimTemplates[0].DeepCopy()
	claim.Namespace, claim.Name = set.Namespace, fmt.Sprintf("data-%s-%d", set.Name, server)
	err := s.Get(ctx, client.ObjectKeyFromObject(claim), claim)
	if apierrors.IsNotFound(err) {
		err = s.Create(ctx, claim)
	}
	if err != nil || claim.Status.Phase == corev1.ClaimBound {
		return err
	}
	claim.Status.Phase = corev1.ClaimBound
	return s.Status().Update(ctx, claim)
}

// SetupWithManager registers the controller.
func (s *StatefulSets) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("statefulset").For(&appsv1.StatefulSet{}).Complete(s)
}
