package scheduler

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

const (
	twice  = "one task for each machine"
	idle   = "all machines get to work"
	crashy = "crash safety"
)

// TestKnownSpaces checks spaces that were drawn by hand, of one task. It is put into the queue, and the loop waits for its list. The loop decides, and
// the binder is to bind the task. The binder does so, and the cache shows it: at once, or by one step more. Then the scheduler forgets what it assumed. Its memory is
// another one than that of a fresh start where the loop waits, and where something is assumed.

func TestKnownSpaces(t *testing.T) {
	for _, test := range []struct {
		name          string
		machines      int
		rule          orrery.StaleRule
		states, steps int
		memories      int
	}{
		{"fresh", 1, orrery.Fresh, 5, 4, 2},
		{"lag(1)", 1, orrery.Lag(1), 6, 5, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := check(t, 1, test.machines, 0, orrery.Options{Stale: []orrery.Staleness{{Rule: test.rule}}, Reduction: orrery.NoReduction})
			if report.Verdict != core.Holds {
				t.Errorf("%s: %q, violating %q", report.Verdict, report.Reasons, checks.Violated(report))
			}
			if report.States != test.states || report.Transitions != test.steps || report.TerminalStates != 1 {
				t.Errorf("%d states, %d steps and %d ends: want %d, %d and 1", report.States, report.Transitions, report.TerminalStates, test.states, test.steps)
			}
			if len(report.Memory) != 1 || report.Memory[0].Contents != test.memories || !report.Memory[0].Background {
				t.Errorf("the memory is %+v, want %d contents", report.Memory, test.memories)
			}
		})
	}
}

// TestScheduler checks each variant with and without crashes and old caches. What is assumed is enough until a crash loses it, and the first list
// after that is old.
func TestScheduler(t *testing.T) {
	lag := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	for variant, violates := range [][4][]string{
		0:         {nil, nil, nil, {twice, crashy}},
		Forgetful: {{twice}, {twice}, {twice}, {twice}},
		Careful:   {},
		Patient:   {nil, nil, nil, {idle, crashy}},
	} {
		for i, options := range []orrery.Options{{}, {Stale: lag}, {Crashes: 1}, {Stale: lag, Crashes: 1}} {
			report := check(t, 2, 2, Variant(variant), options)
			if len(report.Reasons) > 0 {
				t.Errorf("variant %d, %s, %d crashes: %q", variant, options.Stale, options.Crashes, report.Reasons)
			}
			if got := checks.Violated(report); !slices.Equal(got, violates[i]) {
				t.Errorf("variant %d, %s, %d crashes: it violates %q, want %q", variant, options.Stale, options.Crashes, got, violates[i])
			}
			if want := core.Holds; len(violates[i]) == 0 && report.Verdict != want {
				t.Errorf("variant %d, %s, %d crashes: %s, want %s", variant, options.Stale, options.Crashes, report.Verdict, want)
			}
			t.Logf("variant %d, %s, %d crashes: %d states in %s", variant, options.Stale, options.Crashes, report.States, report.Elapsed)
		}
	}
}

// TestTooFewMachines checks that tasks wait in memory for machines that are not there.
func TestTooFewMachines(t *testing.T) {
	for _, sizes := range [][2]int{{2, 1}, {3, 2}} {
		if report := check(t, sizes[0], sizes[1], 0, orrery.Options{}); report.Verdict != core.Holds {
			t.Errorf("%d tasks, %d machines: %s: %q, violating %q", sizes[0], sizes[1], report.Verdict, report.Reasons, checks.Violated(report))
		}
	}
}

// TestSameForEachWorkerAndReduction checks that how it is searched makes no difference to what is found.
func TestSameForEachWorkerAndReduction(t *testing.T) {
	options := orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, Crashes: 1, Workers: 1}
	first := check(t, 2, 2, Forgetful, options)
	options.Workers = 2
	if again := check(t, 2, 2, Forgetful, options); again.States != first.States || again.Transitions != first.Transitions || !slices.Equal(checks.Violated(again), checks.Violated(first)) {
		t.Errorf("%d states and %d steps with two workers, want %d and %d", again.States, again.Transitions, first.States, first.Transitions)
	}
	options.Reduction = orrery.NoReduction
	if full := check(t, 2, 2, Forgetful, options); full.States < first.States || full.Outcomes != first.Outcomes || !slices.Equal(checks.Violated(full), checks.Violated(first)) {
		t.Errorf("%d states and %d outcomes without a reduction, violating %q: %d and %d with one, violating %q",
			full.States, full.Outcomes, checks.Violated(full), first.States, first.Outcomes, checks.Violated(first))
	}
}

func check(t *testing.T, tasks, machines int, variant Variant, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(tasks, machines, variant)
	return checks.Report(t, system, err, options)
}
