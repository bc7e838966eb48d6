package controllerruntime

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Trigger is what makes a reconciler run that is registered with [Reconciler].
type Trigger func(*builder.Builder)

// For reconciles the objects of a kind whenever they change. It can be given once.
func For(object client.Object, options ...builder.ForOption) Trigger {
	return func(b *builder.Builder) { b.For(object, options...) }
}

// Owns reconciles the owner, of the kind given to [For], of a changed object.
func Owns(object client.Object, options ...builder.OwnsOption) Trigger {
	return func(b *builder.Builder) { b.Owns(object, options...) }
}

// Watches reconciles what the handler makes of a changed object.
func Watches(object client.Object, to handler.EventHandler, options ...builder.WatchesOption) Trigger {
	return func(b *builder.Builder) { b.Watches(object, to, options...) }
}

// InitialRequests reconciles the requests when the controller starts.
func InitialRequests(requests ...reconcile.Request) Trigger {
	return func(b *builder.Builder) { b.WatchesRawSource(initialRequests(requests)) }
}

// Reconciler adds a reconciler without a set-up of its own, such as a stand-in for
// a controller of Kubernetes that the checked ones depend on. It is made afresh for
// every run, with the client of a fresh manager.
func Reconciler(name string, build func(client.Client) reconcile.Reconciler, triggers ...Trigger) Option {
	return Setup(func(mgr ctrl.Manager) error {
		b := ctrl.NewControllerManagedBy(mgr).Named(name)
		for _, trigger := range triggers {
			trigger(b)
		}
		return b.Complete(build(mgr.GetClient()))
	})
}

// initialRequests is a source that delivers its requests when it starts.
type initialRequests []reconcile.Request

var _ source.Source = initialRequests(nil)

// Start implements [source.Source].
func (s initialRequests) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	for _, request := range s {
		queue.Add(request)
	}
	return nil
}
