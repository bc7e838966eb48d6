package plain_test

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Two counters that share nothing, each counting to 2.
func ExampleModel() {
	model := plain.Model{Name: "counters"}
	var start []core.Object
	for _, name := range []string{"a", "b"} {
		counter := plain.NewVar[int](name)
		start = append(start, counter.Is(0))
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{
			Name: "count",
			Do: func(w *plain.World) {
				now := counter.Get(w)
				w.Require(now < 2)
				counter.Set(w, now+1)
			},
		}}})
	}
	model.Initial = []core.Initial{plain.Start(start...)}

	system, err := model.System()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Report.Verdict, result.Report.States, "states")
	// Output: holds 9 states
}

// Two processes that play ping-pong with one ball, for ever.
func ExampleProcess_messages() {
	type ball struct {
		From string `json:"from"`
	}
	player := func(name, other string) plain.Process {
		return plain.Process{
			Name: name,
			Receive: plain.NewInbox[ball](name).Receive(func(w *plain.World, _ ball) {
				plain.NewInbox[ball](other).Send(w, ball{From: name})
			}),
		}
	}
	ping, pong := player("ping", "pong"), player("pong", "ping")
	ping.Messages = plain.NewInbox[ball]("ping").Holding(ball{From: "pong"})

	system, err := plain.Model{
		Name:      "ping-pong",
		Initial:   []core.Initial{plain.Start()},
		Processes: []plain.Process{ping, pong},
	}.System()
	fmt.Println(len(system.Strategies), err)
	// Output: 2 <nil>
}

// A control loop that brings each machine to the wanted size, one by one.
func ExampleController() {
	wanted := plain.NewVar[int]("wanted size")
	machines := plain.NewFamily[int]("machine")

	resizer := plain.Controller{
		Name:    "resizer",
		Watches: []plain.Watch{{Kind: machines.Kind()}},
		Reconcile: func(w *plain.World, request core.Request) core.Result {
			machine := machines.Named(string(request))
			size, found := machine.Lookup(w)
			if found && size < wanted.Get(w) {
				machine.Set(w, size+1)
			}
			return core.Result{}
		},
	}
	system, err := plain.Model{
		Name:        "resizing",
		Initial:     []core.Initial{plain.Start(wanted.Is(3), machines.At(1).Is(0), machines.At(2).Is(2))},
		Controllers: []plain.Controller{resizer},
		Properties: []core.Property{{
			Name: "no machine is too big",
			Invariant: func(s core.State) error {
				for _, machine := range machines.All(s) {
					if machine.Value > wanted.Get(s) {
						return fmt.Errorf("machine %s has size %d", machine.Name, machine.Value)
					}
				}
				return nil
			},
		}},
	}.System()
	fmt.Println(len(system.Strategies), err)
	// Output: 1 <nil>
}
