package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// dieHard is the riddle of the jugs: measure the goal with two jugs and a tap.
// A counterexample to "the goal is never measured" is the solution.
//
// By hand, 5 and 3: a step always leaves some jug empty or full. There are
// 2·6 states with the small jug empty or full and 2·4 with the big one empty or
// full, of which 4 are both: 16 states. All six actions are possible everywhere,
// even where they change nothing: 96 steps.
func dieHard() catalog.Entry {
	return catalog.Entry{
		Name: "model/die-hard",
		Doc:  "Two jugs and a tap: the counterexample is how to measure the goal.",
		Params: []catalog.Param{
			{Name: "big", Doc: "size of the big jug", Default: 5, Min: 1, Max: 1000},
			{Name: "small", Doc: "size of the small jug", Default: 3, Min: 1, Max: 1000},
			{Name: "goal", Doc: "what to measure in the big jug", Default: 4, Min: 0, Max: 1000},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return dieHardModel(v["big"], v["small"], v["goal"]).System()
		},
	}
}

func dieHardModel(bigSize, smallSize, goal int) plain.Model {
	big, small := plain.NewVar[int]("big jug"), plain.NewVar[int]("small jug")

	set := func(jug plain.Var[int], amount int) func(*plain.World) {
		return func(w *plain.World) { jug.Set(w, amount) }
	}
	pour := func(from, to plain.Var[int], size int) func(*plain.World) {
		return func(w *plain.World) {
			has, amount := to.Get(w), from.Get(w)
			poured := min(amount, size-has)
			to.Set(w, has+poured)
			from.Set(w, amount-poured)
		}
	}
	return plain.Model{
		Name:    "model/die-hard",
		Initial: []core.Initial{plain.Start(big.Is(0), small.Is(0))},
		Processes: []plain.Process{{
			Name: "hero",
			Actions: []plain.Action{
				{Name: "fill the big jug", Do: set(big, bigSize)},
				{Name: "fill the small jug", Do: set(small, smallSize)},
				{Name: "empty the big jug", Do: set(big, 0)},
				{Name: "empty the small jug", Do: set(small, 0)},
				{Name: "pour the big jug into the small one", Do: pour(big, small, smallSize)},
				{Name: "pour the small jug into the big one", Do: pour(small, big, bigSize)},
			},
		}},
		Properties: dieHardProperties(big, goal),
	}
}

func dieHardProperties(big plain.Var[int], goal int) []core.Property {
	return []core.Property{{
		Name: "the goal is never measured",
		Doc:  "The big jug never holds the goal. That this is violated is the point: the run is the solution.",
		Invariant: func(s core.State) error {
			if big.Get(s) == goal {
				return fmt.Errorf("the big jug holds %d", goal)
			}
			return nil
		},
	}}
}
