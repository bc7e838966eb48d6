package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// contended is n processes that take k turns each, and all leave their number in the
// same variable. No two steps commute, as it shows who was last: there is nothing for
// a reduction to leave out.
//
// By hand: the turns that were taken combine freely, and the last may have been that of any
// process that has taken one. With the last one's turns from 1 to k and those of the others
// from 0 to k that is n·k·(k+1)^(n-1) states, and 1 at the start. From a state with the last
// process i, a step of i needs it to have a turn left: n·(k-1)·(k+1)^(n-1) steps; one of
// another process needs that one to: n·(n-1)·k²·(k+1)^(n-2); and n steps leave the start.
// In the end all turns are taken, and any process was the last: n terminal states. If it does not matter which process is
// which, there are the turns of the last, from 1 to k, and how many of the others have taken how many: k·C(n-1+k, k)
// states, and 1 at the start.
func contended() catalog.Entry {
	return catalog.Entry{
		Name: "model/contended",
		Doc:  "n processes that take k turns each on one variable: no two steps commute, so a reduction can leave out nothing.",
		Params: []catalog.Param{
			{Name: "n", Doc: "processes", Default: 3, Min: 1, Max: 16},
			{Name: "k", Doc: "turns of each process", Default: 2, Min: 1, Max: 100},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return contendedModel(v["n"], v["k"]).System()
		},
	}
}

func contendedModel(n, k int) plain.Model {
	last := plain.NewVar[string]("last")
	turns := plain.NewFamily[int]("turns")

	start := []core.Object{last.Is("nobody")}
	model := plain.Model{Name: "model/contended", Properties: []core.Property{properties.StableConvergence()}}
	var names []string
	for i := range n {
		me := fmt.Sprintf("process%d", i+1)
		names = append(names, me)
		mine := turns.Named(me)
		start = append(start, mine.Is(0))
		model.Processes = append(model.Processes, plain.Process{
			Name: me,
			Actions: []plain.Action{{Name: "take a turn", Do: func(w *plain.World) {
				taken := mine.Get(w)
				w.Require(taken < k)
				mine.Set(w, taken+1)
				last.Set(w, me)
			}}},
		})
	}
	model.Interchangeable = interchangeable(names)
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}
