package dot_test

import (
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/core"
)

// The counterexample of a finding as a graph, which "dot -Tsvg" draws.
func ExampleFinding() {
	finding := core.Finding{
		ID: 1, Property: "the lamp stays off", Summary: "alice switches Lamp desk on", Steps: 1, Controllers: []string{"alice"},
		Trace: core.Trace{
			Initial:    []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"light": "off"}}},
			Steps:      []core.TraceStep{{Kind: "reconcile", Controller: "alice", Request: "desk", To: 1}},
			CycleStart: -1,
		},
	}
	var graph strings.Builder
	if err := dot.Finding(&graph, finding); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(graph.String()) {
		if edge, _, is := strings.Cut(line, " ["); is && strings.Contains(edge, "->") {
			fmt.Println(strings.TrimSpace(edge))
		}
	}
	// Output:
	// "n000000" -> "n000001"
	// "n000001" -> "n000002"
}
