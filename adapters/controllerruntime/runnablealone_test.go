package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestRunnablesAlone has set-ups register nothing but what works in the background, beside others or as all there is.
func TestRunnablesAlone(t *testing.T) {
	deletes := func(after time.Duration) controllerruntime.Option {
		return controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				time.Sleep(after)
				_ = c.Delete(ctx, configMap("a", nil))
				<-ctx.Done()
				return nil
			}))
		})
	}
	idle := reconcilesConfigMaps("idle", func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error) {
		return ctrl.Result{}, nil
	})
	stays := controllerruntime.Properties(properties.Always("a is there", func(s core.State) bool {
		return s.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}) != nil
	}))
	for name, options := range map[string][]controllerruntime.Option{
		"at once, behind a controller":  {idle, deletes(0)},
		"at once, before a controller":  {deletes(0), idle},
		"later":                         {idle, deletes(time.Minute)},
		"with no controller":            {deletes(0)},
		"several":                       {deletes(time.Minute), idle, deletes(time.Hour)},
		"later, and with no controller": {deletes(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), append(options, stays, controllerruntime.ObjectValues(configMap("a", nil)))...)
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != core.Violated {
				t.Errorf("%s %v, want what the runnable does", r.Verdict, r.Reasons)
			}
		})
	}
}

// TestKindsThatNobodyServes has properties be about kinds that are misspelt.
func TestKindsThatNobodyServes(t *testing.T) {
	matches := func(core.State, core.Object) bool { return false }
	for name, test := range map[string]struct {
		property core.Property
		want     core.Verdict
	}{
		"at most":        {properties.AtMost(0, "ConfigMaps"), core.Inconclusive},
		"matches":        {properties.Matches("m", "Configmap", matches), core.Inconclusive},
		"duplicates":     {properties.NoDuplicates("Deployments.apps", func(any) string { return "" }), core.Inconclusive},
		"status":         {properties.StatusFollowsSpec("Deployment"), core.Inconclusive},
		"leaks":          {properties.NoLeaks("Secret", "Widgets.example.org", "spec.secret"), core.Inconclusive},
		"one that is":    {properties.AtMost(1, "ConfigMap"), core.Holds},
		"one of a group": {properties.StatusFollowsSpec("Deployment.apps"), core.Holds},
		"one of a CRD":   {properties.AtMost(0, "Widget.example.org"), core.Holds},
	} {
		idle := reconcilesConfigMaps("idle", func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error) {
			return ctrl.Result{}, nil
		})
		system := controllerruntime.ForTest(t, newScheme(), idle, controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(test.property))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Report; r.Verdict != test.want {
			t.Errorf("%s: %s %v, want %s", name, r.Verdict, r.Reasons, test.want)
		}
	}
}
