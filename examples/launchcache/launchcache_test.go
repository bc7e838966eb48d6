package launchcache

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

const twice = "never two instances"

// TestKnownSpace checks a space that was drawn by hand, under lag(1) and without crashes. The first reconcile launches. Its second change of the claim
// delivers the first one, which wakes the controller, so that there are three things left to do: both deliveries and a reconcile. The deliveries in either
// order make four states. Where the claim is not seen to be launched, a reconcile fails with a conflict, and is back where it was; where it is, a
// reconcile is the last, and forgets the launch, with the instance seen before it or after it. In all these are 1 + 4 + 2 states, and
// 1 + 4 + 2 + 2 + 1 steps. With fresh caches there are the first reconcile and the last.
func TestKnownSpace(t *testing.T) {
	for _, test := range []struct {
		variant       Variant
		rule          orrery.StaleRule
		states, steps int
	}{
		{0, orrery.Fresh, 3, 2},
		{Idempotent, orrery.Fresh, 3, 2},
		{0, orrery.Lag(1), 7, 10},
		{Idempotent, orrery.Lag(1), 7, 10},
	} {
		report := check(t, test.variant, orrery.Options{Stale: []orrery.Staleness{{Rule: test.rule}}, Reduction: orrery.NoReduction})
		if report.Verdict != core.Holds || report.States != test.states || report.Transitions != test.steps {
			t.Errorf("variant %d, %s: %s with %d states and %d steps, want %d and %d",
				test.variant, test.rule, report.Verdict, report.States, report.Transitions, test.states, test.steps)
		}
		if len(report.Memory) != 1 || report.Memory[0].Contents != 1 || !slices.Equal(report.Memory[0].Fields, []string{"Launcher.launched"}) {
			t.Errorf("variant %d, %s: the memory is %+v", test.variant, test.rule, report.Memory)
		}
	}
}

// TestLaunchCache checks what keeps the controller from launching twice: a lookup while it is up to date, the memory until a crash, a name always.
func TestLaunchCache(t *testing.T) {
	var took time.Duration
	for _, test := range []struct {
		rule     orrery.StaleRule
		crashes  int
		violates [3]bool // by variant
	}{
		{orrery.Fresh, 0, [3]bool{}},
		{orrery.Fresh, 1, [3]bool{}},
		{orrery.Relist, 0, [3]bool{}},
		{orrery.Relist, 1, [3]bool{}},
		{orrery.Lag(1), 0, [3]bool{Forgetful: true}},
		{orrery.Lag(2), 0, [3]bool{Forgetful: true}},
		{orrery.Lag(1), 1, [3]bool{0: true, Forgetful: true}},
		{orrery.Lag(2), 1, [3]bool{0: true, Forgetful: true}},
		{orrery.Lag(1), 2, [3]bool{0: true, Forgetful: true}},
	} {
		for variant, violates := range test.violates {
			report := check(t, Variant(variant), orrery.Options{Stale: []orrery.Staleness{{Rule: test.rule}}, Crashes: test.crashes})
			took += report.Elapsed
			if len(report.Reasons) > 0 {
				t.Errorf("variant %d, %s, %d crashes: %q", variant, test.rule, test.crashes, report.Reasons)
			}
			if got := slices.Contains(checks.Violated(report), twice); got != violates {
				t.Errorf("variant %d, %s, %d crashes: there are two instances: %t, want %t", variant, test.rule, test.crashes, got, violates)
			}
			if !violates && report.Verdict != core.Holds {
				t.Errorf("variant %d, %s, %d crashes: %s, violating %q", variant, test.rule, test.crashes, report.Verdict, checks.Violated(report))
			}
		}
	}
	t.Logf("27 checks took %s", took)
}

// TestLostAnswer checks that a name also helps where the answer to a launch is lost. Memory does not: the controller does not know what it launched.
func TestLostAnswer(t *testing.T) {
	for variant, violates := range [3]bool{0: true, Forgetful: true, Idempotent: false} {
		report := check(t, Variant(variant), orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Failures: 1})
		if got := slices.Contains(checks.Violated(report), twice); got != violates {
			t.Errorf("variant %d: there are two instances: %t, want %t; %s", variant, got, violates, report.Verdict)
		}
	}
}

func check(t *testing.T, variant Variant, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(variant)
	return checks.Report(t, system, err, options)
}
