package readme

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BudgetReconciler gives every Deployment a PodDisruptionBudget.
type BudgetReconciler struct{ client.Client }

// Reconcile creates the budget of a Deployment if there is none.
func (r *BudgetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var deployment appsv1.Deployment
	if err := r.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var budget policyv1.PodDisruptionBudget
	err := r.Get(ctx, request.NamespacedName, &budget)
	if !apierrors.IsNotFound(err) {
		return ctrl.Result{}, err
	}
	one := intstr.FromInt32(1)
	budget = policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: deployment.Spec.Selector},
	}
	if err := ctrl.SetControllerReference(&deployment, &budget, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Create(ctx, &budget)
}

// SetupWithManager registers the controller, as main.go does.
func (r *BudgetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&appsv1.Deployment{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Complete(r)
}
