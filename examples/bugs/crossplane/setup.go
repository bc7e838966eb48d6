package main

import (
	"context"

	kunstructured "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	v1 "github.com/crossplane/crossplane/v2/apis/apiextensions/v1"
	"github.com/crossplane/crossplane/v2/internal/circuit"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/composite"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/composition"
	apiextensions "github.com/crossplane/crossplane/v2/internal/controller/apiextensions/controller"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/definition"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/offered"
	"github.com/crossplane/crossplane/v2/internal/controller/apiextensions/revision"
	"github.com/crossplane/crossplane/v2/internal/engine"
	"github.com/crossplane/crossplane/v2/internal/features"
)

// setup registers the controllers of compositions and revisions by Crossplane's own
// calls, and has Crossplane's controllers of definitions start those of composites and
// claims for the one definition of this example.
func setup(mgr ctrl.Manager) error {
	options := newOptions()
	if err := composition.Setup(mgr, options); err != nil {
		return err
	}
	if err := revision.Setup(mgr, options); err != nil {
		return err
	}
	started, err := newControllerEngine(mgr)
	if err != nil {
		return err
	}
	known := &definitionClient{Client: mgr.GetClient(), definition: newDefinition()}
	applicator := resource.ClientApplicator{Client: known, Applicator: resource.ApplyFn(establish)}
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(known.definition)}
	for _, starter := range []reconcile.Reconciler{
		definition.NewReconciler(applicator, definition.WithControllerEngine(started), definition.WithOptions(options)),
		offered.NewReconciler(applicator, offered.WithControllerEngine(started), offered.WithOptions(options)),
	} {
		if _, err := starter.Reconcile(context.Background(), request); err != nil {
			return err
		}
	}
	known.definition = nil
	return watchComposed(started)
}

// newOptions are the options that startCommand.Run of Crossplane passes on, with the
// features that are on by default and matter here (cmd/crossplane/core/core.go:145-146).
func newOptions() apiextensions.Options {
	options := apiextensions.Options{
		Options:                  xpcontroller.DefaultOptions(),
		FunctionRunner:           composite.FunctionRunnerFn(compose),
		CircuitBreakerMetrics:    circuit.NewPrometheusMetrics(),
		CircuitBreakerBurst:      100,
		CircuitBreakerRefillRate: 1,
	}
	options.Features.Enable(features.EnableBetaRealtimeCompositions)
	options.Features.Enable(features.EnableBetaClaimSSA)
	return options
}

// watchComposed starts the watch of composed resources. The controller of composites
// starts it itself, once it has composed something; here it is there from the start.
func watchComposed(started *controllerEngine) error {
	of := newDefinition()
	config := &kunstructured.Unstructured{}
	config.SetAPIVersion("v1")
	config.SetKind("ConfigMap")
	owners := definition.CompositeResourcesMapFunc(of.GetCompositeGroupVersionKind(), started.GetCached(), logging.NewNopLogger())
	return started.StartWatches(context.Background(), composite.ControllerName(of.GetName()),
		engine.WatchFor(config, engine.WatchTypeComposedResource, handler.EnqueueRequestsFromMapFunc(owners)))
}

// definitionClient is the client of the controllers of definitions. While they are run
// to start the others, it knows one definition, and changes nothing; from then on it is
// the client of the manager.
type definitionClient struct {
	client.Client
	definition *v1.CompositeResourceDefinition
}

// Get implements [client.Reader].
func (c *definitionClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if asked, ok := into.(*v1.CompositeResourceDefinition); ok && c.definition != nil {
		c.definition.DeepCopyInto(asked)
		return nil
	}
	return c.Client.Get(ctx, key, into, options...)
}

// Update implements [client.Writer].
func (c *definitionClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	if c.definition != nil {
		return nil
	}
	return c.Client.Update(ctx, object, options...)
}

// Status implements [client.StatusClient].
func (c *definitionClient) Status() client.SubResourceWriter {
	return definitionStatus{c.Client.Status(), c}
}

// definitionStatus changes nothing while its client knows a definition.
type definitionStatus struct {
	client.SubResourceWriter
	client *definitionClient
}

// Update implements [client.SubResourceWriter].
func (s definitionStatus) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	if s.client.definition != nil {
		return nil
	}
	return s.SubResourceWriter.Update(ctx, object, options...)
}
