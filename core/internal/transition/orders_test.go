package transition

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// atOnce makes calls at the same time, and returns the answers in the order of the calls.
func atOnce(w world, calls ...errand) []string {
	answers := make([]string, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() { answers[i] = w.ask(call) })
	}
	all.Wait()
	return answers
}

// putAtOnce puts as many texts on one note at the same time.
func putAtOnce(n int) func(w world, _ core.Request) core.Result {
	return func(w world, _ core.Request) core.Result {
		var calls []errand
		for i := range n {
			calls = append(calls, errand{verb: "put", name: "n", text: strconv.Itoa(i)})
		}
		atOnce(w, calls...)
		return core.Result{}
	}
}

// makeAtOnce makes a note twice at the same time, and is blocked, or fails, if it is the second one that is made.
func makeAtOnce(ends core.Result) func(w world, _ core.Request) core.Result {
	return func(w world, _ core.Request) core.Result {
		if atOnce(w, errand{verb: "make", name: "n", text: "1"}, errand{verb: "make", name: "n", text: "2"})[0] == "is there" {
			return ends
		}
		return core.Result{}
	}
}

// blockedLater is as that, and puts another note before it is blocked.
func blockedLater(w world, r core.Request) core.Result {
	end := makeAtOnce(core.Result{Blocked: true})(w, r)
	w.put("m", "1")
	return end
}

func orderings() []scenario {
	failing := func(system func() *core.System) func() *core.System {
		return func() *core.System {
			s := system()
			s.Store = notes{fails: true}
			return s
		}
	}
	handlers := of(func() *trade {
		c := controller("c", func() core.Instance {
			return hand{
				func(world, core.Request) core.Result { return core.Result{} },
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
	}, "a 1")
	return []scenario{
		{"three calls", watching(putAtOnce(3)), Conditions{}, `
4 states, 3 steps, 141 runs
rests: n 0
rests: n 1
rests: n 2`},
		{"three calls, in two orders", watching(putAtOnce(3)), Conditions{Orders: 2}, `
2 states, 1 steps, 81 runs
rests: n 2
doubts: c makes concurrent calls whose order matters, reconciling go: "put n" and "put n" were not answered in every order. Raise --orders (Options.Orders), or make the calls independent of what the other writes`},
		{"three calls, call by call", watching(putAtOnce(3)), Conditions{Granularity: PerCall}, `
20 states, 22 steps, 151 runs
rests: n 0
rests: n 1
rests: n 2`},
		{"three calls, call by call, in two orders", watching(putAtOnce(3)), Conditions{Granularity: PerCall, Orders: 2}, `
6 states, 5 steps, 69 runs
rests: n 2
doubts: c makes concurrent calls whose order matters, reconciling go: "put n" and "put n" were not answered in every order. Raise --orders (Options.Orders), or make the calls independent of what the other writes`},
		{"two calls, and one fails", failing(watching(putAtOnce(2))), Conditions{Failures: 1}, `
5 states, 10 steps, 191 runs
rests: n 0
rests: n 1`},
		{"two calls, call by call, and one fails", failing(watching(putAtOnce(2))), Conditions{Failures: 1, Granularity: PerCall}, `
22 states, 27 steps, 198 runs
rests: n 0
rests: n 1`},
		{"two calls, and a crash", watching(putAtOnce(2)), Conditions{Crashes: 1}, `
8 states, 13 steps, 83 runs
rests: n 0
rests: n 1`},
		{"handlers make two calls", handlers, Conditions{}, `
2 states, 1 steps, 20 runs
rests: a 1, n 2
doubts: c makes concurrent calls whose order matters, handling an event of note a: "put n" and "put n" were not answered in every order. Make one call after the other, or make the calls independent of what the other writes`},
		{"one order is blocked", watching(makeAtOnce(core.Result{Blocked: true})), Conditions{}, `
2 states, 1 steps, 83 runs
rests: n 1`},
		{"one order is blocked, and it may crash", watching(makeAtOnce(core.Result{Blocked: true})), Conditions{Crashes: 1}, `
5 states, 4 steps, 101 runs
rests: n 1
doubts: c is blocked after some orders or failures of its concurrent calls, reconciling go: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)`},
		{"one order is blocked, and a call may fail, and it may crash", failing(watching(makeAtOnce(core.Result{Blocked: true}))), Conditions{Crashes: 1, Failures: 1}, `
11 states, 22 steps, 261 runs
rests: n 1
rests: n 2
doubts: c is blocked after some orders or failures of its concurrent calls, reconciling go: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)`},
		{"one order is blocked, call by call", watching(makeAtOnce(core.Result{Blocked: true})), Conditions{Granularity: PerCall}, `
8 states, 7 steps, 104 runs
rests: n 1
rests: n 2`},
		{"two calls, call by call, in as many orders", watching(putAtOnce(2)), Conditions{Granularity: PerCall, Orders: 2}, `
8 states, 7 steps, 82 runs
rests: n 0
rests: n 1`},
		{"one order is blocked, and a call may fail", failing(watching(makeAtOnce(core.Result{Blocked: true}))), Conditions{Failures: 1}, `
4 states, 8 steps, 199 runs
rests: n 1
rests: n 2`},
		{"one order is blocked behind another call, and it may crash", watching(blockedLater), Conditions{Crashes: 1}, `
6 states, 5 steps, 103 runs
rests: m 1, n 1
rests: n 1
doubts: c is blocked after some orders or failures of its concurrent calls, reconciling go: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)`},
		{"one order is blocked behind another call, and a call may fail, and it may crash", failing(watching(blockedLater)), Conditions{Crashes: 1, Failures: 1}, `
16 states, 37 steps, 355 runs
rests: m 1, n 1
rests: m 1, n 2
rests: n 1
rests: n 2
doubts: c is blocked after some orders or failures of its concurrent calls, reconciling go: crashes in those cases were not searched. Make one call after the other, or leave out --crashes (Options.Crashes)`},
		{"two actions do the same", of(func() *trade {
			c := does(twoAtOnce)
			c.Standing, c.Initial = []core.Request{"x", "y"}, nil
			return c
		}), Conditions{}, `
3 states, 12 steps, 122 runs`},
		{"one order is run again", watching(makeAtOnce(core.Result{Requeue: true})), Conditions{}, `
3 states, 3 steps, 101 runs
rests: n 1`},
	}
}

// TestDoubtsAhead has a walker that is ahead of the one that learns leave steps to that one where it has something to
// say of them, and others take them.
func TestDoubtsAhead(t *testing.T) {
	doubted := 0
	for _, s := range slices.Concat(orderings(), sharers(), failures(), mixtures()) {
		f := explored(t, s.system(), s.conditions)
		m := f.learner.Machine
		for _, a := range m.Actors {
			a.raced, a.waited, a.domain.together, a.domain.unordered = false, false, false, false
		}
		before := len(m.Doubts)
		f.known(t)
		w := NewWalker(m, nil)
		w.Ahead = true
		unknown := 0
		for _, row := range f.rows {
			w.Load(row)
			var seen looking
			if _, err := w.Steps(&seen, nil); err != nil {
				t.Fatal(err)
			}
			for n, text := range seen.stopped {
				if !strings.HasSuffix(text, ErrUnknown.Error()) {
					continue
				}
				unknown++
				w.Load(row)
				if _, err := w.Steps(&enough{n}, nil); !errors.Is(err, errEnough) {
					t.Errorf("%s: the visit goes on behind %q: %v", s.name, text, err)
				}
			}
			if w.undo(); string(w.AppendRow(nil)) != string(row) {
				t.Errorf("%s: the walker is somewhere else", s.name)
			}
		}
		if (s.name == "it panics" || s.name == "it changes its cache") && unknown == 0 {
			t.Errorf("%s: who is ahead does not leave that to be reported", s.name)
		}
		if (strings.Contains(s.want, "doubts: c makes") || strings.Contains(s.want, "doubts: c is blocked")) && !strings.Contains(s.want, "handling") && unknown == 0 {
			t.Errorf("%s: nothing is left to who learns", s.name)
		}
		if doubted += unknown; len(m.Doubts) != before {
			t.Errorf("%s: it is said %q", s.name, m.Doubts)
		}
	}
	if doubted == 0 {
		t.Error("nothing is left to who learns")
	}
}

// TestOrdersAhead has who is ahead leave it to who learns to say that there are more orders than are tried.
func TestOrdersAhead(t *testing.T) {
	w := begin(t, watching(putAtOnce(3))(), Conditions{Orders: 2})
	row := w.AppendRow(nil)
	if _, err := w.Steps(&looking{}, nil); err != nil {
		t.Fatal(err)
	}
	a := w.Machine.Actors[0]
	for _, ahead := range []bool{false, true} {
		a.raced = false
		reader := NewWalker(w.Machine, nil)
		reader.Ahead = ahead
		reader.Load(row)
		took := 0
		if err := reader.EachOrder(w.Machine.Item(a, "go"), func(*Taken) bool { took++; return true }); errors.Is(err, ErrUnknown) != ahead || (err != nil) != ahead || !ahead && took != 2 {
			t.Errorf("ahead %t: it goes in %d orders, %v", ahead, took, err)
		}
	}
}

// enough is a visitor that has seen enough with a step that could not be taken to its end, behind so many others.
type enough struct{ others int }

func (*enough) Took(*Taken) error { return nil }

func (e *enough) Stopped(*Taken, error) error {
	if e.others--; e.others < 0 {
		return errEnough
	}
	return nil
}

func TestFindsOrders(t *testing.T) { finds(t, orderings()) }
func TestOrdersInterrupted(t *testing.T) {
	interruptions(t, orderings(), "races.go", "faults.go", "audit.go")
}
