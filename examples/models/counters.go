package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// counters is n counters that each count to k and share nothing.
//
// By hand: every counter has k+1 values and they combine freely, so there are
// (k+1)^n states. As no two steps touch the same variable, one order of them is
// enough: a perfect reduction stores the n·k+1 states of a single run.
func counters() catalog.Entry {
	return catalog.Entry{
		Name: "model/counters",
		Doc:  "n independent counters from 0 to k: (k+1)^n states, of which a reduction needs only n·k+1.",
		Params: []catalog.Param{
			{Name: "n", Doc: "counters", Default: 3, Min: 1, Max: 64},
			{Name: "k", Doc: "where each counter stops", Default: 2, Min: 1, Max: 1000},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return countersModel(v["n"], v["k"]).System()
		},
	}
}

func countersModel(n, k int) plain.Model {
	model := plain.Model{Name: "model/counters", Properties: properties.Convergent()}
	var start []core.Object
	var names []string
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		names = append(names, name)
		counter := plain.NewVar[int](name)
		start = append(start, counter.Is(0))
		model.Processes = append(model.Processes, plain.Process{
			Name: name,
			Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
				now := counter.Get(w)
				w.Require(now < k)
				counter.Set(w, now+1)
			}}},
		})
	}
	model.Interchangeable = interchangeable(names)
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}
