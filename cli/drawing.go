package cli

import (
	"fmt"
	"io"

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

// recordedSpace returns the graph that a record holds.
func recordedSpace(r *record.Record) dot.Space {
	space := dot.Space{System: text.SystemName(&r.Report), Total: r.Extent.States, Outcomes: r.Report.OutcomeList}
	for from := range r.States.All() {
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
