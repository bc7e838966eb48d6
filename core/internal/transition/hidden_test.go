package transition

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// sleeps is a controller that sleeps for ten hours, and does something then that may depend on the time.
func sleeps(then func(w world)) func() *core.System {
	return watching(func(w world, _ core.Request) core.Result {
		time.Sleep(10 * time.Hour)
		then(w)
		return core.Result{}
	})
}

// afternoon is later than ten hours behind the start of the clock, and earlier than twenty.
func afternoon() time.Time { return time.Date(2000, 1, 1, 15, 0, 0, 0, time.UTC) }

// renewing keeps the time of its last run, or only that of one that comes an hour later, and may put it on a note.
func renewing(always, tells bool) func() *core.System {
	return of(func() *trade {
		return controller("c", func() core.Instance {
			var at time.Time
			return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				if tells && !at.IsZero() && w.get("ask") != "" {
					w.put("at", at.Format(time.RFC3339Nano))
				}
				if always || at.IsZero() || time.Since(at) > time.Hour {
					at = time.Now()
				}
				return core.Result{RequeueAfter: time.Hour}
			}}, func() map[string]string { return map[string]string{"R.at": at.String()} }}
		})
	}, "ask yes")
}

// twoDeadlines keeps when it ran first, and does one thing an hour later and another one two days later.
func twoDeadlines() core.Instance {
	var at time.Time
	return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
		switch {
		case at.IsZero():
			at = time.Now()
		case time.Since(at) > 2*24*time.Hour:
			w.put("dead", "yes")
		case time.Since(at) > time.Hour:
			w.put("ill", "yes")
		}
		return core.Result{RequeueAfter: time.Hour}
	}}, func() map[string]string { return map[string]string{"R.at": at.String()} }}
}

// filling has a bucket of four tokens, of which each run takes one, and that fills up by one a minute. Without a token
// it waits, or it does not heed that.
func filling(heeds bool) func() core.Instance {
	return func() core.Instance {
		var last time.Time
		tokens := 2.0
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			if !last.IsZero() {
				tokens = min(2, tokens+time.Since(last).Minutes())
			}
			last = time.Now()
			if tokens < 1 && heeds {
				return core.Result{RequeueAfter: time.Minute}
			}
			tokens = max(0, tokens-1)
			n, _ := strconv.Atoi(w.get("n"))
			w.put("n", strconv.Itoa(min(4, n+1)))
			return core.Result{Requeue: n < 3}
		}}, func() map[string]string {
			return map[string]string{"R.last": last.String(), "R.tokens": strconv.FormatFloat(tokens, 'f', 2, 64)}
		}}
	}
}

func moreClocks() []scenario {
	return []scenario{
		{"it sleeps, and writes the time", sleeps(func(w world) { w.put("seen", time.Now().Format(time.RFC3339Nano)) }), Conditions{}, `
2 states, 1 steps, 83 runs
rests: seen 2000-01-01T10:00:01.……001Z`},
		{"it sleeps, and looks how late it is", sleeps(func(w world) {
			if time.Now().After(afternoon()) {
				w.put("late", "yes")
			}
		}), Conditions{}, `
2 states, 1 steps, 70 runs
rests: 
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: returns; later: put late`},
		{"it sleeps, and looks how late it is, as time passes", sleeps(func(w world) {
			if time.Now().After(afternoon()) {
				w.put("late", "yes")
			}
		}), Conditions{Deadlines: 1}, `
2 states, 1 steps, 90 runs
rests: 
awaits: c`},
		{"it keeps when it ran", renewing(true, false), Conditions{Deadlines: 1}, `
3 states, 3 steps, 76 runs
rests: ask yes
remembers: c
memory of c: 1 [R.at]`},
		{"it keeps when it ran, and tells", renewing(true, true), Conditions{Deadlines: 1}, `
7 states, 7 steps, 292 runs
rests: ask yes
rests: ask yes, at 2000-01-01T00:00:00Z
rests: ask yes, at 2000-01-01T00:00:01.……001Z
remembers: c
memory of c: 1 [R.at]`},
		{"it keeps a time that it renews", renewing(false, false), Conditions{Deadlines: 1}, `
3 states, 3 steps, 96 runs
rests: ask yes
remembers: c
memory of c: 1 [R.at]`},
		{"it keeps a time that it renews, and tells", renewing(false, true), Conditions{Deadlines: 1}, `
18 states, 21 steps, 185 runs
rests: ask yes
rests: ask yes, at 2000-01-01T00:00:00Z
rests: ask yes, at 2000-01-01T00:00:01.……001Z
rests: ask yes, at 2019-12-27T07:07:01.……001Z
rests: ask yes, at 2019-12-27T07:07:02.……002Z
remembers: c
awaits: c
waits: the behavior of c depends on the clock, and after the last of the times that passed, more were not searched (raise --deadlines, Options.Deadlines; if it does another thing each time, such as to count or to toggle, that is no help: leave that out): reconciling go, now: keeps R.at in memory; later: changes R.at in memory and then, reconciling go, put at with a newer time where it else put at
memory of c: 2 [R.at]`},
		{"it keeps a time that it renews, and tells, and no time passes", renewing(false, true), Conditions{}, `
7 states, 7 steps, 149 runs
rests: ask yes
rests: ask yes, at 2000-01-01T00:00:00Z
rests: ask yes, at 2000-01-01T00:00:01.……001Z
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps R.at in memory; later: changes R.at in memory and then, reconciling go, put at with a newer time where it else put at
memory of c: 1 [R.at]`},
		{"it keeps two deadlines", of(func() *trade { return controller("c", twoDeadlines) }), Conditions{Deadlines: 1}, `
9 states, 11 steps, 237 runs
rests: 
rests: dead yes, ill yes
rests: ill yes
remembers: c
awaits: c
memory of c: 1 [R.at]`},
		{"it keeps two deadlines, and more time passes", of(func() *trade { return controller("c", twoDeadlines) }), Conditions{Deadlines: 2}, `
13 states, 17 steps, 398 runs
rests: 
rests: dead yes, ill yes
rests: ill yes
remembers: c
awaits: c
memory of c: 1 [R.at]`},
		{"it keeps two deadlines of two requests", of(func() *trade {
			c := controller("c", func() core.Instance {
				at := map[core.Request]time.Time{}
				return mind{hand{reconcile: func(w world, r core.Request) core.Result {
					switch {
					case at[r].IsZero():
						at[r] = time.Now()
					case time.Since(at[r]) > time.Hour:
						w.put(string(r), "late")
						return core.Result{}
					}
					return core.Result{RequeueAfter: time.Hour}
				}}, func() map[string]string {
					memory := map[string]string{}
					for r, since := range at {
						memory["R.at["+string(r)+"]"] = since.String()
					}
					return memory
				}}
			})
			c.Initial = []core.Request{"x", "y"}
			return c
		}), Conditions{Deadlines: 1}, `
10 states, 13 steps, 320 runs
rests: 
rests: x late, y late
remembers: c
awaits: c
doubts: c keeps memory, and what it does when the deadline of one request has passed and that of another has not was not searched
memory of c: 3 [R.at]`},
		{"it does something from the first second on", watching(func(w world, _ core.Request) core.Result {
			if time.Now().Second() > 0 {
				w.put("seen", time.Now().Format(time.RFC3339Nano))
			}
			return core.Result{Requeue: true}
		}), Conditions{}, `
3 states, 3 steps, 61 runs
doubts: c writes the time with "put seen", and does something else a moment earlier: whether it writes each time that it is run was searched as if time went back in between. Write the time only where something else changes
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: put seen; later: asks to be run again`},
		{"it has a bucket", of(func() *trade { return controller("c", filling(true)) }), Conditions{Deadlines: 1}, `
7 states, 7 steps, 309 runs
rests: n 2
rests: n 4
remembers: c
awaits: c
waits: c waits for several times, and those between the first and the last were not searched: reconciling go, now: keeps R.tokens in memory; then: changes R.tokens in memory and then, reconciling go, asks to be run again in 1m0s where it else get n
memory of c: 4 [R.last R.tokens]`},
		{"it has a bucket, and no time passes", of(func() *trade { return controller("c", filling(true)) }), Conditions{}, `
4 states, 4 steps, 139 runs
rests: n 2
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: asks to be run again in 1m0s; later: get n
memory of c: 2 [R.last R.tokens]`},
		{"it has a bucket that it does not heed", of(func() *trade { return controller("c", filling(false)) }), Conditions{Deadlines: 1}, `
5 states, 4 steps, 184 runs
rests: n 4
remembers: c
memory of c: 2 [R.last R.tokens]`},
	}
}

// strays makes a system of a controller that does something else with a fresh instance once code was run so often, with
// what it keeps counted.
func strays(after int) func() *core.System {
	return func() *core.System {
		runs := 0
		return alone(sequential(controller("c", func() core.Instance {
			n := 0
			return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				if runs++; n == 0 && runs > after {
					w.get("n")
				}
				n++
				return core.Result{Requeue: n < 2}
			}}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
		})))
	}
}

func moreChances() []scenario {
	return []scenario{
		{"each run is another one, on and on, and it looks", func() *core.System {
			runs := 0
			return alone(simple("c", func(w world, _ core.Request) core.Result {
				runs++
				w.get("n")
				w.put("n", strconv.Itoa(runs))
				return core.Result{Requeue: true}
			}))
		}, Conditions{}, `
33 states, 32 steps, 109 runs
stopped: c reconciles go
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["get n → " "then one run: put n with \"446\"" "and the other: put n with \"448\""]`},
		{"each run makes another call, call by call", func() *core.System {
			runs := 0
			return alone(simple("c", func(w world, _ core.Request) core.Result {
				runs++
				w.get(strconv.Itoa(runs % 2))
				w.put("n", "1")
				return core.Result{}
			}))
		}, Conditions{Granularity: PerCall}, `
2 states, 1 steps, 2 runs
stopped: c continues with go
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: get 1" "and the other: get 0"]`},
		{"what led to its memory is another thing when that is audited", strays(20), Conditions{}, `
3 states, 2 steps, 22 runs
rests: 
remembers: c
memory of c: 2 [R.n]
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: asks to be run again" "and the other: get n"]`},
		{"what led to its memory is another thing when it goes on", strays(13), Conditions{}, `
2 states, 1 steps, 14 runs
stopped: c reconciles go
remembers: c
memory of c: 1 [R.n]
nondeterministic chance c: with the same responses, two fresh instances behave differently: it depends on random numbers, map order, or global state ["then one run: asks to be run again" "and the other: get n"]`},
		{"its memory is more than it shows, and it comes there twice", func() *core.System {
			return alone(sequential(controller("c", func() core.Instance {
				m := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					if m++; m == 4 {
						w.put("m", "4")
					}
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
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: asks to be run again" "and the other: put m"]`},
		{"its memory is more than it shows", func() *core.System {
			return alone(sequential(controller("c", func() core.Instance {
				n, m := 0, 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					if n, m = 1-n, m+1; m == 4 {
						w.put("m", "4")
					}
					return core.Result{Requeue: true}
				}}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			})))
		}, Conditions{}, `
2 states, 2 steps, 36 runs
remembers: c
memory of c: 1 [R.n]`},
	}
}

// wakes changes its memory an hour after a run.
func wakes() core.Instance {
	var n atomic.Int32
	text := func() string { return strconv.Itoa(int(n.Load())) }
	return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
		w.put("n", text())
		if n.Load() == 0 {
			time.AfterFunc(time.Hour, func() { n.Store(1) })
		}
		return core.Result{}
	}}, func() map[string]string { return map[string]string{"R.n": text()} }}
}

// splitting is woken each minute, and leaves a goroutine behind that waits for ever after so many times.
func splitting() core.Instance {
	end := make(chan struct{})
	return tireless{
		mind{hand{reconcile: func(world, core.Request) core.Result { return core.Result{} }}, func() map[string]string { return map[string]string{} }},
		func(w world) []func() {
			return []func(){func() {
				ticker := time.NewTicker(time.Minute)
				defer ticker.Stop()
				for n := 1; ; n++ {
					select {
					case <-ticker.C:
						w.get("poll")
						if n == 4 {
							go func() { <-end }()
						}
					case <-end:
						return
					}
				}
			}}
		},
		func() { close(end) },
	}
}

func moreBackgrounds() []scenario {
	return []scenario{
		{"its memory changes later", of(func() *trade { return controller("c", wakes) }), Conditions{}, `
3 states, 2 steps, 42 runs
rests: n 0
active: c
memory of c: 2 [R.n]`},
		{"it polls, and leaves something waiting one day", of(func() *trade { return controller("c", splitting) }), Conditions{Active: []string{"c"}}, `
3 states, 3 steps, 91 runs
rests: 
active: c
memory of c: 1 []
nondeterministic memory c (background): with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["get poll → " "then one run: rests as before" "and the other: does something else after more time"]`},
		{"it hands on what nobody shows", of(func() *trade {
			c := controller("c", handing)
			c.Active, c.Opaque = true, true
			return c
		}), Conditions{}, `
3 states, 2 steps, 45 runs
rests: go by hand
memory of c: 1 []`},
	}
}
