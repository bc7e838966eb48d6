package cryostat

import (
	"flag"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestBounds checks that it takes a stale view of the links, and nothing else, to make a
// second one.
func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name    string
		fixed   bool
		options orrery.Options
		states  int
		verdict core.Verdict
	}{
		{"without faults", false, orrery.Options{}, 3, core.Holds},
		{"two crashes", false, orrery.Options{Crashes: 2}, 11, core.Holds},
		{"a call that fails", false, orrery.Options{Failures: 1}, 7, core.Holds},
		{"a stale view of Services", false, orrery.Options{Stale: []orrery.Staleness{{Controller: "cryostat", Kind: "Service", Rule: orrery.Lag(1)}}}, 4, core.Holds},
		{"own writes are seen", false, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.OwnWrites(1)}}}, 3, core.Holds},
		{"a stale view of links", false, orrery.Options{Stale: []orrery.Staleness{{Controller: "cryostat", Kind: "ConfigMap", Rule: orrery.Lag(1)}}}, 8, core.Violated},
		{"fixed", true, orrery.Options{Stale: []orrery.Staleness{{Controller: "cryostat", Kind: "ConfigMap", Rule: orrery.Lag(1)}}}, 5, core.Holds},
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
			if test.verdict == core.Violated && report.Findings[0].Property != "one link each" {
				t.Errorf("the first finding is against %q", report.Findings[0].Property)
			}
		})
	}
}
