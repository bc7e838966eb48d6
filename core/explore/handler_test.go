package explore_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
)

// compare searches a system of writers in every way and compares with the twin.
func compare(t *testing.T, system *core.System) {
	t.Helper()
	graph, err := naive.Explore(system, largest)
	if err != nil {
		t.Fatal(err)
	}
	describe := func(s core.State) string { return fmt.Sprint(s.List("note", ""), s.Work(), s.Timers()) }
	var want []string
	for _, s := range graph.States {
		want = append(want, describe(s))
	}
	slices.Sort(want)
	for _, order := range []explore.Order{explore.BreadthFirst, explore.DepthFirst} {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Order = order
			space := search(t, system, o)
			var got []string
			for id := range core.StateID(space.States()) {
				got = append(got, describe(space.State(id)))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) || space.Stats.Transitions != graph.Transitions() || len(space.Reasons()) > 0 {
				t.Errorf("order %d, %d workers: %d transitions, %v, states %q, want %d and %q",
					order, workers, space.Stats.Transitions, space.Reasons(), got, graph.Transitions(), want)
			}
		}
	}
}

// toggler puts words on a note in turn, for ever.
func toggler(name string, words ...string) writer {
	return writer{name: "toggler of " + name, initial: []core.Request{"go"}, reconcile: func(do do, _ core.Request) core.Result {
		now := do("get %s", name)
		next := words[(slices.Index(words, now)+1)%len(words)]
		do("put %s %s", name, next)
		return core.Result{Requeue: true}
	}}
}

// TestHandlersLook checks that what handlers enqueue may depend on what they read, and
// is not remembered from where they read something else.
func TestHandlersLook(t *testing.T) {
	compare(t, boardWith([]string{"a 0", "b 0"},
		toggler("a", "0", "1"), toggler("b", "0", "1", "2"),
		writer{name: "watcher", handle: func(do do, e core.Event) []core.Request {
			if e.Key.Name == "b" {
				return nil
			}
			if do("get b") == "1" {
				return []core.Request{core.Request(do("get a"))}
			}
			return []core.Request{core.Request(strconv.Itoa(len(do("list"))))}
		}},
	))
}

// TestHandlersWrite checks that handlers may write, at the start as well, and that what they
// write is delivered in turn: even if it leads back into the very handling it came from.
func TestHandlersWrite(t *testing.T) {
	compare(t, boardWith([]string{"a 0", "n 0"},
		toggler("a", "0", "1"),
		writer{name: "echo", handle: func(do do, e core.Event) []core.Request {
			if e.Key.Name != "a" || e.New.Canonical() != "1" {
				return nil
			}
			n, err := strconv.Atoi(do("get n"))
			if err == nil && n < 3 {
				do("put n %d", n+1)
				do("put a 0")
				do("put a 1")
				do("put b x!%d", n)
			}
			return []core.Request{"echoed"}
		}},
	))
	// The write of b sets off the handling of a once more, which gets further than the
	// one that wrote b.
	compare(t, boardWith([]string{"a 0", "b 0"},
		toggler("a", "0", "1"),
		writer{name: "overtaken", handle: func(do do, e core.Event) []core.Request {
			if e.Old == nil || e.New.Canonical() != "1" {
				return nil
			}
			if e.Key.Name == "b" {
				do("put a 0")
				do("put a 1")
				return nil
			}
			do("put b 1")
			return []core.Request{core.Request(do("get b"))}
		}},
	))
	compare(t, boardWith([]string{"a 0"}, writer{name: "at start", handle: func(do do, e core.Event) []core.Request {
		if e.Key.Name == "a" && e.Old == nil {
			do("put b 1!raw")
		}
		return []core.Request{core.Request(e.Key.Name)}
	}}))
}

// TestHandlersWithoutEnd checks that handlers that set each other off for ever are contained.
func TestHandlersWithoutEnd(t *testing.T) {
	flip := writer{name: "flip", handle: func(do do, e core.Event) []core.Request {
		if e.Old != nil {
			do("put a %s", map[string]string{"0": "1", "1": "0"}[e.New.Canonical()])
		}
		return nil
	}}
	count := writer{name: "count", handle: func(do do, e core.Event) []core.Request {
		n, _ := strconv.Atoi(e.New.Canonical())
		do("put a %d", n+1)
		return nil
	}}
	start := writer{name: "start", initial: []core.Request{"go"}, reconcile: func(do do, _ core.Request) core.Result {
		do("put a 1")
		return core.Result{}
	}}
	for _, test := range []struct {
		name   string
		writer writer
		states int
	}{
		{"in a circle, in a step", flip, 1},
		{"upwards, at the start", count, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for workers := 1; workers <= 2; workers++ {
				space := search(t, boardWith([]string{"a 0"}, test.writer, start), options(workers))
				incidents := space.Incidents()
				if len(incidents) != 1 || incidents[0].Kind != core.Runaway || incidents[0].Strategy != test.writer.name {
					t.Errorf("the incidents are %+v", incidents)
				}
				if space.States() != test.states || test.states > 0 && !space.Cut(0) {
					t.Errorf("there are %d states, want %d, the first one cut", space.States(), test.states)
				}
			}
		})
	}
}

// TestCallsOfHandlersAreTold has a step say which of its calls are those of event handlers, and whose.
func TestCallsOfHandlersAreTold(t *testing.T) {
	system := boardWith([]string{"a 0", "n 0"},
		toggler("a", "0", "1"),
		writer{name: "echo", handle: func(do do, e core.Event) []core.Request {
			if e.Key.Name == "a" {
				do("put n %s", e.New.Canonical())
			}
			return nil
		}},
	)
	space := search(t, system, options(1))
	run, found := space.Shortest(func(id core.StateID) bool {
		return strings.Contains(fmt.Sprint(space.State(id).List("note", "")), "1")
	})
	if !found {
		t.Fatal("a is never 1")
	}
	trace, err := space.Trace(t.Context(), start(run, 0), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, call := range trace.Steps[len(trace.Steps)-1].Calls {
		told = append(told, fmt.Sprint(call.Handler, ": ", call.Call, " ", call.Wrote))
	}
	if want := []string{": get a false", ": put a 1 true", "echo: put n 1 true"}; !slices.Equal(told, want) {
		t.Errorf("the calls are %q, want %q", told, want)
	}
}
