package transition

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
)

// mixtures are scenarios in which several things come together that are of no interest by themselves.
func mixtures() []scenario {
	puts := func(w world, _ core.Request) core.Result {
		if w.put("n", "1") != "done" {
			return core.Result{Err: errors.New("not done")}
		}
		return core.Result{}
	}
	failing := func(system func() *core.System) func() *core.System {
		return func() *core.System {
			s := system()
			s.Store = notes{fails: true}
			return s
		}
	}
	return []scenario{
		{"its calls fail, and it crashes", failing(plainly(puts)), Conditions{Failures: 1, Crashes: 1}, `
11 states, 18 steps, 80 runs
rests: n 1`},
		{"it makes a note twice at once", watching(func(w world, _ core.Request) core.Result {
			atOnce(w, errand{verb: "make", name: "n", text: "1"}, errand{verb: "make", name: "n", text: "1"})
			return core.Result{}
		}), Conditions{}, `
2 states, 1 steps, 67 runs
rests: n 1
doubts: c makes concurrent calls whose order matters, reconciling go: "make n" and "make n" were not answered in every order. Make one call after the other, or make the calls independent of what the other writes`},
		{"it is blocked unless its call fails", failing(plainly(func(w world, _ core.Request) core.Result { return core.Result{Blocked: w.put("n", "1") == "done"} })), Conditions{Failures: 1, Crashes: 1}, `
8 states, 7 steps, 80 runs
rests: 
rests: n 1
doubts: c is blocked after some orders or failures of its concurrent calls, reconciling go: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)`},
		{"it panics, call by call", plainly(func(w world, _ core.Request) core.Result { w.put("n", "1"); panic("so") }), Conditions{Granularity: PerCall}, `
5 states, 5 steps, 57 runs
panic  c: panics: so ["put n → done"]`},
		{"it reads through its cache what it does not watch", plainly(func(w world, _ core.Request) core.Result { w.put("n", w.look("a")); return core.Result{} }), Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, `
3 states, 2 steps, 56 runs
rests: n `},
		{"handlers make two calls in the midst of a run", of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{
					func(w world, _ core.Request) core.Result {
						w.put("a", "1")
						w.put("b", "1")
						return core.Result{}
					},
					func(w world, e core.Event) []core.Request {
						if e.Key.Name == "a" {
							twoAtOnce(w, "")
						}
						return nil
					},
				}
			})
			c.Watches = []core.Kind{"note"}
			return c
		}), Conditions{}, `
2 states, 1 steps, 64 runs
rests: a 1, b 1, n 2
doubts: c makes concurrent calls whose order matters, handling an event of note a: "put n" and "put n" were not answered in every order. Make one call after the other, or make the calls independent of what the other writes`},
		{"handlers make a call in the midst of two calls", of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{
					twoAtOnce,
					func(w world, e core.Event) []core.Request {
						if e.Key.Name == "n" {
							w.put("m", w.get("n"))
						}
						return nil
					},
				}
			})
			c.Watches = []core.Kind{"note"}
			return c
		}), Conditions{}, `
3 states, 2 steps, 79 runs
rests: m 1, n 1
rests: m 2, n 2`},
		{"it counts unseen, and writes dates", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				n := 0
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					n++
					w.put("n", time.Date(2000, 1, n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano))
					return core.Result{}
				}}
			}))
		}), Conditions{}, `
2 states, 1 steps, 67 runs
rests: n 2000-01-01T00:00:00Z
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put n with \"2000-01-01T00:00:00Z\"" "and the other: put n with \"2000-01-02T00:00:00Z\""]`},
		{"it counts unseen, and forgets something else", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					n = min(n+1, 3)
					w.put("n", strconv.Itoa(n))
					return core.Result{Requeue: n < 3}
				}}, func() map[string]string {
					if n == 0 {
						return map[string]string{"R.n": "0", "R.fresh": "yes"}
					}
					return map[string]string{"R.n": strconv.Itoa(n)}
				}}
			}))
		}), Conditions{IgnoredMemory: []string{"R"}}, `
2 states, 2 steps, 69 runs
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs in R.n ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"it waits for a time, and is active", of(func() *trade { return controller("c", since) }), Conditions{Active: []string{"c"}, Deadlines: 1}, `
5 states, 5 steps, 127 runs
rests: late yes, since 2000-01-01T00:00:01Z
rests: since 2000-01-01T00:00:01Z
active: c
awaits: c
memory of c: 0 []`},
		{"three calls at once, in one order, and one fails", failing(watching(putAtOnce(3))), Conditions{Orders: 1, Failures: 1}, `
4 states, 7 steps, 156 runs
rests: n 1
rests: n 2
doubts: c makes concurrent calls whose order matters, reconciling go: "put n" and "put n" were not answered in every order. Leave out --orders 1 (Options.Orders), or make the calls independent of what the other writes`},
		{"a handler goes on for ever", of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{
					func(w world, _ core.Request) core.Result { w.put("a", "1"); return core.Result{} },
					func(w world, _ core.Event) []core.Request {
						for {
							w.get("n")
						}
					},
				}
			})
			c.Watches = []core.Kind{"note"}
			return c
		}), Conditions{}, `
1 states, 0 steps, 1 runs
stopped: c reconciles go
runaway  c: made more than 50 calls without returning ["get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → "]`},
		{"it writes the day", watching(func(w world, _ core.Request) core.Result {
			day := time.Now().Truncate(24 * time.Hour).Format(time.RFC3339Nano)
			w.put("day", day)
			w.put("date", day)
			return core.Result{}
		}), Conditions{}, `
2 states, 1 steps, 59 runs
rests: date 2000-01-01T00:00:00Z, day 2000-01-01T00:00:00Z
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: put day; later: put day with a newer time`},
		{"each run writes another note, and may look at the clock", func() *core.System {
			runs := 0
			return watching(func(w world, _ core.Request) core.Result {
				runs++
				w.put(strconv.Itoa(runs), "yes")
				return core.Result{}
			})()
		}, Conditions{Deadlines: 1}, `
2 states, 1 steps, 15 runs
rests: 446 yes
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: put 446" "and the other: put 448"]`},
		{"it keeps two times, and writes one", of(func() *trade {
			return controller("c", func() core.Instance {
				var first, last time.Time
				runs := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					switch runs++; runs {
					case 1:
						first = time.Now()
					case 2:
						last = time.Now()
					default:
						runs = 3
						w.put("last", last.Format(time.RFC3339Nano))
					}
					return core.Result{Requeue: runs < 3}
				}}, func() map[string]string {
					return map[string]string{"R.runs": strconv.Itoa(runs), "R.first": first.Format(time.RFC3339Nano), "R.last": last.Format(time.RFC3339Nano)}
				}}
			})
		}), Conditions{Deadlines: 1}, `
4 states, 3 steps, 86 runs
rests: last 2000-01-01T00:00:01.……001Z
remembers: c
memory of c: 3 [R.first R.last R.runs]`},
		{"it notes the time in two runs, and how many hours it took, and writes the time", of(func() *trade {
			return controller("c", func() core.Instance {
				var first, last time.Time
				runs, hours := 0, 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					if runs == 2 {
						w.put("last", last.Format(time.RFC3339Nano))
					}
					if runs = min(runs+1, 3); runs < 3 {
						last = time.Now()
					}
					if runs == 1 {
						first = last
					}
					hours = int(last.Sub(first).Hours())
					return core.Result{Requeue: runs < 3}
				}}, func() map[string]string {
					return map[string]string{"R.runs": strconv.Itoa(runs), "R.first": first.Format(time.RFC3339Nano), "R.last": last.Format(time.RFC3339Nano), "R.hours": strconv.Itoa(hours)}
				}}
			})
		}), Conditions{Deadlines: 1}, `
4 states, 3 steps, 113 runs
rests: last 2000-01-01T00:00:01.……001Z
remembers: c
memory of c: 3 [R.first R.last R.runs]`},
		{"it names a note by the time", of(func() *trade {
			c := does(func(w world, _ core.Request) core.Result {
				w.put("at "+time.Now().Format(time.RFC3339Nano), "yes")
				return core.Result{}
			})
			c.Initial = []core.Request{"one", "two"}
			return c
		}), Conditions{}, `
4 states, 4 steps, 74 runs
rests: at 2000-01-01T00:00:00Z yes, at 2000-01-01T00:00:01.……001Z yes
waits: the behavior of c depends on the clock, and later times were not searched: reconciling one, now: put at 2000-01-01T00:00:01.……001Z; later: put at 2019-12-27T07:07:02.……002Z`},
		{"its memory is more than it shows, and it writes dates", func() *core.System {
			return alone(sequential(controller("c", func() core.Instance {
				m := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					m++
					w.put("m", time.Date(2000, 1, 1+m/4, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano))
					return core.Result{Requeue: true}
				}}, func() map[string]string {
					shown := ""
					if m > 0 {
						shown = strconv.Itoa(m % 2)
					}
					return map[string]string{"R.m": shown}
				}}
			})))
		}, Conditions{}, `
3 states, 3 steps, 46 runs
remembers: c
memory of c: 2 [R.m]
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put m with \"2000-01-01T00:00:00Z\"" "and the other: put m with \"2000-01-02T00:00:00Z\""]`},
		{"it tells of the time", func() *core.System {
			c := does(func(w world, _ core.Request) core.Result {
				w.ask(errand{verb: "tell", name: "seen", text: time.Now().Format(time.RFC3339Nano)})
				return core.Result{}
			})
			d := simple("d", func(world, core.Request) core.Result { return core.Result{} })
			d.Initial = nil
			return lab([]core.Strategy{c, d})
		}, Conditions{}, `
3 states, 2 steps, 128 runs
rests: seen 2000-01-01T00:00:01.……001Z`},
		{"handlers look at what the other of two calls writes", of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{
					func(w world, _ core.Request) core.Result {
						atOnce(w, errand{verb: "put", name: "a", text: "1"}, errand{verb: "put", name: "b", text: "1"})
						return core.Result{}
					},
					func(w world, e core.Event) []core.Request {
						if e.Key.Name == "a" {
							w.put("seen", w.get("b"))
						}
						return nil
					},
				}
			})
			c.Watches = []core.Kind{"note"}
			return c
		}), Conditions{}, `
3 states, 2 steps, 130 runs
rests: a 1, b 1, seen 
rests: a 1, b 1, seen 1`},
		{"it shows its memory until it has any", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{reconcile: func(world, core.Request) core.Result { n = 1; return core.Result{} }}, func() map[string]string {
					if n > 0 {
						return nil
					}
					return map[string]string{"R.n": "0"}
				}}
			}))
		}), Conditions{}, `
2 states, 1 steps, 56 runs
rests: `},
		{"it sends what it drew", func() *core.System {
			system := drawingBy(func(d *dice) core.Instance {
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					w.ask(errand{verb: "send", name: "d", text: d.draw()})
					return core.Result{}
				}}
			})
			d := simple("d", func(w world, r core.Request) core.Result { w.put("n", string(r)); return core.Result{} })
			d.Initial = nil
			system.Strategies = append(system.Strategies, d)
			return system
		}, Conditions{}, `
3 states, 2 steps, 168 runs
rests: n ……
draws: c`},
	}
}

func TestFindsMixtures(t *testing.T) { finds(t, mixtures()) }

// activeByChance is a system of an active process that does something else in each run.
func activeByChance() *core.System {
	runs := 0
	c := controller("c", func() core.Instance {
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			runs++
			w.put("n", strconv.Itoa(runs))
			return core.Result{}
		}}, func() map[string]string { return map[string]string{} }}
	})
	c.Active = true
	return alone(c)
}

// TestActiveByChance has a run of an active process stop that is another one when its memory is looked at: nobody knows
// what it leaves there.
func TestActiveByChance(t *testing.T) {
	f := explored(t, activeByChance(), Conditions{})
	if all := f.learner.Incidents; len(f.steps) > 0 || !slices.Equal(f.stopped, []string{"c reconciles go"}) || len(all) != 1 || all[0].Cause != core.Chance {
		t.Errorf("it takes the steps %q, stops at %q, and the incidents are %+v", f.steps, f.stopped, all)
	}
}
