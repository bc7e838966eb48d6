package toggle

import (
	"flag"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func check(t *testing.T, fixed bool) core.Report {
	t.Helper()
	system, err := System(fixed)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// TestFight counts by hand: at the start both controllers have work, with 1 replica.
// Savings may look at once and leave it (2 states). Each write queues both again, at 3
// replicas or at 2; of the two, the one that is content may go first (4 states).
func TestFight(t *testing.T) {
	report := check(t, false)
	if report.Verdict != core.Violated || report.States != 6 || report.Transitions != 9 || report.TerminalStates != 0 {
		t.Errorf("%s with %d states, %d transitions and %d terminal states, want violated with 6, 9 and 0",
			report.Verdict, report.States, report.Transitions, report.TerminalStates)
	}
	if len(report.Findings) != 1 {
		t.Fatalf("%d findings, want 1", len(report.Findings))
	}
	finding := report.Findings[0]
	if finding.Property != "stable convergence" {
		t.Errorf("the finding is against %q", finding.Property)
	}
	controllers := slices.Sorted(slices.Values(finding.Controllers))
	if !slices.Equal(controllers, []string{"availability", "savings"}) {
		t.Errorf("the controllers involved are %q", controllers)
	}
	if !slices.Equal(finding.Fields, []string{"Deployment.apps default/web: spec.replicas"}) {
		t.Errorf("the fields involved are %q", finding.Fields)
	}
	if finding.Steps != 3 || finding.Trace.CycleStart != 1 {
		t.Errorf("the story has %d steps of which all after %d repeat, want 3 and 1", finding.Steps, finding.Trace.CycleStart)
	}
}

func TestFixed(t *testing.T) {
	report := check(t, true)
	if report.Verdict != core.Holds || report.States != 8 || report.Transitions != 10 {
		t.Fatalf("%s with %d states and %d transitions, want holds with 8 and 10", report.Verdict, report.States, report.Transitions)
	}
	if report.Outcomes != 1 {
		t.Fatalf("%d outcomes, want 1", report.Outcomes)
	}
	web, err := controllerruntime.Get[*appsv1.Deployment](clientgoscheme.Scheme, report.OutcomeList[0].Objects, "default/web")
	if err != nil {
		t.Fatal(err)
	}
	if replicas := ptr.Deref(web.Spec.Replicas, 0); replicas != enough {
		t.Errorf("it ends with %d replicas, want %d", replicas, enough)
	}
	if advice := web.Annotations[Advice]; advice != "2" {
		t.Errorf("it ends with the advice %q, want 2", advice)
	}
}
