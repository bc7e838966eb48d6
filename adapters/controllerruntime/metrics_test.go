package controllerruntime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

func gauge(name string) prometheus.Collector {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "It is set."})
}

// TestCollectors has a program register what it measures: with both registries as it is set up, and once more in its
// first run.
func TestCollectors(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			ctrlmetrics.Registry.MustRegister(gauge("widgets"))
			prometheus.MustRegister(gauge("widgets"))
			c, first := mgr.GetClient(), true
			return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				if first {
					prometheus.MustRegister(gauge("first_widget"))
					first = false
				}
				var w Widget
				if err := c.Get(ctx, r.NamespacedName, &w); err != nil || w.Labels["seen"] != "" {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				w.Labels = map[string]string{"seen": "yes"}
				return ctrl.Result{}, c.Update(ctx, &w)
			}))
		}))
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds || len(r.Findings) > 0 {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, r.Findings)
	}
}

// TestCollectorsTwice has a program register the same twice, which ends it.
func TestCollectorsTwice(t *testing.T) {
	_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(func(mgr ctrl.Manager) error {
		ctrlmetrics.Registry.MustRegister(gauge("widgets"))
		ctrlmetrics.Registry.MustRegister(gauge("widgets"))
		return setupWidgets(mgr)
	}))
	if err == nil || !strings.Contains(err.Error(), "duplicate metrics collector registration attempted") {
		t.Errorf("got %v", err)
	}
}
