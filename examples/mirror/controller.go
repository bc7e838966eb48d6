package mirror

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer keeps a ConfigMap until its copy is gone.
const finalizer = "example.orrery.dev/mirror"

// Mirror copies ConfigMaps to another cluster.
type Mirror struct {
	client.Client
	// Other reaches the other cluster.
	Other client.Client
	// Finalizes makes it keep a ConfigMap until its copy is gone.
	Finalizes bool
}

// Reconcile makes the copy of a ConfigMap what the ConfigMap is.
func (m *Mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var source corev1.ConfigMap
	err := m.Get(ctx, request.NamespacedName, &source)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil || !source.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, m.remove(ctx, request, &source)
	}
	if m.Finalizes && controllerutil.AddFinalizer(&source, finalizer) {
		return ctrl.Result{}, m.Update(ctx, &source)
	}
	var present corev1.ConfigMap
	err = m.Other.Get(ctx, request.NamespacedName, &present)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, m.Other.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}, Data: source.Data,
		})
	case err != nil || equality.Semantic.DeepEqual(present.Data, source.Data):
		return ctrl.Result{}, err
	}
	present.Data = source.Data
	return ctrl.Result{}, m.Other.Update(ctx, &present)
}

// remove removes the copy of a ConfigMap that is being deleted, or is gone.
func (m *Mirror) remove(ctx context.Context, request ctrl.Request, source *corev1.ConfigMap) error {
	gone := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	if err := client.IgnoreNotFound(m.Other.Delete(ctx, gone)); err != nil {
		return err
	}
	if controllerutil.RemoveFinalizer(source, finalizer) {
		return client.IgnoreNotFound(m.Update(ctx, source))
	}
	return nil
}

// SetupWithManager registers the controller.
func (m *Mirror) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("mirror").For(&corev1.ConfigMap{}).Complete(m)
}
