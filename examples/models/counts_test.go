package models

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// known is a model with what is known of it.
type known struct {
	model  string
	params string
	states int
	// transitions is -1 where it is not known from elsewhere.
	transitions int
	// terminal is the number of states in which nothing can happen, -1 if not known from elsewhere.
	terminal int
	// breaks is the invariant that some state breaks, empty if none does.
	breaks string
	// long cases are left out of short test runs.
	long bool
}

func knownAnswers() []known {
	var all []known
	series := func(model, params string, from int, breaks string, states ...int) {
		for i, count := range states {
			all = append(all, known{
				model: model, params: fmt.Sprintf(params, from+i), states: count,
				transitions: -1, terminal: -1, breaks: breaks, long: count > 20_000,
			})
		}
	}
	const lost = "no increment is lost"
	series("model/two-phase-commit", "n=%d", 1, "", 12, 56, 288, 1_568, 8_832, 50_816, 296_448)
	series("model/increment", "n=%d", 1, "", 3)
	series("model/increment", "n=%d", 2, lost, 13, 84, 755, 8_638, 118_509)
	series("model/increment-lock", "n=%d", 1, "", 5, 17, 61, 257, 1_301, 7_825)
	for i, count := range []int{6, 14, 34, 82, 198, 478, 1_154} {
		all = append(all, known{
			model: "model/philosophers", params: fmt.Sprintf("n=%d", 2+i), states: count,
			transitions: -1, terminal: 1, breaks: "not all wait",
		})
	}
	for i, count := range []int{5, 12, 29, 70, 169, 408, 985} {
		all = append(all, known{
			model: "model/philosophers", params: fmt.Sprintf("n=%d left=1", 2+i), states: count, transitions: -1,
		})
	}
	return append(all,
		known{model: "model/two-phase-commit", params: "n=3", states: 288, transitions: 1_145, terminal: -1},
		known{model: "model/die-hard", states: 16, transitions: 96, terminal: 0, breaks: "the goal is never measured"},
		known{model: "model/peterson", states: 32, transitions: 54, terminal: 0},
		known{model: "model/coffee-can", params: "n=100", states: 5_150, transitions: -1, terminal: 2},
		known{model: "model/coffee-can", params: "n=1000", states: 501_500, transitions: -1, terminal: 2, long: true},
		known{model: "model/counters", params: "n=1 k=1", states: 2, transitions: 1, terminal: 1},
		known{model: "model/counters", params: "n=6 k=2", states: 729, transitions: 2_916, terminal: 1},
		known{model: "model/counters", params: "n=12 k=2", states: 531_441, transitions: 4_251_528, terminal: 1, long: true},
		known{model: "model/single-copy-register", params: "clients=1", states: 5, transitions: 4, terminal: 1},
		known{model: "model/single-copy-register", states: 93, transitions: -1, terminal: -1},
		known{model: "model/single-copy-register", params: "servers=2", states: -1, transitions: -1, terminal: -1, breaks: "linearizable"},
		known{model: "model/paxos", states: 16_668, transitions: -1, terminal: -1},
	)
}

func (k known) String() string { return strings.TrimSpace(k.model + " " + k.params) }

func (k known) system(t *testing.T) *core.System {
	t.Helper()
	for _, e := range Catalog() {
		if e.Name == k.model {
			return build(t, e, strings.Fields(k.params)...)
		}
	}
	t.Fatalf("there is no model %s", k.model)
	return nil
}

func build(t *testing.T, e catalog.Entry, params ...string) *core.System {
	t.Helper()
	values, err := e.Parse(params)
	if err != nil {
		t.Fatal(err)
	}
	system, err := e.Build(values)
	if err != nil {
		t.Fatal(err)
	}
	return system
}

func TestKnownAnswers(t *testing.T) {
	for _, want := range knownAnswers() {
		t.Run(want.String(), func(t *testing.T) {
			if want.long && testing.Short() {
				t.Skip("long")
			}
			g, err := naive.Explore(want.system(t), 1_000_000)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, got, want int) {
				t.Helper()
				if want >= 0 && got != want {
					t.Errorf("%s: got %d, want %d", what, got, want)
				}
			}
			check("states", len(g.States), want.states)
			check("transitions", g.Transitions(), want.transitions)
			check("terminal states", len(g.Terminal()), want.terminal)
			broken := ""
			for _, v := range g.Violations {
				broken = v.Property
			}
			if broken != want.breaks {
				t.Errorf("broken invariant: got %q, want %q", broken, want.breaks)
			}
		})
	}
}
