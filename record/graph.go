package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// Graph is what a record asks of a graph, as [core.Graph] has it.
type Graph interface {
	States() int
	List(ctx context.Context, n int, show func(*core.Listed) error) error
}

// addGraph adds the first states of a graph, and before each what it refers to and no state before it does.
func (r *recorder) addGraph(ctx context.Context, graph Graph, limit int) {
	a := graphRecorder{recorder: r, objects: map[[sha256.Size]byte]int{}}
	err := graph.List(ctx, min(graph.States(), limit), a.state)
	switch {
	case r.err != nil:
	case err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())):
		r.err = err
	default:
		r.extent = Extent{States: graph.States(), Recorded: r.count.States}
		if r.extent.Recorded < r.extent.States {
			r.extent.Note = fmt.Sprintf("only the first %d of %d states are recorded", r.extent.Recorded, r.extent.States)
		}
		if err != nil {
			r.extent.Note += ", because recording was interrupted"
			r.extent.Interrupted = true
		}
	}
	r.add(r.extent)
}

// graphRecorder adds the states of a graph.
type graphRecorder struct {
	*recorder
	// objects are the numbers of objects by the hashes of their entries, versions those by the numbers that the graph
	// gives them, and listed those of the state at hand.
	objects          map[[sha256.Size]byte]int
	versions, listed []int
	packed           packed
}

// state adds a state.
func (a *graphRecorder) state(s *core.Listed) error {
	for _, object := range s.NewObjects {
		a.object(Object(object))
	}
	for _, item := range s.NewItems {
		a.count.Items++
		a.add(itemOf(item))
	}
	for _, step := range s.NewSteps {
		a.count.StepNames++
		a.add(stepOf(step))
	}
	a.listed = a.listed[:0]
	for _, version := range s.Objects {
		if a.err == nil {
			a.listed = append(a.listed, a.versions[version])
		}
	}
	a.count.States++
	a.count.Steps += len(s.Steps)
	numbers := Numbers{s.Initial, s.Cut, s.Quiescent, a.listed, s.Work, s.Timers, s.Steps}
	a.packed = appendPacked(a.packed[:0], s.ID, &numbers)
	if a.err == nil {
		a.err = addTo(a.blocks, packedTag, a.packed)
	}
	return a.err
}

// object adds an object, unless it is the same as one before.
func (a *graphRecorder) object(object Object) {
	if a.err != nil {
		return
	}
	text, err := encode(object)
	if err != nil {
		a.err = fmt.Errorf("record: object %s: %w", core.TraceObject(object).Key(), err)
		return
	}
	sum := sha256.Sum256(text)
	number, known := a.objects[sum]
	if !known {
		number = len(a.objects)
		a.objects[sum] = number
		a.count.Objects++
		a.err = addTo(a.blocks, objectTag, text)
	}
	a.versions = append(a.versions, number)
}

func itemOf(item core.Item) Item { return Item{Controller: item.Strategy, Request: item.Request} }

func stepOf(edge core.Edge) Step {
	return Step{
		Kind:     edge.Step.Kind.Name(),
		Item:     itemOf(edge.Step.Item),
		Detail:   edge.Step.Detail,
		Order:    edge.Step.Order,
		Late:     edge.Late,
		Wrote:    edge.Wrote,
		Failed:   edge.Failed,
		Requeued: edge.Requeued,
	}
}
