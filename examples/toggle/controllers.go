package toggle

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Replicas that the two controllers want.
const (
	enough = 3
	cheap  = 2
)

// Availability keeps every Deployment at no fewer than three replicas.
type Availability struct{ client.Client }

// Reconcile scales up.
func (a *Availability) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var deployment appsv1.Deployment
	if err := a.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if deployment.Spec.Replicas != nil && *deployment.Spec.Replicas >= enough {
		return ctrl.Result{}, nil
	}
	replicas := int32(enough)
	deployment.Spec.Replicas = &replicas
	return ctrl.Result{}, a.Update(ctx, &deployment)
}

// SetupWithManager registers the controller.
func (a *Availability) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("availability").For(&appsv1.Deployment{}).Complete(a)
}

// Savings keeps every Deployment at no more than two replicas.
type Savings struct{ client.Client }

// Reconcile scales down.
func (s *Savings) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var deployment appsv1.Deployment
	if err := s.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if deployment.Spec.Replicas != nil && *deployment.Spec.Replicas <= cheap {
		return ctrl.Result{}, nil
	}
	replicas := int32(cheap)
	deployment.Spec.Replicas = &replicas
	return ctrl.Result{}, s.Update(ctx, &deployment)
}

// SetupWithManager registers the controller.
func (s *Savings) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("savings").For(&appsv1.Deployment{}).Complete(s)
}
