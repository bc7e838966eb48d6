package controllerruntime_test

import (
	"bytes"
	"context"
	"maps"
	"testing"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/internal/pins"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

type flag struct{}

// flagged has each part of a program label a Widget with what its context says: a reconciler, an event handler, a
// source, a runnable and a webhook.
func flagged(mgr ctrl.Manager) error {
	c := mgr.GetClient()
	says := func(ctx context.Context) string {
		if value, ok := ctx.Value(flag{}).(string); ok {
			return value
		}
		return "none"
	}
	label := func(ctx context.Context, part string) error {
		var w Widget
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &w); err != nil || w.Labels[part] != "" {
			return client.IgnoreNotFound(err)
		}
		labels := map[string]string{part: says(ctx)}
		maps.Copy(labels, w.Labels)
		w.Labels = labels
		return c.Update(ctx, &w)
	}
	mgr.GetWebhookServer().Register("/mutate-example-org-v1-widget", &webhook.Admission{Handler: admission.HandlerFunc(func(ctx context.Context, r admission.Request) admission.Response {
		return admission.PatchResponseFromRaw(r.Object.Raw, bytes.Replace(r.Object.Raw, []byte("unasked"), []byte(says(ctx)), 1))
	})})
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return label(ctx, "runnable")
	})); err != nil {
		return err
	}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, name string) { q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}) }
	return ctrl.NewControllerManagedBy(mgr).Named("flagged").
		Watches(&Widget{}, handler.Funcs{CreateFunc: func(ctx context.Context, _ event.CreateEvent, q queue) { add(q, "handler-"+says(ctx)) }}).
		WatchesRawSource(source.Func(func(ctx context.Context, q queue) error {
			add(q, "source-"+says(ctx))
			return nil
		})).
		Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			if err := label(ctx, "reconciler"); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, label(ctx, r.Name)
		}))
}

// TestBaseContext has what a manager runs have the context of its options. The server of webhooks makes their contexts
// of it since version 0.24 of controller-runtime.
func TestBaseContext(t *testing.T) {
	for _, test := range []struct {
		base manager.BaseContextFunc
		says string
	}{
		{nil, "none"},
		{func() context.Context { return context.WithValue(context.Background(), flag{}, "up") }, "up"},
	} {
		asked := "none"
		if pins.AtLeast("sigs.k8s.io/controller-runtime", "v0.24.0") {
			asked = test.says
		}
		labelled := widget("a", 1)
		labelled.Labels = map[string]string{"webhook": "unasked"}
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(labelled),
			controllerruntime.ManagerOptions(ctrl.Options{BaseContext: test.base}), controllerruntime.Setup(flagged))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if r.Verdict != core.Holds || len(r.OutcomeList) != 1 {
			t.Fatalf("%s with %d outcomes: %v", r.Verdict, len(r.OutcomeList), r.Reasons)
		}
		w, err := controllerruntime.Get[*Widget](newScheme(), r.OutcomeList[0].Objects, "default/a")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"reconciler": test.says, "handler-" + test.says: test.says, "source-" + test.says: test.says, "runnable": test.says, "webhook": asked}
		if !maps.Equal(w.Labels, want) {
			t.Errorf("with the value %s the labels are %v, want %v", test.says, w.Labels, want)
		}
	}
}
