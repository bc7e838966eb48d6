package transition

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// keepsMany is a controller that counts in so many fields, of which none is to count.
func keepsMany(fields int) func() *core.System {
	return of(func() *trade {
		return sequential(controller("c", func() core.Instance {
			n := 0
			return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				n++
				w.put("n", strconv.Itoa(n))
				return core.Result{}
			}}, func() map[string]string {
				all := map[string]string{}
				for i := range fields {
					all["R."+string(rune('a'+i))] = strconv.Itoa(n)
				}
				return all
			}}
		}))
	})
}

// sleepingOnce is an active controller of which one run sleeps before it comes to a memory to which others lead at
// once. All write the time; of an opaque one, one notes it instead. The one that sleeps may have to wait until somebody
// lets it, so that the others were made by then.
func sleepingOnce(opaque, waits bool) func() *core.System {
	return func() *core.System {
		c := controller("c", func() core.Instance {
			var n atomic.Int32
			var at atomic.Value
			at.Store("")
			return tireless{mind{hand{reconcile: func(w world, r core.Request) core.Result {
				if r == "two" {
					if waits && w.get("go") == "" {
						return core.Result{Blocked: true}
					}
					time.Sleep(time.Minute)
				}
				n.Store(1)
				switch now := time.Now().Format(time.RFC3339Nano); {
				case !opaque:
					w.put("seen", now)
				case r == "three":
					at.Store(now)
				}
				return core.Result{}
			}}, func() map[string]string {
				return map[string]string{"R.n": strconv.Itoa(int(n.Load())), "R.at": at.Load().(string)}
			}}, func(world) []func() { return nil }, func() {}}
		})
		c.Active, c.Opaque, c.Initial = true, opaque, []core.Request{"one", "two", "three"}
		if !waits {
			return alone(c)
		}
		return lab([]core.Strategy{c, simple("d", func(w world, _ core.Request) core.Result { w.put("go", "yes"); return core.Result{} })})
	}
}

// rareMixtures are more of them.
func rareMixtures() []scenario {
	failing := func(system func() *core.System) func() *core.System {
		return func() *core.System {
			s := system()
			s.Store = notes{fails: true}
			return s
		}
	}
	hearing := func(reconcile func(w world, r core.Request) core.Result, handle func(w world, e core.Event)) func() *core.System {
		return of(func() *trade {
			c := controller("c", func() core.Instance {
				return hand{reconcile, func(w world, e core.Event) []core.Request { handle(w, e); return nil }}
			})
			c.Watches = []core.Kind{"note"}
			return c
		})
	}
	return []scenario{
		{"it is blocked whether its call fails or not", failing(plainly(func(w world, _ core.Request) core.Result { w.put("n", "1"); return core.Result{Blocked: true} })), Conditions{Failures: 1, Crashes: 1}, `
2 states, 1 steps, 80 runs
rests: `},
		{"it keeps four things", keepsMany(4), Conditions{IgnoredMemory: []string{"R"}}, `
2 states, 1 steps, 69 runs
rests: n 1
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs in R.a, R.b, R.c, R.d ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"it keeps five things", keepsMany(5), Conditions{IgnoredMemory: []string{"R"}}, `
2 states, 1 steps, 69 runs
rests: n 1
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs in R.a, R.b, R.c, R.d, and more ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"the last of two calls decides whether it is blocked, call by call", watching(func(w world, _ core.Request) core.Result {
			twoAtOnce(w, "")
			return core.Result{Blocked: w.get("n") == "2"}
		}), Conditions{Granularity: PerCall}, `
11 states, 12 steps, 90 runs
rests: n 1`},
		{"it crashes before its handlers have heard", of(func() *trade {
			c := sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{
					func(w world, _ core.Request) core.Result {
						n = 1
						w.put("a", "1")
						w.put("b", "1")
						return core.Result{}
					},
					func(w world, e core.Event) []core.Request {
						if e.Key.Name == "a" && !e.Initial {
							w.put("heard", "yes")
						}
						return nil
					},
				}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			}))
			c.Watches = []core.Kind{"note"}
			return c
		}), Conditions{Crashes: 1}, `
7 states, 7 steps, 12 runs
rests: a 1, b 1
rests: a 1, b 1, heard yes
remembers: c
memory of c: 1 [R.n]`},
		{"handlers come by where they are at work", hearing(func(w world, _ core.Request) core.Result { w.put("a", "1"); return core.Result{} }, func(w world, e core.Event) {
			switch {
			case e.New == nil:
			case e.Key.Name == "a":
				w.put("b", "1")
			default:
				w.ask(errand{verb: "drop", name: "a"})
				w.put("a", "1")
			}
		}), Conditions{}, `
2 states, 1 steps, 64 runs
rests: a 1, b 1`},
		{"it counts unseen, and sleeps", of(func() *trade {
			return controller("c", func() core.Instance {
				n := 0
				return hand{reconcile: func(w world, _ core.Request) core.Result {
					time.Sleep(time.Hour)
					n++
					w.put("n", strconv.Itoa(n))
					return core.Result{}
				}}
			})
		}), Conditions{}, `
2 states, 1 steps, 69 runs
rests: n 1
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put n with \"1\"" "and the other: put n with \"2\""]`},
		{"it goes on for ever, call by call", plainly(func(w world, _ core.Request) core.Result {
			for {
				w.get("n")
			}
		}), Conditions{Granularity: PerCall}, `
52 states, 51 steps, 51 runs
stopped: c finishes with go
runaway  c: made more than 50 calls without returning ["get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → "]`},
		{"it writes how late it is", watching(func(w world, _ core.Request) core.Result {
			w.put("late", strconv.FormatBool(time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) > time.Hour))
			return core.Result{}
		}), Conditions{}, `
2 states, 1 steps, 58 runs
rests: late false
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: put late with "false"; later: put late with "true"`},
		{"its memory changes later, and it is asked again", of(func() *trade {
			c := controller("c", wakes)
			c.Initial = []core.Request{"one", "two"}
			return c
		}), Conditions{Active: []string{"c"}}, `
5 states, 5 steps, 100 runs
rests: n 0
active: c
memory of c: 2 [R.n]`},
		{"it writes the time again, and is active", of(func() *trade {
			c := does(func(w world, _ core.Request) core.Result {
				w.put("seen", time.Now().Format(time.RFC3339Nano))
				return core.Result{}
			})
			c.Initial = []core.Request{"one", "two"}
			return c
		}), Conditions{Active: []string{"c"}}, `
4 states, 4 steps, 84 runs
rests: seen 2000-01-01T00:00:00Z
active: c
memory of c: 0 []`},
		{"one that remembers hears itself in a run of another one that does", func() *core.System {
			remembering := func(name string, reconcile func(w world), handle func(w world, e core.Event, n int) int) *trade {
				c := sequential(controller(name, func() core.Instance {
					n := 0
					return mind{hand{
						func(w world, _ core.Request) core.Result { n = min(n+1, 9); reconcile(w); return core.Result{} },
						func(w world, e core.Event) []core.Request { n = min(n+handle(w, e, n), 9); return nil },
					}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
				}))
				c.Watches = []core.Kind{"note"}
				return c
			}
			c := remembering("c", func(w world) { w.put("a", "1") }, func(world, core.Event, int) int { return 0 })
			d := remembering("d", func(world) {}, func(w world, e core.Event, n int) int {
				switch e.Key.Name {
				case "a":
					w.put("b", "1")
				case "b":
					w.put("count", strconv.Itoa(n+1))
					return 1
				}
				return 0
			})
			d.Initial = nil
			return lab([]core.Strategy{c, d})
		}, Conditions{}, `
2 states, 1 steps, 16 runs
rests: a 1, b 1, count 1
remembers: d
remembers: c
memory of c: 1 [R.n]
memory of d: 1 [R.n]`},
		{"it heeds a short while", of(func() *trade {
			return controller("c", func() core.Instance {
				var first time.Time
				runs, passed := 0, false
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					switch runs++; runs {
					case 1:
						first = time.Now()
					case 2:
						passed = time.Since(first) > 30*time.Second
					default:
						if runs = 3; passed && time.Since(first) < 2*time.Hour {
							w.put("odd", "yes")
						}
					}
					return core.Result{Requeue: runs < 3}
				}}, func() map[string]string {
					return map[string]string{"R.runs": strconv.Itoa(runs), "R.first": first.Format(time.RFC3339Nano), "R.passed": strconv.FormatBool(passed)}
				}}
			})
		}), Conditions{}, `
4 states, 3 steps, 97 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps no R.passed in memory; later: keeps one and then, reconciling go, put odd where it else returns
memory of c: 3 [R.first R.runs]`},
		{"it polls from its first run on", of(func() *trade {
			c := controller("c", func() core.Instance {
				end := make(chan struct{})
				return tireless{
					mind{hand{reconcile: func(w world, _ core.Request) core.Result {
						if w.create("n", "1") == "done" {
							go func() {
								ticker := time.NewTicker(time.Hour)
								defer ticker.Stop()
								for {
									select {
									case <-ticker.C:
										w.get("poll")
									case <-end:
										return
									}
								}
							}()
						}
						return core.Result{}
					}}, func() map[string]string { return map[string]string{} }},
					func(world) []func() { return nil },
					func() { close(end) },
				}
			})
			c.Active = true
			return c
		}), Conditions{}, `
3 states, 3 steps, 95 runs
rests: n 1
memory of c: 2 []`},
		{"it sleeps, writes the time, and is active", of(func() *trade {
			c := controller("c", func() core.Instance {
				var n atomic.Int32
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					time.Sleep(time.Minute)
					n.Store(1)
					w.put("seen", time.Now().Format(time.RFC3339Nano))
					return core.Result{}
				}}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(int(n.Load()))} }}
			})
			c.Active, c.Initial = true, []core.Request{"one", "two", "three"}
			return c
		}), Conditions{}, `
8 states, 12 steps, 433 runs
rests: seen 2000-01-01T00:02:00Z
memory of c: 1 [R.n]`},
		{"one of its runs sleeps, all write the time, and it is active", sleepingOnce(false, false), Conditions{}, `
12 states, 14 steps, 218 runs
rests: seen 2000-01-01T00:00:00Z
rests: seen 2000-01-01T00:00:01.……001Z
rests: seen 2000-01-01T00:01:01.……001Z
memory of c: 1 [R.n]`},
		{"one of its runs sleeps later, all write the time, and it is active", sleepingOnce(false, true), Conditions{}, `
16 states, 22 steps, 362 runs
rests: go yes, seen 2000-01-01T00:00:00Z
rests: go yes, seen 2000-01-01T00:00:01.……001Z
rests: go yes, seen 2000-01-01T00:01:01.……001Z
memory of c: 1 [R.n]`},
		{"one of its runs sleeps later, one notes the time, and it is active", sleepingOnce(true, true), Conditions{}, `
12 states, 20 steps, 315 runs
rests: go yes
memory of c: 2 [R.at R.n]`},
		{"handlers write the time in a run", hearing(func(w world, _ core.Request) core.Result {
			w.put("a", "1")
			w.put("b", "1")
			return core.Result{}
		}, func(w world, e core.Event) {
			if e.Key.Name != "seen" {
				w.put("seen", time.Now().Format(time.RFC3339Nano))
			}
		}), Conditions{}, `
2 states, 1 steps, 64 runs
rests: a 1, b 1, seen 2000-01-01T00:00:00Z`},
		{"handlers make a call that waits for its answer", hearing(func(w world, _ core.Request) core.Result {
			atOnce(w, errand{verb: "put", name: "b", text: "1"}, errand{verb: "put", name: "b", text: "2"}, errand{verb: "put", name: "c", text: "1"})
			return core.Result{}
		}, func(w world, e core.Event) {
			if e.Key.Name == "c" {
				w.put("b", "1")
			}
		}), Conditions{}, `
3 states, 2 steps, 247 runs
rests: b 1, c 1
rests: b 2, c 1`},
		{"it draws in vain, and remembers something else", func() *core.System {
			return drawingBy(func(d *dice) core.Instance {
				n := 0
				return mind{hand{reconcile: func(world, core.Request) core.Result {
					_, n = d.draw(), 1
					return core.Result{Requeue: true}
				}}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			})
		}, Conditions{Drawing: []string{"c"}}, `
2 states, 2 steps, 102 runs
remembers: c
draws: c
memory of c: 1 [R.n]`},
	}
}

func TestFindsRareMixtures(t *testing.T) { finds(t, rareMixtures()) }

// TestLeftBehind has a run that leaves behind what never ends be audited no further once that is seen.
func TestLeftBehind(t *testing.T) {
	w := begin(t, watching(func(world, core.Request) core.Result {
		go func() { <-make(chan struct{}) }()
		return core.Result{}
	})(), Conditions{})
	var seen looking
	_, err := w.Steps(&seen, nil)
	if all := w.Learn.Incidents; err != nil || len(seen.steps) > 0 || len(all) != 1 || all[0].Kind != core.Stuck || w.Learn.Executed != 1+fair {
		t.Errorf("it takes %q, %v, the incidents are %+v, and code was run %d times", seen.steps, err, all, w.Learn.Executed)
	}
}
