package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// philosophers is n dining philosophers: each takes one fork, then the other,
// then puts both back; each one step, for ever.
//
// By hand, n = 2: nobody holds anything (1), one holds one fork (2) or both (2),
// each holds one (1): 6 states, and the last is the deadlock. With one
// left-handed philosopher both want the same fork first, so that each holding
// one cannot happen: 5 states. From there on, in both series, each count is twice
// the one before plus the one before that: 6, 14, 34, 82, ... and 5, 12, 29, 70, ...
func philosophers() catalog.Entry {
	return catalog.Entry{
		Name: "model/philosophers",
		Doc:  "n dining philosophers: they deadlock, unless one of them is left-handed.",
		Params: []catalog.Param{
			{Name: "n", Doc: "philosophers", Default: 3, Min: 2, Max: 16},
			{Name: "left", Doc: "left-handed philosophers", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return philosophersModel(v["n"], v["left"]).System()
		},
	}
}

func philosophersModel(n, left int) plain.Model {
	const (
		thinks = "thinks"
		waits  = "has one fork"
		eats   = "eats"
	)
	taken := plain.NewFamily[bool]("fork")
	places := plain.NewFamily[string]("philosopher")

	var start []core.Object
	model := plain.Model{Name: "model/philosophers", Properties: []core.Property{properties.NoDeadlock()}}
	for i := range n {
		me, first, second := places.At(i+1), taken.At(i+1), taken.At((i+1)%n+1)
		if i < left {
			first, second = second, first
		}
		start = append(start, me.Is(thinks), taken.At(i+1).Is(false))
		take := func(fork plain.Var[bool], from, to string) func(*plain.World) {
			return func(w *plain.World) {
				w.Require(me.Get(w) == from)
				w.Require(!fork.Get(w))
				fork.Set(w, true)
				me.Set(w, to)
			}
		}
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("philosopher%d", i+1),
			Actions: []plain.Action{
				{Name: "take the first fork", Do: take(first, thinks, waits)},
				{Name: "take the second fork", Do: take(second, waits, eats)},
				{Name: "put both forks back", Do: func(w *plain.World) {
					w.Require(me.Get(w) == eats)
					first.Set(w, false)
					second.Set(w, false)
					me.Set(w, thinks)
				}},
			},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}
