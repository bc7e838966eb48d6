package racecondition

import (
	"flag"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func TestCostCenter(t *testing.T) {
	tests := []struct {
		name        string
		fixed       bool
		verdict     core.Verdict
		violates    []string
		states      int
		transitions int
		centers     []string
	}{
		{"race", false, core.Violated, []string{"same outcome"}, 9, 10, []string{"checkout", Shared}},
		{"fixed", true, core.Holds, nil, 6, 7, []string{"checkout"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			system, err := System(test.fixed)
			if err != nil {
				t.Fatal(err)
			}
			result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			if report.Verdict != test.verdict || report.States != test.states || report.Transitions != test.transitions {
				t.Errorf("%s with %d states and %d transitions, want %s with %d and %d",
					report.Verdict, report.States, report.Transitions, test.verdict, test.states, test.transitions)
			}
			var violates []string
			for _, finding := range report.Findings {
				violates = append(violates, finding.Property)
			}
			if !slices.Equal(violates, test.violates) {
				t.Errorf("it violates %q, want %q", violates, test.violates)
			}
			if got := costCenters(t, report); !slices.Equal(got, test.centers) {
				t.Errorf("the Namespace ends up with %q, want %q", got, test.centers)
			}
		})
	}
}

// TestParting looks at where the two runs part: each starts with the controller that
// wins.
func TestParting(t *testing.T) {
	system, err := System(false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		t.Fatal(err)
	}
	finding := result.Report.Findings[0]
	if finding.Other == nil {
		t.Fatal("there is no second run to compare with")
	}
	first := []string{finding.Trace.Steps[0].Controller, finding.Other.Steps[0].Controller}
	slices.Sort(first)
	if !slices.Equal(first, []string{"billing", "onboarding"}) {
		t.Errorf("the runs start with %q", first)
	}
}

// costCenters returns, in order, who pays for the Namespace in the ends of a system.
func costCenters(t *testing.T, report core.Report) []string {
	t.Helper()
	var centers []string
	for _, outcome := range report.OutcomeList {
		namespace, err := controllerruntime.Get[*corev1.Namespace](clientgoscheme.Scheme, outcome.Objects, "payments")
		if err != nil {
			t.Fatal(err)
		}
		centers = append(centers, namespace.Labels[CostCenter])
	}
	slices.Sort(centers)
	return centers
}
