package explore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/internal/periodic"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// Each step of a run is one of a fresh instance, as if the controller had started just then. What really takes a run is
// one instance from its start on: it has handled the events on the way, and made the reconciles. So the history of each
// controller on a run is audited, too: one instance goes through all of it. A controller that its event handlers feed
// with what its reconciles look up is seen to differ.

// What histories are audited besides those of the runs that are told.
const (
	// mostHistories is how many states are taken, spread over the search, to whose histories controllers are held.
	mostHistories = 128
	// longestHistory is how many steps of a run are looked at.
	longestHistory = 500
	// leastRelived is how many steps of runs are looked at for certain, besides one for every two states.
	leastRelived = 32
	// mostRounds is how often a cycle is gone round, and fewestRounds how often at least, even if it is long.
	mostRounds, fewestRounds = 12, 2
)

// historian collects the runs of each process along a run, since it was last started.
type historian struct {
	transition.Inattentive
	runs map[*transition.Process][]behavior.Run
	step []ranAs
}

// Began implements [transition.Listener].
func (h *historian) Began() { h.step = nil }

// Ended implements [transition.Listener].
func (h *historian) Ended(a *transition.Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	h.step = append(h.step, ranAs{actor: a, Run: behavior.Run{Activation: activation, Path: slices.Clone(path), Leaf: leaf}})
}

// took adds what happened in a step. A process that starts again remembers nothing.
func (h *historian) took(s *transition.Taken) {
	if s != nil && (s.Kind == core.Restart || s.Crashes()) {
		delete(h.runs, s.Actor.Process)
	}
	for _, r := range h.step {
		switch {
		case r.actor.User:
		case r.Leaf.Failure == behavior.CutOff:
			delete(h.runs, r.actor.Process)
		case !r.Leaf.Failure.Stuck():
			h.runs[r.actor.Process] = append(h.runs[r.actor.Process], r.Run)
		}
	}
	h.step = nil
}

// history returns the runs of each process along a run of the system and in the step tried after it, nil if that does
// not begin in an initial state.
func (s *Space) history(steps []concreteStep, start []byte, after *core.Step) (map[*transition.Process][]behavior.Run, error) {
	initial := s.starting(start)
	if initial == nil {
		return nil, nil
	}
	w := s.executor
	h := &historian{runs: map[*transition.Process][]behavior.Run{}}
	w.Listener = h
	defer func() { w.Listener = nil }()
	if err := w.Start(*initial); err != nil {
		return nil, err
	}
	h.took(nil)
	for _, step := range steps {
		w.Load(step.row)
		chosen, err := w.Retake(step.step)
		if err != nil || chosen == nil {
			return h.runs, err
		}
		h.took(chosen)
		start = step.to
	}
	if after != nil {
		w.Load(start)
		chosen, err := w.Choose(*after)
		if err == nil && chosen == nil {
			chosen, err = w.Probe(*after)
		}
		if err == nil && chosen != nil {
			h.took(chosen)
		}
	}
	return h.runs, nil
}

// starting returns what the system starts with in an initial state, nil if the state is none.
func (s *Space) starting(row []byte) *core.Initial {
	if s.starts == nil {
		s.starts = map[string]*core.Initial{}
		for i := range s.machine.System.Initial {
			initial := &s.machine.System.Initial[i]
			if s.executor.Start(*initial) != nil {
				continue // it was not explored either
			}
			if at := string(s.executor.Vector.AppendRow(nil)); s.starts[at] == nil {
				s.starts[at] = initial
			}
		}
	}
	return s.starts[string(row)]
}

// relive audits the histories of all controllers along a run.
func (s *Space) relive(steps []concreteStep, start []byte, after *core.Step) error {
	histories, err := s.history(steps, start, after)
	if err != nil {
		return err
	}
	for _, p := range s.machine.Processes {
		if err := s.learner.Relive(p, histories[p]); err != nil {
			return err
		}
	}
	return nil
}

// Follow audits the histories of all controllers along a run that goes round a cycle again and again. A controller that
// leaves it after some rounds, by what it keeps where that cannot be seen, is seen to differ. The run starts in the
// state start.
func (s *Space) Follow(start core.StateID, stem, cycle core.Run) error {
	if len(cycle) == 0 || int(start) >= s.States() {
		return nil
	}
	run := slices.Clone(stem)
	for range min(mostRounds, max(fewestRounds, (longestHistory-len(stem))/len(cycle))) {
		run = append(run, cycle...)
	}
	steps, err := s.concretize(start, run)
	if err != nil {
		return err
	}
	return s.relive(steps, s.firstRow(steps, start), nil)
}

// audit audits histories of a search that is complete. The error may say that it has to be begun again, with what was
// found out.
func (s *Space) audit(ctx context.Context, options Options) error {
	if len(s.reasons)+len(s.machine.Doubts) > 0 || s.States() == 0 {
		return nil
	}
	s.learner.Searching = true
	err := s.Within(ctx, func() error { return s.reliveSome(uint64(options.Seed)) })
	s.learner.Searching = false
	if err == nil && len(s.machine.Doubts) == 0 {
		err = s.Within(ctx, s.overlook)
	}
	if err == nil && len(s.machine.Doubts) == 0 && s.machine.OnlyAgain() {
		err = s.Within(ctx, s.recur)
	}
	if ctx.Err() == nil {
		return err
	}
	s.because(endOf(ctx, options.Bounds))
	return nil
}

// overlook finds out whether somebody has overlooked to set a timer: in a quiescent state, he would do something that
// counts if he ran after a long time, or several times, and nothing makes him run.
func (s *Space) overlook() error {
	for _, id := range s.Quiescent() {
		s.learner.Where = transition.Provenance{State: id}
		for _, looks := range []func(core.StateID) (bool, error){s.looksLater, s.looksAgain} {
			if found, err := looks(id); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// looksLater finds out what would be done in a state after some time.
func (s *Space) looksLater(id core.StateID) (found bool, err error) {
	w := s.executor
	w.Load(s.row(id))
	idle := w.Idle((*transition.Actor).Awaits)
	if len(idle) == 0 {
		return false, nil
	}
	for _, span := range w.Later() {
		w.Load(s.row(id))
		w.Skip(span)
		later := w.Vector.AppendRow(nil)
		for _, it := range idle {
			does, err := s.deedIn(later, it)
			switch {
			case err != nil:
				return false, err
			case does == "":
				continue
			}
			now, err := s.deedIn(s.row(id), it)
			if err != nil {
				return false, err
			}
			some := "after " + cmp.Or(calendar.NameOf(span, behavior.Epoch), "a long time")
			if does == now { // which has nothing to do with the time
				some = transition.Again
			}
			s.machine.Overlooks(it, some, does)
			return true, nil
		}
	}
	return false, nil
}

// deedIn says what a run of an item in a state would do that counts in outcomes, nothing if there is nothing.
func (s *Space) deedIn(row []byte, it *transition.Item) (does string, err error) {
	err = s.learner.Try(func() error {
		s.executor.Load(row)
		return s.executor.EachOrder(it, func(t *transition.Taken) bool {
			does = s.deed(t)
			return does == ""
		})
	})
	if errors.Is(err, transition.ErrStopped) || errors.Is(err, transition.ErrUnmet) {
		err = nil
	}
	return does, err
}

// mostLooks is how often a request is run that leaves another memory each time and does nothing.
const mostLooks = 8

// looksAgain finds out what would be done in a state by a run that comes after others, which change nothing but memory.
// What the first of them does is for others to judge.
func (s *Space) looksAgain(id core.StateID) (found bool, err error) {
	w := s.executor
	w.Load(s.row(id))
	for _, it := range w.Idle((*transition.Actor).OnlyRemembers) {
		row := bytes.Clone(s.row(id))
		for n := 1; row != nil && n <= mostLooks; n++ {
			w.Load(row)
			row = nil
			does := ""
			err := s.machine.Suppose(func() error {
				return w.EachOrder(it, func(t *transition.Taken) bool {
					if does = s.deed(t); !w.Wrote && w.Learns() {
						row = w.Vector.AppendRow(nil)
					}
					return false
				})
			})
			if err != nil && !errors.Is(err, transition.ErrStopped) {
				return false, err
			}
			if does != "" && n > 1 {
				s.machine.Overlooks(it, fmt.Sprintf("%d times in a row", n), does)
				return true, nil
			}
		}
	}
	return false, nil
}

// deed says what a step does that counts in outcomes, nothing if there is nothing.
func (s *Space) deed(t *transition.Taken) string {
	effect := s.executor.Effect(t)
	if !effect.Wrote || s.alike(state.NewLook(s.machine.Vocabulary, s.executor.Vector), effect.Changes) {
		return ""
	}
	return deedOf(effect.Changes[0])
}

// deedOf says what a change does.
func deedOf(change core.Change) string {
	switch {
	case change.Before == nil:
		return "create " + change.Key.String()
	case change.After == nil:
		return "delete " + change.Key.String()
	}
	return "change " + change.Key.String()
}

// reliveSome audits histories that lead to states all over the search. It takes half as long again as the search at
// most. A search that is not complete shows only what is told, and that is audited when it is.
func (s *Space) reliveSome(seed uint64) error {
	steps := s.States()/2 + leastRelived
	for _, end := range s.someEnds(seed) {
		id := s.within(end)
		run, first := s.ancestry(id), id
		if steps -= len(run); steps < 0 {
			return nil
		}
		if len(run) > 0 {
			first = run[0].From
		}
		steps, err := s.concretize(first, run)
		if err != nil {
			return err
		}
		s.learner.Where = transition.Provenance{State: id}
		if err := s.relive(steps, s.firstRow(steps, first), nil); err != nil {
			return err
		}
	}
	return nil
}

// someEnds returns states from which no other one was first reached: all of them, or [mostHistories] that are spread
// over the search. The seed says which.
func (s *Space) someEnds(seed uint64) []core.StateID {
	var within bitset.Set[core.StateID]
	for id := range core.StateID(s.States()) {
		if parent := s.store.Parent(s.store.At(id)); parent != store.NoParent {
			within.Add(parent)
		}
	}
	var ends []core.StateID
	for id := range core.StateID(s.States()) {
		if !within.Has(id) {
			ends = append(ends, id)
		}
	}
	count := min(len(ends), mostHistories)
	for i := range count {
		from, to := i*len(ends)/count, (i+1)*len(ends)/count // one of each stretch
		ends[i] = ends[from+int(seed%uint64(to-from))]
	}
	return ends[:count]
}

// within returns the state itself, or the one at most [longestHistory] steps from the start on the way to it.
func (s *Space) within(id core.StateID) core.StateID {
	way := []core.StateID{id}
	for {
		parent := s.store.Parent(s.store.At(way[len(way)-1]))
		if parent == store.NoParent {
			return way[max(0, len(way)-1-longestHistory)]
		}
		way = append(way, parent)
	}
}

// firstRow returns the row in which a run begins.
func (s *Space) firstRow(steps []concreteStep, start core.StateID) []byte {
	if len(steps) > 0 {
		return steps[0].row
	}
	return bytes.Clone(s.row(start))
}

// mostRecurring is how many states are looked at, all of them one by one, to find out whether they recur.
const mostRecurring = 300_000

// recur finds out whether it makes no difference that time passes only a few times in the search. What a controller
// does again each time, such as a refresh that renews a time, keeps nothing from being searched then.
func (s *Space) recur() error {
	if s.table == nil || s.States() > mostRecurring {
		return nil
	}
	rests, classes, shown := make([]periodic.Rest, s.States()), map[string]int{}, map[[sha256.Size]byte]int{}
	for id := range core.StateID(s.States()) {
		s.reader.Load(s.row(id))
		v := awaitedVisitor{}
		if _, err := s.reader.Steps(&v, nil); err != nil {
			return err
		}
		shows := sha256.Sum256([]byte(s.reader.Undated()))
		if _, known := shown[shows]; !known {
			shown[shows] = len(shown)
		}
		if rests[id].Shows = shown[shows]; !s.reader.Rests {
			continue
		}
		class := s.reader.Aligned()
		if _, known := classes[class]; !known {
			classes[class] = len(classes)
		}
		rests[id] = periodic.Rest{Is: true, Open: s.reader.Open(), Class: classes[class], Shows: shown[shows]}
	}
	recurs := periodic.Recurs(rests, func(state int) []int {
		var next []int
		for _, e := range s.Edges(core.StateID(state)) {
			if !e.Step.Faulty() && e.Step.Kind != core.Intervene && (!rests[state].Is || e.Step.Kind == core.Pass) {
				next = append(next, int(e.To))
			}
		}
		return next
	})
	if recurs {
		s.machine.Recur()
	}
	return nil
}
