package ltl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// ring is a graph of three states in a ring; in the first one, there is a step on the spot besides.
type ring struct{ core.Graph }

func (ring) Initial() []core.StateID       { return []core.StateID{0} }
func (ring) State(core.StateID) core.State { return idle{} }
func (ring) Fair(core.Step) bool           { return true }

func (ring) Promised(core.Step) *core.Promise { return nil }

func (ring) edge(from, to core.StateID) core.Edge {
	request := core.Request(fmt.Sprint(from, " to ", to))
	return core.Edge{From: from, To: to, Step: core.Step{Item: core.Item{Request: request}}}
}

func (r ring) Edges(id core.StateID) (edges []core.Edge) {
	if id == 0 {
		edges = append(edges, r.edge(0, 0))
	}
	return append(edges, r.edge(id, (id+1)%3))
}

// idle is a state in which nothing waits.
type idle struct{ core.State }

func (idle) Work() []core.Item { return nil }

// TestVerification checks that runs that prove nothing are refused.
func TestVerification(t *testing.T) {
	var r ring
	last := Atom{Name: "a", Graph: func(context.Context, core.Graph) (func(core.StateID) bool, error) {
		return func(id core.StateID) bool { return id == 2 }, nil
	}}
	stay, round := core.Run{r.edge(0, 0)}, core.Run{r.edge(0, 1), r.edge(1, 2), r.edge(2, 0)}
	for _, test := range []struct {
		name     string
		fairness Fairness
		formula  string
		lasso    lasso
		want     string
	}{
		{"good", Weak, "F G a", lasso{cycle: round}, ""},
		{"good without fairness", Unfair, "F a", lasso{cycle: stay}, ""},
		{"good by staying", Unfair, "F a", lasso{stem: round[:1]}, ""},
		{"good prefix", Weak, "G !a", lasso{stem: round[:2], doomed: true}, ""},
		{"no start", Weak, "F G a", lasso{start: 1, cycle: core.Run{round[1], round[2], round[0]}}, "begins in state 1"},
		{"no step", Weak, "F G a", lasso{cycle: core.Run{r.edge(0, 2), round[2]}}, "has a step"},
		{"steps that do not follow each other", Weak, "F G a", lasso{stem: round[:1], cycle: stay}, "has a step"},
		{"open cycle", Weak, "F G a", lasso{cycle: round[:2]}, "does not lead back"},
		{"unfair cycle", Weak, "F a", lasso{cycle: stay}, "is not fair"},
		{"cycle that is not strongly fair", Strong, "F G a", lasso{cycle: round}, "is not fair"},
		{"unfair end", Weak, "F a", lasso{stem: round[:1]}, "cannot stay in state 1"},
		{"true of it", Weak, "G F a", lasso{cycle: round}, "does not break it"},
		{"prefix that does not decide", Weak, "G !a", lasso{stem: round[:1], doomed: true}, "does not break it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Claim{Formula: test.formula, Atoms: []Atom{last}, Fairness: test.fairness}.checker()
			if err != nil {
				t.Fatal(err)
			}
			if len(test.lasso.stem) > 0 {
				test.lasso.start = test.lasso.stem[0].From
			}
			v, err := newValuation(t.Context(), r, c.atoms)
			if err != nil {
				t.Fatal(err)
			}
			word, err := v.spell(test.lasso)
			if err != nil {
				t.Fatal(err)
			}
			err = c.verify(r, test.lasso, word)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
