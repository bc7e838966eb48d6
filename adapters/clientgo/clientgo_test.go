package clientgo_test

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// check checks a system, and wants nothing to be left of it.
func check(t *testing.T, options orrery.Options, parts ...clientgo.Option) *core.Report {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := checkAny(t, options, parts...)
	goleak.VerifyNone(t, before)
	return r
}

// checkAny checks a system that may leave goroutines behind.
func checkAny(t *testing.T, options orrery.Options, parts ...clientgo.Option) *core.Report {
	t.Helper()
	parts = append(parts, clientgo.Properties(properties.Convergent()...))
	system := clientgo.ForTest(t, scheme.Scheme, parts...)
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return &result.Report
}

// drivers are the ways in which a controller is run.
var drivers = map[string]bool{"sync": false, "run": true}

// TestDrivers checks a mirror of one ConfigMap. It looks, creates the Secret, is woken by that, and finds nothing to
// do: three states.
func TestDrivers(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{Reduction: orrery.NoReduction}, mirrored(run, nil), clientgo.ObjectValues(configMap("a", "1")))
			if r.Verdict != core.Holds || r.States != 3 || r.Transitions != 2 || r.Outcomes != 1 {
				t.Errorf("%s with %d states, %d transitions and %d outcomes, want holds with 3, 2 and 1: %v %v", r.Verdict, r.States, r.Transitions, r.Outcomes, r.Reasons, summaries(r))
			}
		})
	}
}

func summaries(r *core.Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Property+": "+f.Summary)
	}
	return all
}

// filled returns a clientset, and a factory of informers that is filled.
func filled(e *clientgo.Environment) (kubernetes.Interface, informers.SharedInformerFactory, error) {
	client, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	return client, factory, e.Fill(factory)
}
