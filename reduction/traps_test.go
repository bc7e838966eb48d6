package reduction_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
	"github.com/orrery-dev/orrery/reduction"
)

// trap is a small system in which something is lost if one thing is overlooked.
type trap struct {
	name       string
	model      plain.Model
	conditions explore.Conditions
	// store is what its store becomes, nil if it stays as it is.
	store func(core.Store) core.Store
}

// once is a controller that runs a single request.
func once(name string, do func(*plain.World)) plain.Controller {
	return plain.Controller{
		Name: name, Requests: []core.Request{"r"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result { do(w); return core.Result{} },
	}
}

// again is a controller that runs its request again and again.
func again(name string, do func(*plain.World)) plain.Controller {
	c := once(name, nil)
	c.Reconcile = func(w *plain.World, _ core.Request) core.Result { do(w); return core.Result{Requeue: true} }
	return c
}

func traps() []trap {
	x, y, z := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewVar[int]("z")
	things := plain.NewFamily[int]("things")
	zero := []core.Initial{plain.Start(x.Is(0), y.Is(0), z.Is(0), things.At(0).Is(0))}
	counts := plain.NewInbox[string]("counts")
	pings, pongs := plain.NewFamily[int]("pings"), plain.NewFamily[int]("pongs")
	toggle := func(w *plain.World) { x.Set(w, 1-x.Get(w)) }
	flip := func(w *plain.World, family plain.Family[int]) {
		value, _ := family.At(0).Lookup(w)
		family.At(0).Set(w, 1-value)
	}
	isOne := func(s core.State) bool { return z.Get(s) == 1 }
	recurs := properties.InfinitelyOften("z is 1 again and again", isOne)
	yFirst, err := ltl.Claim{Name: "y is 1 before z is", Formula: "!z W y", Atoms: []ltl.Atom{
		{Name: "y", State: func(s core.State) bool { return y.Get(s) == 1 }}, {Name: "z", State: isOne},
	}}.Property()
	if err != nil {
		panic(err)
	}
	lag := explore.Conditions{Staleness: []explore.Staleness{{Rule: view.Lag(1)}}}
	return []trap{
		// The look at y can come after the action that changes it, but only if x allows that action before.
		{name: "an action that is not enabled yet", model: plain.Model{
			Initial: zero,
			Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) {
				w.Require(x.Get(w) == 1 && y.Get(w) == 0)
				y.Set(w, 1)
			}}}}},
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) { z.Set(w, y.Get(w)+1) }),
				once("allows", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// Nobody forces the action that would end the toggling.
		{name: "a step that need not come", model: plain.Model{
			Initial: zero,
			Processes: []plain.Process{{Name: "p", Unfair: true, Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) {
				w.Require(things.At(0).Get(w) == 0)
				things.At(0).Set(w, 1)
			}}}}},
			Controllers: []plain.Controller{
				{
					Name: "ends", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						y.Set(w, things.At(0).Get(w))
						return core.Result{}
					},
				},
				{
					Name: "toggles", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if y.Get(w) == 1 {
							return core.Result{}
						}
						toggle(w)
						return core.Result{Requeue: true}
					},
				},
			},
		}},
		// The two go on until x is set, which is left out wherever the second has something to do.
		{name: "a step that is left out in one state of a loop", model: plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Controllers: []plain.Controller{
				{
					Name: "first", Requests: []core.Request{"0"}, Watches: []plain.Watch{{Kind: pings.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 0 {
							flip(w, pongs)
						}
						return core.Result{}
					},
				},
				{
					Name: "second", Watches: []plain.Watch{{Kind: pongs.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						flip(w, pings)
						return core.Result{}
					},
				},
				once("ends", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// The same with an action, where somebody else waits who has nothing to do with it.
		{name: "an action that is left out in one state of a loop for which somebody waits", conditions: explore.Conditions{Granularity: explore.PerCall}, model: plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))},
			Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "ends", Do: func(w *plain.World) {
				w.Require(x.Get(w) == 0)
				x.Set(w, 1)
			}}}}},
			Controllers: []plain.Controller{
				{
					Name: "first", Requests: []core.Request{"0"}, Watches: []plain.Watch{{Kind: pings.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 0 {
							flip(w, pongs)
						}
						return core.Result{}
					},
				},
				{
					Name: "second", Watches: []plain.Watch{{Kind: pongs.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						flip(w, pings)
						return core.Result{}
					},
				},
				once("waits", func(w *plain.World) { y.Set(w, 1) }),
			},
		}},
		// It ends again and again, which is on the way round of the whole, but not of the part where z is 0.
		{name: "a step that is left out in one state of a part of a loop", model: plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0), z.Is(0))},
			Controllers: []plain.Controller{
				{
					Name: "first", Requests: []core.Request{"0"}, Watches: []plain.Watch{{Kind: pings.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						x.Get(w)
						flip(w, pongs)
						return core.Result{}
					},
				},
				{
					Name: "second", Watches: []plain.Watch{{Kind: pongs.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						flip(w, pings)
						return core.Result{}
					},
				},
				again("ends", func(w *plain.World) { toggle(w); z.Set(w, 1-z.Get(w)) }),
			},
			Properties: []core.Property{recurs},
		}},
		// The counter is woken while it waits already, or once more after it was run.
		{name: "work that is in the queue already", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("wakes", func(w *plain.World) { things.At(0).Set(w, 1) }),
				{
					Name: "counts", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						z.Set(w, min(z.Get(w)+1, 2))
						return core.Result{}
					},
				},
			},
		}},
		// The same, but the step that wakes is not the first of its agent, and is taken only where the counter waits
		// already, unless the counter goes first.
		{name: "work that is in the queue already when it is woken at last", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "wakes", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 0 {
							x.Set(w, 1)
							return core.Result{Requeue: true}
						}
						things.At(0).Set(w, 1)
						return core.Result{}
					},
				},
				{
					Name: "counts", Watches: []plain.Watch{{Kind: things.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						z.Set(w, min(z.Get(w)+1, 2))
						return core.Result{}
					},
				},
			},
		}},
		// The one that looks must not go first: what it looks at changes, and nobody tells it.
		{name: "a change that wakes nobody", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) {
					if x.Get(w) == 1 {
						z.Set(w, 1)
					}
				}),
				once("writes", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// So is the change that its cache shows, of which its queue is not told.
		{name: "a change in a cache that wakes nobody", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"}, Caches: []core.Kind{x.Key().Kind},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 1 {
							z.Set(w, 1)
						}
						return core.Result{}
					},
				},
				once("writes", func(w *plain.World) { x.Set(w, 1) }),
			},
		}, conditions: lag},
		// Nor does the run of another request of the same controller tell it.
		{name: "a change by the same controller that wakes nobody", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{{
				Name: "looks and writes", Requests: []core.Request{"look", "write"},
				Reconcile: func(w *plain.World, r core.Request) core.Result {
					switch {
					case r == "write":
						x.Set(w, 1)
					case x.Get(w) == 1:
						z.Set(w, 1)
					}
					return core.Result{}
				},
			}},
		}},
		// Whoever looks first waits for an hour, and is run once more then; else it waits for nothing.
		{name: "a timer that is set", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: things.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if things.At(0).Get(w) == 0 {
							return core.Result{RequeueAfter: time.Hour}
						}
						z.Set(w, min(z.Get(w)+1, 2))
						return core.Result{}
					},
				},
				once("writes", func(w *plain.World) { things.At(0).Set(w, 1) }),
			},
		}},
		{name: "a message that is there already", model: plain.Model{
			Initial: zero,
			Processes: []plain.Process{{
				Name: "counts", Messages: counts.Holding("more"),
				Receive: func(w *plain.World, _ core.Request) { z.Set(w, min(z.Get(w)+1, 2)) },
			}},
			Controllers: []plain.Controller{once("sends", func(w *plain.World) { counts.Send(w, "more") })},
		}},
		{name: "a step that is put off by a loop", model: plain.Model{
			Initial:     zero,
			Controllers: []plain.Controller{again("toggles", toggle), once("breaks", func(w *plain.World) { z.Set(w, 1) })},
			Properties: []core.Property{{Name: "z is 0", Invariant: func(s core.State) error {
				if z.Get(s) != 0 {
					return errors.New("it is not")
				}
				return nil
			}}},
		}},
		{name: "a state in between", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("one", func(w *plain.World) { y.Set(w, 1) }),
				once("other", func(w *plain.World) { z.Set(w, 1) }),
			},
			Properties: []core.Property{{Name: "not z before y", Invariant: func(s core.State) error {
				if z.Get(s) == 1 && y.Get(s) == 0 {
					return errors.New("z before y")
				}
				return nil
			}}},
		}},
		{name: "a run that never comes back", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				again("hangs", func(w *plain.World) {
					for x.Get(w) == 1 {
						continue
					}
					x.Set(w, 1)
				}),
				once("panics", func(*plain.World) { panic("boom") }),
			},
		}},
		// The request that waits must not stand for the others, and what it waits for comes before it.
		{name: "a request that is blocked", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("waits", func(w *plain.World) {
					w.Require(x.Get(w) == 1)
					y.Set(w, z.Get(w)+1)
				}),
				once("writes", func(w *plain.World) { z.Set(w, 1) }),
				once("allows", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		{name: "a request that is blocked for ever", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("waits", func(w *plain.World) { w.Require(x.Get(w) == 1) }),
				once("writes", func(w *plain.World) { z.Set(w, 1) }),
			},
		}},
		// The one that makes its calls in another order would leave the loop, and sooner or later it does.
		{name: "an order of concurrent calls that is left out in one state of a loop", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: y.Key().Kind, Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result { y.Get(w); return core.Result{} },
				},
				{
					Name: "races", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: y.Key().Kind, Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 1 {
							return core.Result{}
						}
						var all sync.WaitGroup
						all.Go(func() { x.Set(w, 1) })
						all.Go(func() { x.Set(w, 2) })
						all.Wait()
						y.Set(w, 1-y.Get(w))
						return core.Result{}
					},
				},
			},
		}},
		// Nobody forces the one that finds nothing to do to look, but the other one must act.
		{name: "an idle controller that need not act", model: plain.Model{
			Initial: zero,
			Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) {
				w.Require(z.Get(w) == 0)
				z.Set(w, 1)
			}}}}},
			Controllers: []plain.Controller{{
				Name: "looks", Unfair: true, Requests: []core.Request{"r"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result { y.Get(w); return core.Result{} },
			}},
			Properties: []core.Property{properties.Eventually("z is 1", isOne)},
		}},
		// The first change that nobody tells of does no harm, but there is another one behind it.
		{name: "a change that does no harm, and one that does", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) {
					if x.Get(w) == 2 {
						z.Set(w, 1)
					}
				}),
				once("first", func(w *plain.World) { x.Set(w, 1) }),
				{
					Name: "second", Watches: []plain.Watch{{Kind: x.Key().Kind, Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						if x.Get(w) == 1 {
							x.Set(w, 2)
						}
						return core.Result{}
					},
				},
			},
		}},
		// What is looked at first changes so that there is more to look at: what changed before without waking anybody.
		{name: "a change behind which more is looked at", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) {
					if x.Get(w) == 1 && y.Get(w) == 1 {
						z.Set(w, 1)
					}
				}),
				once("first", func(w *plain.World) { y.Set(w, 1) }),
				once("second", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// It finds nothing to do where it looks first, whatever that is, but something where it looks later.
		{name: "a change of what is looked at last", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) {
					if x.Get(w) == 0 && y.Get(w) == 1 {
						z.Set(w, 1)
					}
				}),
				once("first", func(w *plain.World) { x.Set(w, 1) }),
				once("second", func(w *plain.World) { y.Set(w, 1) }),
			},
		}},
		// Behind the change it looks at nothing else, but goes on for ever.
		{name: "a change behind which it is tried again", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				{
					Name: "looks", Requests: []core.Request{"r"},
					Reconcile: func(w *plain.World, _ core.Request) core.Result { return core.Result{Requeue: x.Get(w) == 1} },
				},
				once("changes", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// Behind the change it does nothing, either, but waits for ever to do so.
		{name: "a change behind which it is blocked", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("looks", func(w *plain.World) { w.Require(x.Get(w) == 0) }),
				once("changes", func(w *plain.World) { x.Set(w, 1) }),
			},
		}},
		// The same, but it is a formula that tells the orders apart.
		{name: "a state in between of which a formula speaks", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{
				once("one", func(w *plain.World) { y.Set(w, 1) }),
				once("other", func(w *plain.World) { z.Set(w, 1) }),
			},
			Properties: []core.Property{yFirst},
		}},
		// A request that panics is tried again: that is a loop in which the others must not be put off.
		{name: "runs that panic for ever", model: plain.Model{
			Initial: zero,
			Controllers: []plain.Controller{{
				Name: "panics", Requests: []core.Request{"a", "b", "c"},
				Reconcile: func(_ *plain.World, r core.Request) core.Result { panic(r) },
			}},
		}},
	}
}

// caught returns what a reduced search of a trap misses, empty if nothing.
func (p trap) caught(t *testing.T, reducer explore.Reducer) string {
	t.Helper()
	p.model.Name = "trap"
	system, err := p.model.System()
	if err != nil {
		t.Fatal(err)
	}
	if p.store != nil {
		system.Store = p.store(system.Store)
	}
	o := options()
	o.Conditions = p.conditions
	want, _, _ := find(t, system, o)
	o.Reducer = reducer
	got, _, _ := find(t, system, o)
	return differ(got, want)
}

func TestTraps(t *testing.T) {
	for _, p := range slices.Concat(traps(), lateTraps()) {
		t.Run(p.name, func(t *testing.T) {
			if difference := p.caught(t, reduction.Stubborn{}); difference != "" {
				t.Error(difference)
			}
		})
	}
}
