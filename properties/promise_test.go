package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestPromise wants retries to be excused that end where a user keeps a promise, and nothing else: in state 0 the
// controller x fails again and again, in some cases by way of state 1. The user's step leads to state 2, where it is
// over.
func TestPromise(t *testing.T) {
	promise := func(except ...core.Item) map[core.Item]*core.Promise {
		return map[core.Item]*core.Promise{item("user"): {Excepts: func(it core.Item) bool { return slices.Contains(except, it) }}}
	}
	// loop has x fail in state 0, and return there from state 1.
	loop := func(promised map[core.Item]*core.Promise, enabled ...core.StateID) *graph {
		g := &graph{edges: make([][]core.Edge, 3), initial: []core.StateID{0}, promised: promised}
		g.add(0, 1, "x").Failed = "it is not there"
		g.add(1, 0, "x").Failed = "it is not there"
		for _, id := range enabled {
			e := g.add(id, 2, "user")
			e.Step.Kind = core.Intervene
		}
		return g
	}
	with := func(g *graph, change func(*core.Edge)) *graph {
		for id := range g.edges[:2] {
			change(&g.edges[id][0])
		}
		return g
	}
	for _, test := range []struct {
		name  string
		graph *graph
		holds bool
	}{
		{"nothing is promised", loop(nil, 0, 1), false},
		{"it is promised", loop(promise(), 0, 1), true},
		{"it is promised, and not always possible", loop(promise(), 0), false},
		{"who fails may not count on it", loop(promise(item("x")), 0, 1), false},
		{"who does not fail may not count on it", loop(promise(item("y")), 0, 1), true},
		{"it writes meanwhile", with(loop(promise(), 0, 1), func(e *core.Edge) { e.Wrote = true }), false},
		{"it asks to be run again", with(loop(promise(), 0, 1), func(e *core.Edge) { e.Failed, e.Requeued = "", true }), true},
		{"it just goes on", with(loop(promise(), 0, 1), func(e *core.Edge) { e.Failed = "" }), false},
	} {
		violations, err := properties.StableConvergence().Judge(context.Background(), test.graph)
		if err != nil || (len(violations) == 0) != test.holds {
			t.Errorf("%s: %v, %v", test.name, violations, err)
		}
	}

	// A loop that goes on as no more time passes is a reason, unless somebody else goes on as well.
	for want, fails := range [][]string{{"x"}, {"x", "y"}} {
		late := loop(nil)
		late.awaited = map[core.StateID][]core.Item{0: {item("x")}}
		if len(fails) > 1 {
			late.add(0, 0, "y").Failed = "it is not there either"
		}
		violations, err := properties.StableConvergence().Judge(context.Background(), late)
		if err != nil || len(violations) < want || want == 0 && len(violations) > 0 {
			t.Errorf("%q fail at the last of the times: %+v, %v", fails, violations, err)
		}
	}

	// Of two that fail, only the one is told that may not count on it.
	both := loop(promise(item("x")), 0, 1)
	for id := range core.StateID(2) {
		both.add(id, id, "y").Failed = "it is not there either"
	}
	violations, err := properties.StableConvergence().Judge(context.Background(), both)
	if err != nil || len(violations) != 1 || !slices.Equal(violations[0].Controllers, []string{"x"}) {
		t.Errorf("of two that fail: %+v, %v", violations, err)
	}
}
