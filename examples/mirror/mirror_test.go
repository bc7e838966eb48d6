package mirror

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

// TestCopyStays checks that a copy stays where the controller crashes in between, and only there, and that a finalizer helps. The full search and several workers
// come to the same.
func TestCopyStays(t *testing.T) {
	for _, test := range []struct {
		finalizes bool
		options   orrery.Options
		violates  []string
	}{
		{false, orrery.Options{}, nil},
		{false, orrery.Options{Failures: 1}, nil},
		{false, orrery.Options{Crashes: 1}, []string{"fixpoint", "each copy has its original"}},
		{true, orrery.Options{Crashes: 1, Failures: 1}, nil},
		{true, orrery.Options{Crashes: 1, Failures: 1, Granularity: orrery.PerCall}, nil},
	} {
		system, err := System(test.finalizes)
		for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
			test.options.Reduction = reduction
			report := checks.Report(t, system, err, test.options)
			if !slices.Equal(checks.Violated(report), test.violates) || report.Verdict == core.Inconclusive {
				t.Errorf("finalizer: %t, %d crashes, %d failures, reduction %s: %s, violating %q, want %q",
					test.finalizes, test.options.Crashes, test.options.Failures, reduction, report.Verdict, checks.Violated(report), test.violates)
			}
		}
	}
}
