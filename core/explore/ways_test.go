package explore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/store"
)

// ways are a graph for tests: where the steps from each number lead. The states of its space have the numbers that are
// the values of a variable.
type ways map[int][]int

// model returns a model of the graph that starts at some numbers.
func (g ways) model(starts ...int) plain.Model {
	x := plain.NewVar[int]("x")
	p := plain.Process{Name: "p"}
	for from := range len(g) {
		for _, to := range g[from] {
			p.Actions = append(p.Actions, plain.Action{Name: fmt.Sprintf("%d to %d", from, to), Do: func(w *plain.World) {
				w.Require(x.Get(w) == from)
				x.Set(w, to)
			}})
		}
	}
	model := plain.Model{Name: "ways", Processes: []plain.Process{p}}
	for _, start := range starts {
		model.Initial = append(model.Initial, plain.Start(x.Is(start)))
	}
	return model
}

// search searches the graph from some numbers on. It returns the state of each number, and the other way round.
func (g ways) search(t testing.TB, o Options, starts ...int) (space *Space, state map[int]core.StateID, number []int) {
	t.Helper()
	x := plain.NewVar[int]("x")
	space = searchModel(t, g.model(starts...), o)
	state = map[int]core.StateID{}
	for id := range core.StateID(space.States()) {
		n := x.Get(space.State(id))
		state[n] = id
		number = append(number, n)
	}
	return space, state, number
}

func searchModel(t testing.TB, model plain.Model, o Options) *Space {
	t.Helper()
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	o.Workers, o.Run = max(o.Workers, 1), behavior.Limits{Deadline: time.Second, Calls: 100}
	space, err := Search(t.Context(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// storeOnly has a space store only so many of its states, in another store.
func storeOnly(space *Space, states int, in store.Store) {
	for id := range core.StateID(states) {
		space.reader.Load(space.row(id))
		row, tag, _ := space.reader.PackKnown(nil)
		in.Insert(tag, row, store.NoParent)
	}
	space.store, space.table = in, nil
}

// TestWorkersReport has a worker expand states of which all is known: it reports how many steps there are, whether one
// leads back, and what the search has to look at.
func TestWorkersReport(t *testing.T) {
	g := ways{0: {1, 2}, 1: {3, 1}, 2: {0, 3}, 3: {}}
	names := func(successors []string) string { slices.Sort(successors); return fmt.Sprint(successors) }
	for _, test := range []struct {
		name  string
		o     Options
		alone bool // the worker inserts no states
		want  map[int]string
	}{
		{"all is stored", Options{}, false, map[int]string{0: "2 steps, back false []", 1: "2 steps, back true []", 2: "2 steps, back true []", 3: "0 steps, back false []"}},
		{"to be found", Options{}, true, map[int]string{0: "2 steps, back false []", 1: "2 steps, back true []", 2: "2 steps, back true []", 3: "0 steps, back false []"}},
		// What is not stored is reported, with its row.
		{"some is stored", Options{}, true, map[int]string{0: "2 steps, back false [new]", 1: "2 steps, back true [new]"}},
		// Where depths matter all is reported.
		{"depths matter", Options{Order: DepthFirst, Bounds: Bounds{Depth: 9}}, true, map[int]string{0: "2 steps, back false [1 2]", 1: "2 steps, back true [1 3]", 2: "2 steps, back true [0 3]", 3: "0 steps, back false []"}},
	} {
		space, state, number := g.search(t, test.o, 0)
		if test.alone {
			space.table = nil
		}
		if len(test.want) < space.States() {
			storeOnly(space, len(test.want), store.NewFull())
		}
		b := newBatch(0)
		for n := range test.want {
			b.states = append(b.states, waiting{id: state[n]})
		}
		newPool(t.Context(), space, 1).finish(b)
		unresolved := false
		for i, w := range b.states {
			c, e := b.at(i)
			var successors []string
			for _, l := range c.successors[e.begin:e.end] {
				if l.Found {
					successors = append(successors, fmt.Sprint(number[space.store.ID(l.Ref)]))
					continue
				}
				unresolved = true
				_, print, known := space.machine.Vocabulary.Unpack(c.rows[l.Begin:l.End], nil)
				if _, stored := space.store.Find(print.Lo, c.rows[l.Begin:l.End]); stored || !known || print.Lo != l.Hash {
					t.Errorf("%s: a new state has the hash %x, want %x, is stored: %t", test.name, l.Hash, print.Lo, stored)
				}
				successors = append(successors, "new")
			}
			// Which of two states has the greater number follows from the order of the search.
			back := false
			for _, to := range g[number[w.id]] {
				if id, stored := state[to]; stored && id <= w.id {
					back = true
				}
			}
			got := fmt.Sprintf("%d steps, back %t %s", e.steps, e.back, names(successors))
			want := test.want[number[w.id]]
			if test.o.Order == DepthFirst {
				want = fmt.Sprintf("%d steps, back %t %s", len(g[number[w.id]]), back, want[len(want)-len(names(successors)):])
			}
			if got != want || !e.complete || e.from != w.id {
				t.Errorf("%s: of %d, %q is reported, complete: %t; want %q", test.name, number[w.id], got, e.complete, want)
			}
		}
		if b.unresolved() != unresolved {
			t.Errorf("%s: there are states to find: %t, want %t", test.name, b.unresolved(), unresolved)
		}
	}
}

// TestWorkersLeaveStates has workers expand states that only the searching goroutine can expand, or nobody.
func TestWorkersLeaveStates(t *testing.T) {
	g := ways{0: {1, 2}, 1: {0}, 2: {0}}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name     string
		ctx      context.Context
		o        Options
		bound    int
		depths   []uint32
		change   func(*Space)
		complete []bool
	}{
		{"without a bound", t.Context(), Options{}, 0, []uint32{0, 9}, nil, []bool{true, true}},
		{"at the bound", t.Context(), Options{}, 2, []uint32{1, 2, 3}, nil, []bool{true, false, false}},
		{"at the end", ended, Options{}, 0, []uint32{0, 0}, nil, []bool{false, false}},
		{"states that are not kept", t.Context(), Options{Compact: true}, 0, []uint32{0, 0}, func(s *Space) { s.store.Expanded(1) }, []bool{false, true}},
		{"states that were expanded", t.Context(), Options{}, 0, []uint32{0, 0}, func(s *Space) { s.sleeps.needed = true; s.expanded.Remove(1) }, []bool{false, true}},
		{"where nobody sleeps", t.Context(), Options{}, 0, []uint32{0, 0}, func(s *Space) { s.expanded.Remove(1) }, []bool{true, true}},
	} {
		space, _, _ := g.search(t, test.o, 0)
		for range space.States() {
			space.sleeps.of.Add(space.sleeps.number(nil))
		}
		if test.o.Compact {
			storeOnly(space, 2, store.NewCompact())
		}
		if test.change != nil {
			test.change(space)
		}
		b := newBatch(test.bound)
		for id, depth := range test.depths {
			b.states = append(b.states, waiting{id: core.StateID(id), depth: depth})
		}
		newPool(test.ctx, space, 1).finish(b)
		var got []bool
		for i := range b.states {
			_, e := b.at(i)
			got = append(got, e.complete)
		}
		if !slices.Equal(got, test.complete) {
			t.Errorf("%s: complete are %v, want %v", test.name, got, test.complete)
		}
	}
}
