package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// batchLen is how many states are expanded before what was found is stored.
const batchLen = 512

// Search explores a valid system from its initial states. When the context ends or a bound is hit, it
// returns what it has, with the reason. An error means that the system cannot be explored, and says
// what to change.
func Search(ctx context.Context, system *core.System, options Options) (*Space, error) {
	m, err := newMachine(system, options.Run.Deadline)
	if err != nil {
		return nil, err
	}
	outer := ctx
	if limit := options.Bounds.Time; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, errTime)
		defer stop()
	}
	space := newSpace(ctx, m, options)
	s := &search{
		Space:    space,
		context:  ctx,
		options:  options,
		frontier: newFrontier(options.Order),
		began:    time.Now(),
		batch:    make([]waiting, 0, batchLen),
	}
	if options.Workers > 1 {
		s.crew = newCrew(space, options.Workers)
		defer s.crew.dismiss()
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	if err := s.loop(); err != nil {
		return nil, err
	}
	// What was found can be looked at even if the search was interrupted.
	space.learner.context = context.WithoutCancel(outer)
	space.Stats.Executed, space.Stats.Behaviours = space.learner.executed, space.learner.behaviours
	return space, nil
}

// search is the one search loop. Only the frontier differs between orders of search,
// and only the crew between numbers of workers.
type search struct {
	*Space
	context  context.Context
	options  Options
	frontier frontier
	crew     *crew
	batch    []waiting
	began    time.Time
	meter    meter
	// deep are the states that have steps beyond the bound on depth.
	deep idSet
}

// start stores the initial states.
func (s *search) start() error {
	for _, initial := range s.machine.system.Initial {
		s.learner.where = moment{}
		if err := s.scholar.begin(initial); err != nil {
			if !s.stops(err) {
				return s.interrupted(err)
			}
			s.because("an event handler failed on the initial objects, so that start is not explored")
			continue
		}
		before := s.arena.len()
		id, err := s.arrive(s.scholar, noParent, 0)
		if err != nil {
			return s.interrupted(err)
		}
		if s.arena.len() > before {
			s.initial = append(s.initial, id)
		}
	}
	return nil
}

// loop expands states until there are none left or a bound is hit.
func (s *search) loop() error {
	for s.frontier.len() > 0 {
		if reason := s.exhausted(); reason != "" {
			s.because(reason)
			break
		}
		s.batch = s.frontier.take(s.batch)
		if err := s.expandBatch(); err != nil {
			if err = s.interrupted(err); err != nil {
				return err
			}
			break
		}
	}
	for s.frontier.len() > 0 {
		s.batch = s.frontier.take(s.batch)
		for _, w := range s.batch {
			s.markCut(s.arena.number(w.ref))
		}
	}
	if !s.deep.empty() {
		s.because(fmt.Sprintf("the bound on depth (%d steps) was hit: allow more, or make the system smaller", s.options.Bounds.Depth))
	}
	return nil
}

// expandBatch takes all steps from the states of the batch and stores where they
// lead, in order.
func (s *search) expandBatch() error {
	if s.crew == nil {
		for _, w := range s.batch {
			if s.depths.outdated(s.arena.number(w.ref), w.depth) {
				continue
			}
			if err := s.expand(w); err != nil {
				return err
			}
		}
		return nil
	}
	for i, expansion := range s.crew.expand(s.batch, s.options.Bounds.Depth) {
		w := s.batch[i]
		if s.depths.outdated(s.arena.number(w.ref), w.depth) {
			continue
		}
		if !expansion.complete {
			if err := s.expand(w); err != nil {
				return err
			}
			continue
		}
		if err := s.accept(w, expansion); err != nil {
			return err
		}
	}
	return nil
}

// accept stores what a worker found.
func (s *search) accept(w waiting, e *expansion) error {
	id := s.arena.number(w.ref)
	s.acyclic = s.acyclic && !e.back
	for i := range e.arrivals {
		a := &e.arrivals[i]
		if a.found {
			s.meet(a.known, id, w.depth+1)
		} else if _, err := s.store(a.tag, e.rows[a.begin:a.end], id, w.depth+1); err != nil {
			return err
		}
	}
	s.finish(id, e.steps, e.steps, e.quiescent)
	return nil
}

// expand takes all steps from a state, learning what is new about them.
func (s *search) expand(w waiting) error {
	if err := s.context.Err(); err != nil {
		return err
	}
	id := s.arena.number(w.ref)
	walker := s.scholar
	walker.load(s.arena.row(w.ref))
	steps, known := 0, 0
	cut := false
	for _, it := range s.machine.items {
		if !walker.pending(it) {
			continue
		}
		s.learner.where = moment{state: id, item: it}
		s.learner.fresh = false
		leaf, err := walker.reconcile(it)
		if err != nil {
			if !s.stops(err) {
				return err
			}
			cut = true
			continue
		}
		if leaf == nil {
			continue
		}
		if s.beyond(w.depth) {
			walker.undo()
			s.tooDeep(id)
			return nil
		}
		steps++
		if !s.learner.fresh {
			known++
		}
		if _, err := s.arrive(walker, id, w.depth+1); err != nil {
			return err
		}
		walker.undo()
	}
	quiescent := steps == 0 && !cut
	if quiescent {
		for _, it := range s.machine.items {
			if !walker.timed(it) {
				continue
			}
			if s.beyond(w.depth) {
				s.tooDeep(id)
				return nil
			}
			walker.fire(it)
			steps++
			known++
			if _, err := s.arrive(walker, id, w.depth+1); err != nil {
				return err
			}
			walker.undo()
		}
	}
	if cut {
		s.markCut(id)
	}
	s.finish(id, steps, known, quiescent)
	return nil
}

// tooDeep cuts a state that has steps beyond the bound on depth.
func (s *search) tooDeep(id core.StateID) {
	s.deep.add(id)
	s.markCut(id)
}

// finish counts an expanded state.
func (s *search) finish(id core.StateID, steps, known int, quiescent bool) {
	if s.expanded.has(id) {
		return
	}
	s.expanded.add(id)
	s.Stats.Transitions += steps
	s.Stats.FromTree += known
	if quiescent {
		s.quiescent = append(s.quiescent, id)
	}
	if steps == 0 && !s.cut.has(id) {
		s.Stats.Terminal++
	}
}

// arrive stores the state of a walker.
func (s *search) arrive(w *walker, from core.StateID, depth uint32) (core.StateID, error) {
	w.buffer = w.vector.AppendRow(w.buffer[:0])
	return s.store(uint32(w.fingerprint.Lo), w.buffer, from, depth)
}

// store stores a state if it is new, and puts it on the frontier.
func (s *search) store(tag uint32, row []byte, from core.StateID, depth uint32) (core.StateID, error) {
	if r, known := s.visited.find(tag, row); known {
		return s.meet(r, from, depth), nil
	}
	if limit := s.options.Bounds.States; limit > 0 && s.arena.len() >= limit {
		s.because(fmt.Sprintf("the bound on states (%d) was hit: allow more, or make the system smaller", limit))
		return 0, errFull
	}
	r, ok := s.arena.add(row, from)
	if !ok {
		s.because("there are too many states, or too large ones, to store: make the system smaller")
		return 0, errFull
	}
	s.visited.add(tag, r)
	s.depths.add(depth)
	s.Stats.Depth = max(s.Stats.Depth, int(depth))
	s.frontier.push(waiting{ref: r, depth: depth})
	id := s.arena.number(r)
	s.inspect(id, row)
	return id, nil
}

// meet takes note of a step to a stored state.
func (s *search) meet(r ref, from core.StateID, depth uint32) core.StateID {
	id := s.arena.number(r)
	if from != noParent && id <= from {
		s.acyclic = false
	}
	if s.depths.shallower(id, depth) {
		s.cut.remove(id)
		s.deep.remove(id)
		s.frontier.push(waiting{ref: r, depth: depth})
	}
	return id
}
