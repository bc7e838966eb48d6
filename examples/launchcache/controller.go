package launchcache

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claimLabel is the label of an instance that names its claim.
const claimLabel = "example.orrery.dev/claim"

// Launcher launches an instance for each claim.
type Launcher struct {
	client.Client
	Variant Variant
	// launched has the names of instances by their claims, until the claims are seen to name them.
	launched sync.Map
}

// Reconcile launches the instance of a claim, and names it in the status.
func (l *Launcher) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var claim Claim
	if err := l.Get(ctx, request.NamespacedName, &claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if claim.Status.Instance != "" {
		l.launched.Delete(claim.Name)
		return ctrl.Result{}, nil
	}
	if claim.Status.Phase == "" { // a launch takes minutes: users see that somebody is at it
		claim.Status.Phase = Launching
		if err := l.Status().Update(ctx, &claim); err != nil {
			return ctrl.Result{}, err
		}
	}
	instance, err := l.instanceOf(ctx, &claim)
	if err != nil {
		return ctrl.Result{}, err
	}
	claim.Status = ClaimStatus{Phase: Launched, Instance: instance}
	return ctrl.Result{}, l.Status().Update(ctx, &claim)
}

// instanceOf returns the name of the instance of a claim, and launches it if there is none.
func (l *Launcher) instanceOf(ctx context.Context, claim *Claim) (string, error) {
	if name, known := l.launched.Load(claim.Name); known {
		return name.(string), nil
	}
	var instances InstanceList
	if err := l.List(ctx, &instances, client.MatchingLabels{claimLabel: claim.Name}); err != nil {
		return "", err
	}
	if len(instances.Items) > 0 {
		return instances.Items[0].Name, nil
	}
	instance := &Instance{ObjectMeta: metav1.ObjectMeta{GenerateName: claim.Name + "-", Labels: map[string]string{claimLabel: claim.Name}}}
	if l.Variant == Idempotent {
		instance.Name = claim.Name
	}
	if err := l.Create(ctx, instance); err != nil && (l.Variant != Idempotent || !apierrors.IsAlreadyExists(err)) {
		return "", err
	}
	if l.Variant != Forgetful {
		l.launched.Store(claim.Name, instance.Name)
	}
	return instance.Name, nil
}

// SetupWithManager registers the controller.
func (l *Launcher) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("launcher").For(&Claim{}).Complete(l)
}
