package record_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// light is a graph of a lamp that two people switch, in as little code as a
// graph can have: state i shows text[i], and steps lead along edges.
type light struct {
	core.Graph // what a record does not ask for
	text       []string
	edges      [][]core.Edge
}

func newLight() *light {
	step := func(from, to core.StateID, who string) core.Edge {
		return core.Edge{From: from, To: to, Wrote: from != to, Step: core.Step{
			Item: core.Item{Strategy: who, Request: "lamp"},
		}}
	}
	late := step(2, 0, "bob")
	late.Step.Kind = core.Fire
	failed := step(1, 1, "bob")
	failed.Failed, failed.Requeued = "the fuse is gone", true
	return &light{
		text:  []string{"off", "on", "off"},
		edges: [][]core.Edge{{step(0, 1, "alice")}, {step(1, 2, "bob"), failed}, {late}},
	}
}

func (l *light) States() int                       { return len(l.text) }
func (l *light) Initial() []core.StateID           { return []core.StateID{0} }
func (l *light) State(id core.StateID) core.State  { return lightState{id: id} }
func (l *light) Edges(id core.StateID) []core.Edge { return l.edges[id] }
func (l *light) Cut(id core.StateID) bool          { return id == 1 }
func (l *light) Quiescent() []core.StateID         { return []core.StateID{2} }

func (l *light) List(ctx context.Context, n int, show func(*core.Listed) error) error {
	return naive.List(ctx, l, n, show)
}

func (l *light) Outcome(id core.StateID) map[core.Key]any {
	return map[core.Key]any{
		{Kind: "Lamp", Name: "desk"}:                       map[string]any{"light": l.text[id], "watts": int64(12345678901)},
		{Kind: "Lamp", Namespace: "hall", Name: "ceiling"}: map[string]any{"light": "<off>"},
	}
}

type lightState struct {
	core.State
	id core.StateID
}

func (s lightState) Work() []core.Item {
	if s.id == 2 {
		return nil
	}
	return []core.Item{{Strategy: "bob", Request: "lamp"}}
}

func (s lightState) Timers() []core.Item {
	if s.id != 2 {
		return nil
	}
	return []core.Item{{Strategy: "bob", Request: "lamp"}}
}

// lightReport is a report on the lamp with one finding that has two stories.
func lightReport() *core.Report {
	lamp := func(text string) core.TraceObject {
		return core.TraceObject{Kind: "Lamp", Name: "desk", Fields: map[string]any{"light": text}}
	}
	trace := core.Trace{
		Initial: []core.TraceObject{lamp("off")},
		Steps: []core.TraceStep{{
			Kind: "reconcile", Controller: "alice", Request: "lamp", To: 1,
			Calls: []core.TraceCall{{Call: "switch Lamp desk", Response: "done", Wrote: true}},
			Changes: []core.TraceChange{{Kind: "Lamp", Name: "desk", Verb: "changed",
				Fields: []core.FieldChange{{Path: "light", From: "off", To: "on"}}}},
			Enqueued: []string{"bob(lamp)"},
		}},
		CycleStart: 0,
	}
	other := core.Trace{Initial: trace.Initial, CycleStart: -1}
	return &core.Report{
		Schema: core.ReportSchema, System: "test/light", Params: map[string]string{"lamps": "1"},
		Verdict: core.Violated, Reasons: []string{}, States: 3, Transitions: 4, ElapsedMS: 7,
		Assumptions: []string{"electricity"},
		Properties:  []core.PropertyReport{{Name: "dark", Verdict: core.Violated}},
		Findings: []core.Finding{{ID: 1, Property: "dark", Summary: "the lamp is never left off",
			Steps: 1, Controllers: []string{"alice"}, Fields: []string{"Lamp desk: light"}, Trace: trace, Other: &other}},
		OutcomeList: []core.OutcomeReport{{State: 2, States: 1, Objects: []core.TraceObject{lamp("off")}, Trace: other}},
	}
}

func asJSON(v any) string {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(fmt.Sprintf("value that JSON cannot say: %v", err))
	}
	return string(text)
}
