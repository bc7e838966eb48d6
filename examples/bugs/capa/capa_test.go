package capa

import (
	"flag"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestBounds checks what makes a second instance, and that the fix holds.
func TestBounds(t *testing.T) {
	old := []orrery.Staleness{{Controller: "machine", Kind: "ConfigMap", Rule: orrery.Lag(1)}}
	for _, test := range []struct {
		name    string
		fixed   bool
		options orrery.Options
		states  int
		verdict core.Verdict
	}{
		{"without faults", false, orrery.Options{}, 3, core.Holds},
		{"a crash", false, orrery.Options{Crashes: 1}, 9, core.Violated},
		{"a call that fails", false, orrery.Options{Failures: 1}, 9, core.Violated},
		{"a crash, fixed", true, orrery.Options{Crashes: 1}, 7, core.Holds},
		{"everything, fixed", true, orrery.Options{Crashes: 1, Failures: 1, Stale: old}, 26, core.Holds},
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
			if test.verdict == core.Violated && report.Findings[0].Property != "one instance each" {
				t.Errorf("the first finding is against %q", report.Findings[0].Property)
			}
		})
	}
}
