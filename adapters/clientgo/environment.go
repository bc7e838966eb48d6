package clientgo

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/memory"
	"github.com/orrery-dev/orrery/adapters/internal/metrics"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// Environment is what a set-up makes its controllers in: a process that reaches nothing but the simulated API server.
type Environment struct {
	process *process
	ctx     context.Context
	config  *rest.Config
	notes   *system.Notes

	background background
	// collectors are what its code registers with Prometheus.
	collectors *metrics.Instance

	current transport.Current
	loans   informer.Loans
	view    informer.View
	synced  informer.Synced
	indexes informer.Indexes

	// informers are those that were made, and filled the factories that they were put into.
	informers []*sharedInformer
	filled    []filled
	groups    int
	// taken are informers that code has made by itself, and that were taken over.
	taken []*takenInformer
	// probe is the network of those of which it is being found out what they list, nil if there are none.
	probe *transport.Transport
	// awaited tells that an informer was started, or asked whether it has synced.
	awaited atomic.Bool

	controllers []*Controller
	memory      memory.Reader
	// working is the one that processes an item, nil if none does. Workers that outlive a run may ask.
	working atomic.Pointer[Controller]
	// handling is the one whose event handlers are being called, nil if none are.
	handling *Controller
}

// Config is how clients reach the API server: any clientset can be made from it, typed, dynamic, for metadata or for
// discovery. Requests are answered once controllers run; only what kinds there are can be asked before. It is a copy.
func (e *Environment) Config() *rest.Config {
	config := *e.config
	return &config
}

// Context is the context of the set-up, with a logger. It is over when the set-up has returned: give it to constructors
// that start goroutines, such as those of event broadcasters.
func (e *Environment) Context() context.Context { return e.ctx }

// Background returns a context for what the controllers do between items, in goroutines that the set-up starts: it
// lasts as long as they run. A check then takes what these goroutines do for steps of the process, at any moment.
func (e *Environment) Background() context.Context {
	e.background.asked.Store(true)
	e.background.ofAll = true
	return e.background.ctx
}

// BackgroundOf is as [Environment.Background] for goroutines that are a part of one controller only, by the name that
// it is registered with: they use nothing that others use, but for the clients and informers of the environment. What
// the other controllers do is then searched with less effort.
func (e *Environment) BackgroundOf(controller string) context.Context {
	e.background.asked.Store(true)
	if !slices.Contains(e.background.of, controller) {
		e.background.of = append(e.background.of, controller)
	}
	return e.background.ctx
}

// RESTMapper knows the kinds that the API server serves.
func (e *Environment) RESTMapper() meta.RESTMapper { return e.view.Server.RESTMapper() }

// Assume adds an assumption to the report of a check, such as what the set-up leaves out of what main.go does.
func (e *Environment) Assume(format string, args ...any) { e.notes.Assume(format, args...) }

// Duck returns an informer of the process for the objects of a kind, which are shown as what the example is: another Go
// type than the one that the scheme has for the kind, with some of its fields.
func (e *Environment) Duck(kind schema.GroupVersionKind, example runtime.Object) (cache.SharedIndexInformer, error) {
	of := informer.Form{Kind: kind, As: informer.Untyped}
	if err := e.view.Serves(of, nil); err != nil {
		return nil, err
	}
	shape := reflect.TypeOf(example).Elem()
	return e.informer(of, nil, func(object any) (any, error) {
		tree, ok := object.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("a %T is no tree", object)
		}
		shown := reflect.New(shape).Interface()
		return shown, runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Object, shown)
	}, e.group()), nil
}

// Informer returns an informer of the process for the objects of a kind: typed, unstructured, or metadata alone, as the
// example is. It shows those of the namespace, or all if that is empty, that the tweaked list options select; tweak may
// be nil. It takes the place of one that a constructor makes. Informers of a factory come from [Environment.Fill].
func (e *Environment) Informer(example client.Object, namespace string, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
	of, err := informer.Of(example, e.view.Server.Scheme())
	if err != nil {
		return nil, err
	}
	var options metav1.ListOptions
	if tweak != nil {
		tweak(&options)
	}
	scope, err := informer.NewScope(namespace, options)
	if err != nil {
		return nil, err
	}
	if err := e.view.Serves(of, scope); err != nil {
		return nil, err
	}
	return e.informer(of, scope, nil, e.group()), nil
}

// group numbers factories, and informers without one, so that indexes of the same name can be told apart.
func (e *Environment) group() int {
	const most = 1 << 10
	group := e.process.groups + e.process.number*most + e.groups
	e.groups++
	return group
}

// informer makes an informer of the process.
func (e *Environment) informer(of informer.Form, scope *informer.Scope, transform cache.TransformFunc, group int) *sharedInformer {
	return e.informerAt(new(sharedInformer), of, scope, transform, group)
}

// informerAt is as [Environment.informer], in memory that is there already.
func (e *Environment) informerAt(i *sharedInformer, of informer.Form, scope *informer.Scope, transform cache.TransformFunc, group int) *sharedInformer {
	*i = sharedInformer{Synced: e.synced, environment: e, form: of, scope: scope, transform: transform, group: group}
	i.store.informer = i
	e.informers = append(e.informers, i)
	return i
}

// watches are the event handlers of a controller, with what they watch.
func (e *Environment) watches(c *Controller) []informer.Watch {
	var watches []informer.Watch
	for i, handler := range e.handlers(c) {
		watches = append(watches, informer.Watch{Form: i.form, Scope: i.scope, Transform: i.transform, Cache: i, Handler: handler})
	}
	return watches
}

// handlers are the event handlers of a controller, in the order in which they were added to each informer: those that
// were added before it was registered, and after the one before it. Those that were added last are the last one's.
func (e *Environment) handlers(c *Controller) iter.Seq2[*sharedInformer, cache.ResourceEventHandler] {
	return func(yield func(*sharedInformer, cache.ResourceEventHandler) bool) {
		for _, i := range e.informers {
			for _, h := range i.handlers {
				if e.controllers[min(h.owner, len(e.controllers)-1)] == c && !yield(i, h.handler) {
					return
				}
			}
		}
	}
}

// tooEarly notes that the set-up reads from an informer. Where none was started before, it reads nothing in a real
// cluster either.
func (e *Environment) tooEarly(of informer.Form) {
	started := func(f filled) bool { return f.started.IsValid() && f.started.Len() > 0 }
	if e.awaited.Load() || slices.ContainsFunc(e.filled, started) {
		e.notes.Doubt("the set-up reads %s from an informer, which shows nothing before controllers run: read it in a sync", of.Name())
	}
}

// idleRequest notes that the set-up asks something, or has what it has started wait, and reports whether controllers
// run by now.
func (e *Environment) idleRequest(request string) bool {
	if e.background.waits() {
		return true
	}
	e.notes.Doubt("the set-up got no answer to %q, as the API server answers only once controllers run: ask it in a sync, or leave the request out of the set-up", request)
	return false
}
