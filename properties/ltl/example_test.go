package ltl_test

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// A lamp that is switched on and off for ever.
func ExampleClaim() {
	lamp := plain.NewVar[bool]("lamp")
	claim := ltl.Claim{
		Name:    "the lamp stays on",
		Formula: `F "on" -> stable "on"`,
		Atoms:   []ltl.Atom{{Name: "on", State: func(s core.State) bool { return lamp.Get(s) }}},
	}
	property, err := claim.Property()
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := plain.Model{
		Name:    "lamp",
		Initial: []core.Initial{plain.Start(lamp.Is(false))},
		Processes: []plain.Process{{Name: "switch", Actions: []plain.Action{
			{Name: "turn", Do: func(w *plain.World) { lamp.Set(w, !lamp.Get(w)) }},
		}}},
		Properties: []core.Property{property},
	}.System()
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, err := explore.Search(context.Background(), system, explore.Options{
		Workers: 1,
		Run:     behavior.Limits{Deadline: time.Second, Calls: 100},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	violations, err := property.Judge(context.Background(), graph)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range violations {
		fmt.Println(v.Summary)
		fmt.Println(v.Details[0])
		fmt.Println(len(v.Stem), "steps, and", len(v.Cycle), "that repeat")
	}
	// Output:
	// F on -> F G on is not true of a run that repeats forever
	// In the repeated steps, "on" is sometimes true.
	// 0 steps, and 2 that repeat
}

// What is wrong with a formula is said before anything runs.
func ExampleMistake() {
	_, err := ltl.Claim{Formula: "redy leads to done", Atoms: []ltl.Atom{
		{Name: "ready", State: func(core.State) bool { return true }},
		{Name: "done", State: func(core.State) bool { return true }},
	}}.Property()
	fmt.Println(err)
	// Output:
	// formula, column 1: there is no atom "redy": did you mean "ready"? Known are "quiescent", "terminal", "ready", "done"
	//   redy leads to done
	//   ^^^^
}
