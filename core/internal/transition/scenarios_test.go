package transition

import (
	"errors"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// scenario is a system of the lab whose code does one of the things that have to be found out of code, and what is
// found.
type scenario struct {
	name       string
	system     func() *core.System
	conditions Conditions
	want       string
}

// of makes a system of one strategy.
func of(strategy func() *trade, start ...string) func() *core.System {
	return func() *core.System { return alone(strategy(), start...) }
}

// plainly makes a system of a sequential controller without memory, and watching one that may look at the clock.
func plainly(reconcile func(w world, r core.Request) core.Result) func() *core.System {
	return of(func() *trade { return simple("c", reconcile) })
}

func watching(reconcile func(w world, r core.Request) core.Result) func() *core.System {
	return of(func() *trade { return does(reconcile) })
}

func remembering() []scenario {
	counts := func(shows bool) func() *core.System {
		return of(func() *trade { return sequential(controller("c", countingUp(shows))) })
	}
	return []scenario{
		{"it counts", counts(true), Conditions{}, `
4 states, 3 steps, 72 runs
rests: n 3
remembers: c
memory of c: 3 [R.n]`},
		{"it counts, and crashes", counts(true), Conditions{Crashes: 1}, `
11 states, 13 steps, 72 runs
rests: n 3
remembers: c
memory of c: 3 [R.n]`},
		{"it counts unseen", counts(false), Conditions{}, `
2 states, 2 steps, 67 runs
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"it counts, and nobody is to look", counts(true), Conditions{IgnoredMemory: []string{"R.n"}}, `
2 states, 2 steps, 69 runs
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs in R.n ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"it counts, call by call", counts(true), Conditions{Granularity: PerCall}, `
4 states, 3 steps, 72 runs
rests: n 3
remembers: c
doubts: c keeps memory from one run to the next, and what else it does between the single calls of a run was not searched: if what it keeps makes no difference to what it does, leave it out with --ignore-memory (Options.IgnoreMemory)
memory of c: 3 [R.n]`},
		{"its handlers feed it", of(func() *trade {
			c := sequential(controller("c", func() core.Instance {
				seen := "nothing"
				return hand{
					func(w world, _ core.Request) core.Result { w.put("seen", seen); return core.Result{} },
					func(_ world, e core.Event) []core.Request { seen = e.Key.Name; return nil },
				}
			}))
			c.Watches = []core.Kind{"note"}
			return c
		}, "a 1"), Conditions{}, `
2 states, 1 steps, 56 runs
rests: a 1, seen nothing
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put seen with \"nothing\"" "and the other: put seen with \"seen\""]`},
		{"two instances count", counts(true), Conditions{Doubles: []string{"c"}}, `
22 states, 32 steps, 67 runs
rests: n 3
remembers: c
remembers: c (second instance)
memory of c: 3 [R.n]
memory of c (second instance): 3 [R.n]`},
		{"it keeps all instances together", func() *core.System {
			n := 0
			return alone(sequential(controller("c", func() core.Instance {
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result { n++; return core.Result{} }}, func() map[string]string { return map[string]string{"global": strconv.Itoa(n)} }}
			})))
		}, Conditions{}, `
2 states, 1 steps, 56 runs
rests: 
doubts: c keeps global outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. Make it anew each time the controller is set up`},
		{"handlers count", of(func() *trade {
			c := sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{
					func(w world, _ core.Request) core.Result { w.put("n", strconv.Itoa(n)); return core.Result{} },
					func(_ world, e core.Event) []core.Request { n = min(n+1, 2); return []core.Request{"go"} },
				}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			}))
			c.Watches = []core.Kind{"note"}
			return c
		}, "a 1"), Conditions{}, `
4 states, 3 steps, 68 runs
rests: a 1, n 2
remembers: c
memory of c: 2 [R.n]`},
	}
}

func clocks() []scenario {
	renews := func(w world, _ core.Request) core.Result {
		if at, err := time.Parse(time.RFC3339Nano, w.get("seen")); err != nil || time.Since(at) > time.Hour {
			w.put("seen", time.Now().Format(time.RFC3339Nano))
		}
		return core.Result{RequeueAfter: time.Hour}
	}
	twoTimes := func(w world, _ core.Request) core.Result {
		at, err := time.Parse(time.RFC3339Nano, w.get("seen"))
		switch {
		case err != nil:
			w.create("seen", time.Now().Format(time.RFC3339Nano))
		case time.Since(at) > 2*24*time.Hour:
			w.put("dead", "yes")
		case time.Since(at) > time.Hour:
			w.put("ill", "yes")
		}
		return core.Result{RequeueAfter: time.Hour}
	}
	writes := func(again bool) func() *core.System {
		return watching(func(w world, _ core.Request) core.Result {
			w.put("seen", time.Now().Format(time.RFC3339Nano))
			return core.Result{Requeue: again}
		})
	}
	return []scenario{
		{"it waits for a time", of(func() *trade { return controller("c", since) }), Conditions{Deadlines: 1}, `
7 states, 8 steps, 171 runs
rests: late yes, since 2000-01-01T00:00:01Z
rests: since 2000-01-01T00:00:01Z
awaits: c`},
		{"it waits for a time that does not pass", of(func() *trade { return controller("c", since) }), Conditions{}, `
3 states, 3 steps, 202 runs
rests: since 2000-01-01T00:00:01Z
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: asks to be run again in 1h0m0s; later: put late`},
		{"it keeps a deadline", of(func() *trade { return controller("c", sinceInMemory) }), Conditions{Deadlines: 2}, `
5 states, 5 steps, 113 runs
rests: 
rests: late yes
remembers: c
awaits: c
memory of c: 1 [R.at]`},
		{"it writes the time", writes(false), Conditions{}, `
2 states, 1 steps, 72 runs
rests: seen 2000-01-01T00:00:01.……001Z`},
		{"it writes the time again and again", writes(true), Conditions{Deadlines: 1}, `
3 states, 3 steps, 73 runs`},
		{"it renews the time", watching(renews), Conditions{Deadlines: 1}, `
8 states, 10 steps, 130 runs
rests: seen 2000-01-01T00:00:01.……001Z
rests: seen 2019-12-27T07:07:02.……002Z
awaits: c
waits: the behavior of c depends on the clock, and after the last of the times that passed, more were not searched (raise --deadlines, Options.Deadlines; if it does another thing each time, such as to count or to toggle, that is no help: leave that out): reconciling go, now: asks to be run again in 1h0m0s; later: put seen`},
		{"it waits for two times", watching(twoTimes), Conditions{Deadlines: 1}, `
13 states, 17 steps, 303 runs
rests: dead yes, ill yes, seen 2000-01-01T00:00:01.……001Z
rests: ill yes, seen 2000-01-01T00:00:01.……001Z
rests: seen 2000-01-01T00:00:01.……001Z
awaits: c`},
		{"a user waits", func() *core.System {
			system := alone(controller("c", since))
			system.Scenario.Actions = []core.Action{{Name: "look", Do: func(r core.EffectRecorder) error { world{r}.put("seen", "yes"); return nil }}}
			return system
		}, Conditions{Deadlines: 1}, `
15 states, 24 steps, 239 runs
rests: late yes, seen yes, since 2000-01-01T00:00:01Z
rests: late yes, since 2000-01-01T00:00:01Z
rests: seen yes, since 2000-01-01T00:00:01Z
rests: since 2000-01-01T00:00:01Z
awaits: c`},
		{"it takes the time", of(func() *trade { return controller("c", stopwatch(false)) }), Conditions{Deadlines: 1}, `
4 states, 3 steps, 98 runs
rests: 
remembers: c
memory of c: 3 [R.began R.runs]`},
		{"it heeds how long it took", of(func() *trade { return controller("c", stopwatch(true)) }), Conditions{Deadlines: 1}, `
4 states, 3 steps, 47 runs
rests: 
remembers: c
awaits: c
waits: c waits for several times, and those between the first and the last were not searched: reconciling go, now: keeps no R.took in memory; then: keeps one and then, reconciling go, put slow where it else returns
memory of c: 3 [R.began R.runs]`},
		{"it heeds how long it took, and no time passes", of(func() *trade { return controller("c", stopwatch(true)) }), Conditions{}, `
4 states, 3 steps, 95 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps no R.took in memory; later: keeps one and then, reconciling go, put slow where it else returns
memory of c: 3 [R.began R.runs]`},
	}
}

func backgrounds() []scenario {
	hands := func() *trade {
		c := controller("c", handing)
		c.Active = true
		return c
	}
	ticks := func(times int) func() *core.System {
		return of(func() *trade { return controller("c", ticking(times)) })
	}
	return []scenario{
		{"it hands on", of(hands), Conditions{}, `
3 states, 2 steps, 45 runs
rests: go by hand
memory of c: 1 []`},
		{"it hands on, and crashes", of(hands), Conditions{Crashes: 1}, `
7 states, 8 steps, 60 runs
rests: go by hand
memory of c: 1 []`},
		{"it leaves something", of(func() *trade { return controller("c", late) }), Conditions{}, `
3 states, 2 steps, 43 runs
rests: late yes
active: c
memory of c: 1 []`},
		{"it polls, and is tired one day", ticks(4), Conditions{Active: []string{"c"}}, `
3 states, 3 steps, 91 runs
rests: 
active: c
memory of c: 1 []
nondeterministic memory c (background): with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["get poll → " "then one run: returns" "and the other: put tired"]`},
	}
}

func chances() []scenario {
	counted := func(do func(w world, n int) core.Result) func() *core.System {
		return func() *core.System {
			runs := 0
			return alone(simple("c", func(w world, _ core.Request) core.Result { runs++; return do(w, runs) }))
		}
	}
	return []scenario{
		{"each run writes something else", counted(func(w world, n int) core.Result { w.put("n", strconv.Itoa(n%2)); return core.Result{} }), Conditions{}, `
2 states, 1 steps, 14 runs
rests: n 1
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: put n with \"1\"" "and the other: put n with \"0\""]`},
		{"each run ends in another way", counted(func(w world, n int) core.Result { return core.Result{Requeue: n%2 == 0} }), Conditions{}, `
2 states, 1 steps, 14 runs
rests: 
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: returns" "and the other: asks to be run again"]`},
		{"one run in twenty is another one", counted(func(w world, n int) core.Result { w.put("n", strconv.FormatBool(n%20 == 0)); return core.Result{} }), Conditions{}, `
2 states, 1 steps, 43 runs
rests: n false
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: put n with \"false\"" "and the other: put n with \"true\""]`},
		{"each run is another one, on and on", counted(func(w world, n int) core.Result {
			w.put("n", strconv.Itoa(n))
			return core.Result{Requeue: true}
		}), Conditions{}, `
2 states, 2 steps, 13 runs
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: put n with \"446\"" "and the other: put n with \"448\""]`},
		{"two calls at once", watching(twoAtOnce), Conditions{}, `
3 states, 2 steps, 79 runs
rests: n 1
rests: n 2`},
		{"two calls at once, in one order", watching(twoAtOnce), Conditions{Orders: 1}, `
2 states, 1 steps, 65 runs
rests: n 2
doubts: c makes concurrent calls whose order matters, reconciling go: "put n" and "put n" were not answered in every order. Leave out --orders 1 (Options.Orders), or make the calls independent of what the other writes`},
	}
}

func failures() []scenario {
	return []scenario{
		{"it does nothing", plainly(func(world, core.Request) core.Result { return core.Result{} }), Conditions{}, `
2 states, 1 steps, 56 runs
rests: `},
		{"it panics", plainly(func(w world, _ core.Request) core.Result { w.put("n", "1"); panic("so") }), Conditions{}, `
2 states, 2 steps, 56 runs
panic  c: panics: so ["put n → done"]`},
		{"it goes on for ever", plainly(func(w world, _ core.Request) core.Result {
			for {
				w.get("n")
			}
		}), Conditions{}, `
1 states, 0 steps, 1 runs
stopped: c reconciles go
runaway  c: made more than 50 calls without returning ["get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → "]`},
		{"it changes its cache", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				return lends{hand{reconcile: func(world, core.Request) core.Result { return core.Result{} }}}
			}))
		}), Conditions{}, `
2 states, 1 steps, 56 runs
rests: 
cache mutation  c: changed an object in its cache: note a: x → y []`},
		{"its calls fail", func() *core.System {
			system := alone(simple("c", func(w world, _ core.Request) core.Result {
				if w.put("n", "1") != "done" {
					return core.Result{Err: errors.New("not done")}
				}
				w.put("m", "1")
				return core.Result{}
			}))
			system.Store = notes{fails: true}
			return system
		}, Conditions{Failures: 1}, `
6 states, 7 steps, 148 runs
rests: m 1, n 1
rests: n 1`},
		{"handlers set each other off", of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{
					func(w world, _ core.Request) core.Result { w.put("n", "0"); return core.Result{} },
					func(w world, e core.Event) []core.Request {
						n, _ := strconv.Atoi(e.New.Canonical())
						w.put("n", strconv.Itoa(1-n))
						return nil
					},
				}
			})
			c.Watches = []core.Kind{"note"}
			return sequential(c)
		}), Conditions{}, `
1 states, 0 steps, 1 runs
stopped: c reconciles go
runaway  c: its event handlers write, and those writes trigger them again without end []`},
	}
}

func sharers() []scenario {
	tally := func(divided bool, counts, tells [2]int, shows ...[]int) func() *core.System {
		return func() *core.System { return process(divided, tallies(counts, tells, [2][]int{shows[0], shows[1]})) }
	}
	return []scenario{
		{"they share all", tally(false, [2]int{0, 0}, [2]int{0, 0}, []int{0}, []int{0}), Conditions{}, `
9 states, 10 steps, 106 runs
rests: a 1, b 2
rests: a 2, b 1
remembers: both
memory of both: 2 [a/counter b/counter]`},
		{"they share nothing", tally(true, [2]int{0, 1}, [2]int{0, 1}, []int{0}, []int{1}), Conditions{}, `
9 states, 12 steps, 70 runs
rests: a 1, b 1
remembers: a
remembers: b
memory of a: 2 [counter]
memory of b: 2 [counter]`},
		{"they share what they show", tally(true, [2]int{0, 0}, [2]int{0, 0}, []int{0}, []int{0}), Conditions{}, `
9 states, 10 steps, 106 runs
rests: a 1, b 2
rests: a 2, b 1
remembers: both
memory of both: 2 [a/counter b/counter]`},
		{"they share what they do not show", tally(true, [2]int{0, 1}, [2]int{0, 0}, []int{0}, []int{1}), Conditions{}, `
15 states, 17 steps, 349 runs
rests: a 1, b 0
rests: a 1, b 1
rests: a 1, b 2
remembers: a
remembers: b
remembers: both
memory of both: 8 [a/counter b/counter]`},
		{"they share nothing, and crash", tally(true, [2]int{0, 1}, [2]int{0, 1}, []int{0}, []int{1}), Conditions{Crashes: 1}, `
34 states, 61 steps, 70 runs
rests: a 1, b 1
remembers: a
remembers: b
memory of a: 2 [counter]
memory of b: 2 [counter]`},
	}
}

func drawers() []scenario {
	return []scenario{
		{"it makes up a name", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					if w.get("name") == "" {
						w.create("name", d.draw())
					}
					return core.Result{}
				}}
			})
		}, Conditions{}, `
2 states, 1 steps, 112 runs
rests: name ……
draws: c`},
		{"it decides by chance", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					w.put("odd", strconv.FormatBool(d.draw() > "500000"))
					return core.Result{}
				}}
			})
		}, Conditions{}, `
3 states, 2 steps, 9 runs
rests: odd false
rests: odd true
forks: c`},
		{"it decides by chance whether it does anything", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					if d.draw() > "500000" {
						w.put("odd", "yes")
					}
					return core.Result{}
				}}
			})
		}, Conditions{}, `
3 states, 2 steps, 9 runs
rests: 
rests: odd yes
forks: c`},
		{"it keeps a name", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				name := ""
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					if name == "" {
						name = d.draw()
						return core.Result{Requeue: true}
					}
					w.create("name", name)
					return core.Result{}
				}}, func() map[string]string { return map[string]string{"R.name": name} }}
			})
		}, Conditions{}, `
3 states, 2 steps, 128 runs
rests: name ……
remembers: c
draws: c
memory of c: 1 [R.name]`},
		{"it keeps what it drew, and that it did", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				odd := ""
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					name := d.draw()
					odd = strconv.FormatBool(name > "500000")
					w.create("name", name)
					return core.Result{}
				}}, func() map[string]string { return map[string]string{"R.odd": odd} }}
			})
		}, Conditions{}, `
2 states, 1 steps, 15 runs
rests: name ……
remembers: c
draws: c
memory of c: 1 [R.odd]
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["make name → done" "then one run: keeps one thing in memory" "and the other: keeps another one"]`},
	}
}

func users() []scenario {
	act := func(name string) core.Action {
		return core.Action{Name: name, Do: func(r core.EffectRecorder) error { world{r}.put(name, "yes"); return nil }}
	}
	with := func(inOrder bool, actions ...core.Action) func() *core.System {
		return func() *core.System {
			c := sequential(controller("c", func() core.Instance {
				return hand{reconcile: func(w world, _ core.Request) core.Result { w.put("a", w.get("b")); return core.Result{} }}
			}))
			c.Watches = []core.Kind{"note"}
			system := alone(c)
			system.Scenario = core.Scenario{Actions: actions, InOrder: inOrder}
			return system
		}
	}
	needs := core.Action{Name: "c", Do: func(r core.EffectRecorder) error {
		w := world{r}
		w.put("c", "perhaps")
		if w.get("b") == "" {
			return core.ErrNotEnabled
		}
		return nil
	}}
	return []scenario{
		{"in any order", with(false, act("b"), act("d")), Conditions{}, `
18 states, 26 steps, 180 runs
rests: a 
rests: a , d yes
rests: a yes, b yes
rests: a yes, b yes, d yes`},
		{"in order", with(true, act("b"), act("d")), Conditions{}, `
11 states, 15 steps, 180 runs
rests: a 
rests: a yes, b yes
rests: a yes, b yes, d yes`},
		{"one is not enabled", with(false, act("b"), needs), Conditions{}, `
11 states, 15 steps, 192 runs
rests: a 
rests: a yes, b yes
rests: a yes, b yes, c perhaps`},
		{"one is refused", with(false, core.Action{Name: "b", Do: func(core.EffectRecorder) error { return errors.New("refused") }}), Conditions{}, `
6 states, 7 steps, 112 runs
rests: a `},
	}
}
