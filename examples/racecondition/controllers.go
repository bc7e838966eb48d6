package racecondition

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// CostCenter is the label that says who pays for a Namespace.
	CostCenter = "example.orrery.dev/cost-center"
	// Team is the annotation that says who has asked for it.
	Team = "example.orrery.dev/team"
	// Shared pays for what nobody else pays for.
	Shared = "shared"
)

// Billing sees to it that every Namespace has a cost center.
type Billing struct {
	client.Client
	// SparesTeams leaves Namespaces of teams to [Onboarding].
	SparesTeams bool
}

// Reconcile puts a Namespace without a cost center on the shared one.
func (b *Billing) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var namespace corev1.Namespace
	if err := b.Get(ctx, request.NamespacedName, &namespace); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if b.SparesTeams && namespace.Annotations[Team] != "" {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, defaultCostCenter(ctx, b.Client, &namespace, Shared)
}

// SetupWithManager registers the controller.
func (b *Billing) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("billing").For(&corev1.Namespace{}).Complete(b)
}

// Onboarding prepares the Namespaces of teams.
type Onboarding struct{ client.Client }

// Reconcile makes the team pay for its Namespace, unless somebody pays already.
func (o *Onboarding) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var namespace corev1.Namespace
	if err := o.Get(ctx, request.NamespacedName, &namespace); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	team := namespace.Annotations[Team]
	if team == "" {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, defaultCostCenter(ctx, o.Client, &namespace, team)
}

// SetupWithManager registers the controller.
func (o *Onboarding) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("onboarding").For(&corev1.Namespace{}).Complete(o)
}

// defaultCostCenter labels a Namespace that has no cost center yet.
func defaultCostCenter(ctx context.Context, c client.Client, namespace *corev1.Namespace, center string) error {
	if namespace.Labels[CostCenter] != "" {
		return nil
	}
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[CostCenter] = center
	return c.Update(ctx, namespace)
}
