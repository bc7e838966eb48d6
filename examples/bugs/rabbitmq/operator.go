package rabbitmq

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// label is on everything that belongs to a cluster, with its name.
const label = "app"

// Operator runs RabbitmqClusters: a StatefulSet for each. Neither the servers of a
// cluster nor its volumes can become less.
type Operator struct {
	client.Client
	// GrowsClaimsFirst makes it look at the volumes themselves to know whether they
	// are large enough, and before it touches the StatefulSet.
	GrowsClaimsFirst bool
}

// Reconcile brings the StatefulSet and the volumes to what the cluster wants.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster RabbitmqCluster
	if err := o.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if o.GrowsClaimsFirst {
		if err := o.growClaims(ctx, &cluster); err != nil {
			return ctrl.Result{}, err
		}
	}
	var servers appsv1.StatefulSet
	err := o.Get(ctx, client.ObjectKeyFromObject(&cluster), &servers)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, o.createServers(ctx, &cluster)
	case err != nil:
		return ctrl.Result{}, err
	case *servers.Spec.Replicas > cluster.Spec.Replicas:
		return ctrl.Result{}, nil // scaling down is not supported
	case storageOf(&servers).Cmp(cluster.Spec.Storage) < 0:
		return ctrl.Result{}, o.growStorage(ctx, &cluster, &servers)
	case *servers.Spec.Replicas < cluster.Spec.Replicas:
		servers.Spec.Replicas = &cluster.Spec.Replicas
		return ctrl.Result{}, o.Update(ctx, &servers)
	}
	return ctrl.Result{}, nil
}

// growStorage replaces the StatefulSet, whose claim templates cannot be changed. The new
// one takes over the servers, and the volumes, which grow in between.
func (o *Operator) growStorage(ctx context.Context, cluster *RabbitmqCluster, servers *appsv1.StatefulSet) error {
	if err := o.Delete(ctx, servers); err != nil {
		return err
	}
	if !o.GrowsClaimsFirst {
		if err := o.growClaims(ctx, cluster); err != nil {
			return err
		}
	}
	return o.createServers(ctx, cluster)
}

// growClaims makes the volumes as large as the cluster wants.
func (o *Operator) growClaims(ctx context.Context, cluster *RabbitmqCluster) error {
	var claims corev1.PersistentVolumeClaimList
	if err := o.List(ctx, &claims, client.InNamespace(cluster.Namespace), client.MatchingLabels{label: cluster.Name}); err != nil {
		return err
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Spec.Resources.Requests.Storage().Cmp(cluster.Spec.Storage) >= 0 {
			continue
		}
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = cluster.Spec.Storage
		if err := o.Update(ctx, claim); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) createServers(ctx context.Context, cluster *RabbitmqCluster) error {
	servers := newServers(cluster)
	if err := ctrl.SetControllerReference(cluster, servers, o.Scheme()); err != nil {
		return err
	}
	return o.Create(ctx, servers)
}

// storageOf returns how large the volumes of new servers of a StatefulSet become.
func storageOf(servers *appsv1.StatefulSet) *resource.Quantity {
	return servers.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage()
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("rabbitmq").
		For(&RabbitmqCluster{}).
		Owns(&appsv1.StatefulSet{}).
		Complete(o)
}
