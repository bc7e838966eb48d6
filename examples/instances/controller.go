package instances

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer keeps a machine until its instance is gone.
const finalizer = "example.orrery.dev/instance"

// Provider is what the controller needs of a cloud.
type Provider interface {
	// Create creates an instance, and returns its id. With a token that was used before, it returns the id of the instance of then.
	Create(ctx context.Context, name, token string) (id string, err error)
	// Find returns the id of an instance of the name, empty if the cloud shows none.
	Find(ctx context.Context, name string) (id string, err error)
	// Runs reports whether an instance runs.
	Runs(ctx context.Context, id string) (bool, error)
	// Delete deletes an instance.
	Delete(ctx context.Context, id string) error
}

// Variant is how the controller makes sure that a machine gets one instance only.
type Variant int

const (
	// ByStatus relies on the id in the status.
	ByStatus Variant = iota
	// ByName looks for an instance of the name before it creates one.
	ByName
	// ByToken gives the uid of the machine as token.
	ByToken
)

// poll is how often the controller asks whether an instance runs.
const poll = 10 * time.Second

// Reconciler gives each machine an instance.
type Reconciler struct {
	client.Client
	Provider Provider
	Variant  Variant
}

// Reconcile creates the instance of a machine, waits until it runs, and deletes it with the machine.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var machine Machine
	if err := r.Get(ctx, request.NamespacedName, &machine); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !machine.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, &machine)
	}
	if controllerutil.AddFinalizer(&machine, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &machine)
	}
	if machine.Status.Phase == "" {
		machine.Status.Phase = Creating
		return ctrl.Result{}, r.Status().Update(ctx, &machine)
	}
	if machine.Status.Instance == "" {
		id, err := r.ensure(ctx, &machine)
		if err != nil {
			return ctrl.Result{}, err
		}
		machine.Status.Instance = id
		return ctrl.Result{}, r.Status().Update(ctx, &machine)
	}
	if machine.Status.Phase == Ready {
		return ctrl.Result{}, nil
	}
	runs, err := r.Provider.Runs(ctx, machine.Status.Instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !runs {
		return ctrl.Result{RequeueAfter: poll}, nil
	}
	machine.Status.Phase = Ready
	return ctrl.Result{}, r.Status().Update(ctx, &machine)
}

// ensure returns the id of the instance of a machine, and creates it if it is not there.
func (r *Reconciler) ensure(ctx context.Context, machine *Machine) (string, error) {
	switch r.Variant {
	case ByName:
		if id, err := r.Provider.Find(ctx, machine.Name); id != "" || err != nil {
			return id, err
		}
	case ByToken:
		return r.Provider.Create(ctx, machine.Name, string(machine.UID))
	}
	return r.Provider.Create(ctx, machine.Name, "")
}

// release deletes the instance of a machine, and lets the machine go.
func (r *Reconciler) release(ctx context.Context, machine *Machine) error {
	id := machine.Status.Instance
	if id == "" && machine.Status.Phase == Creating && r.Variant == ByToken { // it may be there, and the token is the only way to learn its id
		var err error
		if id, err = r.ensure(ctx, machine); err != nil {
			return err
		}
	}
	if id != "" {
		if err := r.Provider.Delete(ctx, id); err != nil {
			return err
		}
	}
	if controllerutil.RemoveFinalizer(machine, finalizer) {
		return client.IgnoreNotFound(r.Update(ctx, machine))
	}
	return nil
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("machines").For(&Machine{}).Complete(r)
}
