package clientgo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// Environment is what a set-up makes its controllers in: a process that reaches nothing but the simulated API server.
type Environment struct {
	process *process
	ctx     context.Context
	config  *rest.Config
	notes   *system.Notes

	current transport.Current
	loans   informer.Loans
	view    informer.View
	synced  informer.Synced
	indexes informer.Indexes

	// informers are those that were made, and filled the factories that they were put into.
	informers []*sharedInformer
	filled    []filled
	groups    int

	controllers []*Controller
	// working is the one that works on an item, nil if none does.
	working *Controller
}

// Config is how clients reach the API server: any clientset can be made from it, typed, dynamic, for metadata or for discovery. Requests are answered
// once controllers run; only what kinds there are can be asked before. It is a copy.
func (e *Environment) Config() *rest.Config {
	config := *e.config
	return &config
}

// Context is the context of the set-up, with a logger. It is over when the set-up has returned: give it to constructors that start
// goroutines, such as those of event broadcasters.
func (e *Environment) Context() context.Context { return e.ctx }

// Informer returns an informer of the process for the objects of a kind: typed, unstructured, or metadata alone, as the example is. It shows those of the
// namespace, or all if that is empty, that the tweaked list options select; tweak may be nil. It takes the place of one that a
// constructor makes. Informers of a factory come from [Environment.Fill].
func (e *Environment) Informer(example client.Object, namespace string, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
	of, err := informer.Of(example, e.view.Server.Scheme())
	if err != nil {
		return nil, err
	}
	if err := e.view.Serves(of); err != nil {
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
	return e.informer(of, scope, nil, e.group()), nil
}

// group numbers factories, and informers without one, so that indexes of the same name can be told apart.
func (e *Environment) group() int {
	const most = 1 << 10
	group := e.process.number*most + e.groups
	e.groups++
	return group
}

// informer makes an informer of the process.
func (e *Environment) informer(of informer.Form, scope *informer.Scope, transform cache.TransformFunc, group int) *sharedInformer {
	i := &sharedInformer{Synced: e.synced, environment: e, form: of, scope: scope, transform: transform, group: group}
	i.store.informer = i
	e.informers = append(e.informers, i)
	return i
}

// watches are the event handlers of a controller, in the order in which they were added to each informer: those that were added before it
// was registered, and after the one before it. Those that were added last are the last one's.
func (e *Environment) watches(c *Controller) []informer.Watch {
	var watches []informer.Watch
	for _, i := range e.informers {
		for _, h := range i.handlers {
			if e.controllers[min(h.owner, len(e.controllers)-1)] != c {
				continue
			}
			watches = append(watches, informer.Watch{Form: i.form, Scope: i.scope, Transform: i.transform, Cache: i, Handler: h.handler})
		}
	}
	return watches
}

func (e *Environment) idleRequest(request string) {
	e.notes.Doubt("the set-up got no answer to %q, as the API server answers only once controllers run: ask it in a sync, or leave the request out of the set-up", request)
}
