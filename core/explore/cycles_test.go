package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// within are the steps of the graph between some of its states.
func within(space *Space, has func(core.StateID) bool) map[core.StateID][]core.StateID {
	all := map[core.StateID][]core.StateID{}
	for id := range core.StateID(space.States()) {
		for _, e := range space.Edges(id) {
			if has(id) && has(e.To) {
				all[id] = append(all[id], e.To)
			}
		}
	}
	return all
}

// onCycle reports whether a step after the other leads from a state back to it.
func onCycle(steps map[core.StateID][]core.StateID, id core.StateID) bool {
	seen := map[core.StateID]bool{}
	for next := slices.Clone(steps[id]); len(next) > 0; next = next[1:] {
		if at := next[0]; !seen[at] {
			seen[at] = true
			next = append(next, steps[at]...)
		}
	}
	return seen[id]
}

// TestCyclesAreOpened has states of a graph leave out agents, of which some follow one alone whose step does nothing.
// States are opened until there is no cycle left of states that leave out agents: such as are on a cycle then, and that
// follow more than one agent.
func TestCyclesAreOpened(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	g := ways{}
	for from := range 12 {
		for range 1 + from%3 {
			if to := r.IntN(12); !slices.Contains(g[from], to) {
				g[from] = append(g[from], to)
			}
		}
	}
	g[0] = []int{1, 2, 3}
	space, _, _ := g.search(t, Options{}, 0, 5, 8)
	opened, left := 0, 0
	for range 120 {
		s := &search{Space: space, frontier: &spans{}}
		s.partial.Clear()
		s.level.Clear()
		s.full.Clear()
		s.Stats.Transitions, s.Stats.FromTree = 1000, 900
		for id := range core.StateID(s.States()) {
			s.expanded.Add(id)
			if r.IntN(4) > 0 {
				s.partial.Add(id)
				if r.IntN(3) == 0 {
					s.level.Add(id)
				}
			}
		}
		cyclic := func(steps map[core.StateID][]core.StateID) []core.StateID {
			var all []core.StateID
			for id := range core.StateID(s.States()) {
				if onCycle(steps, id) {
					all = append(all, id)
				}
			}
			return all
		}
		if len(cyclic(within(space, s.level.Has))) > 0 {
			continue // each step that does nothing makes a queue shorter
		}
		s.acyclic = false
		steps, alone := 0, slices.Collect(s.level.All())
		for {
			on := cyclic(within(space, s.partial.Has))
			found, d := false, depthFirst{space: space, colour: make([]byte, space.States())}
			for _, l := range s.loops() {
				found = s.expandCycles(l, &d) || found
			}
			if found != (len(on) > 0) {
				t.Fatalf("of %v, %v are on cycles, and there are some: %t", slices.Collect(s.partial.All()), on, found)
			}
			if !found {
				left++
				break
			}
			for s.frontier.len() > 0 {
				for _, w := range s.frontier.take(make([]waiting, 0, 1)) {
					opened++
					steps += len(space.Edges(w.id))
					if !slices.Contains(on, w.id) || s.partial.Has(w.id) || slices.Contains(alone, w.id) || !s.full.Has(w.id) || s.expanded.Has(w.id) {
						t.Fatalf("state %d is opened; on cycles were %v", w.id, on)
					}
					if int(w.depth) != len(s.ancestry(w.id)) {
						t.Fatalf("state %d has the depth %d, want %d", w.id, w.depth, len(s.ancestry(w.id)))
					}
				}
			}
		}
		if s.Stats.Transitions != 1000-steps || s.Stats.FromTree != 900-steps {
			t.Fatalf("%d steps are taken once more, and the counts are %+v", steps, s.Stats)
		}
	}
	if opened < 60 || left < 60 {
		t.Errorf("%d states were opened in %d cases", opened, left)
	}
}

// TestProvisosAreApplied has states be opened that are cut, whatever the graph, and those of cycles only if there may
// be any.
func TestProvisosAreApplied(t *testing.T) {
	for _, test := range []struct {
		name         string
		partial, cut []int
		acyclic      bool
		opened       []int
	}{
		{"no agent is left out", nil, []int{0, 1, 2, 3}, false, nil},
		{"a cut state", []int{0, 3}, []int{3}, true, []int{3}},
		{"all of them", []int{0, 1, 3}, []int{0, 3, 2}, true, []int{0, 3}},
		{"another state is cut", []int{0, 1}, []int{2, 3}, true, nil},
		{"a cycle", []int{1, 2}, nil, false, []int{2}},
		{"a cycle of which nobody knows", []int{1, 2}, nil, true, nil},
		{"a part of a cycle", []int{0, 1}, nil, false, nil},
		{"a cut state first", []int{0, 1, 2}, []int{0}, false, []int{0}},
	} {
		space, state, number := ways{0: {1, 3}, 1: {2}, 2: {1}, 3: {}}.search(t, Options{}, 0)
		s := &search{Space: space, frontier: &queue{}}
		s.machine.System.Properties = nil
		s.acyclic = test.acyclic
		for _, n := range test.partial {
			s.partial.Add(state[n])
		}
		for _, n := range test.cut {
			s.cut.Add(state[n])
		}
		applied := s.applyProvisos()
		var opened []int
		for _, w := range s.frontier.(*queue).waiting {
			opened = append(opened, number[w.id])
		}
		if slices.Sort(opened); !slices.Equal(opened, test.opened) || applied != (len(opened) > 0) {
			t.Errorf("%s: %v are opened: %t; want %v", test.name, opened, applied, test.opened)
		}
	}
}

// TestOpenedStatesAreAwake opens a state with three steps in which one agent is asleep and another one was woken: two
// steps were counted, and then nobody sleeps, nor is to be woken.
func TestOpenedStatesAreAwake(t *testing.T) {
	space, _, _ := ways{0: {1, 2, 3}, 1: {}, 2: {}, 3: {}}.search(t, Options{}, 0)
	s := &search{Space: space, frontier: &queue{}}
	s.sleeps.needed = true
	for _, asleep := range [][]int{{1}, {2}, nil, nil} {
		s.sleeps.add(asleep)
	}
	s.sleeps.woken[0], s.sleeps.woken[1] = []int{0}, []int{0}
	for id := range core.StateID(2) {
		s.partial.Add(id)
		s.level.Add(id)
	}
	s.Stats.Transitions, s.Stats.FromTree = 3, 2
	s.open(0, reduction.Full)
	if len(s.sleeps.at(0))+len(s.sleeps.woken[0]) > 0 || len(s.sleeps.at(1)) != 1 || len(s.sleeps.woken[1]) != 1 || s.Stats.Transitions != 1 || s.Stats.FromTree != 0 {
		t.Errorf("asleep are %v and %v, woken %v, and the counts are %+v", s.sleeps.at(0), s.sleeps.at(1), s.sleeps.woken, s.Stats)
	}
	if s.partial.Has(0) || !s.partial.Has(1) || s.IdleFirst() != 1 || !s.level.Has(1) {
		t.Errorf("agents are left out in %v, and one is alone in %v", slices.Collect(s.partial.All()), slices.Collect(s.level.All()))
	}
}

// oneAtATime is a reducer that follows one agent alone, wherever there are several. It is right where no agent touches
// what others do, but for what it leaves out for ever.
type oneAtATime struct{}

// Learn implements [reduction.Reducer].
func (o oneAtATime) Learn([]Footprint, []Place) func() Chooser { return func() Chooser { return o } }

// Choose implements [reduction.Chooser].
func (oneAtATime) Choose(enabled []Enabled) Choice { return Choice{Follow: []int{enabled[0].Agent}} }

// Alone implements [reduction.Chooser].
func (oneAtATime) Alone(*Way) bool { return false }

// Commute implements [reduction.Chooser].
func (oneAtATime) Commute(int, int) bool { return false }

// Group implements [reduction.Chooser].
func (oneAtATime) Group(agent int) int { return agent }

var _ reduction.Reducer = oneAtATime{}

// TestNothingIsPutOffForEver follows one process at a time, first p as long as it can take steps. The counts are
// derived by hand.
func TestNothingIsPutOffForEver(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	process := func(name string, v plain.Var[int], last int, around bool) plain.Process {
		return plain.Process{Name: name, Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
			now := v.Get(w)
			w.Require(around || now < last)
			v.Set(w, (now+1)%(last+1))
		}}}}
	}
	unfair := func(p plain.Process) plain.Process {
		p.Unfair = true
		return p
	}
	sees := core.Property{Name: "watched", Sees: func(s core.State) { _, _ = x.Get(s), y.Get(s) }, Judge: func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }}
	judges := core.Property{Name: "judged", Judge: func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }}
	for _, test := range []struct {
		name                       string
		p, q                       plain.Process
		property                   core.Property
		states, transitions, parts int
	}{
		// p goes on to 3, and then q does: a line of 7 states. q is left out in the three states in which p can go on.
		{"no cycle", process("p", x, 3, false), process("q", y, 3, false), judges, 7, 6, 3},
		// p goes around x=0 and 1. One state is opened as there is no other way out of the cycle, and the other one as
		// q could take its step in both. Behind that, only p can go on.
		{"a cycle that ignores a step", process("p", x, 1, true), process("q", y, 1, false), judges, 4, 6, 0},
		// As q need not take its step, the other one stays as it is.
		{"a cycle that may ignore a step", process("p", x, 1, true), unfair(process("q", y, 1, false)), judges, 4, 5, 1},
		// A property that looks at states on the way sees all of them.
		{"a cycle that is looked at", process("p", x, 1, true), unfair(process("q", y, 1, false)), sees, 4, 6, 0},
		// Of each of the two cycles of p one state is opened. Then q takes its steps within the component of all four
		// states.
		{"two cycles", process("p", x, 1, true), process("q", y, 1, true), judges, 4, 6, 2},
	} {
		space := searchModel(t, plain.Model{
			Name: "two", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))}, Processes: []plain.Process{test.p, test.q}, Properties: []core.Property{test.property},
		}, Options{Reducer: oneAtATime{}})
		parts := 0
		for range space.partial.All() {
			parts++
		}
		if space.States() != test.states || space.Stats.Transitions != test.transitions || parts != test.parts {
			t.Errorf("%s: %d states, %d transitions, and steps are left out in %d states, want %d, %d and %d",
				test.name, space.States(), space.Stats.Transitions, parts, test.states, test.transitions, test.parts)
		}
	}
}

// paired is oneAtATime where two processes, each with an agent for its action and one for its restarts, are a group.
type paired struct{ oneAtATime }

// Learn implements [reduction.Reducer].
func (p paired) Learn([]Footprint, []Place) func() Chooser { return func() Chooser { return p } }

// Group implements [reduction.Chooser].
func (paired) Group(agent int) int { return agent / 4 }

// TestOthersWait follows p, which goes around x, beside q of the same group, which sets y, and r, which sets z. Both
// states of the loop in which nothing is set are opened for the group, as q could take its step in both. In the loop
// behind that q is done, but r could take its step, so that both states are opened for all. In the last one only p can
// go on. So z is never set before y.
func TestOthersWait(t *testing.T) {
	x, y, z := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewVar[int]("z")
	process := func(name string, v plain.Var[int], around bool) plain.Process {
		return plain.Process{Name: name, Actions: []plain.Action{{Name: "on", Do: func(w *plain.World) {
			w.Require(around || v.Get(w) == 0)
			v.Set(w, 1-v.Get(w))
		}}}}
	}
	three := func(q plain.Process) *Space {
		return searchModel(t, plain.Model{
			Name: "three", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0), z.Is(0))},
			Processes: []plain.Process{process("p", x, true), q, process("r", z, false)},
		}, Options{Reducer: paired{}})
	}
	space := three(process("q", y, false))
	for id := range core.StateID(space.States()) {
		state := space.State(id)
		group, all := y.Get(state) == 0, y.Get(state) == 1 && z.Get(state) == 0
		if z.Get(state) > y.Get(state) || space.grouped.Has(id) != group || space.partial.Has(id) != group || space.full.Has(id) != all {
			t.Errorf("x=%d y=%d z=%d: opened for the group: %t, for all: %t, and agents are left out: %t",
				x.Get(state), y.Get(state), z.Get(state), space.grouped.Has(id), space.full.Has(id), space.partial.Has(id))
		}
	}
	if space.States() != 6 || space.Stats.Transitions != 10 {
		t.Errorf("%d states and %d transitions, want 6 and 10", space.States(), space.Stats.Transitions)
	}
	// If q need not take its step, one state is opened for the group first, as q is left out all the way round, and
	// then for all, as r could take its step all the time. Where z is set, only the group is left.
	unfair := process("q", y, false)
	unfair.Unfair = true
	space = three(unfair)
	if opened := slices.Collect(space.grouped.All()); !slices.Equal(opened, []core.StateID{1, 7}) || !space.full.Has(1) || space.full.Has(7) || z.Get(space.State(7)) != 1 || space.States() != 8 {
		t.Errorf("of %d states, %v are opened for the group", space.States(), opened)
	}
}

// TestDueSteps lists each step once that fairness asks for.
func TestDueSteps(t *testing.T) {
	x := plain.NewVar[int]("x")
	process := func(name string, actions ...string) plain.Process {
		p := plain.Process{Name: name}
		for _, action := range actions {
			p.Actions = append(p.Actions, plain.Action{Name: action, Do: func(w *plain.World) { w.Require(action != "never"); x.Set(w, 1) }})
		}
		return p
	}
	unfair := process("u", "on")
	unfair.Unfair = true
	space := searchModel(t, plain.Model{Name: "due", Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: []plain.Process{process("p", "a", "b"), process("q", "on", "never"), unfair}}, Options{})
	var got []string
	steps, _ := space.dueSteps(0)
	for _, step := range steps {
		got = append(got, step.Item.String())
	}
	if slices.Sort(got); !slices.Equal(got, []string{"p(a)", "p(b)", "q(on)"}) {
		t.Errorf("these steps are due: %v", got)
	}
	// A step may be listed for each order in which its calls are answered, or not be known.
	d := dueVisitor{space: space}
	for _, it := range space.machine.Items {
		taken := &transition.Taken{Kind: core.Act, Actor: it.Actor, Item: it}
		if err := errors.Join(d.Took(taken), d.Took(taken), d.Stopped(taken, transition.ErrUnknown)); err != nil {
			t.Error(err)
		}
	}
	if len(d.steps) != 4 {
		t.Errorf("of four actions of fair processes, these steps are due: %v", d.steps)
	}
}
