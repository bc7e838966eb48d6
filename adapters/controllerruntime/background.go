package controllerruntime

import (
	"context"
	"fmt"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

var _ core.Active = (*instance)(nil)

// Start implements [core.Active]: it starts the runnables of the process, and the sources that deliver what does not
// come from the cluster.
func (i *instance) Start(recorder core.EffectRecorder) []func() {
	a := i.assembly
	ctx, cancel := context.WithCancel(a.base)
	a.stop = cancel
	ctx = a.current.Background(ctx, recorder)
	run := a.current.Of(ctx)
	var routines []func()
	for _, c := range i.process {
		c.queue.outside = func(request reconcile.Request, later bool) {
			a.current.Enqueue(core.Item{Strategy: c.name, Request: encode(request)}, later)
		}
		for _, s := range a.background(c) {
			routines = append(routines, listen(ctx, run, c, s))
		}
	}
	for _, r := range a.runnables[i.registered.setup] {
		routines = append(routines, perform(ctx, run, r))
	}
	return routines
}

// listen returns what starts a source. The requests that a function enqueues at once are known to be there initially.
func listen(ctx context.Context, run *transport.Run, c *registered, s source.Source) func() {
	return func() {
		var started atomic.Bool
		_, function := s.(source.Func)
		q := &queue{outside: func(request reconcile.Request, later bool) {
			if !function || started.Load() {
				run.Enqueue(core.Item{Strategy: c.name, Request: encode(request)}, later)
			}
		}}
		if err := s.Start(ctx, q); err != nil {
			run.Unmodelled(fmt.Sprintf("starting a source of %s: %v", c.name, err), "a controller whose source cannot start ends its manager: let it start")
		}
		started.Store(true)
	}
}

// carryRunnables gives the runnables of a set-up that has no controllers one which does nothing: what works in the
// background of a process is started with its controllers.
func (a *assembly) carryRunnables(mgr manager.Manager) error {
	if len(a.runnables[a.setup]) == 0 || len(a.process(a.setup)) > 0 {
		return nil
	}
	_, err := controller.New(fmt.Sprintf("runnables-%d", a.setup+1), mgr, controller.Options{
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }),
	})
	return err
}

// perform returns what runs a runnable.
func perform(ctx context.Context, run *transport.Run, r manager.Runnable) func() {
	return func() {
		if err := r.Start(ctx); err != nil && ctx.Err() == nil {
			run.Unmodelled(fmt.Sprintf("ending the %T with the error: %v", r, err), "a runnable that fails ends its manager: let it go on")
		}
	}
}

// Stop implements [core.Active].
func (i *instance) Stop() { i.assembly.stop() }
