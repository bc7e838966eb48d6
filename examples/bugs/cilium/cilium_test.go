package cilium

import (
	"flag"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestBounds checks that one instance is well even if it sees late what others do, that
// two are not, and that the fix holds.
func TestBounds(t *testing.T) {
	stale := []orrery.Staleness{{Controller: "cilium", Kind: "Node", Rule: orrery.OwnWrites(1)}}
	double := []string{"cilium"}
	for _, test := range []struct {
		name    string
		fixed   bool
		options orrery.Options
		states  int
		verdict core.Verdict
	}{
		{"one instance", false, orrery.Options{Stale: stale}, 13, core.Holds},
		{"two that see each other", false, orrery.Options{Doubles: double}, 41, core.Holds},
		{"two", false, orrery.Options{Stale: stale, Doubles: double}, 129, core.Violated},
		{"two at the same time", false, orrery.Options{Granularity: orrery.PerCall, Doubles: double}, 3403, core.Violated},
		{"two, fixed", true, orrery.Options{Stale: stale, Doubles: double}, 81, core.Holds},
		{"two at the same time, fixed", true, orrery.Options{Granularity: orrery.PerCall, Doubles: double}, 3685, core.Holds},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := System(test.fixed)
			if err != nil {
				t.Fatal(err)
			}
			test.options.Reduction = orrery.NoReduction // the numbers are those of every order
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			if report.States != test.states || report.Verdict != test.verdict {
				t.Errorf("%s with %d states, want %s with %d", report.Verdict, report.States, test.verdict, test.states)
			}
			if test.verdict == core.Violated && report.Findings[0].Property != "blocks are disjoint" {
				t.Errorf("the first finding is against %q", report.Findings[0].Property)
			}
		})
	}
}
