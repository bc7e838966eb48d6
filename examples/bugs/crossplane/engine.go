package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured"
	"github.com/crossplane/crossplane/v2/internal/engine"
)

// controllerEngine is Crossplane's engine for controllers that come and go, with two
// differences: the controllers that it starts are added to the manager, where they are
// found by the checker, and watches are never collected as garbage.
type controllerEngine struct {
	*engine.ControllerEngine
	manager ctrl.Manager
}

// newControllerEngine makes the engine and its clients as startCommand.Run of Crossplane
// does (cmd/crossplane/core/core.go:401-446). Its cache is that of the manager.
func newControllerEngine(mgr ctrl.Manager) (*controllerEngine, error) {
	options := client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}
	uncached, err := client.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	options.Cache = &client.CacheOptions{
		Reader:       mgr.GetCache(),
		DisableFor:   []client.Object{&corev1.Secret{}},
		Unstructured: true,
	}
	cached, err := client.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return &controllerEngine{
		ControllerEngine: engine.New(mgr,
			engine.TrackInformers(mgr.GetCache(), mgr.GetScheme()),
			unstructured.NewClient(cached),
			unstructured.NewClient(uncached),
		),
		manager: mgr,
	}, nil
}

// Start starts a controller: it adds it to the manager.
func (e *controllerEngine) Start(name string, options ...engine.ControllerOption) error {
	return e.ControllerEngine.Start(name, append(options,
		engine.WithNewControllerFn(e.newController),
		engine.WithWatchGarbageCollector(noCollector{}),
	)...)
}

func (e *controllerEngine) newController(name string, options controller.Options) (controller.Controller, error) {
	c, err := controller.New(name, e.manager, options)
	return managedController{c}, err
}

// managedController is run by the manager that it was added to, not by the engine.
type managedController struct{ controller.Controller }

// Start does nothing.
func (managedController) Start(context.Context) error { return nil }

// Watch takes a source of the engine.
func (c managedController) Watch(s source.Source) error { return c.Controller.Watch(informed{s}) }

// informed is a source of the engine. All of them listen to informers, and have
// delivered their first list before a controller runs.
type informed struct{ source.Source }

var _ source.SyncingSource = informed{}

// WaitForSync returns at once.
func (informed) WaitForSync(context.Context) error { return nil }

// noCollector leaves watches alone.
type noCollector struct{}

var _ engine.WatchGarbageCollector = noCollector{}

// GarbageCollectWatches returns at once.
func (noCollector) GarbageCollectWatches(context.Context, time.Duration) {}
