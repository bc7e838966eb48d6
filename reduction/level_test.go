package reduction_test

import (
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// TestAlone checks for each thing that a step may do whether its agent may be followed alone.
func TestAlone(t *testing.T) {
	const seen, missed, late = 1, 2, 3
	chooser := reduction.Stubborn{}.Learn([]explore.Footprint{{
		Known: true, Missed: []explore.Place{missed}, MissedInViews: []explore.Place{late},
	}}, nil)()
	for _, test := range []struct {
		name string
		way  explore.Way
		want bool
	}{
		{"nothing", explore.Way{}, true},
		{"looks", explore.Way{Looks: []explore.Place{seen}}, true},
		{"looks at what changes without waking it", explore.Way{Looks: []explore.Place{seen, missed}}, false},
		{"looks through a view at what changes without waking it", explore.Way{Looks: []explore.Place{late}}, false},
		{"looks at what changes without waking it, and would do nothing then", explore.Way{Lasting: true, Looks: []explore.Place{seen, missed, late}}, true},
		{"fails and looks at what changes without waking it", explore.Way{Faulty: true, Lasting: true, Looks: []explore.Place{missed}}, false},
		{"is too new to be known", explore.Way{Agent: 1, Looks: []explore.Place{missed}}, true},
		{"changes", explore.Way{Changes: true}, false},
		{"wakes", explore.Way{Wakes: true}, false},
		{"goes back to the queue", explore.Way{Again: true}, false},
		{"sets a timer", explore.Way{Timed: true}, false},
		{"fails", explore.Way{Faulty: true}, true},
		{"fails and goes back to the queue", explore.Way{Faulty: true, Again: true}, true},
		{"fails and sets a timer", explore.Way{Faulty: true, Timed: true}, true},
		{"fails and changes", explore.Way{Faulty: true, Changes: true}, false},
		{"fails and wakes", explore.Way{Faulty: true, Wakes: true}, false},
	} {
		if got := chooser.Alone(&test.way); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

// onlookers is a system in which a number of controllers look at what another one changes, and do nothing. The first of
// them watches it, or is not told of changes.
func onlookers(t *testing.T, n int, told bool) *core.System {
	t.Helper()
	x := plain.NewVar[int]("x")
	model := plain.Model{Name: "onlookers", Initial: []core.Initial{plain.Start(x.Is(0))}}
	for i := range n {
		c := plain.Controller{
			Name: fmt.Sprintf("looks%d", i), Requests: []core.Request{"r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result { x.Get(w); return core.Result{} },
		}
		if i > 0 || told {
			c.Watches = []plain.Watch{{Kind: x.Key().Kind, Map: func(core.Key) []core.Request { return []core.Request{"r"} }}}
		}
		model.Controllers = append(model.Controllers, c)
	}
	model.Controllers = append(model.Controllers, once("writes", func(w *plain.World) { x.Set(w, 1) }))
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// TestOnlookers counts the states where all but one look and do nothing: they go one after the other, before the change
// and behind it. In full, any of them may have gone before the change and behind it.
func TestOnlookers(t *testing.T) {
	const n = 6
	for _, test := range []struct {
		name       string
		told       bool
		conditions explore.Conditions
		full       int
		reduced    int
	}{
		{"told", true, explore.Conditions{}, 2 << n, 2*n + 2},
		// Whoever is not told goes once, as it finds nothing to do behind the change either.
		{"not told", false, explore.Conditions{}, 2 << n, 2*n + 1},
		{"a crash", true, explore.Conditions{Crashes: 1}, 0, 0},
		{"a failed call", true, explore.Conditions{Failures: 1}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, o := onlookers(t, n, test.told), options()
			o.Conditions = test.conditions
			want, full, _ := find(t, system, o)
			o.Reducer = reduction.Stubborn{}
			got, reduced, _ := find(t, system, o)
			if difference := differ(got, want); difference != "" {
				t.Error(difference)
			}
			t.Logf("%d states in full, %d reduced", full.States(), reduced.States())
			if test.full > 0 && (full.States() != test.full || reduced.States() != test.reduced) {
				t.Errorf("%d states in full and %d reduced, want %d and %d", full.States(), reduced.States(), test.full, test.reduced)
			}
		})
	}
}
