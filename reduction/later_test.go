package reduction_test

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// later is before the seeds of systems of which some calls set timers for items.
const later = 1 << 33

// TestReducedFindsWhatFullFindsLater compares reduced searches of systems of which some calls set timers for items with
// full ones.
func TestReducedFindsWhatFullFindsLater(t *testing.T) {
	n := *systems / 4
	if testing.Short() {
		n /= 5
	}
	full, reduced := 0, 0
	for seed := later + *firstSeed; n > 0; seed++ {
		c, ok := wholes{}.compared(t, seed, reduction.Stubborn{})
		if !ok {
			continue
		}
		n--
		full, reduced = full+c.full, reduced+c.reduced
		if c.difference != "" {
			t.Errorf("seed %d: %d states in full, %d reduced: %s", seed-later, c.full, c.reduced, c.difference)
		}
	}
	t.Logf("%d states in full, %d reduced", full, reduced)
}

// timing is a store whose writes of an object set a timer for an item.
type timing struct {
	core.Store
	key  core.Key
	item core.Item
}

// Answer implements [core.Store].
func (s timing) Answer(snapshot core.Snapshot, call core.Call) (core.Answer, error) {
	answer, err := s.Store.Answer(snapshot, call)
	if slices.ContainsFunc(answer.Writes, func(w core.Write) bool { return w.Key == s.key }) {
		answer.EnqueueAfter = append(answer.EnqueueAfter, s.item)
	}
	return answer, err
}

// timers are traps in which writes of a thing set a timer for r of the first controller.
func timers() []trap {
	x, z := plain.NewVar[int]("x"), plain.NewVar[int]("z")
	things := plain.NewFamily[int]("things")
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // that is when clocks begin
	over := func() bool { return time.Since(began) > 24*time.Hour }
	zero := []core.Initial{plain.Start(x.Is(0), z.Is(0))}
	all := []trap{
		// Its timer fires while its deadline is not over, and its run comes to its end before the timer is set again,
		// or after: only then its next run may be one before the deadline.
		{name: "a run that ends before its timer is set", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "waits", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						switch n := x.Get(w); {
						case n == 0 && !over():
							x.Set(w, 1)
							return core.Result{RequeueAfter: time.Hour}
						case n == 1:
							x.Set(w, 2)
							things.At(1).Set(w, 1)
						case n == 2 && over():
							z.Set(w, 1)
						case n == 2:
							z.Set(w, 2)
						}
						return core.Result{}
					},
				},
				{
					Name: "sets", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(w *plain.World, r core.Request) core.Result {
						if r == "1" && over() {
							things.At(0).Set(w, 1)
						}
						return core.Result{}
					},
				},
			},
		}, conditions: explore.Conditions{Granularity: explore.PerCall, Deadlines: 1}},
		// Whatever changes what it looks at sets a timer for it, which is not to wake it: as long as the others go on,
		// it does not look again.
		{name: "a look that is put off by a timer", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if n, there := things.At(0).Lookup(w); there && n == 1 {
							z.Set(w, 1+x.Get(w))
						}
						return core.Result{}
					},
				},
				once("changes", func(w *plain.World) {
					things.At(0).Set(w, 1)
					x.Set(w, 1)
				}),
				once("goes on", func(w *plain.World) { x.Set(w, 2) }),
			},
		}},
	}
	for i := range all {
		item := core.Item{Strategy: all[i].model.Controllers[0].Name, Request: "r"}
		all[i].store = func(s core.Store) core.Store { return timing{s, things.At(0).Key(), item} }
	}
	return all
}

// TestTimerTraps wants reduced searches to find what full ones do where steps set timers for others.
func TestTimerTraps(t *testing.T) {
	for _, p := range timers() {
		t.Run(p.name, func(t *testing.T) {
			if difference := p.caught(t, reduction.Stubborn{}); difference != "" {
				t.Error(difference)
			}
		})
	}
}
