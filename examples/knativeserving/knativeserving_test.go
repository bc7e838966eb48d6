package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

// TestSearched searches a Service to the end: it settles in one outcome. Two controllers look at the clock, and are known to wait for times. What
// controllers keep in memory is that of the trackers, of the resolver of digests and of the autoscaler, each for itself.
func TestSearched(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some twenty seconds")
	}
	system, err := newSystem(size{services: 1})
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	if r.Verdict != core.Holds || len(r.Findings) > 0 {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, r.Findings)
	}
	if !slices.Equal(r.Awaiting, []string{"route", "autoscaler"}) {
		t.Errorf("%v wait for times, want route and autoscaler", r.Awaiting)
	}
	if r.Outcomes != 1 || r.TerminalStates != 1 {
		t.Errorf("there are %d outcomes in %d terminal states, want one", r.Outcomes, r.TerminalStates)
	}
	kept := map[string]string{}
	for _, m := range r.Memory {
		kept[m.Controller] = strings.Join(m.Fields, " ")
	}
	for controller, field := range map[string]string{"labeler": "tracker.exact", "route": "tracker.exact", "revision": "resolver.results", "autoscaler": "metricsMap"} {
		if !strings.Contains(kept[controller], field) {
			t.Errorf("%s keeps %q, without %s", controller, kept[controller], field)
		}
	}
	if len(kept) != 4 {
		t.Errorf("memory is kept by %v", kept)
	}
}
