package transition

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// carrying looks at a note in a run, and leaves a goroutine that looks at another one and then puts what was seen on a
// third. Until then, only a local variable of the goroutine has it.
func carrying(opaque bool) func() *core.System {
	return func() *core.System {
		c := controller("c", func() core.Instance {
			return tireless{mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				seen := w.get("a")
				go func() {
					w.get("between")
					w.put("b", seen)
				}()
				return core.Result{}
			}}, func() map[string]string { return map[string]string{} }}, func(world) []func() { return nil }, func() {}}
		})
		c.Active, c.Opaque = true, opaque
		changes := simple("d", func(w world, _ core.Request) core.Result { w.put("a", "2"); return core.Result{} })
		return lab([]core.Strategy{c, changes}, "a 1")
	}
}

// awaiting is a controller that reconciles "look", which leaves a goroutine that waits in some way and then writes what
// was seen before, and "wake", which wakes it by the channel.
func awaiting(opaque bool, wait func(w world, woken, stopped <-chan struct{}) bool) func() *core.System {
	return func() *core.System {
		c := controller("c", func() core.Instance {
			woken, stopped := make(chan struct{}), make(chan struct{})
			return tireless{mind{hand{reconcile: func(w world, r core.Request) core.Result {
				switch {
				case r == "look":
					seen := w.get("a")
					go func() {
						if wait(w, woken, stopped) {
							w.put("b", seen)
						}
					}()
					w.put("left", "yes")
				case w.get("left") == "yes":
					select {
					case woken <- struct{}{}:
					default:
					}
				default:
					return core.Result{Blocked: true}
				}
				return core.Result{}
			}}, func() map[string]string { return map[string]string{} }}, func(world) []func() { return nil }, func() { close(stopped) }}
		})
		c.Active, c.Opaque = true, opaque
		c.Initial = []core.Request{"look", "wake"}
		changes := simple("d", func(w world, _ core.Request) core.Result { w.put("a", "2"); return core.Result{} })
		return lab([]core.Strategy{c, changes}, "a 1")
	}
}

// abreast is a controller that leaves a goroutine for each of two requests, which looks at the same note as the other
// one, and then puts a note of its own. If they have a lock, each looks at its own note, and waits for the end of the
// one before.
func abreast(locked bool) func() *core.System {
	return func() *core.System {
		c := controller("c", func() core.Instance {
			left, lock := map[string]string{}, make(chan struct{}, 1)
			return tireless{mind{hand{reconcile: func(w world, r core.Request) core.Result {
				left["left["+string(r)+"]"] = "yes"
				go func() {
					at := "both"
					if locked {
						at = string(r)
						lock <- struct{}{}
						defer func() { <-lock }()
					}
					w.get(at)
					w.put(string(r), "done")
					delete(left, "left["+string(r)+"]")
				}()
				return core.Result{}
			}}, func() map[string]string { return maps.Clone(left) }}, func(world) []func() { return nil }, func() {}}
		})
		c.Active, c.Initial = true, []core.Request{"a", "b"}
		return lab([]core.Strategy{c})
	}
}

func keepers() []scenario {
	woken := func(_ world, woken, stopped <-chan struct{}) bool {
		select {
		case <-woken:
			return true
		case <-stopped:
			return false
		}
	}
	slept := func(w world, _, stopped <-chan struct{}) bool {
		select {
		case <-time.After(time.Hour):
			w.get("between")
			return true
		case <-stopped:
			return false
		}
	}
	numbered := func(divided bool) func() *core.System {
		return func() *core.System {
			made := 0
			return process(divided, func() []mind {
				var all []mind
				for range 2 {
					made++
					serial := strconv.Itoa(made)
					all = append(all, mind{hand{reconcile: func(world, core.Request) core.Result { return core.Result{} }}, func() map[string]string { return map[string]string{"serial": serial} }})
				}
				return all
			})
		}
	}
	global := func() *core.System {
		n := 0
		return process(true, func() []mind {
			var all []mind
			for range 2 {
				all = append(all, mind{hand{reconcile: func(world, core.Request) core.Result { n = 1; return core.Result{} }}, func() map[string]string { return map[string]string{"global": strconv.Itoa(n)} }})
			}
			return all
		})
	}
	return []scenario{
		{"instances are numbered", numbered(false), Conditions{}, `
4 states, 4 steps, 112 runs
rests: `},
		{"instances of two that share nothing are numbered", numbered(true), Conditions{}, `
4 states, 4 steps, 112 runs
rests: `},
		{"two share what all instances share", global, Conditions{}, `
4 states, 4 steps, 112 runs
rests: 
doubts: a keeps b/global outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. Make it anew each time the controller is set up
doubts: a keeps global outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. Make it anew each time the controller is set up
doubts: b keeps a/global outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. Make it anew each time the controller is set up
doubts: b keeps global outside of its instances: all that ever ran share it, and no crash loses it, so what it makes of it was not searched. Make it anew each time the controller is set up`},
		{"it changes its memory, and goes on for ever", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					for n++; ; {
						w.get("n")
					}
				}}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			}))
		}), Conditions{}, `
1 states, 0 steps, 1 runs
stopped: c reconciles go
runaway  c: made more than 50 calls without returning ["get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → " "get n → "]`},
		{"a goroutine keeps what it saw", carrying(true), Conditions{}, `
8 states, 8 steps, 147 runs
rests: a 2, b 1
rests: a 2, b 2
memory of c: 2 []`},
		{"a goroutine keeps what it saw until it is woken", awaiting(true, woken), Conditions{}, `
8 states, 10 steps, 221 runs
rests: a 2, b 1, left yes
memory of c: 2 []
nondeterministic memory c: with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["get left → yes" "then one run: keeps background[1] in memory" "and the other: changes background[1] in memory"]
nondeterministic memory c (background): with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["then one run: put b with \"1\"" "and the other: put b with \"2\""]`},
		{"a goroutine keeps what it saw while it sleeps, and looks again", awaiting(true, slept), Conditions{}, `
8 states, 9 steps, 387 runs
rests: a 2, b 1, left yes
rests: a 2, left yes
memory of c: 2 []
nondeterministic memory c (background): with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["get between → " "then one run: put b with \"1\"" "and the other: put b with \"2\""]`},
		// Each request is queued, waits, or is done: 3 x 3 states, in which 2 x 6 steps begin.
		{"two goroutines wait for the same", abreast(false), Conditions{}, `
9 states, 12 steps, 100 runs
rests: a done, b done
memory of c: 2 [left]`},
		// If both are left, one waits for the end of the other, and then goes on in the same step; who was left first
		// tells two such states apart.
		{"two goroutines wait for a lock", abreast(true), Conditions{}, `
10 states, 12 steps, 221 runs
rests: a done, b done
memory of c: 4 [left]`},
		{"a goroutine keeps what it saw, and is said not to", carrying(false), Conditions{}, `
6 states, 7 steps, 120 runs
rests: a 2, b 1
memory of c: 1 []
nondeterministic memory c (background): with the same responses, a reused instance behaves differently from a fresh one: it keeps memory between runs ["get between → " "then one run: put b with \"1\"" "and the other: put b with \"2\""]`},
	}
}

func TestFindsKept(t *testing.T) { finds(t, keepers()) }

// stirring is a process of two whose event handlers may each enqueue something, and count in a memory that they share
// or do not.
func stirring(divided bool, enqueues, counts [2]bool) func() *core.System {
	return func() *core.System {
		system := process(divided, func() []mind {
			n := make([]int, 2)
			var all []mind
			for i := range 2 {
				own := 0
				if divided {
					own = i
				}
				all = append(all, mind{hand{
					func(world, core.Request) core.Result { return core.Result{} },
					func(world, core.Event) []core.Request {
						if counts[i] {
							n[own] = 1
						}
						if enqueues[i] {
							return []core.Request{"go"}
						}
						return nil
					},
				}, func() map[string]string { return map[string]string{"n": strconv.Itoa(n[own])} }})
			}
			return all
		})
		for _, s := range system.Strategies {
			b := s.(*both)
			b.Watches, b.Initial = []core.Kind{"note"}, nil
		}
		system.Strategies = append(system.Strategies, simple("c", func(w world, _ core.Request) core.Result { w.put("x", "1"); return core.Result{} }))
		return system
	}
}

// TestStirring has it be said that event handlers of a process which share memory act on the same change, if one of
// them changes it.
func TestStirring(t *testing.T) {
	yes, first, second, none := [2]bool{true, true}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{}
	for _, test := range []struct {
		name             string
		divided          bool
		enqueues, counts [2]bool
		want             bool
	}{
		{"both count", false, none, yes, false}, // the second finds what the first has left
		{"one counts, and the other enqueues", false, second, first, true},
		{"one enqueues, and the other counts", false, first, second, true},
		{"both enqueue", false, yes, none, false},
		{"one does both", false, first, first, false},
		{"nobody does anything", false, none, none, false},
		{"they share nothing", true, second, first, false},
	} {
		f := explored(t, stirring(test.divided, test.enqueues, test.counts)(), Conditions{})
		doubts := f.learner.Machine.Doubts
		if got := slices.ContainsFunc(doubts, func(doubt string) bool {
			return strings.HasPrefix(doubt, "the event handlers of a and b both act on changes of note and share memory")
		}); got != test.want || len(doubts) > 1 {
			t.Errorf("%s: it is said %q", test.name, doubts)
		}
		f.known(t)
		if !test.want {
			continue
		}
		// Who is ahead leaves it to who learns to say so.
		for _, d := range f.learner.Machine.remembering {
			d.unordered = false
		}
		w := NewWalker(f.learner.Machine, nil)
		var seen looking
		for _, row := range f.rows {
			w.Load(row)
			if _, err := w.Steps(&seen, nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(seen.stopped) == 0 || !strings.HasSuffix(seen.stopped[0], ErrUnknown.Error()) {
			t.Errorf("%s: who is ahead stops at %q", test.name, seen.stopped)
		}
	}
}

// ticksOn has a goroutine that is woken each second and does nothing, from the start or from its first run on.
func ticksOn(atOnce bool) func() *core.System {
	return of(func() *trade {
		c := controller("c", func() core.Instance {
			end := make(chan struct{})
			tick := func() {
				ticker := time.NewTicker(time.Second)
				defer ticker.Stop()
				for {
					select {
					case <-ticker.C:
					case <-end:
						return
					}
				}
			}
			return tireless{
				mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					if w.create("n", "1") == "done" && !atOnce {
						go tick()
					}
					return core.Result{}
				}}, func() map[string]string { return map[string]string{} }},
				func(world) []func() {
					if atOnce {
						return []func(){tick}
					}
					return nil
				},
				func() { close(end) },
			}
		})
		c.Active = true
		return c
	})
}

func TestFindsTicking(t *testing.T) {
	finds(t, []scenario{
		{"it ticks from the start on", ticksOn(true), Conditions{}, `
2 states, 1 steps, 59 runs
rests: n 1
ticks: c
memory of c: 0 []`},
		{"it ticks from its first run on", ticksOn(false), Conditions{}, `
2 states, 1 steps, 15 runs
rests: n 1
ticks: c
memory of c: 1 []`},
	})
}
