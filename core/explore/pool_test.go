package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
)

// TestPoolsWait waits for a worker that is not done although there is nothing more to do.
func TestPoolsWait(t *testing.T) {
	space := searchModel(t, grid(1), Options{})
	p := newPool(t.Context(), space, 2)
	defer p.dismiss()
	done := false
	p.call(2, func(int) {
		time.Sleep(10 * time.Millisecond)
		done = true
	})
	if p.finish(newBatch(0)); !done {
		t.Error("nobody waits for the worker")
	}
}

// TestWorkersFollowOneAgent has a worker follow one agent alone where several can take a step: of one that is blocked
// it is known.
func TestWorkersFollowOneAgent(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	space := searchModel(t, plain.Model{Name: "gate", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))}, Processes: []plain.Process{
		{Name: "p", Actions: []plain.Action{{Name: "pass", Do: func(w *plain.World) { w.Require(y.Get(w) == 1 && x.Get(w) < 2); x.Set(w, x.Get(w)+1) }}}},
		{Name: "q", Actions: []plain.Action{{Name: "turn", Do: func(w *plain.World) { y.Set(w, 1-y.Get(w)) }}}},
	}}, Options{Reducer: everybody{}})
	space.sleeps.needed = false
	space.Choosers = func() reduction.Chooser { return oneAtATime{} }
	b := newBatch(0)
	for id := range core.StateID(space.States()) {
		b.states = append(b.states, waiting{id: id})
	}
	newPool(t.Context(), space, 1).finish(b)
	for i, w := range b.states {
		_, e := b.at(i)
		state := space.State(w.id)
		passes := y.Get(state) == 1 && x.Get(state) < 2
		if !e.complete || e.reduced != passes || e.level || e.steps != 1 {
			t.Errorf("with x=%d and y=%d, it is expanded: %+v", x.Get(state), y.Get(state), e)
		}
	}
}

// TestInvariantsAreKeptApart breaks some invariants, one of them by a panic, each in a state of its own.
func TestInvariantsAreKeptApart(t *testing.T) {
	model := grid(4)
	x := plain.NewVar[int]("x")
	for _, at := range []int{9, 3, 1, 2} {
		model.Properties = append(model.Properties, core.Property{Name: fmt.Sprint("not ", at), Invariant: func(s core.State) error {
			switch {
			case x.Get(s) < at:
			case at == 2:
				panic("it is there")
			default:
				return errors.New("it is there")
			}
			return nil
		}})
	}
	space := searchModel(t, model, Options{})
	for at, want := range map[int]string{9: "<nil>", 3: "it is there", 1: "it is there", 2: "the predicate panicked: it is there (at "} {
		id, err := space.Broken(fmt.Sprint("not ", at))
		if !strings.HasPrefix(fmt.Sprint(err), want) || err != nil && int(id) != at {
			t.Errorf("that it is %d is an error in state %d: %v", at, id, err)
		}
	}
	if _, err := space.Broken("another one"); err != nil {
		t.Errorf("an invariant that there is not is broken: %v", err)
	}
}

// TestWorkersTakeBackWhoSleeps has a worker come to a step of a state that never ends, behind one that does. Who sleeps
// behind the steps of the next state is as if there had been none.
func TestWorkersTakeBackWhoSleeps(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	space := searchModel(t, plain.Model{Name: "endless", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))}, Processes: []plain.Process{
		{Name: "p", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) { w.Require(x.Get(w) < 2); x.Set(w, x.Get(w)+1) }}}},
		{Name: "q", Actions: []plain.Action{{Name: "set", Do: func(w *plain.World) {
			for x.Get(w) == 1 {
				continue
			}
			w.Require(y.Get(w) == 0)
			y.Set(w, 1)
		}}}},
	}}, Options{Reducer: drowsy{agents: 99, asked: new(int)}})
	space.expanded.Clear()
	space.sleeps.clear(0)
	var stuck core.StateID
	for id := range core.StateID(space.States()) {
		if state := space.State(id); x.Get(state) == 1 && y.Get(state) == 0 {
			stuck = id
		}
	}
	asleep := func(states ...waiting) (behind [][]int) {
		b := newBatch(0)
		b.states = states
		space.depths.needed = true // so that all steps are reported
		newPool(t.Context(), space, 1).finish(b)
		space.depths.needed = false
		c, e := b.at(len(states) - 1)
		for i := e.begin; i < e.end; i++ {
			behind = append(behind, c.agentsIn(c.asleep[i]))
		}
		return behind
	}
	alone, behind := asleep(waiting{id: 0}), asleep(waiting{id: stuck}, waiting{id: 0})
	if len(alone) != 2 || len(alone[0]) != 0 || len(alone[1]) != 1 || fmt.Sprint(alone) != fmt.Sprint(behind) {
		t.Errorf("behind the steps of a state %v sleep, and behind those of the same state behind another one %v", alone, behind)
	}
}
