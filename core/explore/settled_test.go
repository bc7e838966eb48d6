package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestUsersOnceSettled searches systems whose users take some of their actions only where controllers have settled, and
// the same systems where they take them at any moment: the first search comes to what is left of the second one without
// the steps that are taken too early.
func TestUsersOnceSettled(t *testing.T) {
	compared, acted, early := 0, 0, 0
	for seed := *firstSeed; compared < max(1, *systems/2); seed++ {
		compose := random.Settling([]func(uint64) (*core.System, error){random.Loose, random.Later(random.Loose)}[seed%2])
		system, err := compose(seed)
		if err != nil {
			t.Fatal(err)
		}
		later := map[core.Request]bool{}
		free := *system
		free.Scenario.Actions = slices.Clone(system.Scenario.Actions)
		for i, action := range free.Scenario.Actions {
			later[core.Request(action.Name)] = action.Settled
			free.Scenario.Actions[i].Settled = false
		}
		o := options(1 + int(seed%2))
		o.Bounds.States = 3000
		if seed%3 == 0 {
			o.Conditions.Crashes = 1
		}
		if seed%5 == 0 {
			o.Conditions.Granularity = explore.PerCall
		}
		whole := search(t, &free, o)
		if len(whole.Reasons()) > 0 {
			continue
		}
		compared++
		want, n := settledOnly(whole, later)
		early += n
		space := search(t, system, o)
		var got []string
		for id := range core.StateID(space.States()) {
			for _, e := range space.Edges(id) {
				if later[e.Step.Item.Request] && e.Step.Kind == core.Intervene {
					acted++
				}
				got = append(got, edgeText(text(space.State(id)), text(space.State(e.To)), e))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: %d steps, want %d", seed, len(got), len(want))
		}
	}
	if compared > 10 && (acted == 0 || early == 0) {
		t.Errorf("users act %d times, and would have %d times too early", acted, early)
	}
}

// settledOnly returns the steps of a graph that are left without actions which users take before controllers have
// settled, and how many of these there are.
func settledOnly(g *explore.Space, later map[core.Request]bool) (steps []string, early int) {
	seen := map[core.StateID]bool{}
	queue := slices.Clone(g.Initial())
	for _, id := range queue {
		seen[id] = true
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		edges := slices.Collect(slices.Values(g.Edges(id)))
		due := slices.ContainsFunc(edges, func(e core.Edge) bool { return e.Step.Due() && !retries(g, id, e) && !lands(g, id, e) })
		for _, e := range edges {
			if due && e.Step.Kind == core.Intervene && later[e.Step.Item.Request] {
				early++
				continue
			}
			steps = append(steps, edgeText(text(g.State(id)), text(g.State(e.To)), e))
			if !seen[e.To] {
				seen[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	return steps, early
}

// retries reports whether a step that is due in a state is a run that changes nothing and is tried again, or begins
// one.
func retries(g *explore.Space, at core.StateID, e core.Edge) bool {
	switch {
	case e.Wrote:
		return false
	case e.Step.Kind == core.Reconcile || e.Step.Kind == core.Return:
		return e.To == at && (e.Failed != "" || e.Requeued)
	case e.Step.Kind != core.Begin && e.Step.Kind != core.Ask:
		return false
	}
	for _, next := range g.Edges(e.To) {
		if next.Step.Item == e.Step.Item && next.Step.Due() && !retries(g, at, next) {
			return false
		}
	}
	return true
}

// lands reports whether a step that is due in a state goes on with a run that comes to nothing, and is tried again from
// there on.
func lands(g *explore.Space, at core.StateID, e core.Edge) bool {
	item := e.Step.Item
	for {
		next := slices.DeleteFunc(slices.Clone(g.Edges(e.To)), func(other core.Edge) bool { return other.Step.Item != item || !other.Step.Due() })
		switch {
		case e.Wrote || len(next) == 0:
			return false
		case e.Step.Kind == core.Return:
			again := !slices.ContainsFunc(next, func(other core.Edge) bool { return !retries(g, e.To, other) })
			return again && (e.Failed != "" || e.Requeued) && objectsIn(g, at) == objectsIn(g, e.To)
		case e.Step.Kind != core.Ask || len(next) > 1:
			return false
		}
		e = next[0]
	}
}

// objectsIn returns the objects of a state, and what waits there for a timer.
func objectsIn(g *explore.Space, id core.StateID) string {
	s := g.State(id)
	return text(busy{s, nil, nil})
}

// TestAlternatives searches systems whose users take one of their actions at most, once controllers have settled, and
// the same systems where they may take all: the first search comes to what is left of the second one without the steps
// of users who have acted before.
func TestAlternatives(t *testing.T) {
	compared, acted, again := 0, 0, 0
	for seed := *firstSeed; compared < max(1, *systems/2); seed++ {
		system, err := random.Settling([]func(uint64) (*core.System, error){random.Loose, random.Later(random.Loose)}[seed%2])(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range system.Scenario.Actions {
			system.Scenario.Actions[i].Settled = true
		}
		system.Scenario.InOrder = false
		one := *system
		one.Scenario.Alternatives = true
		o := options(1 + int(seed%2))
		o.Bounds.States = 3000
		whole := search(t, system, o)
		if len(whole.Reasons()) > 0 || len(system.Scenario.Actions) < 2 {
			continue
		}
		compared++
		space := search(t, &one, o)
		want, n := onceOnly(whole)
		again += n
		got, more := onceOnly(space)
		if more > 0 {
			t.Errorf("seed %d: users act again %d times", seed, more)
		}
		acted += len(got)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: %d steps, want %d", seed, len(got), len(want))
		}
	}
	if compared > 10 && (acted == 0 || again == 0) {
		t.Errorf("%d steps, and users would have acted %d times again", acted, again)
	}
}

// onceOnly returns the steps of a graph that are left without the actions of users who have acted before, and how many
// of these there are.
func onceOnly(g *explore.Space) (steps []string, again int) {
	users := func(item core.Item) bool { return item.Strategy == core.User }
	at := func(id core.StateID) string {
		s := g.State(id)
		return text(busy{s, slices.DeleteFunc(slices.Clone(s.Work()), users), s.InFlight()}) + fmt.Sprint(g.History(id))
	}
	seen := map[core.StateID]bool{}
	queue := slices.Clone(g.Initial())
	for _, id := range queue {
		seen[id] = true
	}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		for _, e := range slices.Clone(g.Edges(id)) {
			if users(e.Step.Item) && len(g.History(id)) > 0 {
				again++
				continue
			}
			steps = append(steps, edgeText(at(id), at(e.To), e))
			if !seen[e.To] {
				seen[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps), again
}

// busy is a state with other work.
type busy struct {
	core.State
	work, inFlight []core.Item
}

func (b busy) Work() []core.Item     { return b.work }
func (b busy) InFlight() []core.Item { return b.inFlight }
