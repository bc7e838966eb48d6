package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// astray is a reducer that follows an agent alone which can do nothing, whenever two can do something.
type astray struct {
	oneAtATime
	agent int
}

// Learn implements [reduction.Reducer].
func (a astray) Learn([]Footprint, []Place) func() Chooser { return func() Chooser { return a } }

// Choose implements [reduction.Chooser].
func (a astray) Choose([]Enabled) Choice { return Choice{Follow: []int{a.agent}} }

// TestBlockedAgentsAreNotFollowedAlone follows an agent that is blocked: whoever expands the state finds that out and
// follows everybody, so that six states and seven steps are found as without anything left out.
func TestBlockedAgentsAreNotFollowedAlone(t *testing.T) {
	model := grid(2, 1)
	model.Processes = append(model.Processes, plain.Process{Name: "never", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { w.Require(false) }}}})
	space := searchModel(t, model, Options{Reducer: astray{agent: 2}})
	if space.States() != 6 || space.Stats.Transitions != 7 || space.Stats.Terminal != 1 || len(space.Quiescent()) != 1 || !space.partial.Empty() {
		t.Errorf("%d states, %+v, quiescent %v", space.States(), space.Stats, space.Quiescent())
	}
	if got := slices.Collect(space.full.All()); !slices.Equal(got, []core.StateID{0, 1}) {
		t.Errorf("these states are expanded in full: %v", got)
	}
	b := newBatch(0)
	for id := range core.StateID(space.States()) {
		b.states = append(b.states, waiting{id: id})
	}
	space.full.Clear()
	space.expanded.Clear()
	newPool(t.Context(), space, 1).finish(b)
	for i := range b.states {
		if _, e := b.at(i); e.complete == (i < 2) {
			t.Errorf("a worker, which cannot follow others as well, completes state %d: %t", i, e.complete)
		}
	}
}

// TestDisturbedSearchesWakeAll has an agent be found to be put off in a state: who sleeps anywhere is woken, once.
func TestDisturbedSearchesWakeAll(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	s := &search{Space: space, context: t.Context(), frontier: &queue{}}
	s.sleeps.needed = true
	for range space.States() {
		s.sleeps.add([]int{1})
	}
	for _, disturbs := range []bool{true, false} {
		s.executor.Disturbs = disturbs
		if err := s.expand(waiting{id: 3, depth: 2}); err != nil || s.executor.Disturbs {
			t.Fatalf("it is still to be found out who is put off: %v", err)
		}
		if woken := s.sleeps.takeWoken(1); (len(woken) > 0) != disturbs || len(s.sleeps.at(1)) > 0 || !s.sleeps.disturbed {
			t.Errorf("where one is put off: %t, %v are woken, and %v sleep", disturbs, woken, s.sleeps.at(1))
		}
	}
}

// TestOtherWorkersRows has workers expand states of a search that keeps no rows: they do so only while a row is at
// hand, even if a state without a row looked like the empty one.
func TestOtherWorkersRows(t *testing.T) {
	x := plain.NewFamily[int]("x")
	model := plain.Model{Name: "empty", Initial: []core.Initial{plain.Start()}, Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) {
		now, _ := x.At(0).Lookup(w)
		w.Require(now < 3)
		x.At(0).Set(w, now+1)
	}}}}}}
	for compact, want := range map[bool]bool{true: false, false: true} {
		space := searchModel(t, model, Options{Compact: compact})
		b := newBatch(0)
		for id := range core.StateID(space.States()) {
			b.states = append(b.states, waiting{id: id})
		}
		newPool(t.Context(), space, 1).finish(b)
		for i := range b.states {
			if _, e := b.at(i); e.complete != want {
				t.Errorf("compact %t: state %d is complete: %t", compact, i, e.complete)
			}
		}
	}
}

// TestBatchesAheadAreExpanded prepares a batch that was taken while the one before was stored. It is not expanded yet
// if that one came from a checkpoint, which had no more.
func TestBatchesAheadAreExpanded(t *testing.T) {
	space := searchModel(t, grid(2, 1), Options{})
	for _, replayed := range []bool{true, false} {
		s := &search{Space: space, context: t.Context(), frontier: &queue{}, batch: newBatch(0), ahead: newBatch(0), overlapping: true, pool: newPool(t.Context(), space, 1)}
		s.batch.replayed = replayed
		s.ahead.states = append(s.ahead.states, waiting{id: 0}, waiting{id: 1})
		if err := s.prepare(); err != nil || len(s.batch.states) != 2 {
			t.Fatalf("%v: %v", s.batch.states, err)
		}
		for i := range s.batch.states {
			if _, e := s.batch.at(i); e.complete != replayed || s.overlapping == replayed {
				t.Errorf("behind a batch of a checkpoint: %t, the next one is expanded: %t, and the one behind that is taken: %t", replayed, e.complete, s.overlapping)
			}
		}
	}
}

// TestWorkersLookAhead has workers look ahead of the search, with the checker of the space.
func TestWorkersLookAhead(t *testing.T) {
	for _, merge := range []bool{true, false} {
		space := searchModel(t, first(), Options{Merge: merge})
		if w := newPool(t.Context(), space, 1).workers[0].walker; !w.Ahead || w.Checker != space.checker || (w.Checker != nil) != merge {
			t.Errorf("merging %t: it looks ahead: %t, with the checker %v", merge, w.Ahead, w.Checker)
		}
	}
}

// TestWorkersLookAtTheContext has a worker look at the context every so many steps of a state.
func TestWorkersLookAtTheContext(t *testing.T) {
	space := searchModel(t, grid(1), Options{})
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		ctx   context.Context
		steps int
		want  error
	}{{ended, attendEvery - 1, context.Canceled}, {ended, attendEvery, nil}, {ended, 2*attendEvery - 1, context.Canceled}, {ended, 1, nil}, {t.Context(), attendEvery - 1, nil}} {
		w := &newPool(test.ctx, space, 1).workers[0]
		w.walker.Load(space.row(0))
		w.current = &expansion{steps: test.steps}
		if err := w.Took(nil); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("at step %d: %v", test.steps+1, err)
		}
	}
}

// TestWorkersLeaveWhatIsUnknown has a worker come to a state of which it is not known what it says about names that are
// interchangeable: the searching goroutine has to look at that.
func TestWorkersLeaveWhatIsUnknown(t *testing.T) {
	space := searchModel(t, first(), Options{Merge: true})
	w := &newPool(t.Context(), space, 1).workers[0]
	a := plain.NewVar[int]("a")
	cell, _ := space.machine.Vocabulary.Lookup(a.Key())
	w.current = &expansion{}
	w.walker.Load(space.row(0))
	if err := w.Took(nil); err != nil || len(w.successors) != 1 {
		t.Errorf("a stored state: %v", err)
	}
	w.walker.Set(cell, space.machine.Vocabulary.Intern(cell, a.Is(99).Content))
	if err := w.Took(nil); !errors.Is(err, transition.ErrUnknown) || len(w.successors) != 1 {
		t.Errorf("a state of which nothing is known: %v", err)
	}
}

// TestWorkersRemember has a worker remember which states it has reported: of those that follow each other, all of many.
func TestWorkersRemember(t *testing.T) {
	w := new(worker)
	for r := range store.Ref(200) {
		if w.repeats(r) || !w.repeats(r) {
			t.Errorf("it reports %d, and does not remember that it did, or did so before", r)
		}
	}
	for r := range store.Ref(200) {
		if !w.repeats(r) {
			t.Errorf("it does not remember to have reported %d", r)
		}
	}
}

// TestWorkersReportWhoWakes has a worker report a step to a stored state if somebody wakes up there, and no other one.
func TestWorkersReportWhoWakes(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	space.sleeps.needed = true
	for _, asleep := range [][]int{nil, {1}, nil, nil} {
		space.sleeps.add(asleep)
	}
	space.expanded.Clear()
	b := newBatch(0)
	b.states = []waiting{{id: 0}}
	newPool(t.Context(), space, 1).finish(b)
	c, e := b.at(0)
	if len(c.successors) != 1 || !e.complete || space.store.ID(c.successors[0].Ref) != 1 || !c.successors[0].Found {
		t.Errorf("%+v are reported", c.successors)
	}
}

// TestWorkersTakeBackSteps has a worker come to a call that is not modelled, behind a step that can be taken, which no
// choice shows beforehand as calls are steps of their own. What it reports of the next state, and who sleeps behind its
// steps, is as if there had been none.
func TestWorkersTakeBackSteps(t *testing.T) {
	space := searchSlate(t, slateWith(nil, settles("puts", "a", "1"), goes("breaks", always(func(do asks, _ core.Request) core.Result {
		do("break")
		return core.Result{}
	}))), Options{Conditions: Conditions{Granularity: PerCall}, Reducer: drowsy{agents: 99, asked: new(int)}})
	begun := stepOf(t, space, 0, "breaks").To
	space.expanded.Clear()
	space.sleeps.clear(0)
	space.sleeps.clear(begun)
	space.depths.needed = true // so that all steps are reported
	reported := func(states ...waiting) (text string, complete bool) {
		b := newBatch(0)
		b.states = states
		newPool(t.Context(), space, 1).finish(b)
		c, e := b.at(len(states) - 1)
		for i := e.begin; i < e.end; i++ {
			text += fmt.Sprint(" ", space.store.ID(c.successors[i].Ref), c.agentsIn(c.asleep[i]))
		}
		_, first := b.at(0)
		return text, first.complete
	}
	alone, complete := reported(waiting{id: 0})
	behind, broken := reported(waiting{id: begun}, waiting{id: 0})
	if alone != behind || !complete || broken || !strings.HasPrefix(alone, " 1 []") || strings.Count(alone, "[]") != 1 {
		t.Errorf("of a state it is reported that%s, and of the same behind another one that%s; they are complete: %t, %t", alone, behind, complete, broken)
	}
}
