package naive

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// List is [core.Graph.List] in the simplest way: it asks for one state after the other. Versions of objects that are
// the same as far as they matter get one number.
func List(ctx context.Context, g core.Graph, n int, show func(*core.Listed) error) error {
	var objects, items, steps numbers
	initial, quiescent := g.Initial(), g.Quiescent()
	for id := range core.StateID(min(n, g.States())) {
		if err := ctx.Err(); err != nil {
			return err
		}
		listed := core.Listed{
			ID: id, Cut: g.Cut(id),
			Initial:   slices.Contains(initial, id),
			Quiescent: slices.Contains(quiescent, id),
		}
		outcome := g.Outcome(id)
		for _, key := range slices.SortedFunc(maps.Keys(outcome), core.Key.Compare) {
			object := core.TraceObject{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: outcome[key]}
			number, isNew := objects.of(object)
			if isNew {
				listed.NewObjects = append(listed.NewObjects, object)
			}
			listed.Objects = append(listed.Objects, number)
		}
		state := g.State(id)
		for _, list := range []struct {
			items   []core.Item
			numbers *[]int
		}{{state.Work(), &listed.Work}, {state.Timers(), &listed.Timers}} {
			for _, item := range list.items {
				number, isNew := items.of(item)
				if isNew {
					listed.NewItems = append(listed.NewItems, item)
				}
				*list.numbers = append(*list.numbers, number)
			}
		}
		for _, edge := range g.Edges(id) {
			to := edge.To
			edge.From, edge.To = 0, 0
			number, isNew := steps.of(edge)
			if isNew {
				listed.NewSteps = append(listed.NewSteps, edge)
			}
			listed.Steps = append(listed.Steps, core.ListedStep{Step: number, To: to})
		}
		if err := show(&listed); err != nil {
			return err
		}
	}
	return nil
}

// numbers numbers values by their JSON.
type numbers map[string]int

// of returns the number of a value, and whether it is new.
func (n *numbers) of(value any) (number int, isNew bool) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("naive: %v", err))
	}
	if *n == nil {
		*n = numbers{}
	}
	number, known := (*n)[string(text)]
	if !known {
		number = len(*n)
		(*n)[string(text)] = number
	}
	return number, !known
}
