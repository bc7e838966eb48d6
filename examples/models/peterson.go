package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// peterson is Peterson's mutual exclusion of two processes: raise a flag, give
// way, wait until the other does not want or gives way, enter, leave, lower the
// flag; each one step, for ever.
func peterson() catalog.Entry {
	return catalog.Entry{
		Name: "model/peterson",
		Doc:  "Peterson's mutual exclusion: two processes are never inside at once, and under weak fairness nobody starves.",
		Build: func(catalog.Values) (*core.System, error) {
			return petersonModel().System()
		},
	}
}

func petersonModel() plain.Model {
	const (
		idle   = "idle"
		raised = "has raised the flag"
		waits  = "waits"
		enters = "may enter"
		inside = "is inside"
		left   = "has left"
	)
	flags := plain.NewFamily[bool]("flag")
	turn := plain.NewVar[int]("turn")
	within := plain.NewVar[int]("inside")
	places := plain.NewFamily[string]("process")

	start := []core.Object{turn.Is(1), within.Is(0)}
	model := plain.Model{Name: "model/peterson", Properties: petersonProperties(within)}
	for _, me := range []int{1, 2} {
		other, place := 3-me, places.At(me)
		start = append(start, flags.At(me).Is(false), place.Is(idle))
		step := func(name, from, to string, do func(*plain.World)) plain.Action {
			return plain.Action{Name: name, Do: func(w *plain.World) {
				w.Require(place.Get(w) == from)
				do(w)
				place.Set(w, to)
			}}
		}
		model.Properties = append(model.Properties, properties.LeadsTo(fmt.Sprintf("process %d never starves", me),
			func(s core.State) bool { return flags.At(me).Get(s) },
			func(s core.State) bool { return place.Get(s) == inside },
		))
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("process%d", me),
			Actions: []plain.Action{
				step("raise the flag", idle, raised, func(w *plain.World) { flags.At(me).Set(w, true) }),
				step("give way", raised, waits, func(w *plain.World) { turn.Set(w, me) }),
				step("wait", waits, enters, func(w *plain.World) {
					w.Require(!flags.At(other).Get(w) || turn.Get(w) == other)
				}),
				step("enter", enters, inside, func(w *plain.World) { within.Set(w, within.Get(w)+1) }),
				step("leave", inside, left, func(w *plain.World) { within.Set(w, within.Get(w)-1) }),
				step("lower the flag", left, idle, func(w *plain.World) { flags.At(me).Set(w, false) }),
			},
		})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}

func petersonProperties(within plain.Var[int]) []core.Property {
	return []core.Property{properties.NoDeadlock(), {
		Name: "mutual exclusion",
		Doc:  "At most one process is inside.",
		Invariant: func(s core.State) error {
			if n := within.Get(s); n > 1 {
				return fmt.Errorf("%d processes are inside at once", n)
			}
			return nil
		},
	}}
}
