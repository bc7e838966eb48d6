package models

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
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
	// breaks is the property that is violated, empty if none is.
	breaks string
	// long cases are left out of short test runs; slow ones, which run the code of the model
	// in every state, are searched in fewer ways.
	long, slow bool
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
			transitions: -1, terminal: 1, breaks: "no deadlock",
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
		known{model: "model/coffee-can", params: "n=20", states: 230, transitions: -1, terminal: 2},
		known{model: "model/coffee-can", params: "n=100", states: 5_150, transitions: -1, terminal: 2, long: true},
		known{model: "model/coffee-can", params: "n=1000", states: 501_500, transitions: -1, terminal: 2, long: true, slow: true},
		known{model: "model/contended", params: "n=1 k=1", states: 2, transitions: 1, terminal: 1},
		known{model: "model/contended", params: "n=2 k=1", states: 5, transitions: 4, terminal: 2},
		known{model: "model/contended", params: "n=4 k=2", states: 217, transitions: 544, terminal: 4},
		known{model: "model/contended", params: "n=8 k=2", states: 34_993, transitions: 180_800, terminal: 8, long: true},
		known{model: "model/counters", params: "n=1 k=1", states: 2, transitions: 1, terminal: 1},
		// Four controllers with two steps each: an engine that goes through the orders of what is
		// pending takes minutes for these 81 states.
		known{model: "model/counters", params: "n=4 k=2", states: 81, transitions: 216, terminal: 1},
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

// TestKnownAnswers searches every model in both orders, with one worker and with
// two.
func TestKnownAnswers(t *testing.T) {
	perState := map[string]time.Duration{} // what a search of a smaller one took
	for _, want := range knownAnswers() {
		t.Run(want.String(), func(t *testing.T) {
			if want.long && testing.Short() {
				t.Skip("long")
			}
			if deadline, ok := t.Deadline(); ok && want.slow {
				const searches, share = 2, 8 // or there would be no time left for the other tests
				need, left := searches*perState[want.model]*time.Duration(want.states), time.Until(deadline)
				if share*need > left {
					t.Skipf("it takes some %s on this machine, and -timeout leaves %s: raise -timeout to %d times as much", need.Round(time.Second), left.Round(time.Second), share)
				}
			}
			for _, order := range []orrery.Search{orrery.BreadthFirst, orrery.DepthFirst} {
				for _, workers := range []int{1, 2} {
					if want.slow && (order == orrery.BreadthFirst) != (workers == 2) {
						continue
					}
					options := orrery.Options{Search: order, Workers: workers, Reduction: orrery.NoReduction}
					began := time.Now()
					result, err := orrery.Run(context.Background(), want.system(t), options)
					if err != nil {
						t.Fatal(err)
					}
					perState[want.model] = time.Since(began) / time.Duration(max(1, result.Report.States))
					want.compare(t, fmt.Sprintf("%s with %d workers", order, workers), &result.Report)
				}
			}
		})
	}
}

func (k known) compare(t *testing.T, how string, r *core.Report) {
	t.Helper()
	check := func(what string, got, want int) {
		t.Helper()
		if want >= 0 && got != want {
			t.Errorf("%s: %s: got %d, want %d", how, what, got, want)
		}
	}
	check("states", r.States, k.states)
	check("transitions", r.Transitions, k.transitions)
	check("terminal states", r.TerminalStates, k.terminal)
	broken := ""
	for _, p := range r.Properties {
		if p.Verdict == core.Violated {
			broken = p.Name
		}
	}
	if broken != k.breaks {
		t.Errorf("%s: violated property: got %q, want %q", how, broken, k.breaks)
	}
}

// TestTwin searches the models in the naive way, too.
func TestTwin(t *testing.T) {
	for _, want := range knownAnswers() {
		if want.long || want.states < 0 {
			continue
		}
		t.Run(want.String(), func(t *testing.T) {
			g, err := naive.Explore(want.system(t), 1_000_000)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(g.States); got != want.states {
				t.Errorf("states: got %d, want %d", got, want.states)
			}
			if got := g.Transitions(); want.transitions >= 0 && got != want.transitions {
				t.Errorf("transitions: got %d, want %d", got, want.transitions)
			}
		})
	}
}
