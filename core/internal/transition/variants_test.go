package transition

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// looking is a visitor that keeps what it is shown: the steps, and why others could not be taken to their ends.
type looking struct {
	steps   []string
	stopped []string
	// ends is the error that it ends the visit with after so many steps, none if that is 0.
	ends int
}

var errEnough = errors.New("that is enough")

func (l *looking) Took(t *Taken) error {
	l.steps = append(l.steps, t.Step().String())
	if len(l.steps) == l.ends {
		return errEnough
	}
	return nil
}

func (l *looking) Stopped(t *Taken, err error) error {
	l.stopped = append(l.stopped, t.Step().String()+": "+err.Error())
	return nil
}

// copying returns a walker, in its initial state, of a controller that is queued by a variable, and writes what it has
// seen of it into two others, one after the other.
func copying(t *testing.T, conditions Conditions) *Walker {
	t.Helper()
	x, sum := plain.NewFamily[int]("x"), plain.NewFamily[int]("sum")
	system, err := plain.Model{
		Name: "copying", Initial: []core.Initial{plain.Start(x.At(0).Is(1), sum.At(0).Is(0), sum.At(1).Is(0))},
		Controllers: []plain.Controller{{
			Name: "c", Watches: []plain.Watch{{Kind: "x"}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				now := x.At(0).Get(w)
				sum.At(0).Set(w, now)
				sum.At(1).Set(w, now)
				return core.Result{}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLearner(t.Context(), system, conditions, behavior.Limits{Deadline: 10 * time.Second, Calls: 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Seen, l.Searching = map[Wrong]bool{}, true
	w := NewWalker(l.Machine, l)
	if err := w.Start(system.Initial[0]); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	return w
}

// TestCrashesWithinRuns has a controller crash before each call that does something after another one did, and where it
// waits, as often as it may.
func TestCrashesWithinRuns(t *testing.T) {
	for _, test := range []struct {
		name       string
		conditions Conditions
		want       []string
	}{
		{"nothing goes wrong", Conditions{}, []string{"c reconciles 0"}},
		{"a crash", Conditions{Crashes: 1}, []string{
			"c reconciles 0", `c reconciles 0, and it crashes after "write sum 0 := 1" and before call 3, "write sum 1 := 1", and starts again`, "c crashes and restarts",
		}},
		{"a crash of one that is named", Conditions{Crashes: 1, FaultsIn: []string{"c"}}, []string{
			"c reconciles 0", `c reconciles 0, and it crashes after "write sum 0 := 1" and before call 3, "write sum 1 := 1", and starts again`, "c crashes and restarts",
		}},
		{"each call is a step", Conditions{Granularity: PerCall, Crashes: 1}, []string{"c starts to reconcile 0", "c crashes and restarts"}},
		{"stale", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, []string{"c reconciles 0"}},
	} {
		w := copying(t, test.conditions)
		before, row := w.Fingerprint, w.AppendRow(nil)
		var seen looking
		quiescent, err := w.Steps(&seen, nil)
		if err != nil || quiescent || len(seen.stopped) > 0 {
			t.Errorf("%s: quiescent %t, %v, %q", test.name, quiescent, err, seen.stopped)
		}
		if !slices.Equal(seen.steps, test.want) {
			t.Errorf("%s: the steps are %q, want %q", test.name, seen.steps, test.want)
		}
		if w.Fingerprint != before || !slices.Equal(w.AppendRow(nil), row) {
			t.Errorf("%s: the walker is somewhere else after the visit", test.name)
		}
		// Once it is known, a walker that may not learn sees the same.
		reader := NewWalker(w.Machine, nil)
		reader.Load(row)
		var again looking
		if _, err := reader.Steps(&again, nil); err != nil || !slices.Equal(again.steps, test.want) {
			t.Errorf("%s: to one that only reads, the steps are %q, %v, %q", test.name, again.steps, err, again.stopped)
		}
		for n := range test.want {
			ends := looking{ends: n + 1}
			if _, err := reader.Steps(&ends, nil); !errors.Is(err, errEnough) || len(ends.steps) != n+1 {
				t.Errorf("%s: the visit goes on after step %d: %q, %v", test.name, n+1, ends.steps, err)
			}
			reader.undo()
		}
		if chosen, err := w.Choose(core.Step{Kind: core.Restart, Item: core.Item{Strategy: "c"}}); err != nil || (chosen != nil) != (test.conditions.Crashes > 0) {
			t.Errorf("%s: a restart is chosen: %+v, %v", test.name, chosen, err)
		}
	}
}

// TestUnknownSteps has a walker that may not learn stop at each step of which nothing is known, in whatever way its
// steps are taken, and be where it was.
func TestUnknownSteps(t *testing.T) {
	for name, c := range map[string]Conditions{
		"reconciles": {}, "calls": {Granularity: PerCall}, "crashes": {Crashes: 1}, "stale caches": {Staleness: []Staleness{{Rule: view.Lag(1)}}},
	} {
		w := copying(t, c)
		reader := NewWalker(w.Machine, nil)
		row := w.AppendRow(nil)
		reader.Load(row)
		var seen looking
		if quiescent, err := reader.Steps(&seen, nil); err != nil || quiescent || len(seen.stopped) == 0 {
			t.Errorf("%s: quiescent %t, %v, %q", name, quiescent, err, seen.stopped)
		}
		for _, text := range seen.stopped {
			if text[max(0, len(text)-len(ErrUnknown.Error())):] != ErrUnknown.Error() {
				t.Errorf("%s: it stops with %q", name, text)
			}
		}
		if !slices.Equal(reader.AppendRow(nil), row) || fmt.Sprint(reader.Fingerprint) != fmt.Sprint(w.Fingerprint) {
			t.Errorf("%s: the walker is somewhere else", name)
		}
	}
}
