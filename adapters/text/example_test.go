package text_test

import (
	"fmt"
	"os"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
)

// The counterexample of a finding, for people.
func ExampleStory() {
	finding := core.Finding{
		ID: 1, Property: "the lamp stays off", Summary: "alice switches Lamp desk on", Steps: 1, Controllers: []string{"alice"},
		Trace: core.Trace{
			Initial: []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"light": "off"}}},
			Steps: []core.TraceStep{{
				Kind: "reconcile", Controller: "alice", Request: "desk",
				Changes: []core.TraceChange{{Kind: "Lamp", Name: "desk", Verb: "changed", Fields: []core.FieldChange{{Path: "light", From: "off", To: "on"}}}},
			}},
			CycleStart: -1,
		},
	}
	if err := text.Story(os.Stdout, finding, text.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Finding 1 of 1: alice switches Lamp desk on
	//     violates:    the lamp stays off
	//     controllers: alice
	//
	//     Initial state:
	//         Lamp desk
	//             light = "off"
	//
	//     Step 1: alice reconciles desk
	//         changed: Lamp desk
	//             light: "off" → "on"
}
