package explore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// conditionsOf returns random conditions, in the forms of the engine and of its twin.
func conditionsOf(r *rand.Rand, system *core.System) (explore.Conditions, naive.Conditions) {
	twin, views := random.Disturbed(r, system)
	c := explore.Conditions{Crashes: twin.Crashes, Failures: twin.Failures, FaultsIn: twin.FaultsIn}
	if twin.PerCall {
		c.Granularity = explore.PerCall
	}
	for _, v := range views {
		rule, err := view.Parse(v.Rule)
		if err != nil {
			panic(err)
		}
		c.Staleness = append(c.Staleness, explore.Staleness{Controller: v.Controller, Kind: v.Kind, Rule: rule})
	}
	return c, twin
}

// disturbedEdge says all that there is to say of a step under conditions.
func disturbedEdge(from, to string, e core.Edge) string {
	kind, item := e.Step.Kind, e.Step.Item
	if _, background := core.BackgroundOf(item.Strategy); background {
		item.Request = "" // what waits may be numbered for each request
	}
	if kind == core.Act || kind == core.Work {
		kind = core.Reconcile
	}
	crash := kind == core.Reconcile && strings.Contains(e.Step.Detail, "crash")
	failed, again := e.Failed, e.Requeued
	if crash {
		failed, again = "", false
	}
	wrote := e.Wrote && kind != core.Restart && !crash
	return fmt.Sprintf("%s | %s %s crash=%t wrote=%t failed=%q again=%t | %s", from, kind.Name(), item, crash, wrote, failed, again, to)
}

// eachUnder calls a test with so many random systems and conditions, and with what the twin finds under these. It
// returns how many systems were too large.
func eachUnder(t *testing.T, n int, generate func(uint64) (*core.System, error), conditions func(*rand.Rand, *core.System) (explore.Conditions, naive.Conditions),
	test func(seed uint64, system *core.System, c explore.Conditions, want *naive.Graph)) int {
	t.Helper()
	if testing.Short() {
		n = n * 3 / 4
	}
	large := 0
	for seed := *firstSeed; n > 0; seed++ {
		system, err := generate(seed)
		if err != nil {
			t.Fatal(err)
		}
		c, plain := conditions(rand.New(rand.NewPCG(seed, 1)), system)
		want, err := naive.ExploreUnder(system, plain, largest)
		if err != nil {
			if !strings.Contains(err.Error(), "states") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			large++
			continue
		}
		n--
		test(seed, system, c, want)
	}
	return large
}

// TestTwinUnderConditions compares searches under random conditions with the twin.
func TestTwinUnderConditions(t *testing.T) {
	large := eachUnder(t, *systems, random.System, conditionsOf, func(seed uint64, system *core.System, c explore.Conditions, want *naive.Graph) {
		for workers := 1; workers <= 2; workers++ {
			o := options(workers)
			o.Conditions = c
			if seed%4 == 0 {
				o.Order = explore.DepthFirst
			}
			space := search(t, system, o)
			if slices.ContainsFunc(space.Reasons(), func(reason string) bool { return strings.Contains(reason, "crashes in those cases were not searched") }) {
				continue // what is blocked in one case only cannot be said to be under way
			}
			if d := differ(summaryUnder(space), summaryOfTwinUnder(want)); d != "" {
				t.Fatalf("%d workers, conditions %+v: %s\nagain with -run TestTwinUnderConditions -systems 1 -first-seed %d", workers, c, d, seed)
			}
		}
	})
	t.Logf("%d systems were too large", large)
}

func summaryUnder(g *explore.Space) summary {
	var s summary
	texts := make([]string, g.States())
	for id := range texts {
		texts[id] = text(g.State(core.StateID(id)))
	}
	s.states = slices.Clone(texts)
	for id, from := range texts {
		for _, e := range g.Edges(core.StateID(id)) {
			s.edges = append(s.edges, disturbedEdge(from, texts[e.To], e))
		}
	}
	return s.inOrder()
}

func summaryOfTwinUnder(g *naive.Graph) summary {
	var s summary
	for id, state := range g.States {
		s.states = append(s.states, text(state))
		for _, e := range g.Edges[id] {
			s.edges = append(s.edges, disturbedEdge(text(state), text(g.States[e.To]), e))
		}
	}
	return s.inOrder()
}

// silent is a strategy that does not declare what it caches but some kinds.
type silent struct {
	core.Strategy
	declared []core.Kind
}

// Describe implements [core.Strategy].
func (s silent) Describe() core.Description {
	d := s.Strategy.Describe()
	d.Caches = s.declared
	return d
}

// declaring returns the system with strategies that declare as cached what the views are of.
func declaring(system *core.System, views []core.ViewReport) *core.System {
	other := *system
	other.Strategies = nil
	for _, strategy := range system.Strategies {
		d, s := strategy.Describe(), silent{Strategy: strategy}
		for _, v := range views {
			if v.Controller == d.Name && !slices.Contains(d.Watches, v.Kind) {
				s.declared = append(s.declared, v.Kind)
			}
		}
		other.Strategies = append(other.Strategies, s)
	}
	return &other
}

// TestCachesAreFoundOut checks that a kind which is read through a cache has a view, though nobody said so: a search
// that has to find it out sees what the twin sees that is told.
func TestCachesAreFoundOut(t *testing.T) {
	n := *systems / 3
	if testing.Short() {
		n /= 5
	}
	for seed := *firstSeed; n > 0; seed++ {
		system, err := random.System(seed)
		if err != nil {
			t.Fatal(err)
		}
		c := explore.Conditions{Crashes: int(seed % 2), Staleness: []explore.Staleness{{Rule: view.Lag(1 + int(seed/2%2))}}}
		rule := naive.Rule{Name: "lag", Bound: 1 + int(seed/2%2)}
		o := options(1)
		o.Conditions, o.Bounds.States = c, largest
		space, err := explore.Search(t.Context(), declaring(system, nil), o)
		if err != nil || len(space.Reasons()) > 0 || slices.Equal(space.Views(), watchedViews(system, rule)) {
			continue // no view at all, too large, or nothing to find out
		}
		n--
		want, err := naive.ExploreUnder(declaring(system, space.Views()), naive.Conditions{
			Crashes: c.Crashes, Rule: func(string, core.Kind) naive.Rule { return rule },
		}, largest)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for workers := 1; workers <= 2; workers++ {
			o.Workers = workers
			if d := differ(summaryUnder(search(t, declaring(system, nil), o)), summaryOfTwinUnder(want)); d != "" {
				t.Fatalf("%d workers: %s\nagain with -run TestCachesAreFoundOut -systems 3 -first-seed %d", workers, d, seed)
			}
		}
	}
}

// watchedViews returns the views of a system in which all that is cached is watched.
func watchedViews(system *core.System, rule naive.Rule) []core.ViewReport {
	var views []core.ViewReport
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		for _, kind := range d.Watches {
			views = append(views, core.ViewReport{Controller: d.Name, Kind: kind, Rule: fmt.Sprintf("%s(%d)", rule.Name, rule.Bound)})
		}
	}
	return views
}
