package transition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// Each of these tests compares the steps from all states of small random systems, under random conditions, with those
// that the naive twin takes: those of a walker that learns, and of one that only knows what was learned.

func TestTwin(t *testing.T) {
	twins(t, random.System, nil, 5, 10, 39, 68, 77, 85, 98, 135, 145, 156, 182)
}

func TestTwinWithMemory(t *testing.T) {
	twins(t, random.Mindful, nil, 31, 38, 51, 76, 81, 91, 130, 149, 151, 171, 174, 177, 186, 191)
}

func TestTwinWithBackground(t *testing.T) {
	twins(t, random.Restless, nil, 1, 23, 35, 52, 56, 57, 81, 92)
}

func TestTwinWithDeadlines(t *testing.T) {
	twins(t, random.Dated, waiting, 7, 8, 18, 40, 44, 49, 68, 95, 96, 102, 112, 115, 120)
}

func TestTwinWithPatience(t *testing.T) {
	twins(t, random.Patient, waiting, 4, 12, 13, 20, 42, 44, 68, 91, 94, 96, 98, 102, 136, 144, 152, 162)
}

func TestTwinWithDraws(t *testing.T) {
	twins(t, random.Drawing, nil, 13, 39, 42, 51, 74, 102, 117, 119, 135, 137, 159, 162, 163, 164, 177, 193, 236)
}

func TestTwinWithConcurrentCalls(t *testing.T) {
	twins(t, random.Concurrent, func(c *Conditions, plain *naive.Conditions) { c.Orders, plain.Concurrent = 1_000_000, true }, 8, 20, 32, 59, 75, 77, 78, 96, 129, 135, 164, 166, 169)
}

func TestTwinOfLaterItems(t *testing.T) {
	for family, generate := range map[string]func(uint64) (*core.System, error){"": random.System, "mindful": random.Mindful} {
		compared := 0
		for seed := uint64(0); compared < 12; seed++ {
			system, err := random.Later(generate)(seed)
			if err != nil {
				t.Fatal(err)
			}
			c, plain := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
			if _, err := naive.ExploreUnder(system, plain, mostStates/3); err == nil && twin(t, fmt.Sprint(family, " seed ", seed), system, c, plain, compared < 3) {
				compared++
			}
		}
	}
}

// waiting has a long time pass once.
func waiting(c *Conditions, _ *naive.Conditions) { c.Deadlines = 1 }

// twins compares the systems of some seeds, which are those that together reach most of the code.
func twins(t *testing.T, generate func(uint64) (*core.System, error), also func(*Conditions, *naive.Conditions), seeds ...uint64) {
	compared := 0
	for at, seed := range seeds {
		system, err := generate(seed)
		if err != nil {
			t.Fatal(err)
		}
		c, plain := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
		if also != nil {
			also(&c, &plain)
		}
		if twin(t, fmt.Sprint("seed ", seed), system, c, plain, at < 3) {
			compared++
		}
	}
	if compared < len(seeds)/2 {
		t.Errorf("of %d systems only %d are compared", len(seeds), compared)
	}
}

// twin compares a system, and reports whether that can be.
func twin(t *testing.T, name string, system *core.System, c Conditions, plain naive.Conditions, ways bool) bool {
	t.Helper()
	f := explored(t, system, c)
	m := f.learner.Machine
	if slices.ContainsFunc(m.Doubts, func(doubt string) bool { return strings.Contains(doubt, "crashes in those cases were not searched") }) {
		return false // what is blocked in one case only cannot be said to be under way
	}
	if plain.Deadlines, plain.Awaiting, plain.Sooner, plain.Drawing = c.Deadlines, m.Awaiting(), m.Hasty(), m.Drawing(); c.Deadlines > 0 && len(plain.Awaiting) == 0 {
		return false // the twin tells memories apart that differ in times of which nothing comes
	}
	plain.Seed = func(of core.Item, draw, answers int) uint64 {
		return behavior.Activation{Seed: SeedOf(of, draw, nil)}.SeedOf(answers)
	}
	want, err := naive.ExploreUnder(system, plain, mostStates)
	if err != nil {
		t.Fatal(err)
	}
	var states, steps []string
	for id, state := range want.States {
		states = append(states, textOf(state))
		for _, e := range want.Edges[id] {
			steps = append(steps, stepText(textOf(state), textOf(want.States[e.To]), e))
		}
	}
	got := slices.Clone(f.steps)
	for i, step := range got {
		if strings.Contains(step, " | deliver ") {
			got[i] = strings.Replace(step, "wrote=true", "wrote=false", 1) // of which the twin says nothing
		}
	}
	f.known(t)
	if ways {
		f.ways(t)
	}
	for kind, lists := range map[string][2][]string{"states": {f.states, states}, "steps": {got, steps}} {
		if plain.Concurrent {
			lists = [2][]string{slices.Compact(slices.Sorted(slices.Values(lists[0]))), slices.Compact(slices.Sorted(slices.Values(lists[1])))}
		}
		if got, want := less(lists[0], lists[1]), less(lists[1], lists[0]); len(got)+len(want) > 0 {
			t.Errorf("%s, conditions %+v: of %d %s these are wrong:\n\t%s\nand these are missing:\n\t%s", name, c, len(lists[1]), kind, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	return true
}

// TestTwinOfHandlers compares systems whose event handlers read and write, under random conditions. What they write is
// their own, whoever's step it is. What is in the list of those that start while others write is a matter of its own,
// so there is nothing at the start, and nobody crashes.
func TestTwinOfHandlers(t *testing.T) {
	compared := 0
	for seed := range uint64(16) {
		copies := func(name, from, to string) *trade {
			c := sequential(controller(name, func() core.Instance {
				return hand{
					func(w world, _ core.Request) core.Result { w.put(name, w.look(from)); return core.Result{} },
					func(w world, e core.Event) []core.Request {
						switch e.Key {
						case key(from):
							w.put(to, w.look(from))
						}
						return []core.Request{"go"}
					},
				}
			}))
			c.Watches = []core.Kind{key(from).Kind, key(to).Kind}
			if seed%3 == 0 {
				c.Initial = nil
			}
			return c
		}
		first := simple("e", func(w world, _ core.Request) core.Result {
			w.put("a/x", "1")
			w.put("a/x", "2")
			return core.Result{}
		})
		system := lab([]core.Strategy{copies("c", "a/x", "b/x"), copies("d", "b/x", "c/x"), first})
		c, plain := conditionsOf(rand.New(rand.NewPCG(seed, 2)), system)
		if c.Crashes, plain.Crashes = 0, 0; c.Failures == 0 {
			c.FaultsIn, plain.FaultsIn = nil, nil
		}
		if seed < 4 {
			c.Staleness, plain.Rule = []Staleness{{Kind: "b", Rule: view.OwnWrites(1 + int(seed/2))}}, func(_ string, kind core.Kind) naive.Rule {
				if kind != "b" {
					return naive.Rule{Name: "fresh"}
				}
				return naive.Rule{Name: "own-writes", Bound: 1 + int(seed/2)}
			}
		}
		if graph, err := naive.ExploreUnder(system, plain, 80); err == nil {
			twin(t, fmt.Sprint("seed ", seed), system, c, plain, seed < 2)
			compared += len(graph.States)
		}
	}
	if compared < 100 {
		t.Errorf("only %d states are compared", compared)
	}
}

// less returns what is in one list more often than in another.
func less(list, other []string) []string {
	times := map[string]int{}
	for _, s := range other {
		times[s]++
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		times[s]--
		return times[s] >= 0
	})
}

// conditionsOf returns random conditions, in the forms of the engine and of its twin.
func conditionsOf(r *rand.Rand, system *core.System) (Conditions, naive.Conditions) {
	twin, views := random.Disturbed(r, system)
	c := Conditions{Crashes: twin.Crashes, Failures: twin.Failures, FaultsIn: twin.FaultsIn}
	if twin.PerCall {
		c.Granularity = PerCall
	}
	for _, v := range views {
		rule, err := view.Parse(v.Rule)
		if err != nil {
			panic(err)
		}
		c.Staleness = append(c.Staleness, Staleness{Controller: v.Controller, Kind: v.Kind, Rule: rule})
	}
	return c, twin
}
