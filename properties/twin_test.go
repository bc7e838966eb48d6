package properties_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// set is a set of states, one bit each.
type set uint32

func (s set) has(id core.StateID) bool { return s&(1<<id) != 0 }

func (g *graph) setOf(accept func(core.StateID) bool) set {
	var s set
	for id := range core.StateID(g.States()) {
		if accept(id) {
			s |= 1 << id
		}
	}
	return s
}

// inner returns the steps that stay within a set.
func (g *graph) inner(s set) []core.Edge {
	var inner []core.Edge
	for id, edges := range g.edges {
		for _, e := range edges {
			if s.has(core.StateID(id)) && s.has(e.To) {
				inner = append(inner, e)
			}
		}
	}
	return inner
}

// from returns the states of a set that can be reached from some within it.
func (g *graph) from(sources, within set) set {
	reached := sources & within
	for range g.States() {
		for _, e := range g.inner(within) {
			if reached.has(e.From) {
				reached |= 1 << e.To
			}
		}
	}
	return reached
}

// enabled reports whether a step of that name can be taken in a state.
func (g *graph) enabled(id core.StateID, step core.Step) bool {
	return slices.ContainsFunc(g.edges[id], func(e core.Edge) bool { return e.Step == step })
}

// fair reports whether a run is fair that visits exactly these states again and again,
// and takes exactly these steps again and again: each fair step is taken or is
// disabled somewhere, timers everywhere.
func (g *graph) fair(states []core.StateID, steps []core.Edge) bool {
	for _, edges := range g.edges {
		for _, e := range edges {
			taken := slices.ContainsFunc(steps, func(other core.Edge) bool { return other.Step == e.Step })
			off := func(id core.StateID) bool { return !g.enabled(id, e.Step) }
			disabled := slices.ContainsFunc(states, off)
			if e.Step.Kind == core.Fire {
				disabled = !slices.ContainsFunc(states, func(id core.StateID) bool { return !off(id) })
			}
			if g.Fair(e.Step) && !taken && !disabled {
				return false
			}
		}
	}
	return true
}

// members returns the states of a set.
func (g *graph) members(s set) []core.StateID {
	var members []core.StateID
	for id := range core.StateID(g.States()) {
		if s.has(id) {
			members = append(members, id)
		}
	}
	return members
}

// ends returns the sets of states that a fair run can visit again and again, with all
// steps between them: every subset is looked at. Cut states are in none. A run that
// stays in one state for ever takes no step.
func (g *graph) ends() []set {
	var ends []set
	for s := set(1); s < 1<<g.States(); s++ {
		if s&g.setOf(g.Cut) != 0 {
			continue
		}
		members, inner := g.members(s), g.inner(s)
		connected := true
		for _, id := range members {
			connected = connected && g.from(1<<id, s) == s
		}
		moves := connected && len(inner) > 0 && g.fair(members, inner)
		stays := len(members) == 1 && g.fair(members, nil)
		if moves || stays {
			ends = append(ends, s)
		}
	}
	return ends
}

// predicate is true in the states of a set.
func predicate(s set) properties.Predicate {
	return func(state core.State) bool {
		return s.has(core.StateID(state.Get(core.Key{}).(number)))
	}
}

// lasso checks that a violation is a real run that goes on for ever and is fair.
// It returns the states on its stem and those of its cycle.
func lasso(t *rapid.T, g *graph, v core.Violation) (stem, cycle []core.StateID) {
	if len(v.Stem) == 0 {
		stem = append(stem, v.State)
	} else {
		stem = append(stem, v.Stem[0].From)
	}
	if !slices.Contains(g.initial, stem[0]) {
		t.Fatalf("the run begins in %d, which is no initial state", stem[0])
	}
	walk := func(states []core.StateID, run core.Run) []core.StateID {
		for _, e := range run {
			if e.From != states[len(states)-1] || !slices.Contains(g.edges[e.From], e) {
				t.Fatalf("%+v is no step from %d", e, states[len(states)-1])
			}
			states = append(states, e.To)
		}
		return states
	}
	stem = walk(stem, v.Stem)
	end := stem[len(stem)-1]
	if end != v.State {
		t.Fatalf("the stem ends in %d, not in %d", end, v.State)
	}
	cycle = walk([]core.StateID{end}, v.Cycle)
	if cycle[len(cycle)-1] != end {
		t.Fatalf("the cycle does not close: %v", cycle)
	}
	if !g.fair(cycle, v.Cycle) {
		t.Fatalf("the cycle is not fair: %v", v.Cycle)
	}
	return stem, cycle
}

// judge returns the only violation of a property, nil if it holds.
func judge(t *rapid.T, g *graph, p core.Property) *core.Violation {
	violations, err := p.Judge(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) == 0 {
		return nil
	}
	return &violations[0]
}

// TestTemporalProperties compares verdicts on random graphs with the twin that looks at
// every set of states a run could end in, and follows every lasso.
func TestTemporalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		all := set(1)<<g.States() - 1
		p := set(rapid.Uint32Range(0, uint32(all)).Draw(t, "p"))
		q := set(rapid.Uint32Range(0, uint32(all)).Draw(t, "q"))
		initial := g.setOf(func(id core.StateID) bool { return slices.Contains(g.initial, id) })
		ends := g.ends()
		// somewhere reports whether a fair run ends in a set that is accepted.
		somewhere := func(accept func(set) bool) bool { return slices.ContainsFunc(ends, accept) }
		// never reports whether one comes from the sources without leaving the states within. It may pass cut states,
		// as all steps are real, but not stay in them.
		never := func(sources, within set) bool {
			reached := g.from(sources, within)
			return somewhere(func(s set) bool { return s&^reached == 0 })
		}
		outside := func(states []core.StateID, s set) bool {
			return !slices.ContainsFunc(states, s.has)
		}
		for _, test := range []struct {
			name     string
			property core.Property
			violated bool
			real     func(stem, cycle []core.StateID) bool
		}{
			{
				"eventually", properties.Eventually("p", predicate(p)), never(initial, all&^p),
				func(stem, cycle []core.StateID) bool { return outside(stem, p) && outside(cycle, p) },
			},
			{
				"infinitely often", properties.InfinitelyOften("p", predicate(p)), somewhere(func(s set) bool { return s&p == 0 }),
				func(_, cycle []core.StateID) bool { return outside(cycle, p) },
			},
			{
				"eventually always", properties.EventuallyAlways("p", predicate(p)), somewhere(func(s set) bool { return s&^p != 0 }),
				func(_, cycle []core.StateID) bool { return slices.ContainsFunc(cycle, (all &^ p).has) },
			},
			{
				"leads to", properties.LeadsTo("p to q", predicate(p), predicate(q)), never(p, all&^q),
				func(stem, cycle []core.StateID) bool {
					run := slices.Concat(stem, cycle) // what the cycle passes is followed by nothing but the cycle
					for i, id := range run {
						if p.has(id) && outside(run[i:], q) && outside(cycle, q) {
							return true
						}
					}
					return false
				},
			},
		} {
			v := judge(t, g, test.property)
			if test.violated != (v != nil) {
				t.Fatalf("%s p=%b q=%b: violated %t, want %t", test.name, p, q, v != nil, test.violated)
			}
			if v == nil {
				continue
			}
			if stem, cycle := lasso(t, g, *v); !test.real(stem, cycle) {
				t.Fatalf("%s p=%b q=%b is not violated by the run %v and then %v", test.name, p, q, stem, cycle)
			}
		}
	})
}

// TestStableConvergenceOnGraphs compares with the twin: a fair run may not go on for ever with
// writes, nor without ever coming to rest.
func TestStableConvergenceOnGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		rest := g.setOf(func(id core.StateID) bool {
			return !slices.ContainsFunc(g.edges[id], func(e core.Edge) bool { return e.Step.Due() })
		})
		wrote := func(e core.Edge) bool { return e.Wrote }
		var moving []set
		for _, s := range g.ends() {
			if len(g.inner(s)) > 0 && g.fair(g.members(s), g.inner(s)) {
				moving = append(moving, s)
			}
		}
		want := slices.ContainsFunc(moving, func(s set) bool {
			// Whether a component rests is asked of all of it.
			part := slices.ContainsFunc(moving, func(larger set) bool { return larger != s && larger&s == s })
			return slices.ContainsFunc(g.inner(s), wrote) || !part && s&rest == 0
		})
		violations, err := properties.StableConvergence().Judge(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		if want != (len(violations) > 0) {
			t.Fatalf("violated %t, want %t", len(violations) > 0, want)
		}
		for _, v := range violations {
			_, cycle := lasso(t, g, v)
			if len(v.Cycle) == 0 {
				t.Fatal("the violation has no cycle")
			}
			if !slices.ContainsFunc(v.Cycle, wrote) && slices.ContainsFunc(cycle, rest.has) && !slices.ContainsFunc(cycle, (^rest).has) {
				t.Fatalf("the cycle is at rest: %v", cycle)
			}
			if len(v.Controllers) == 0 || v.Summary == "" {
				t.Fatalf("nobody is named: %+v", v)
			}
		}
	})
}
