package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// overdue is the error of code that has not come back in real time.
type overdue struct{ deadline time.Duration }

// Error implements error.
func (o *overdue) Error() string {
	return fmt.Sprintf("it has not returned within %s of real time: it may wait for the API server and for time to pass, and for nothing else", o.deadline)
}

// bubbled runs code in a bubble of virtual time and returns why it did not come back:
// it panicked, ended its goroutine, or is blocked for ever. Code that is busy for ever,
// or waits for something outside of the bubble, is left behind at the deadline; then
// the error is an [overdue], and nothing that the code writes may be read. Goroutines
// that are left of code that came back do not matter.
//
// The errors say nothing that differs from run to run.
func bubbled(deadline time.Duration, code func()) error {
	// There is room for the end of the code, and for that of the bubble after it.
	ended := make(chan error, 2)
	go func() {
		defer func() {
			if value := recover(); value != nil {
				ended <- burst(value)
			}
		}()
		synctest.Test(new(testing.T), func(*testing.T) {
			over := make(chan struct{})
			go func() {
				err := errors.New("it ended its goroutine instead of returning")
				defer func() {
					if value := recover(); value != nil {
						err = fmt.Errorf("it panicked: %v", value)
					}
					ended <- err
					close(over)
				}()
				code()
				err = nil
			}()
			<-over // Virtual time passes only while this goroutine waits.
		})
	}()
	watch := time.NewTimer(deadline)
	defer watch.Stop()
	select {
	case err := <-ended:
		return err
	case <-watch.C:
		return &overdue{deadline}
	}
}

// burst reads the panic of a bubble that cannot go on.
func burst(value any) error {
	if text := fmt.Sprint(value); !strings.Contains(text, "deadlock") {
		return fmt.Errorf("it panicked: %s", text)
	}
	return errors.New("every goroutine of it is blocked for ever")
}
