package orrery

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestSitesOf checks which lines a finding names, and in which order.
func TestSitesOf(t *testing.T) {
	at := func(line int) *core.Site { return &core.Site{File: "web.go", Line: line, Function: "shop.Reconcile"} }
	step := func(who string, line int) core.TraceStep {
		return core.TraceStep{Controller: who, Calls: []core.TraceCall{{Call: "get", At: at(100)}, {Call: "update", Wrote: true, At: at(line)}}}
	}
	handled := step("other", 5)
	handled.Calls[1].Handler = "saver"
	unknown := step("saver", 6)
	unknown.Calls[1].At = nil
	trace := func(cycle int, steps ...core.TraceStep) core.Trace {
		return core.Trace{CycleStart: cycle, Steps: steps}
	}
	other := trace(-1, step("saver", 1), step("saver", 3))
	for _, test := range []struct {
		name    string
		finding core.Finding
		want    []int
	}{
		{"a run", core.Finding{Trace: trace(-1, step("saver", 1), step("scaler", 2), step("saver", 1), step("user", 4))}, []int{1, 2}},
		{"a cycle", core.Finding{Trace: trace(2, step("saver", 1), step("scaler", 2), step("saver", 3), step("scaler", 2))}, []int{3, 2, 1}},
		{"two runs", core.Finding{Trace: trace(-1, step("saver", 1), step("scaler", 2)), Other: &other}, []int{2, 3, 1}},
		{"the shorter run", core.Finding{Trace: trace(-1, step("saver", 1)), Other: &other}, []int{3, 1}},
		{"an event handler", core.Finding{Trace: trace(-1, handled)}, []int{5}},
		{"nothing known", core.Finding{Trace: trace(-1, unknown)}, nil},
		{"no steps", core.Finding{Trace: trace(-1)}, nil},
	} {
		test.finding.Controllers = []string{"saver", "scaler"}
		var got []int
		for _, site := range sitesOf(test.finding) {
			got = append(got, site.Line)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
