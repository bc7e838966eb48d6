package properties

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/emirpasic/gods/v2/maps/linkedhashmap"
	"github.com/emirpasic/gods/v2/sets/linkedhashset"

	"github.com/orrery-dev/orrery/core"
)

// Fixpoint holds if rest is real: in every end (see [Ends]), running again any request that a resync or a restart would
// run, or that was in a work queue before, changes nothing. It finds watches that are missing and reconciles that are
// not idempotent: the system has gone quiet before it was done. A controller that polls is not quiet as long as its
// timers lead to a change. What stands in for surroundings, such as a companion, is not blamed.
//
// Comparisons are rules for comparing objects, such as [Without]: what they leave out may still change.
func Fixpoint(comparisons ...core.Comparison) core.Property {
	return comparing(comparisons, core.Property{
		Name:   "fixpoint",
		Doc:    "Once the system is quiescent, reconciling any known request again changes nothing: no watch is missing, and reconciles are idempotent.",
		Judge:  judgeFixpoint,
		Ends:   true,
		Merges: core.InEnds,
	})
}

// judgeFixpoint tells one violation for each cause: a controller, and the fields that it would change without the names
// of objects, in the state where it takes least to get there.
func judgeFixpoint(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	var found causes
	r := newRest(g)
	restless := linkedhashmap.New[cause, *restlessness]()
	ends, err := Ends(ctx, g)
	if err != nil {
		return nil, err
	}
	for _, id := range ends {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for item, effect := range r.unsettled(id) {
			if g.Surrounds(item.Strategy) {
				continue // it is not settled, and none of the controllers that are checked could do anything about that
			}
			why := causeOf(item.Strategy, patterns(changed(effect)))
			one, known := restless.Get(why)
			if !known {
				one = &restlessness{why: why, at: map[core.StateID]core.Item{}, items: linkedhashset.New[core.Item]()}
				restless.Put(why, one)
			}
			one.add(id, item)
		}
	}
	for _, one := range restless.Values() {
		stem, _ := g.Shortest(one.has)
		at := stem.EndIn(g, one.has)
		item := one.at[at]
		for _, effect := range g.Try(at, item) {
			if unrests(effect) && causeOf(item.Strategy, patterns(changed(effect))) == one.why {
				found.tell(one.why, item.String(), tellRestless(item, effect, stem, at))
				break
			}
		}
		for _, other := range one.items.Values() {
			found.known(one.why, other.String())
		}
	}
	return found.violations(), nil
}

// restlessness is where a cause shows: the states, each with the first item that would change something there, and all
// items.
type restlessness struct {
	why   cause
	at    map[core.StateID]core.Item
	items *linkedhashset.Set[core.Item]
}

func (r *restlessness) add(id core.StateID, item core.Item) {
	if _, known := r.at[id]; !known {
		r.at[id] = item
	}
	r.items.Add(item)
}

func (r *restlessness) has(id core.StateID) bool {
	_, found := r.at[id]
	return found
}

func tellRestless(item core.Item, effect core.Effect, stem core.Run, at core.StateID) core.Violation {
	fields := ChangedFields(effect)
	why := "No change triggered the controller again. Either it lacks a watch on something that it reads, or its reconcile is not idempotent, or it counts on a RequeueAfter that an event has taken the place of."
	if effect.Alike && len(fields) > 0 {
		why = "Nothing else would change than what does not count in outcomes, such as a time: its reconcile is not idempotent. A time that is written each time goes to and fro between two values, which stand for all later ones."
	}
	return core.Violation{
		Summary: fmt.Sprintf("the system becomes quiescent too early: running %s again, as a resync or restart would, still changes %s",
			item, changesText(fields)),
		Details:     []string{why},
		Controllers: []string{item.Strategy},
		Fields:      fields,
		Stem:        stem,
		State:       at,
		Probe:       &core.Step{Kind: core.Reconcile, Item: item, Order: effect.Order},
	}
}

func changesText(fields []string) string {
	if len(fields) == 0 {
		return "objects"
	}
	return briefly(fields, "more field", "more fields")
}

// rest judges quiet states.
type rest struct {
	graph core.Graph
	// after are the states that can be reached from one in which the item is in its
	// work queue.
	after map[core.Item][]bool
}

func newRest(g core.Graph) *rest { return &rest{graph: g, after: map[core.Item][]bool{}} }

// unsettled yields the requests that would still change something in a quiet state, with what they would change.
// Requests that a restart would run come first: they exist in this very state. Others
// were queued somewhere; they count if that was on a way to here.
func (r *rest) unsettled(id core.StateID) iter.Seq2[core.Item, core.Effect] {
	return func(yield func(core.Item, core.Effect) bool) {
		counts := func(item core.Item, effect core.Effect) bool { return unrests(effect) && !r.beats(id, item, effect) }
		relisted := r.graph.Relisted(id)
		for _, item := range relisted {
			for _, effect := range r.graph.Try(id, item) {
				if counts(item, effect) && !yield(item, effect) {
					return
				}
			}
		}
		for _, item := range r.graph.Items() {
			if slices.Contains(relisted, item) {
				continue
			}
			for _, effect := range r.graph.Try(id, item) {
				if counts(item, effect) && r.queuedBefore(id, item) && !yield(item, effect) {
					return
				}
			}
		}
	}
}

// beats reports whether a request is run again anyway when its timer fires, and would change nothing but a time or the
// like: it is a heartbeat.
func (r *rest) beats(id core.StateID, item core.Item, effect core.Effect) bool {
	return effect.Alike && slices.ContainsFunc(r.graph.Edges(id), func(e core.Edge) bool { return e.Step.Kind == core.Fire && e.Step.Item == item })
}

// unrests reports whether a run leaves objects other than they were. What it writes and takes back again, such as a
// status that says that it is at work, is as it was.
func unrests(effect core.Effect) bool {
	return effect.Wrote && slices.ContainsFunc(effect.Changes, func(c core.Change) bool {
		return c.Before == nil || c.After == nil || !reflect.DeepEqual(c.Before.Fields(), c.After.Fields())
	})
}

// settled reports whether a quiet state stays as it is.
func (r *rest) settled(id core.StateID) bool {
	for range r.unsettled(id) {
		return false
	}
	return true
}

// stays reports whether a quiet state stays as it is, as far as outcomes tell: a request that would change nothing but
// when something was written takes no outcome away.
func (r *rest) stays(id core.StateID) bool {
	for _, effect := range r.unsettled(id) {
		if !effect.Alike {
			return false
		}
	}
	return true
}

// queuedBefore reports whether a run to the state passes through one in which the item
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
