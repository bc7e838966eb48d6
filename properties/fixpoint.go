package properties

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Fixpoint holds if rest is real: in every state with no work left, running again any
// request that a resync or a restart would run, or that was in a work queue before,
// changes nothing. It finds watches that are missing and reconciles that are not
// idempotent: the system has gone quiet before it was done.
func Fixpoint() core.Property {
	return core.Property{
		Name:  "fixpoint",
		Doc:   "Once the system is quiet, running any known request again changes nothing: no watch is missing, and reconciles are idempotent.",
		Judge: judgeFixpoint,
		Ends:  true,
	}
}

func judgeFixpoint(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	var violations []core.Violation
	told := map[string]bool{}
	r := newRest(g)
	for _, id := range g.Quiescent() {
		if err := ctx.Err(); err != nil {
			return violations, err
		}
		item, effect, found := r.unsettled(id)
		if !found || told[item.Strategy] {
			continue
		}
		told[item.Strategy] = true
		stem, _ := g.Shortest(func(other core.StateID) bool { return other == id })
		fields := ChangedFields(effect)
		violations = append(violations, core.Violation{
			Summary: fmt.Sprintf("the system goes quiet before it is done: running %s once more, as a resync or restart would, still changes %s",
				item, changesText(fields)),
			Details: []string{
				"Nothing that happened on the way made the controller look again. Either it misses a watch on what it depends on, or its reconcile does something new each time it runs.",
			},
			Controllers: []string{item.Strategy},
			Fields:      fields,
			Stem:        stem,
			State:       id,
			Probe:       &core.Step{Kind: core.Reconcile, Item: item},
		})
	}
	return violations, nil
}

func changesText(fields []string) string {
	if len(fields) == 0 {
		return "objects"
	}
	return enumerate(fields)
}

// rest judges quiet states.
type rest struct {
	graph core.Graph
	// after are the states that can be reached from one in which the item is in its
	// work queue.
	after map[core.Item][]bool
}

func newRest(g core.Graph) *rest { return &rest{graph: g, after: map[core.Item][]bool{}} }

// unsettled returns a request that would still change something in a quiet state.
// Requests that a restart would run come first: they exist in this very state. Others
// were queued somewhere; they count if that was on a way to here.
func (r *rest) unsettled(id core.StateID) (core.Item, core.Effect, bool) {
	relisted := r.graph.Relisted(id)
	for _, item := range relisted {
		if effect, ok := r.graph.Try(id, item); ok && effect.Wrote {
			return item, effect, true
		}
	}
	for _, item := range r.graph.Items() {
		if slices.Contains(relisted, item) {
			continue
		}
		if effect, ok := r.graph.Try(id, item); ok && effect.Wrote && r.queuedBefore(id, item) {
			return item, effect, true
		}
	}
	return core.Item{}, core.Effect{}, false
}

// settled tells whether a quiet state stays as it is.
func (r *rest) settled(id core.StateID) bool {
	_, _, found := r.unsettled(id)
	return !found
}

// queuedBefore tells whether a run to the state passes through one in which the item
// is in its work queue.
func (r *rest) queuedBefore(id core.StateID, item core.Item) bool {
	seen, known := r.after[item]
	if known {
		return seen[id]
	}
	seen = make([]bool, r.graph.States())
	var open []core.StateID
	for at := range core.StateID(r.graph.States()) {
		if slices.Contains(r.graph.State(at).Work(), item) {
			seen[at] = true
			open = append(open, at)
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, e := range r.graph.Edges(at) {
			if !seen[e.To] {
				seen[e.To] = true
				open = append(open, e.To)
			}
		}
	}
	r.after[item] = seen
	return seen[id]
}
