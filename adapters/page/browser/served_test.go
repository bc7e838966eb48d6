package browser

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"

	pages "github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// lamp is the graph of a lamp with a note that one of two switches decides about: it is dark in state 0, red in state
// 1, and green in state 2. As a simulator, it can be switched once.
type lamp struct{ note string }

// States implements [record.Graph].
func (l lamp) States() int { return 3 }

// List implements [record.Graph].
func (l lamp) List(_ context.Context, n int, show func(*core.Listed) error) error {
	left := core.Edge{Step: l.step("left")}
	right := core.Edge{Step: l.step("right")}
	for _, state := range []*core.Listed{
		{
			ID: 0, Initial: true, Objects: []int{0}, NewObjects: l.objects("dark"), NewItems: []core.Item{left.Step.Item}, Work: []int{0},
			Steps: []core.ListedStep{{Step: 0, To: 1}, {Step: 1, To: 2}}, NewSteps: []core.Edge{left, right},
		},
		{ID: 1, Quiescent: true, Objects: []int{1}, NewObjects: l.objects("red")},
		{ID: 2, Quiescent: true, Objects: []int{2}, NewObjects: l.objects("green")},
	}[:n] {
		if err := show(state); err != nil {
			return err
		}
	}
	return nil
}

func (l lamp) step(who string) core.Step {
	return core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: who, Request: "desk"}}
}

func (l lamp) objects(color string) []core.TraceObject {
	return []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"color": color, "note": l.note}}}
}

// Run implements [pages.Simulator].
func (l lamp) Run(_ context.Context, _ int, steps []core.Step) (*core.Position, error) {
	position := &core.Position{Trace: core.Trace{CycleStart: -1, Initial: l.objects("dark")}, Objects: l.objects("dark")}
	for _, step := range steps {
		position.Objects = l.objects("red")
		position.Trace.Steps = append(position.Trace.Steps, core.TraceStep{
			Kind: step.Kind.Name(), Controller: step.Item.Strategy, Request: step.Item.Request,
			Calls:   []core.TraceCall{{Call: "get Lamp desk", Response: "ok"}, {Call: "update Lamp desk", Response: "ok", Wrote: true}},
			Changes: []core.TraceChange{{Kind: "Lamp", Name: "desk", Verb: "changed", Fields: core.DiffFields(l.objects("dark")[0].Fields, l.objects("red")[0].Fields)}},
		})
	}
	if len(steps) == 0 {
		position.Work = []core.Item{l.step("left").Item}
		for _, who := range []string{"left", "right"} {
			position.Choices = append(position.Choices, core.Choice{Edge: core.Edge{Step: l.step(who)}, Changes: []core.TraceChange{{
				Kind: "Lamp", Name: "desk", Verb: "changed", Fields: []core.FieldChange{{Path: "color", From: "dark", To: map[string]string{"left": "red", "right": "green"}[who]}},
			}}})
		}
	}
	return position, nil
}

// serve serves a record of a lamp with a note, and returns its address.
func serve(t *testing.T, note string) string {
	t.Helper()
	l := lamp{note}
	end := core.Trace{CycleStart: -1}
	report := &core.Report{
		System: "lamp", Verdict: core.Violated, Reasons: []string{}, States: 3, Outcomes: 2,
		Findings: []core.Finding{{ID: 1, Property: "same outcome", Summary: "the lamp is red or green", Trace: core.Trace{
			CycleStart: -1, Initial: l.objects("dark"), Steps: []core.TraceStep{{Kind: "reconcile", Controller: "left", Request: "desk", To: 1}},
		}}},
		OutcomeList: []core.OutcomeReport{{State: 1, States: 1, Objects: l.objects("red"), Trace: end}, {State: 2, States: 1, Objects: l.objects("green"), Trace: end}},
	}
	var file bytes.Buffer
	if _, err := record.Write(t.Context(), &file, record.Header{System: "lamp"}, report, l, record.DefaultLimit); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := pages.NewServer(t.Context(), r, l, "")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/"
}
