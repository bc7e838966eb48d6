package main

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
)

// TestBegins follows the controllers for the first steps of a Service: nothing may be found there, and nothing but the limit may keep a check from a verdict. What
// they keep in memory is that of the trackers and of the resolver of digests.
func TestBegins(t *testing.T) {
	system, err := newSystem(size{services: 1})
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{MaxDepth: 3})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	if len(r.Findings) > 0 || len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0], "the depth limit") {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, r.Findings)
	}
	var kept []string
	for _, m := range r.Memory {
		kept = append(kept, m.Fields...)
	}
	for _, want := range []string{"tracker.exact", "resolver.results"} {
		if !strings.Contains(strings.Join(kept, " "), want) {
			t.Errorf("they keep %v, without %s", kept, want)
		}
	}
}
