package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/metrics"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// assembly is what one run of the set-up has registered on its manager.
type assembly struct {
	system.Notes
	// leavesOut reports whether a part is left out that would be run.
	leavesOut func(option, name string) bool

	// collectors are what its code registers with Prometheus.
	collectors *metrics.Instance
	// base is what the contexts of all that a manager runs are made of.
	base context.Context

	current     transport.Current
	loans       informer.Loans
	informers   informers
	cache       *viewCache
	controllers []*registered
	memory      memory.Reader
	hooks       []hook
	// runnables are what is started with a process, by the number of the set-up.
	runnables map[int][]manager.Runnable
	// stop ends what goes on between runs.
	stop context.CancelFunc
	// setup is the number of the set-up that runs.
	setup int
}

// startFrom has contexts be made of that of the user's manager options, if there is one.
func (a *assembly) startFrom(base manager.BaseContextFunc) error {
	a.base = context.Background()
	if base == nil {
		return nil
	}
	if a.base = base(); a.base == nil {
		return errors.New("it returns nil: return a context, such as context.Background()")
	}
	if err := a.base.Err(); err != nil {
		return fmt.Errorf("its context has ended (%w), so that no controller would run: return one that lives as long as the manager", err)
	}
	return nil
}

// process returns what a set-up has registered.
func (a *assembly) process(setup int) []*registered {
	var members []*registered
	for _, c := range a.controllers {
		if c.setup == setup {
			members = append(members, c)
		}
	}
	return members
}

// begin begins a run.
func (a *assembly) begin(recorder core.EffectRecorder) {
	a.collectors.Run()
	a.current.Begin(recorder)
	a.loans.Begin()
}

// add takes what the set-up adds to the manager.
func (a *assembly) add(r manager.Runnable) error {
	switch r := r.(type) {
	case controller.Controller:
		if a.current.Unmodelled(fmt.Sprintf("adding the controller %T to the manager", r), "only controllers that the set-up registers are known: register it there") {
			return nil
		}
		c, err := register(r)
		if err != nil {
			return err
		}
		c.setup = a.setup
		a.controllers = append(a.controllers, c)
		return nil
	case webhook.Server, metricsserver.Server, *certwatcher.CertWatcher, *manager.Server:
		return nil // they serve, and no controller sees it
	case cluster.Cluster:
		return fmt.Errorf("a cluster of one's own (%T) cannot be checked, as nothing watches a second API server: read and write it with a client, of package adapters/external/remote, and leave it out of the set-up", r)
	case cache.Cache:
		return fmt.Errorf("a cache of one's own (%T) cannot be checked: read through the manager's GetClient or GetCache", r)
	}
	if request, ok := requestType(r); ok {
		return fmt.Errorf("a controller with work items of type %s cannot be checked, only those with reconcile.Request: leave it out of the set-up", request)
	}
	kind := fmt.Sprintf("%T", r)
	part := system.Part{Option: withoutRunnables, Name: kind, Text: fmt.Sprintf("the %s that is added to the manager is not run", kind), Runs: true}
	if a.leaveOut(part); !a.leavesOut(part.Option, part.Name) {
		a.runnables[a.setup] = append(a.runnables[a.setup], r)
	}
	return nil
}

func (a *assembly) strayHandler(of informer.Form) {
	kind := string(of.Name())
	a.leaveOut(system.Part{Option: withoutHandlers, Name: kind, Text: fmt.Sprintf("an event handler that is added to the informer of %s by hand is not run", kind)})
}

func (a *assembly) severalInformers(of informer.Form) {
	a.Assume("The informers of %s in several namespaces are never at different changes.", of.Name())
}

// hook is what is registered on the webhook server.
type hook struct {
	path    string
	handler http.Handler
}

func (a *assembly) webhook(path string, handler http.Handler) {
	a.hooks = append(a.hooks, hook{path: path, handler: handler})
}

func (a *assembly) idleRequest(request string) bool {
	a.Doubt("the set-up got no answer to %q, as the API server answers only once controllers run: ask it in a reconcile, or leave the request out of the set-up", request)
	return false
}

// requestType returns the type of the work items of a controller, and false if the
// runnable is no controller.
func requestType(runnable manager.Runnable) (reflect.Type, bool) {
	reconcile, ok := reflect.TypeOf(runnable).MethodByName("Reconcile")
	if _, watches := reflect.TypeOf(runnable).MethodByName("Watch"); !ok || !watches {
		return nil, false
	}
	const request = 2 // after the receiver and the context
	if reconcile.Type.NumIn() <= request {
		return nil, false
	}
	return reconcile.Type.In(request), true
}
