package bench

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// pretender takes no trial but knows what would come of it: (k+1)^n states and 100,000 a second, or twice that for
// Orrery, three quarters of it for every further worker, and a little less in each turn.
type pretender struct {
	// taken, if set, is called before each trial.
	taken func(Trial) error
	// spoil, if set, changes what is told.
	spoil func(Trial, *Sample)
}

func (p pretender) Command(t Trial) string { return t.String() }

func (p pretender) Run(_ context.Context, t Trial) (Sample, error) {
	if p.taken != nil {
		if err := p.taken(t); err != nil {
			return Sample{}, err
		}
	}
	n, found := t.param("n")
	if !found {
		n, found = t.param("jobsets")
	}
	if !found {
		n = 4
	}
	s := Sample{States: 1, Verdict: "holds", Outcomes: 1}
	for range n {
		s.States *= 3
	}
	s.Transitions = 2 * n * s.States / 3
	if t.Reduction == reduced && t.System != contended {
		s.States, s.Transitions = 2*n+1, 2*n
	}
	rate := 100_000 * (1 + 0.75*float64(t.Workers-1))
	if t.Tool == Orrery {
		rate *= 2
		s.Executed, s.FromTree = 4*n, max(s.Transitions-2*n, 0)
	}
	if t.System == tenants {
		rate /= 10
	}
	s.Seconds = float64(s.States) / rate
	s.ProcessorSeconds = s.Seconds * float64(t.Workers)
	s.PeakBytes = 40<<20 + 30*int64(s.States)
	if t.Compact {
		s.PeakBytes = 40<<20 + 20*int64(s.States)
	}
	if p.spoil != nil {
		p.spoil(t, &s)
	}
	return s, nil
}

// everything returns the names of all systems that are measured.
func everything() []string {
	return []string{
		Counters, contended, tenants, jobset, leaderGroups, "model/increment", "model/paxos", "model/philosophers", "model/two-phase-commit", "racecondition",
	}
}

// pretending returns a benchmark in which the same pretender is every tool, and all that is measured is there.
func pretending(p pretender) Bench {
	return Bench{
		Commands: []Command{{Tool: p, Systems: everything()}},
		Rivals:   []Rival{{Name: Spin, Title: "SPIN", Tool: p}, {Name: Rumur, Title: "Rumur", Tool: p}},
	}
}

// TestPlansAreWithin holds the trials of the plans against the systems that there are.
func TestPlansAreWithin(t *testing.T) {
	for _, plan := range []Plan{FullPlan(1), FullPlan(8), QuickPlan(2)} {
		b := pretending(pretender{})
		report, err := b.Measure(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Notes) > 0 {
			t.Errorf("something was left out: %v", report.Notes)
		}
	}
}

// TestTurns looks at the order in which trials are taken: what is compared takes turns.
func TestTurns(t *testing.T) {
	var order []string
	b := pretending(pretender{})
	b.Progress = func(number, of int, trial Trial) {
		if trial.System == contended {
			order = append(order, trial.Reduction)
		}
		if number > of {
			t.Errorf("run %d of %d", number, of)
		}
	}
	if _, err := b.Measure(t.Context(), FullPlan(2)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "none por none por none por" {
		t.Errorf("the order was %s", got)
	}
}

func TestWorkers(t *testing.T) {
	for processors, want := range map[int][]int{1: {1}, 2: {1, 2}, 6: {1, 2, 4}, 8: {1, 2, 4, 8}} {
		var got []int
		for _, trial := range speed(processors, "n=3 k=2") {
			if trial.Tool == Orrery && trial.Reduction == full {
				got = append(got, trial.Workers)
			}
		}
		if len(got) != len(want) || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%d processors: got searches with %v workers, want %v", processors, got, want)
		}
	}
}

// TestEndsEarly wants what was measured to be kept when a trial cannot be taken.
func TestEndsEarly(t *testing.T) {
	broken := errors.New("the disk is full")
	b := pretending(pretender{taken: func(t Trial) error {
		if t.System == contended {
			return broken
		}
		return nil
	}})
	report, err := b.Measure(t.Context(), FullPlan(2))
	if !errors.Is(err, broken) {
		t.Fatalf("got %v, want %v", err, broken)
	}
	if len(report.section(speedSection)) == 0 {
		t.Error("the runs before are lost")
	}
	last := report.Targets[len(report.Targets)-1]
	if last.Met != Open || last.Why == "" {
		t.Errorf("what was not measured is %s: %s", last.Met, last.Why)
	}
}

// TestFirstCommand has the first command that has a system take its trials.
func TestFirstCommand(t *testing.T) {
	by := map[string]map[string]int{}
	command := func(name string, systems ...string) Command {
		by[name] = map[string]int{}
		return Command{Tool: pretender{taken: func(t Trial) error { by[name][t.System]++; return nil }}, Systems: systems}
	}
	b := Bench{Commands: []Command{command("first", Counters), command("second", Counters, jobset), command("third", jobset, tenants)}}
	report, err := b.Measure(t.Context(), QuickPlan(2))
	if err != nil {
		t.Fatal(err)
	}
	for name, systems := range map[string][]string{"first": {Counters}, "second": {jobset}, "third": {tenants}} {
		if got := slices.Sorted(maps.Keys(by[name])); !slices.Equal(got, systems) {
			t.Errorf("the %s command measured %v, want %v", name, got, systems)
		}
	}
	if slices.ContainsFunc(report.Notes, func(note string) bool { return strings.HasPrefix(note, jobset) }) {
		t.Errorf("it was measured: %v", report.Notes)
	}
}

func TestNothingToMeasure(t *testing.T) {
	b := Bench{Commands: []Command{{Tool: pretender{}, Systems: []string{"mine"}}}}
	if _, err := b.Measure(t.Context(), QuickPlan(2)); err == nil {
		t.Error("a command without the systems measures something")
	}
}

// TestDisagreement wants an error rather than numbers of searches that cannot both be right.
func TestDisagreement(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(Trial, *Sample)
	}{
		{"states", func(t Trial, s *Sample) {
			if t.System == Counters && t.Workers == 2 {
				s.States++
			}
		}},
		{"verdict", func(t Trial, s *Sample) {
			if t.System == tenants && t.Reduction == reduced {
				s.Verdict = "violated"
			}
		}},
		{"outcomes", func(t Trial, s *Sample) {
			if t.System == jobset && t.Conditions == "crashes=1" && t.Reduction == full {
				s.Outcomes = 2
			}
		}},
		{"states of another tool", func(t Trial, s *Sample) {
			if t.Tool == Rumur && t.Workers == 2 {
				s.Transitions--
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := pretending(pretender{spoil: test.spoil})
			if _, err := b.Measure(t.Context(), FullPlan(2)); err == nil || !strings.Contains(err.Error(), "differ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
