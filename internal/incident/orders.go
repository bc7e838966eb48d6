package incident

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lastNumber is the annotation of a Namespace with the last number that was given to an order.
const lastNumber = "shop.example.com/last-number"

// orderReconciler gives each order, a ConfigMap, a number.
type orderReconciler struct {
	client.Client
	// Locked has the API server refuse a number that was read from a stale cache.
	Locked bool
}

// Reconcile takes the next number, and writes it into the order.
func (r *orderReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var order corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &order); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if order.Labels["app"] != "order" || order.Data["number"] != "" {
		return ctrl.Result{}, nil
	}
	var shop corev1.Namespace
	if err := r.Get(ctx, client.ObjectKey{Name: request.Namespace}, &shop); err != nil {
		return ctrl.Result{}, err
	}
	last, err := strconv.Atoi("0" + shop.Annotations[lastNumber])
	if err != nil {
		return ctrl.Result{}, err
	}
	number := strconv.Itoa(last + 1)

	before := shop.DeepCopy()
	if shop.Annotations == nil {
		shop.Annotations = map[string]string{}
	}
	shop.Annotations[lastNumber] = number
	change := client.MergeFrom(before)
	if r.Locked {
		change = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	}
	if err := r.Patch(ctx, &shop, change); err != nil {
		return ctrl.Result{}, err
	}
	order.Data = map[string]string{"number": number}
	return ctrl.Result{}, r.Update(ctx, &order)
}

// SetupWithManager registers the controller, as main.go does.
func (r *orderReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("orders").For(&corev1.ConfigMap{}).Complete(r)
}
