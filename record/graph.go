package record

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// addGraph adds the first states of a graph, and before each the objects in it
// that no earlier state had.
func (r *recorder) addGraph(graph core.Graph, limit int) {
	extent := Extent{States: graph.States(), Recorded: min(graph.States(), limit)}
	if extent.Recorded < extent.States {
		extent.Note = fmt.Sprintf("only the first %d of %d states are recorded", extent.Recorded, extent.States)
	}
	r.add(extent)

	initial, quiescent := setOf(graph.Initial()), setOf(graph.Quiescent())
	numbers := map[[sha256.Size]byte]int{}
	for n := range extent.Recorded {
		if r.err != nil {
			return
		}
		id := core.StateID(n)
		state := State{ID: id, Initial: initial[id], Cut: graph.Cut(id), Quiescent: quiescent[id]}
		for _, object := range objectsOf(graph, id) {
			number, err := r.object(numbers, object)
			if err != nil {
				r.err = fmt.Errorf("record: object %s of state %d: %w", core.TraceObject(object).Key(), id, err)
				return
			}
			state.Objects = append(state.Objects, number)
		}
		view := graph.State(id)
		state.Work = items(view.Work())
		state.Timers = items(view.Timers())
		for _, edge := range graph.Edges(id) {
			state.Steps = append(state.Steps, stepOf(edge))
		}
		r.count.States++
		r.count.Steps += len(state.Steps)
		r.add(state)
	}
}

func setOf(ids []core.StateID) map[core.StateID]bool {
	set := make(map[core.StateID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// object returns the number of an object, and adds the object when it is new.
func (r *recorder) object(numbers map[[sha256.Size]byte]int, object Object) (int, error) {
	text, err := encode(object)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(text)
	number, known := numbers[sum]
	if !known {
		number = len(numbers)
		numbers[sum] = number
		r.count.Objects++
		r.add(object)
	}
	return number, nil
}

// objectsOf returns what matters of the objects of a state, in the order of
// their keys.
func objectsOf(graph core.Graph, id core.StateID) []Object {
	outcome := graph.Outcome(id)
	keys := slices.SortedFunc(maps.Keys(outcome), core.Key.Compare)
	objects := make([]Object, 0, len(keys))
	for _, key := range keys {
		objects = append(objects, Object{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: outcome[key]})
	}
	return objects
}

func items(from []core.Item) []Item {
	var to []Item
	for _, item := range from {
		to = append(to, Item{Controller: item.Strategy, Request: item.Request})
	}
	return to
}

func stepOf(edge core.Edge) Step {
	return Step{
		Kind:     edge.Step.Kind.Name(),
		Item:     Item{Controller: edge.Step.Item.Strategy, Request: edge.Step.Item.Request},
		Detail:   edge.Step.Detail,
		Order:    edge.Step.Order,
		To:       edge.To,
		Late:     edge.Late,
		Wrote:    edge.Wrote,
		Failed:   edge.Failed,
		Requeued: edge.Requeued,
	}
}
