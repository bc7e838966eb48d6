package autoscaler

import (
	"flag"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func check(t *testing.T, fixed, rollout bool, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(fixed, rollout)
	return checks.Report(t, system, err, options)
}

// TestFight checks the operator and the autoscaler that undo each other's changes.
//
// At the start both have work. Before there is a Deployment, the autoscaler has looked, or not: 2 states. Its creation wakes both. While it has one replica, the autoscaler
// has work, and the operator may have: 2 states. While it has two, the operator has work, and the autoscaler may have: 2 states. In a state in which both have work
// there are two steps, and one in the others: 3 · (2 + 1) = 9.
func TestFight(t *testing.T) {
	report := check(t, false, false, orrery.Options{Reduction: orrery.NoReduction})
	if report.Verdict != core.Violated || report.States != 6 || report.Transitions != 9 || report.TerminalStates != 0 {
		t.Errorf("%s with %d states, %d transitions and %d terminal states, want violated with 6, 9 and 0", report.Verdict, report.States, report.Transitions, report.TerminalStates)
	}
	if got := checks.Violated(report); !slices.Equal(got, []string{"stable convergence"}) {
		t.Fatalf("%v is violated", got)
	}
	finding := report.Findings[0]
	if !slices.Equal(finding.Controllers, []string{"autoscaler", "operator"}) || !slices.Equal(finding.Fields, []string{"Deployment.apps default/web: spec.replicas"}) {
		t.Errorf("the finding is about %q of %q", finding.Fields, finding.Controllers)
	}
}

// TestFixed checks the operator that leaves the replicas alone. Before the Deployment is scaled, there are the same 4 states. After that, either may still have to look, or both, or
// none: 4 states. The steps are 3 and 3 before, and 2 + 1 + 1 after.
func TestFixed(t *testing.T) {
	report := check(t, true, false, orrery.Options{Reduction: orrery.NoReduction})
	if report.Verdict != core.Holds || report.States != 8 || report.Transitions != 10 || report.Outcomes != 1 {
		t.Errorf("%s with %d states, %d transitions and %d outcomes, want holds with 8, 10 and 1", report.Verdict, report.States, report.Transitions, report.Outcomes)
	}
}

// TestRollout checks that the fixed operator and the autoscaler never lose what the other one writes, whatever is stale or fails: each outcome has two replicas, and
// the image is the new one unless the user never asked for it.
func TestRollout(t *testing.T) {
	for name, options := range map[string]orrery.Options{
		"full":      {Reduction: orrery.NoReduction},
		"reduced":   {},
		"calls":     {Granularity: orrery.PerCall},
		"disturbed": {Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Crashes: 1, Failures: 1},
	} {
		t.Run(name, func(t *testing.T) {
			report := check(t, true, true, options)
			if report.Verdict != core.Holds {
				t.Fatalf("%s: %v, %v", report.Verdict, report.Reasons, checks.Violated(report))
			}
			var images []string
			for _, outcome := range report.OutcomeList {
				deployment, err := controllerruntime.Get[*appsv1.Deployment](scheme.Scheme, outcome.Objects, "default/web")
				if err != nil {
					t.Fatal(err)
				}
				if *deployment.Spec.Replicas != 2 {
					t.Errorf("an outcome has %d replicas", *deployment.Spec.Replicas)
				}
				images = append(images, deployment.Spec.Template.Spec.Containers[0].Image)
			}
			slices.Sort(images)
			if !slices.Equal(images, []string{"web:1", "web:2"}) {
				t.Errorf("the images of the outcomes are %v", images)
			}
		})
	}
}
