package controllerruntime

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/internal/metrics"
	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/internal/webhook"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// setupDeadline bounds the first run of the set-up, in real time.
const setupDeadline = 10 * time.Second

// blueprint is what instances are built from. Nothing in it changes, and all
// instances share it.
type blueprint struct {
	scheme *runtime.Scheme
	server *kube.Server
	// decoder reads what caches show.
	decoder *informer.Decoder
	// client, newClient, controller and base are those of the user's manager options.
	client     client.Options
	newClient  client.NewClientFunc
	controller config.Controller
	base       manager.BaseContextFunc
	// basesWebhooks tells that this version of controller-runtime makes the contexts of requests to webhooks of base,
	// too.
	basesWebhooks bool
	// holds is what the manager's cache holds.
	holds  *holdings
	setups []func(ctrl.Manager) error
	// configurations are what is said of the webhooks, in the order in which they are
	// asked. There may be none.
	configurations []webhook.Configuration
	// mirrors are the controllers that remember nothing but what the cache shows.
	mirrors []string
	// leavesOut reports whether the options leave out a part that would be run.
	leavesOut func(option, name string) bool
	loggers   system.Loggers
	instances *transport.Instances
	// indexes are those that the first set-up has added. Programs add them once in a process, and later set-ups may not
	// do so again.
	indexes informer.Indexes
}

// assemble runs the set-up on a fresh manager.
func (b *blueprint) assemble() (*assembly, error) {
	a, mgr, err := b.newAssembly()
	if err != nil {
		return nil, err
	}
	for i, setup := range b.setups {
		a.setup = i
		if err := caught(func() error { return setup(mgr) }); err != nil {
			if runtime.IsNotRegisteredError(err) {
				err = fmt.Errorf("%w: add the type to the scheme, as main.go does with AddToScheme", err)
			}
			return nil, fmt.Errorf("set-up number %d: %w", i+1, err)
		}
		if err := a.carryRunnables(mgr); err != nil {
			return nil, err
		}
	}
	maps.Copy(a.cache.indexes, b.indexes)
	return a, nil
}

// caught runs code of the user's, and returns a panic of it as an error.
func caught(code func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panicked: %v\n%s", value, debug.Stack())
		}
	}()
	return code()
}

// survey runs the set-up, starts the sources of all controllers, and returns what
// was registered. It gives up after the deadline.
func (b *blueprint) survey() (*assembly, error) {
	type outcome struct {
		assembly *assembly
		err      error
	}
	done := make(chan outcome, 1)
	go func() {
		ended := outcome{err: errors.New("the set-up ended its goroutine: do not call FailNow, Fatal or Skip of a test in it, but return an error")}
		defer func() { done <- ended }()
		ended.assembly, ended.err = b.assemble()
		if ended.err == nil {
			ended.err = caught(ended.assembly.surveySources)
		}
	}()
	select {
	case end := <-done:
		return end.assembly, end.err
	case <-time.After(setupDeadline):
		return nil, fmt.Errorf("the set-up has not returned after %s: it may only register controllers, not wait for anything", setupDeadline)
	}
}

// newAssembly returns a fresh manager and the place where its registrations are
// collected.
func (b *blueprint) newAssembly() (*assembly, ctrl.Manager, error) {
	synced, err := informer.NewSynced()
	if err != nil {
		return nil, nil, err
	}
	a := &assembly{leavesOut: b.leavesOut, runnables: map[int][]manager.Runnable{}, collectors: metrics.New(registry(), metrics.Default())}
	if err := caught(func() error { return a.startFrom(b.base) }); err != nil {
		return nil, nil, fmt.Errorf("the BaseContext of the manager options: %w", err)
	}
	a.current.Among = b.instances
	a.informers = informers{synced: synced, stray: a.strayHandler, several: a.severalInformers}
	a.cache = &viewCache{
		view:      informer.View{Server: b.server, Decoder: b.decoder, Current: &a.current, Unstarted: &cache.ErrCacheNotStarted{}},
		informers: &a.informers,
		indexes:   informer.Indexes{},
		loans:     &a.loans,
		holds:     b.holds,
	}
	// The program of a controller is usually called so.
	connection := (&transport.Transport{Server: b.server, Current: &a.current, Idle: a.idleRequest}).Config("manager")
	clientOptions := b.client
	if clientOptions.Cache != nil {
		// The manager fills in its cache.
		clientOptions.Cache = ptr.To(*clientOptions.Cache)
	}
	controller := b.controller
	controller.SkipNameValidation = ptr.To(true)
	controller.RecoverPanic = ptr.To(false)
	real, err := ctrl.NewManager(connection, ctrl.Options{
		Scheme:         b.scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return b.server.RESTMapper(), nil },
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return a.cache, nil },
		Client:         clientOptions,
		NewClient:      b.newClient,
		Controller:     controller,
		Logger:         b.loggers.Logger,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		WebhookServer:  &webhooks{mux: http.NewServeMux(), registered: a.webhook},
	})
	if err != nil {
		return nil, nil, err
	}
	mgr, err := disconnect(real, a.add)
	return a, mgr, err
}
