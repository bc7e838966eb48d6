package orrery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// bounds is a control loop that keeps a number of replicas within bounds.
type bounds struct {
	name     string
	low, top int
}

// scaled returns a system of control loops that keep the same number of replicas within their bounds.
func scaled(loops ...bounds) *core.System {
	replicas := plain.NewVar[int]("replicas")
	model := plain.Model{
		Name:       "scaled",
		Initial:    []core.Initial{plain.Start(replicas.Is(1))},
		Properties: properties.Convergent(),
	}
	for _, loop := range loops {
		model.Controllers = append(model.Controllers, plain.Controller{
			Name:    loop.name,
			Watches: []plain.Watch{{Kind: replicas.Key().Kind}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				now := replicas.Get(w)
				if wanted := min(max(now, loop.low), loop.top); wanted != now {
					replicas.Set(w, wanted)
				}
				return core.Result{}
			},
		})
	}
	system, err := model.System()
	if err != nil {
		panic(err)
	}
	return system
}

// A test of a system that settles. If it did not, the test would fail with the counterexample.
func ExampleCheckWith() {
	var t testing.TB = new(testing.T) // a test is given one

	result := orrery.CheckWith(t, orrery.Options{}, scaled(bounds{"savings", 0, 3}, bounds{"availability", 2, 9}))
	fmt.Println(result.Report.Verdict)
	// Output: holds
}

// What a test checks one after the other, if it uses Check.
func ExampleClimb() {
	ladder, err := orrery.Climb(context.Background(), scaled(bounds{"savings", 0, 3}, bounds{"availability", 2, 9}), orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print("checked where\n", ladder)
	// Output:
	// checked where
	//     holds         nothing goes wrong: 5 states
	//     holds         caches miss the latest change: 10 states
	//     holds         a controller crashes once: 11 states
	//     holds         others act between the calls of a reconcile: 20 states
	//     holds         two instances of savings are at work: 49 states
	//     holds         two instances of availability are at work: 190 states
}

// Two control loops that are each right by themselves, and never stop undoing each other's work.
func ExampleRun() {
	system := scaled(bounds{"savings", 0, 2}, bounds{"availability", 3, 9})
	result, err := orrery.Run(context.Background(), system, orrery.Options{MaxStates: 1_000_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Report.Verdict)
	for _, finding := range result.Report.Findings {
		fmt.Println(finding.Property, finding.Controllers, len(finding.Trace.Steps), "steps")
	}
	// Output:
	// violated
	// stable convergence [savings availability] 3 steps
}

// Once the world may do more, so may the controllers: a loop that reads from a stale cache, and may crash.
func ExampleOptions() {
	options := orrery.Options{
		Stale:   []orrery.Staleness{{Controller: "availability", Rule: orrery.Lag(1)}},
		Crashes: 1,
	}
	result, err := orrery.Run(context.Background(), scaled(bounds{"savings", 0, 3}, bounds{"availability", 2, 9}), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Report.Verdict, result.Report.Stale)
	// Output: holds [availability/*=lag(1)]
}

// A regression test takes the counterexample of a finding again, with the controllers as they are now.
func ExampleReplay() {
	ctx := context.Background()
	found, err := orrery.Run(ctx, scaled(bounds{"savings", 0, 2}, bounds{"availability", 3, 9}), orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	options, err := orrery.Options{}.Again(&found.Report)
	if err != nil {
		fmt.Println(err)
		return
	}
	mended := scaled(bounds{"savings", 0, 3}, bounds{"availability", 3, 9})
	deviation, err := orrery.Replay(ctx, mended, found.Report.Findings[0].Trace, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("goes another way from step", deviation.Step)
	// Output: goes another way from step 2
}
