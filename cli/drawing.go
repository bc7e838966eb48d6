package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// drawing says what to draw. The zero value leaves the choice to [draw].
type drawing struct {
	// finding is the number of a finding, 0 for none.
	finding         int
	outcomes, graph bool
}

// draw writes a drawing: without a choice the first finding, or the graph if
// there is none, or the outcomes if the graph is too large to be drawn.
func draw(w io.Writer, report *core.Report, space func() dot.Space, choice drawing) error {
	if choice.finding > 0 {
		finding, err := findingOf(report, choice.finding)
		if err != nil {
			return err
		}
		return dot.Finding(w, finding)
	}
	switch {
	case choice.outcomes:
		return dot.Outcomes(w, space())
	case choice.graph:
		return dot.States(w, space())
	case len(report.Findings) > 0:
		return dot.Finding(w, report.Findings[0])
	case report.States > dot.StateLimit:
		return dot.Outcomes(w, space())
	}
	return dot.States(w, space())
}

// findingOf returns a finding by its number.
func findingOf(report *core.Report, number int) (core.Finding, error) {
	if len(report.Findings) == 0 {
		return core.Finding{}, fmt.Errorf("there is no finding %d: the check of %s has no findings", number, report.System)
	}
	if number < 1 || number > len(report.Findings) {
		return core.Finding{}, fmt.Errorf("there is no finding %d: use a number from 1 to %d", number, len(report.Findings))
	}
	return report.Findings[number-1], nil
}

// liveSpace returns the graph of a check that has just ended.
func liveSpace(result *orrery.Result) dot.Space {
	space := dot.Space{System: text.SystemName(&result.Report), Outcomes: result.Report.OutcomeList}
	graph := result.Graph
	if graph == nil {
		return space
	}
	initial, quiescent := setOf(graph.Initial()), setOf(graph.Quiescent())
	space.Total = graph.States()
	for n := range min(space.Total, record.DefaultLimit) {
		id := core.StateID(n)
		state := dot.State{
			Initial:   initial[id],
			Cut:       graph.Cut(id),
			Quiescent: quiescent[id],
			Edges:     slices.Clone(graph.Edges(id)),
		}
		outcome := graph.Outcome(id)
		for _, key := range slices.SortedFunc(maps.Keys(outcome), core.Key.Compare) {
			state.Objects = append(state.Objects, core.TraceObject{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: outcome[key]})
		}
		space.States = append(space.States, state)
	}
	return space
}

func setOf(ids []core.StateID) map[core.StateID]bool {
	set := make(map[core.StateID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// recordedSpace returns the graph that a record holds.
func recordedSpace(r *record.Record) dot.Space {
	space := dot.Space{System: text.SystemName(&r.Report), Total: r.Extent.States, Outcomes: r.Report.OutcomeList}
	for _, from := range r.States {
		state := dot.State{Initial: from.Initial, Cut: from.Cut, Quiescent: from.Quiescent}
		for _, number := range from.Objects {
			state.Objects = append(state.Objects, r.Objects[number])
		}
		for _, step := range from.Steps {
			state.Edges = append(state.Edges, core.Edge{From: from.ID, To: step.To, Step: stepOf(step), Late: step.Late})
		}
		space.States = append(space.States, state)
	}
	return space
}

// stepOf returns a recorded step. That its kind is known was checked when it was read.
func stepOf(step record.Step) core.Step {
	kind, _ := core.StepKindOf(step.Kind)
	return core.Step{Kind: kind, Item: core.Item{Strategy: step.Controller, Request: step.Request}, Detail: step.Detail, Order: step.Order}
}
