package reduction_test

import (
	"errors"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
)

// lateTraps are traps in which what matters comes to be when it is known already what can be left out: who looks at the
// queues, who can act, or that nobody but users can.
func lateTraps() []trap {
	x, y, z := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewVar[int]("z")
	things := plain.NewFamily[int]("things")
	passed := plain.NewVar[int]("passed")
	zero := []core.Initial{plain.Start(x.Is(0), y.Is(0), z.Is(0), passed.Is(0), things.At(0).Is(0))}
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // that is when clocks begin
	over := func() bool { return time.Since(began) > 24*time.Hour }
	lag := explore.Conditions{Staleness: []explore.Staleness{{Rule: view.Lag(1)}}}
	return []trap{
		// That the queues are looked at shows only behind some steps, when it is known already what can be left out.
		{name: "queues that are looked at in the end", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "counts", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						n := x.Get(w) + 1
						x.Set(w, n)
						return core.Result{Requeue: n < 6}
					},
				},
				once("one", func(w *plain.World) { y.Set(w, 1) }),
				once("other", func(w *plain.World) { z.Set(w, 1) }),
			},
			Properties: []core.Property{{Name: "one is not the last", Invariant: func(s core.State) error {
				if x.Get(s) < 6 {
					return nil
				}
				if work := s.Work(); len(work) == 1 && work[0].Strategy == "one" {
					return errors.New("it is")
				}
				return nil
			}}},
		}},
		// Each thing that is delivered makes a request that was never there, in a state in which the other controller
		// is left out.
		{name: "a request that is new behind a delivery", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "makes", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						n := x.Get(w)
						x.Set(w, n+1)
						things.At(n+1).Set(w, 0)
						return core.Result{Requeue: n < 5}
					},
				},
				{
					Name: "is told", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} },
				},
				once("one", func(w *plain.World) { y.Set(w, 1) }),
				once("other", func(w *plain.World) { z.Set(w, 1) }),
			},
		}, conditions: lag},
		// The timer fires before the user acts, or behind that. The one that is told is run behind what the user does
		// or before, and comes after it in the order of steps, as its request is newer.
		{name: "a timer that fires where a user may act", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "waits", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if _, waited := things.At(1).Lookup(w); waited {
							z.Set(w, 1+x.Get(w))
							return core.Result{}
						}
						things.At(1).Set(w, 0)
						return core.Result{RequeueAfter: time.Hour}
					},
				},
				{
					Name: "is told", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(w *plain.World, r core.Request) core.Result {
						if r == "1" {
							y.Set(w, 1)
						}
						return core.Result{}
					},
				},
			},
			Scenario: plain.Scenario{Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { x.Set(w, 1) }}}},
			Properties: []core.Property{{Name: "x and y", Invariant: func(s core.State) error {
				if x.Get(s)+y.Get(s) > 2 {
					return errors.New("too much")
				}
				return nil
			}}},
		}},
		// At first it finds nothing to do, whatever it sees of x. After the hour it does: what did no harm before does
		// then.
		{name: "a change that does harm after a time", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: things.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 1 && time.Since(began) > time.Hour {
							z.Set(w, 1)
						}
						return core.Result{}
					},
				},
				{
					Name: "writes", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						n := y.Get(w)
						y.Set(w, min(n+1, 5))
						switch n {
						case 0, 4:
							x.Set(w, 1)
						case 1:
							x.Set(w, 0)
						case 2:
							return core.Result{RequeueAfter: time.Hour}
						case 3:
							things.At(0).Set(w, 1)
						default:
							return core.Result{}
						}
						return core.Result{Requeue: true}
					},
				},
			},
		}, conditions: explore.Conditions{Deadlines: 1}},
		// The one that looks is woken once its hour is over and finds nothing to do, while its deadline is not known to
		// be over. If the user acts before it looks, it acts as before the deadline; if the user acts behind that, as
		// behind it. So its look is no step that could as well come first.
		{name: "a look behind which a deadline is over", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: things.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 0 {
							if things.At(0).Get(w) == 1 {
								x.Set(w, 2)
								return core.Result{}
							}
							x.Set(w, 1)
							return core.Result{RequeueAfter: time.Hour}
						}
						switch {
						case things.At(0).Get(w) == 0:
						case over():
							y.Set(w, 1)
						default:
							z.Set(w, 10*z.Get(w)+1+passed.Get(w))
						}
						return core.Result{}
					},
				},
				{
					Name: "dates", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						switch {
						case over():
							passed.Set(w, 1)
						case passed.Get(w) == 0:
							return core.Result{RequeueAfter: 365 * 24 * time.Hour}
						}
						return core.Result{}
					},
				},
			},
			Scenario: plain.Scenario{Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { things.At(0).Set(w, 1) }}}},
		}, conditions: explore.Conditions{Deadlines: 1}},
	}
}
