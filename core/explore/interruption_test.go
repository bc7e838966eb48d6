package explore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestWorkersStop has workers expand a batch of states of which all is known: they complete it, unless the context
// ends, which they notice before the next state, and in the midst of one with many steps.
func TestWorkersStop(t *testing.T) {
	const hands = attendEvery + 1
	counter := plain.NewVar[int]("counter")
	model := plain.Model{Name: "hands", Initial: []core.Initial{plain.Start(counter.Is(0))}}
	for i := range hands {
		model.Processes = append(model.Processes, plain.Process{Name: fmt.Sprint("hand", i), Actions: []plain.Action{{
			Name: "turn", Do: func(w *plain.World) { counter.Set(w, (counter.Get(w)+1)%2) },
		}}})
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Logger: hclog.NewNullLogger(), growth: &growth{looked: true}}
	l, err := transition.NewLearner(t.Context(), system, transition.Conditions{}, options.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	space, err := explore(t.Context(), l.Machine, l, &reduction.Reductions{}, options, time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	space.depths.needed = true // so that each step is reported
	states := []waiting{{id: 0}, {id: 1}}
	for looks, want := range map[int]int{100: 2, 0: 0, 1: 0, 2: 1, 3: 1} {
		ctx := &ending{Context: t.Context(), looks: looks}
		b := newBatch(0)
		b.states = append(b.states, states...)
		newPool(ctx, space, 1).finish(b)
		complete := 0
		for i := range b.states {
			_, e := b.at(i)
			if e.complete {
				complete++
			}
			if e.complete && e.end-e.begin != hands {
				t.Errorf("of state %d %d steps are reported, want %d", i, e.end-e.begin, hands)
			}
		}
		if complete != want {
			t.Errorf("the context ends after it was looked at %d times, and %d states are complete, want %d", looks, complete, want)
		}
	}
}

// ending is a context that ends when it was looked at so many times.
type ending struct {
	context.Context
	looks int
}

// Err implements [context.Context].
func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}
