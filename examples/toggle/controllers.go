package toggle

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Replicas that the two controllers want.
const (
	enough = 3
	cheap  = 2
)

// Advice is the annotation in which [Savings] writes how many replicas it would
// have, if it only advises.
const Advice = "example.orrery.dev/cheaper-replicas"

// Availability keeps every Deployment at no fewer than three replicas.
type Availability struct{ client.Client }

// Reconcile scales up.
func (a *Availability) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var deployment appsv1.Deployment
	if err := a.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if ptr.Deref(deployment.Spec.Replicas, 1) >= enough {
		return ctrl.Result{}, nil
	}
	deployment.Spec.Replicas = ptr.To[int32](enough)
	return ctrl.Result{}, a.Update(ctx, &deployment)
}

// SetupWithManager registers the controller.
func (a *Availability) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("availability").For(&appsv1.Deployment{}).Complete(a)
}

// Savings keeps every Deployment at no more than two replicas.
type Savings struct {
	client.Client
	// Advises makes it write what it wants into the annotation [Advice], and leave
	// the replicas to their owner.
	Advises bool
}

// Reconcile scales down, or advises to.
func (s *Savings) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var deployment appsv1.Deployment
	if err := s.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if ptr.Deref(deployment.Spec.Replicas, 1) <= cheap {
		return ctrl.Result{}, nil
	}
	if s.Advises {
		return ctrl.Result{}, s.advise(ctx, &deployment)
	}
	deployment.Spec.Replicas = ptr.To[int32](cheap)
	return ctrl.Result{}, s.Update(ctx, &deployment)
}

func (s *Savings) advise(ctx context.Context, deployment *appsv1.Deployment) error {
	advice := strconv.Itoa(cheap)
	if deployment.Annotations[Advice] == advice {
		return nil
	}
	if deployment.Annotations == nil {
		deployment.Annotations = map[string]string{}
	}
	deployment.Annotations[Advice] = advice
	return s.Update(ctx, deployment)
}

// SetupWithManager registers the controller.
func (s *Savings) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("savings").For(&appsv1.Deployment{}).Complete(s)
}
