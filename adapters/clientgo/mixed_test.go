package clientgo_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// secrets registers a controller of controller-runtime that changes Secrets unless that is done.
func secrets(name string, change func(*corev1.Secret) bool) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.Secret{}).
			Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var secret corev1.Secret
				if err := c.Get(ctx, request.NamespacedName, &secret); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				if !change(&secret) {
					return reconcile.Result{}, nil
				}
				return reconcile.Result{}, c.Update(ctx, &secret)
			}))
	})
}

// marks puts a label on Secrets.
func marks(secret *corev1.Secret) bool {
	if secret.Labels["seen"] == "true" {
		return false
	}
	secret.Labels = map[string]string{"seen": "true"}
	return true
}

// empties takes all data from Secrets, which the mirror puts there.
func empties(secret *corev1.Secret) bool {
	if len(secret.Data) == 0 {
		return false
	}
	secret.Data = nil
	return true
}

// mixed returns a mirror on client-go and a controller on controller-runtime in one system, which is that of the one or of the other.
func mixed(t *testing.T, clientGoFirst bool, change func(*corev1.Secret) bool) *core.System {
	t.Helper()
	object := configMap("a", "1")
	if clientGoFirst {
		other := controllerruntime.ForTest(t, scheme.Scheme, secrets("other", change))
		return clientgo.ForTest(t, scheme.Scheme, mirrored(false, nil), clientgo.With(other), clientgo.ObjectValues(object), clientgo.Properties(properties.Convergent()...))
	}
	other := clientgo.ForTest(t, scheme.Scheme, mirrored(false, nil))
	return controllerruntime.ForTest(t, scheme.Scheme, secrets("other", change), controllerruntime.With(other),
		controllerruntime.ObjectValues(object), controllerruntime.Properties(properties.Convergent()...))
}

// TestMixed checks controllers of two libraries together. Whichever system the others are added to, the states are the same, under stale caches and with a crash as well, and with orders
// left out the outcomes are.
func TestMixed(t *testing.T) {
	for name, options := range map[string]orrery.Options{
		"fresh": {}, "stale": {Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}, "crash": {Crashes: 1}, "calls": {Granularity: orrery.PerCall},
	} {
		t.Run(name, func(t *testing.T) {
			var states, outcomes []int
			for _, clientGoFirst := range []bool{false, true} {
				for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
					options.Reduction = reduction
					result, err := orrery.Run(t.Context(), mixed(t, clientGoFirst, marks), options)
					if err != nil {
						t.Fatal(err)
					}
					r := &result.Report
					if r.Verdict != core.Holds {
						t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
					}
					if reduction == orrery.NoReduction {
						states = append(states, r.States, r.Transitions)
					}
					outcomes = append(outcomes, r.Outcomes)
				}
			}
			if !slices.Equal(states[:2], states[2:]) || !slices.Equal(outcomes, []int{1, 1, 1, 1}) {
				t.Errorf("states and steps are %v, outcomes %v", states, outcomes)
			}
		})
	}
}

// TestMixedFight wants controllers of two libraries that undo each other's work to be found, with both of their names.
func TestMixedFight(t *testing.T) {
	for _, clientGoFirst := range []bool{false, true} {
		result, err := orrery.Run(t.Context(), mixed(t, clientGoFirst, empties), orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := result.Report.Findings
		if len(f) == 0 || f[0].Property != "stable convergence" || !slices.Contains(f[0].Controllers, "mirror") || !slices.Contains(f[0].Controllers, "other") {
			t.Errorf("the findings are %v", summaries(&result.Report))
		}
	}
}

// TestMixedMistakes wants systems that cannot be added to be refused.
func TestMixedMistakes(t *testing.T) {
	for want, other := range map[string]*core.System{
		"a system that is nil":        nil,
		"it has objects of its own":   controllerruntime.ForTest(t, scheme.Scheme, secrets("other", marks), controllerruntime.ObjectValues(configMap("b", "1"))),
		"its users have a scenario":   controllerruntime.ForTest(t, scheme.Scheme, secrets("other", marks), controllerruntime.Scenario(controllerruntime.Delete(configMap("a", "1")))),
		"two controllers are called":  controllerruntime.ForTest(t, scheme.Scheme, secrets("mirror", marks)),
		"do not act on an API server": {Name: "other", Store: noServer{}},
	} {
		_, err := clientgo.New(scheme.Scheme, mirrored(false, nil), clientgo.With(other))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// noServer is another store than an API server.
type noServer struct{ core.Store }
