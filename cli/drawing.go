package cli

import (
	"context"
	"fmt"
	"io"

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
func draw(w io.Writer, report *core.Report, space func() (dot.Space, error), choice drawing) error {
	if choice.finding == 0 && !choice.outcomes && !choice.graph && len(report.Findings) > 0 {
		choice.finding = 1
	}
	if choice.finding > 0 {
		finding, err := findingOf(report, choice.finding)
		if err != nil {
			return err
		}
		return dot.Finding(w, finding)
	}
	drawn, err := space()
	if err != nil {
		return fmt.Errorf("the states are not drawn: %w", err)
	}
	if choice.outcomes || !choice.graph && report.States > dot.StateLimit {
		return dot.Outcomes(w, drawn)
	}
	return dot.States(w, drawn)
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

// liveSpace returns the graph of a check that has just ended. The error is that of the context.
func liveSpace(ctx context.Context, result *orrery.Result) (dot.Space, error) {
	space := dot.Space{System: text.SystemName(&result.Report), Outcomes: result.Report.OutcomeList}
	graph := result.Graph
	if graph == nil {
		return space, nil
	}
	space.Total = graph.States()
	var objects []core.TraceObject
	var steps []core.Edge
	err := graph.List(ctx, record.DefaultLimit, func(listed *core.Listed) error {
		objects, steps = append(objects, listed.NewObjects...), append(steps, listed.NewSteps...)
		state := dot.State{Initial: listed.Initial, Cut: listed.Cut, Quiescent: listed.Quiescent}
		for _, number := range listed.Objects {
			state.Objects = append(state.Objects, objects[number])
		}
		for _, step := range listed.Steps {
			edge := steps[step.Step]
			edge.From, edge.To = listed.ID, step.To
			state.Edges = append(state.Edges, edge)
		}
		space.States = append(space.States, state)
		return nil
	})
	return space, err
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
