package properties_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// graph is a graph given by its edges.
type graph struct {
	edges   [][]core.Edge
	initial []core.StateID
	cut     []bool
	unfair  map[core.Item]bool
	// promised are the actions that users have promised to take.
	promised map[core.Item]*core.Promise
	// acyclic claims that there is no cycle.
	acyclic bool
	// queued is the work in each state, tried what an item would do there.
	queued map[core.StateID][]core.Item
	tried  map[core.StateID]map[core.Item]core.Effect
	// relisted is what a restart would run, outcomes how states end.
	relisted map[core.StateID][]core.Item
	outcomes map[core.StateID]string
	// objects are how states end that have more than one object.
	objects  map[core.StateID]map[core.Key]any
	incident []core.Incident
	// histories are what users have done on the way to each state.
	histories map[core.StateID][]core.Request
	// awaited are the items that wait in a state for a time that was not searched.
	awaited map[core.StateID][]core.Item
}

var _ core.Graph = (*graph)(nil)

// point is a state that is nothing but its number.
type point struct {
	id   core.StateID
	work []core.Item
}

func (p point) Get(core.Key) core.Content          { return number(p.id) }
func (point) List(core.Kind, string) []core.Object { return nil }
func (point) Held(core.Key) []core.Content         { return nil }
func (p point) Work() []core.Item                  { return p.work }
func (point) Timers() []core.Item                  { return nil }
func (point) InFlight() []core.Item                { return nil }

type number core.StateID

func (n number) Canonical() string { return strconv.Itoa(int(n)) }
func (n number) Fields() any       { return int(n) }

func (g *graph) States() int                       { return len(g.edges) }
func (g *graph) Initial() []core.StateID           { return g.initial }
func (g *graph) State(id core.StateID) core.State  { return point{id, g.queued[id]} }
func (g *graph) Edges(id core.StateID) []core.Edge { return slices.Clone(g.edges[id]) }
func (g *graph) Cut(id core.StateID) bool          { return g.cut != nil && g.cut[id] }
func (g *graph) Acyclic() bool                     { return g.acyclic }
func (g *graph) List(ctx context.Context, n int, show func(*core.Listed) error) error {
	return naive.List(ctx, g, n, show)
}

func (g *graph) Relisted(id core.StateID) []core.Item { return g.relisted[id] }
func (g *graph) Effect(e core.Edge) core.Effect       { return g.tried[e.From][e.Step.Item] }
func (g *graph) Incidents() []core.Incident           { return g.incident }

func (g *graph) Fair(step core.Step) bool {
	return (step.Due() || step.Kind == core.Fire) && !g.unfair[step.Item]
}

func (g *graph) Surrounds(string) bool { return false }

func (g *graph) Promised(step core.Step) *core.Promise { return g.promised[step.Item] }

func (g *graph) Awaited(id core.StateID) []core.Item { return g.awaited[id] }

func (g *graph) History(id core.StateID) []core.Request { return g.histories[id] }

func (g *graph) Quiescent() []core.StateID {
	var ids []core.StateID
	for id, edges := range g.edges {
		busy := slices.ContainsFunc(edges, func(e core.Edge) bool { return e.Step.Due() })
		if id := core.StateID(id); !busy && !g.Cut(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// cost returns what a run takes: how many faults, steps on stale views, and steps.
func cost(run core.Run) []int {
	c := []int{0, 0, len(run)}
	for _, e := range run {
		if e.Step.Kind == core.Restart || e.Step.Detail != "" {
			c[0]++
		}
		if e.Late {
			c[1]++
		}
	}
	return c
}

func (g *graph) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	runs := map[core.StateID]core.Run{}
	for _, id := range g.initial {
		runs[id] = core.Run{}
	}
	for range g.States() {
		for id := range core.StateID(g.States()) {
			run, reached := runs[id]
			for _, e := range g.edges[id] {
				longer := append(slices.Clone(run), e)
				known, seen := runs[e.To]
				if reached && (!seen || slices.Compare(cost(longer), cost(known)) < 0) {
					runs[e.To] = longer
				}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(runs), func(a, b core.StateID) int {
		return cmp.Or(slices.Compare(cost(runs[a]), cost(runs[b])), cmp.Compare(a, b))
	}) {
		if accept(id) {
			return runs[id], true
		}
	}
	return nil, false
}

func (g *graph) Items() []core.Item {
	var items []core.Item
	for id := range core.StateID(len(g.edges)) {
		for _, item := range g.queued[id] {
			if !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
	}
	slices.SortFunc(items, core.Item.Compare)
	return items
}

func (g *graph) Try(id core.StateID, item core.Item) []core.Effect {
	if effect, possible := g.tried[id][item]; possible {
		return []core.Effect{effect}
	}
	return nil
}

func (g *graph) Outcome(id core.StateID) map[core.Key]any {
	if objects, many := g.objects[id]; many {
		return objects
	}
	return map[core.Key]any{{Name: "end"}: g.outcomes[id]}
}

func (*graph) CanonicalOutcome(_ core.StateID, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// item returns the item of a name.
func item(name string) core.Item { return core.Item{Strategy: name, Request: "r"} }

// add adds a step and returns it for more to be said of it.
func (g *graph) add(from, to core.StateID, name string) *core.Edge {
	for int(max(from, to)) >= len(g.edges) {
		g.edges = append(g.edges, nil)
	}
	g.edges[from] = append(g.edges[from], core.Edge{From: from, To: to, Step: core.Step{Item: item(name)}})
	return &g.edges[from][len(g.edges[from])-1]
}

// drawGraph draws a small graph in which every state can be reached, and steps of one
// state have different names. Some steps are unfair or faults, some states cut.
func drawGraph(t *rapid.T) *graph {
	n := rapid.IntRange(1, 5).Draw(t, "states")
	names := []string{"a", "b", "c"}
	g := &graph{edges: make([][]core.Edge, n), cut: make([]bool, n), unfair: map[core.Item]bool{}}
	for id := range core.StateID(n) {
		for _, name := range names {
			if rapid.IntRange(0, 2).Draw(t, "enabled") == 0 {
				continue
			}
			to := core.StateID(rapid.IntRange(0, n-1).Draw(t, fmt.Sprintf("%d %s", id, name)))
			e := g.add(id, to, name)
			e.Wrote = rapid.IntRange(0, 3).Draw(t, "wrote") == 0
			e.Requeued = rapid.IntRange(0, 2).Draw(t, "requeued") == 0
			switch rapid.IntRange(0, 11).Draw(t, "kind") {
			case 0, 1, 2:
				e.Step.Kind = core.Fire
			case 3:
				e.Step.Kind = core.Restart
			case 4:
				e.Step.Kind = core.Deliver
			case 5:
				e.Step.Detail = "call 1 fails"
			}
			if rapid.IntRange(0, 3).Draw(t, "failed") == 0 {
				e.Failed = "it failed"
			}
		}
		g.cut[id] = rapid.IntRange(0, 9).Draw(t, "cut") == 0
	}
	for _, name := range names {
		if rapid.IntRange(0, 3).Draw(t, "unfair") == 0 {
			g.unfair[item(name)] = true
		}
	}
	// Whatever cannot be reached yet is a state to start in.
	for id := range core.StateID(n) {
		if _, found := g.Shortest(func(other core.StateID) bool { return other == id }); !found {
			g.initial = append(g.initial, id)
		}
	}
	return g
}
