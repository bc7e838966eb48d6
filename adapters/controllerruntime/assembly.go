package controllerruntime

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// assembly is what one run of the set-up has registered on its manager.
type assembly struct {
	turn        turn
	informers   informers
	cache       *viewCache
	controllers []*registered
	hooks       []hook

	mu sync.Mutex
	// assumptions are sentences about what was registered but is not modelled.
	assumptions []string
}

// add takes what the set-up adds to the manager.
func (a *assembly) add(runnable manager.Runnable) error {
	switch r := runnable.(type) {
	case controller.Controller:
		c, err := register(r)
		if err != nil {
			return err
		}
		a.controllers = append(a.controllers, c)
		return nil
	case webhook.Server:
		return nil
	}
	if request, ok := requestType(runnable); ok {
		return fmt.Errorf("a controller with work items of type %s cannot be checked, only those with reconcile.Request: leave it out of the set-up", request)
	}
	a.assume("The %T that the set-up adds to the manager is not run.", runnable)
	return nil
}

func (a *assembly) strayHandler(of form) {
	a.assume("An event handler that the set-up adds to the informer of %s by hand is not run.", of.kind.Kind)
}

// hook is what is registered on the webhook server.
type hook struct {
	path    string
	handler http.Handler
}

func (a *assembly) webhook(path string, handler http.Handler) {
	a.hooks = append(a.hooks, hook{path: path, handler: handler})
}

func (a *assembly) idleRequest(request string) {
	a.assume("The set-up got no answer to %q: the API server answers only once controllers run.", request)
}

func (a *assembly) assume(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	assumption := fmt.Sprintf(format, args...)
	if !slices.Contains(a.assumptions, assumption) {
		a.assumptions = append(a.assumptions, assumption)
	}
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
