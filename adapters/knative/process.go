package knative

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Process is a program that runs controllers with Knative's sharedmain.
type Process struct {
	// Controllers are those that its main function gives to sharedmain.
	Controllers []Controller
	// ConfigMaps are those of the namespace of the control plane that its controllers watch, or get by their names.
	// They are not objects of the API server, and do not come in lists. One without a namespace is in that of the
	// environment variable SYSTEM_NAMESPACE.
	ConfigMaps []*corev1.ConfigMap
	// Context adds to the context what the main function does, such as the selectors of filtered informers. It may be
	// nil.
	Context func(context.Context) context.Context
}

// Controller is a controller with the name that reports call it.
type Controller struct {
	Name string
	New  injection.ControllerConstructor
}

// forever is a period of resyncs. Trackers forget what was not renewed in three of them.
const forever = 80 * 365 * 24 * time.Hour

// Setup is the set-up of the process, for [clientgo.Setup].
func (p Process) Setup(e *clientgo.Environment) error {
	ctx := controller.WithResyncPeriod(e.Context(), forever)
	ctx = logging.WithLogger(ctx, zap.NewNop().Sugar())
	ctx = controller.WithEventRecorder(ctx, &record.FakeRecorder{}) // without a channel it drops all
	if p.Context != nil {
		ctx = p.Context(ctx)
	}
	configured, err := configure(e.Config().Transport, p.ConfigMaps)
	if err != nil {
		return err
	}
	defer configured.running.Store(true)
	if ctx, err = inject(ctx, e, configured); err != nil {
		return err
	}
	for _, c := range p.Controllers {
		if c.New == nil {
			return fmt.Errorf("controller %q has no constructor", c.Name)
		}
		if err := p.register(ctx, e, c); err != nil {
			return fmt.Errorf("controller %q: %w", c.Name, err)
		}
	}
	e.Assume("The ConfigMaps of the control plane do not change while controllers run.")
	e.Assume("Trackers do not forget what controllers track: resyncs, of which none are made, would renew it.")
	return nil
}

// lasting is the context of a constructor. Who asks for its end starts something that goes on until then, but for one
// who only looks, in the goroutine of the constructor, whether it has come, as clients do before a request.
type lasting struct {
	context.Context
	environment *clientgo.Environment
	controller  string
	constructor uint64
}

// Done implements [context.Context].
func (l lasting) Done() <-chan struct{} { return l.environment.BackgroundOf(l.controller).Done() }

// Err implements [context.Context].
func (l lasting) Err() error {
	if asking, _ := goroutine.Current(); asking == l.constructor {
		return nil
	}
	return l.environment.BackgroundOf(l.controller).Err()
}

// register makes a controller and registers it.
func (p Process) register(ctx context.Context, e *clientgo.Environment, c Controller) error {
	var maps []*corev1.ConfigMap
	for _, m := range p.ConfigMaps {
		maps = append(maps, m.DeepCopy())
	}
	constructor, _ := goroutine.Current()
	impl := c.New(lasting{ctx, e, c.Name, constructor}, configmap.NewStaticWatcher(maps...))
	if impl == nil {
		return errors.New("its constructor returned nothing")
	}
	queue, err := oneLane(e, impl)
	if err != nil {
		return err
	}
	if aware, ok := impl.Reconciler.(reconciler.LeaderAware); ok {
		// Informers tell of everything that is there at the start.
		if err := aware.Promote(reconciler.UniversalBucket(), nil); err != nil {
			return err
		}
	}
	clientgo.Sync(e, c.Name, impl, queue, func(ctx context.Context, key types.NamespacedName) error {
		return reconcile(ctx, impl, queue, key)
	})
	return nil
}

// reconcile works on a key as the controller itself does.
func reconcile(ctx context.Context, impl *controller.Impl, queue *clientgo.Queue[types.NamespacedName], key types.NamespacedName) error {
	text := key.Name
	if key.Namespace != "" {
		text = key.String()
	}
	err := impl.Reconciler.Reconcile(logging.WithLogger(ctx, zap.NewNop().Sugar()), text)
	again, delay := controller.IsRequeueKey(err)
	switch {
	case err == nil, controller.IsSkipKey(err):
		return nil
	case again:
		queue.AddAfter(key, delay)
		return nil
	case !apierrors.IsConflict(err) && controller.IsPermanentError(err):
		return nil
	}
	return err
}
