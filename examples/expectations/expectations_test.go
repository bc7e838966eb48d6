package expectations

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

const (
	tooMany   = "never too many Pods"
	tooFew    = "enough Pods in the end"
	staleness = "staleness safety"
)

// TestKnownSpaces checks spaces that were drawn by hand, of two Pods under lag(1). The first reconcile creates both, and the second commit delivers the
// first. Then a reconcile and the delivery of the second Pod may come in either order, and a last reconcile finds all Pods: a diamond with a tail, of
// 5 states and 5 steps. Without expectations, the reconcile that comes before the delivery creates a third Pod, and goes on to an end of its own: one
// state for the third Pod, a diamond behind it and a tail. With fresh caches there is the first reconcile and one that finds all. If more is expected than is
// created, one Pod is created and delivered, and a reconcile waits for the other one.
func TestKnownSpaces(t *testing.T) {
	for _, test := range []struct {
		name                string
		defect              Defect
		rule                orrery.StaleRule
		states, steps, ends int
		memories            int
		verdict             core.Verdict
		violates            []string
	}{
		{"fresh", 0, orrery.Fresh, 3, 2, 1, 2, core.Holds, nil},
		{"right", 0, orrery.Lag(1), 5, 5, 1, 2, core.Holds, nil},
		{"expects nothing", ExpectsNothing, orrery.Lag(1), 8, 8, 2, 0, core.Violated, []string{tooMany, staleness}},
		{"forgets at the end", ForgetsAtEnd, orrery.Lag(1), 8, 8, 2, 0, core.Violated, []string{tooMany, staleness}},
		{"forgets at the first", ForgetsAtFirst, orrery.Lag(1), 8, 8, 2, 2, core.Violated, []string{tooMany, staleness}},
		{"expects too much", ExpectsTooMuch, orrery.Lag(1), 4, 3, 1, 2, core.Violated, []string{tooFew}},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := check(t, 2, test.defect, orrery.Options{Stale: []orrery.Staleness{{Rule: test.rule}}, Reduction: orrery.NoReduction})
			if report.Verdict != test.verdict || !slices.Equal(checks.Violated(report), test.violates) {
				t.Errorf("%s, violating %q: want %s, violating %q", report.Verdict, checks.Violated(report), test.verdict, test.violates)
			}
			if report.States != test.states || report.Transitions != test.steps || report.TerminalStates != test.ends {
				t.Errorf("%d states, %d steps and %d ends: want %d, %d and %d",
					report.States, report.Transitions, report.TerminalStates, test.states, test.steps, test.ends)
			}
			memories := 0
			for _, m := range report.Memory {
				memories += m.Contents
			}
			if memories != test.memories {
				t.Errorf("the memory is %+v, want %d contents", report.Memory, test.memories)
			}
		})
	}
}

// TestExpectations checks when expectations are enough: a crash loses them, so that the first list has to be up to date.
func TestExpectations(t *testing.T) {
	var took time.Duration
	for _, test := range []struct {
		rule     orrery.StaleRule
		crashes  int
		violates [4]bool // by defect
	}{
		{orrery.Fresh, 0, [4]bool{}},
		{orrery.Fresh, 1, [4]bool{}},
		{orrery.Lag(1), 0, [4]bool{false, true, true, true}},
		{orrery.Lag(2), 0, [4]bool{false, true, true, true}},
		{orrery.Relist, 0, [4]bool{}},
		{orrery.Relist, 1, [4]bool{}},
		{orrery.Lag(1), 1, [4]bool{true, true, true, true}},
		{orrery.Lag(2), 1, [4]bool{true, true, true, true}},
	} {
		for defect, violates := range test.violates {
			report := check(t, 2, Defect(defect), orrery.Options{Stale: []orrery.Staleness{{Rule: test.rule}}, Crashes: test.crashes})
			took += report.Elapsed
			if len(report.Reasons) > 0 {
				t.Errorf("defect %d, %s, %d crashes: %q", defect, test.rule, test.crashes, report.Reasons)
			}
			if got := slices.Contains(checks.Violated(report), tooMany); got != violates {
				t.Errorf("defect %d, %s, %d crashes: there are too many Pods: %t, want %t", defect, test.rule, test.crashes, got, violates)
			}
			if !violates && report.Verdict != core.Holds {
				t.Errorf("defect %d, %s, %d crashes: %s, violating %q", defect, test.rule, test.crashes, report.Verdict, checks.Violated(report))
			}
		}
	}
	t.Logf("32 checks took %s", took)
}

// TestMoreReplicas checks that it is no matter of two Pods.
func TestMoreReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for replicas := 1; replicas <= 4; replicas++ {
		for _, rule := range []orrery.StaleRule{orrery.Lag(1), orrery.Lag(replicas)} {
			stale := []orrery.Staleness{{Rule: rule}}
			if report := check(t, replicas, 0, orrery.Options{Stale: stale}); report.Verdict != core.Holds {
				t.Errorf("%d replicas, %s: %s, violating %q", replicas, rule, report.Verdict, checks.Violated(report))
			}
			// A single Pod brings its ReplicaSet back only when it is seen.
			for _, defect := range []Defect{ExpectsNothing, ForgetsAtEnd, ForgetsAtFirst} {
				if report := check(t, replicas, defect, orrery.Options{Stale: stale}); slices.Contains(checks.Violated(report), tooMany) != (replicas > 1) {
					t.Errorf("%d replicas, %s, defect %d: %s, violating %q", replicas, rule, defect, report.Verdict, checks.Violated(report))
				}
			}
		}
	}
}

// TestNeverMet checks what tells of expectations that are never met: a property that asks for the Pods. The controller rests, and is at rest when it is
// run again, as long as it has its memory; so only a crash would show it otherwise.
func TestNeverMet(t *testing.T) {
	for crashes, want := range [][]string{{tooFew}, {tooFew, "crash safety"}} {
		if report := check(t, 2, ExpectsTooMuch, orrery.Options{Crashes: crashes}); !slices.Equal(checks.Violated(report), want) {
			t.Errorf("%d crashes: it violates %q, want %q", crashes, checks.Violated(report), want)
		}
	}
}

func check(t *testing.T, replicas int, defect Defect, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(replicas, defect)
	return checks.Report(t, system, err, options)
}
