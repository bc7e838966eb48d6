package subscriptions

import (
	"flag"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestTwice checks that a topic is subscribed to twice where an answer is lost, or the controller crashes before it notes the id; and not if the controller
// chooses the id. The full search comes to the same.
func TestTwice(t *testing.T) {
	const once = "one subscription for each topic"
	for _, options := range []orrery.Options{{}, {Failures: 1}, {Crashes: 1}, {Failures: 2, Crashes: 1, Granularity: orrery.PerCall}} {
		for _, names := range []bool{false, true} {
			twice := !names && options.Failures+options.Crashes > 0
			system, err := System(names)
			for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
				options.Reduction = reduction
				report := checks.Report(t, system, err, options)
				if got := slices.Contains(checks.Violated(report), once); got != twice || !twice && report.Verdict != core.Holds || len(report.Reasons) > 0 {
					t.Errorf("named by the controller: %t, %d crashes, %d failures, reduction %s: %s, violating %q, not certain because of %q",
						names, options.Crashes, options.Failures, reduction, report.Verdict, checks.Violated(report), report.Reasons)
				}
			}
		}
	}
}
