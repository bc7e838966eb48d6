package orrery_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// TestSimulate takes the steps that a check has found, and one more.
func TestSimulate(t *testing.T) {
	system := halfDone(t)
	result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: 1})
	if err != nil {
		t.Fatal(err)
	}
	report := &result.Report
	simulation, err := orrery.Simulate(system, report, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	trace := report.Findings[0].Trace
	var steps []core.Step
	for _, s := range trace.Steps {
		kind, known := core.StepKindOf(s.Kind)
		if !known {
			t.Fatalf("a step of kind %q", s.Kind)
		}
		steps = append(steps, core.Step{Kind: kind, Item: core.Item{Strategy: s.Controller, Request: s.Request}, Detail: s.Detail, Order: s.Order})
	}
	position, err := simulation.Run(t.Context(), 0, steps)
	if err != nil {
		t.Fatal(err)
	}
	if len(position.Trace.Steps) != len(steps) {
		t.Errorf("%d steps are told, want %d", len(position.Trace.Steps), len(steps))
	}
	position, err = simulation.Run(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	crash := false
	for _, c := range position.Choices {
		crash = crash || c.Edge.Step.Faulty()
	}
	if !crash {
		t.Errorf("nobody can crash, which the report has as a condition: %+v", position.Choices)
	}
	if _, err := orrery.Simulate(nil, report, orrery.Options{}); err == nil || !strings.Contains(err.Error(), "no system") {
		t.Errorf("without a system: %v", err)
	}
	bad := *report
	bad.Stale = []string{"nonsense"}
	if _, err := orrery.Simulate(system, &bad, orrery.Options{}); err == nil || !strings.Contains(err.Error(), "the report") {
		t.Errorf("with a report of other conditions: %v", err)
	}
}
