package zookeeper

import (
	"context"
	"errors"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// finalizer keeps a cluster until its volumes are gone.
	finalizer = "example.orrery.dev/volumes"
	// label is on everything that belongs to a cluster, with its name.
	label = "app"
)

// Operator runs ZookeeperClusters: a StatefulSet for each. It deletes the volumes of
// servers that are gone, and with a cluster all of them.
type Operator struct {
	client.Client
	// Clusters is where it reads clusters from: its cache, or the API server itself.
	Clusters client.Reader
}

// Reconcile brings what there is closer to what the cluster wants.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var cluster ZookeeperCluster
	if err := o.Clusters.Get(ctx, request.NamespacedName, &cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, o.finalize(ctx, &cluster)
	}
	if controllerutil.AddFinalizer(&cluster, finalizer) {
		return ctrl.Result{}, o.Update(ctx, &cluster)
	}
	if err := o.deleteOrphans(ctx, &cluster); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, o.ensureServers(ctx, &cluster)
}

// finalize deletes the volumes of a cluster that is being deleted, and lets it go.
func (o *Operator) finalize(ctx context.Context, cluster *ZookeeperCluster) error {
	if err := o.deleteClaims(ctx, cluster, 0); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(cluster, finalizer) {
		return nil
	}
	return o.Update(ctx, cluster)
}

// deleteOrphans deletes the volumes of servers that are gone, once as many are running
// as the cluster wants.
func (o *Operator) deleteOrphans(ctx context.Context, cluster *ZookeeperCluster) error {
	if cluster.Status.ReadyReplicas != cluster.Spec.Replicas {
		return nil
	}
	return o.deleteClaims(ctx, cluster, int(cluster.Spec.Replicas))
}

// deleteClaims deletes the claims of the servers from a number on.
func (o *Operator) deleteClaims(ctx context.Context, cluster *ZookeeperCluster, from int) error {
	var claims corev1.PersistentVolumeClaimList
	if err := o.List(ctx, &claims, client.InNamespace(cluster.Namespace), client.MatchingLabels{label: cluster.Name}); err != nil {
		return err
	}
	var errs []error
	for i := range claims.Items {
		if ordinal(claims.Items[i].Name) >= from {
			errs = append(errs, client.IgnoreNotFound(o.Delete(ctx, &claims.Items[i])))
		}
	}
	return errors.Join(errs...)
}

// ordinal returns the number of the server that a claim is for.
func ordinal(claim string) int {
	number, err := strconv.Atoi(claim[strings.LastIndexByte(claim, '-')+1:])
	if err != nil {
		return -1
	}
	return number
}

// ensureServers brings the StatefulSet to its size, and reports how many servers run.
func (o *Operator) ensureServers(ctx context.Context, cluster *ZookeeperCluster) error {
	var servers appsv1.StatefulSet
	err := o.Get(ctx, client.ObjectKeyFromObject(cluster), &servers)
	switch {
	case apierrors.IsNotFound(err):
		wanted := newServers(cluster)
		if err := ctrl.SetControllerReference(cluster, wanted, o.Scheme()); err != nil {
			return err
		}
		return o.Create(ctx, wanted)
	case err != nil:
		return err
	case !metav1.IsControlledBy(&servers, cluster):
		return nil // it goes with the cluster before, and its end is an event
	case *servers.Spec.Replicas != cluster.Spec.Replicas:
		servers.Spec.Replicas = &cluster.Spec.Replicas
		return o.Update(ctx, &servers)
	case servers.Status.ReadyReplicas != cluster.Status.ReadyReplicas:
		cluster.Status.ReadyReplicas = servers.Status.ReadyReplicas
		return o.Status().Update(ctx, cluster)
	}
	return nil
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("zookeeper").
		For(&ZookeeperCluster{}).
		Owns(&appsv1.StatefulSet{}).
		Complete(o)
}
