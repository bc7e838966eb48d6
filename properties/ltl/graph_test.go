package ltl_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// graph is a graph given by its edges. The atoms a, b and c are true of the states whose
// letter has the bit.
type graph struct {
	core.Graph
	edges   [][]core.Edge
	initial []core.StateID
	letters []int
	cut     []bool
	unfair  map[core.Step]bool
	// promised are unfair steps that users have promised to take.
	promised map[core.Step]bool
	// awaited are, of each state, who waits for a time that was not searched, and dated are those who write times only.
	awaited map[core.StateID]string
	dated   map[string]bool
}

// point is a state that is nothing but its letter.
type point struct {
	core.State
	letter int
}

func (p point) Get(core.Key) core.Content { return number(p.letter) }
func (point) Work() []core.Item           { return nil }

type number int

func (n number) Canonical() string { return strconv.Itoa(int(n)) }
func (n number) Fields() any       { return int(n) }

func (g *graph) States() int                       { return len(g.edges) }
func (g *graph) Initial() []core.StateID           { return g.initial }
func (g *graph) State(id core.StateID) core.State  { return point{letter: g.letters[id]} }
func (g *graph) Edges(id core.StateID) []core.Edge { return slices.Clone(g.edges[id]) }
func (g *graph) Cut(id core.StateID) bool          { return g.cut[id] }
func (g *graph) Fair(step core.Step) bool          { return !g.unfair[step] }

func (g *graph) Promised(step core.Step) *core.Promise {
	if g.promised[step] {
		return &core.Promise{}
	}
	return nil
}

// assumed tells that a step is taken sooner or later if it stays possible.
func (g *graph) assumed(step core.Step) bool { return g.Fair(step) || g.promised[step] }

func (g *graph) Awaited(id core.StateID) []core.Item {
	if g.awaited[id] == "" {
		return nil
	}
	return []core.Item{step(g.awaited[id]).Item}
}

func (g *graph) Effect(e core.Edge) core.Effect {
	return core.Effect{Dated: g.dated[e.Step.Item.Strategy]}
}

func (g *graph) Quiescent() []core.StateID {
	var ids []core.StateID
	for id := range core.StateID(len(g.edges)) {
		busy := slices.ContainsFunc(g.edges[id], func(e core.Edge) bool { return e.Step.Kind != core.Fire })
		if !busy && !g.cut[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// atoms are the atoms a, b and c.
func atoms() []ltl.Atom {
	var all []ltl.Atom
	for i, name := range []string{"a", "b", "c"} {
		all = append(all, ltl.Atom{Name: name, State: func(s core.State) bool {
			return int(s.Get(core.Key{}).(number))&(1<<i) != 0
		}})
	}
	return all
}

// Shortest implements [core.Graph].
func (g *graph) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	runs := map[core.StateID]core.Run{}
	for _, id := range g.initial {
		runs[id] = nil
	}
	for open := slices.Clone(g.initial); len(open) > 0; open = open[1:] {
		if accept(open[0]) {
			return runs[open[0]], true
		}
		for _, e := range g.edges[open[0]] {
			if _, seen := runs[e.To]; !seen {
				runs[e.To] = append(slices.Clone(runs[open[0]]), e)
				open = append(open, e.To)
			}
		}
	}
	return nil, false
}

// newGraph returns a graph with one state for each letter, the first of which is the start.
func newGraph(letters ...int) *graph {
	return &graph{
		edges: make([][]core.Edge, len(letters)), letters: letters, cut: make([]bool, len(letters)),
		initial: []core.StateID{0}, unfair: map[core.Step]bool{}, promised: map[core.Step]bool{},
	}
}

func step(name string) core.Step { return core.Step{Item: core.Item{Strategy: name, Request: "r"}} }

// add adds a step between two states.
func (g *graph) add(from, to core.StateID, name string) *graph {
	g.edges[from] = append(g.edges[from], core.Edge{From: from, To: to, Step: step(name)})
	return g
}

// drawGraph draws a small graph. Some steps are unfair, and now and then a state is cut.
func drawGraph(t *rapid.T, names ...string) *graph {
	g := newGraph(rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "letters")...)
	n := core.StateID(len(g.letters))
	timers := map[string]bool{}
	for _, name := range names {
		timers[name] = rapid.IntRange(0, 3).Draw(t, "timer") == 0
	}
	for id := range n {
		for _, name := range names {
			if rapid.IntRange(0, 2).Draw(t, "enabled") > 0 {
				g.add(id, core.StateID(rapid.IntRange(0, int(n)-1).Draw(t, fmt.Sprintf("%d %s", id, name))), name)
				if timers[name] {
					g.edges[id][len(g.edges[id])-1].Step.Kind = core.Fire
				}
			}
		}
		g.cut[id] = rapid.IntRange(0, 9).Draw(t, "cut") == 0
	}
	for _, name := range names {
		s := step(name)
		if timers[name] {
			s.Kind = core.Fire
		}
		g.unfair[s] = rapid.IntRange(0, 3).Draw(t, "unfair") == 0
		g.promised[s] = g.unfair[s] && rapid.IntRange(0, 2).Draw(t, "promised") == 0
	}
	// Whatever cannot be reached yet is a state to start in.
	for id := range n {
		if !g.reached()[id] {
			g.initial = append(g.initial, id)
		}
	}
	return g
}

// reached tells which states can be reached.
func (g *graph) reached() map[core.StateID]bool {
	reached := map[core.StateID]bool{}
	for open := slices.Clone(g.initial); len(open) > 0; open = open[1:] {
		if !reached[open[0]] {
			reached[open[0]] = true
			for _, e := range g.edges[open[0]] {
				open = append(open, e.To)
			}
		}
	}
	return reached
}

// fair reports whether a run is fair that takes these steps for ever, or stays in the state.
func (g *graph) fair(fairness ltl.Fairness, at core.StateID, cycle core.Run) bool {
	if fairness == ltl.Unfair {
		return true
	}
	states := []core.StateID{at}
	for _, e := range cycle {
		states = append(states, e.From)
	}
	can := func(id core.StateID, s core.Step) bool {
		return slices.ContainsFunc(g.edges[id], func(e core.Edge) bool { return e.Step == s })
	}
	for _, edges := range g.edges {
		for _, e := range edges {
			able, always := false, true
			for _, id := range states {
				able = able || can(id, e.Step)
				always = always && can(id, e.Step)
			}
			taken := slices.ContainsFunc(cycle, func(other core.Edge) bool { return other.Step == e.Step })
			must := always || able && (fairness == ltl.Strong || e.Step.Kind == core.Fire)
			if g.assumed(e.Step) && must && !taken {
				return false
			}
		}
	}
	return true
}

// lassos calls visit with each fair lasso of at most so many steps that begins at a start, until it returns
// false.
func (g *graph) lassos(fairness ltl.Fairness, steps int, visit func(start core.StateID, stem, cycle core.Run) bool) {
	var extend func(start core.StateID, run core.Run) bool
	extend = func(start core.StateID, run core.Run) bool {
		at := run.End(start)
		if !g.cut[at] && g.fair(fairness, at, nil) && !slices.ContainsFunc(g.edges[at], func(e core.Edge) bool { return fairness != ltl.Unfair && g.assumed(e.Step) }) {
			if !visit(start, run, nil) {
				return false
			}
		}
		for i := range run {
			cycle := run[i:]
			cut := slices.ContainsFunc(cycle, func(e core.Edge) bool { return g.cut[e.From] })
			if cycle[0].From == at && !cut && g.fair(fairness, at, cycle) && !visit(start, run[:i], cycle) {
				return false
			}
		}
		if len(run) == steps {
			return true
		}
		for _, e := range g.edges[at] {
			if !extend(start, append(slices.Clone(run), e)) {
				return false
			}
		}
		return true
	}
	for _, start := range g.initial {
		if !extend(start, nil) {
			return
		}
	}
}

// violation checks a formula on the graph and returns what is wrong, nil if it holds.
func (g *graph) violation(t failer, formula string, fairness ltl.Fairness, also ...ltl.Atom) *core.Violation {
	t.Helper()
	property, err := ltl.Claim{Formula: formula, Atoms: append(atoms(), also...), Fairness: fairness}.Property()
	if err != nil {
		t.Fatal(err)
	}
	violations, err := property.Judge(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) == 0 {
		return nil
	}
	return &violations[0]
}

// failer is a test, of this package or of rapid.
type failer interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Fatalf(string, ...any)
}
