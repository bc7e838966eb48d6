package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// batchLen is how many states are expanded before what was found is stored.
const batchLen = 1024

// Search explores a valid system from its initial states. When the context ends or a bound is hit, it
// returns what it has, with the reason. An error means that the system cannot be explored, and says
// what to change.
func Search(ctx context.Context, system *core.System, options Options) (*Space, error) {
	m, err := newMachine(system, options.Conditions, options.Run.Deadline)
	if err != nil {
		return nil, err
	}
	if options.Compact && options.Order != BreadthFirst {
		return nil, fmt.Errorf("only a breadth-first search can do without the states that it has seen: search so, or do not ask for a compact search")
	}
	outer := ctx
	if limit := options.Bounds.Time; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, errTime)
		defer stop()
	}
	l := &learner{context: ctx, machine: m, limits: options.Run}
	began := time.Now()
	var space *Space
	if options.Order.Walks() {
		options.Reducer = nil
	}
	if options.Reducer == nil {
		space, err = explore(ctx, m, l, options, began, 0)
	} else {
		space, err = reduced(ctx, m, l, options, began)
	}
	if err != nil {
		return nil, err
	}
	// What was found can be looked at even if the search was interrupted.
	l.context = context.WithoutCancel(outer)
	m.reduces = false
	space.scholar.tour = tour{} // it still holds what only the search needs
	space.Stats.Executed, space.Stats.Behaviours = l.executed, l.behaviours
	return space, nil
}

// explore searches once, from the start to the end.
func explore(ctx context.Context, m *machine, l *learner, options Options, began time.Time, patience int) (*Space, error) {
	space := newSpace(m, l, options)
	s := &search{
		Space:    space,
		context:  ctx,
		options:  options,
		frontier: newFrontier(options.Order),
		began:    began,
		batch:    make([]waiting, 0, batchLen),
		grown:    m.footprints.growth,
		patience: patience,
		meter:    meter{limit: options.Bounds.Memory},
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	if options.Order.Walks() {
		return space, s.walks()
	}
	s.crew = newCrew(space, options.Workers)
	defer s.crew.dismiss()
	return space, s.loop()
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
	levels   levels
	// grown is what was learned of footprints before, and patience how many states are stored before a search that learns
	// more is given up.
	grown, patience int
	// next is the first state that was not expanded yet.
	next core.StateID
	// deep are the states that have steps beyond the bound on depth.
	deep idSet
}

// start stores the initial states.
func (s *search) start() error {
	for _, initial := range s.machine.system.Initial {
		s.learner.where = moment{}
		if err := s.scholar.start(initial); err != nil {
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
			if s.rebuilder != nil {
				s.rebuilder.starts[id] = bytes.Clone(s.row(id))
			}
		}
	}
	return nil
}

// loop expands states until there are none left or a bound is hit.
func (s *search) loop() error {
	for s.frontier.len() > 0 || s.unroll() {
		if reason := s.exhausted(); reason != "" {
			s.fellShort(reason)
			break
		}
		s.batch = s.frontier.take(s.batch)
		if err := s.expandBatch(); err != nil {
			if err = s.interrupted(err); err != nil {
				return err
			}
			break
		}
		if s.hopeless() {
			return nil
		}
		for s.expanded.has(s.next) {
			s.next++
		}
		s.arena.expanded(s.next)
	}
	for s.frontier.len() > 0 {
		s.batch = s.frontier.take(s.batch)
		for _, w := range s.batch {
			s.markCut(s.arena.number(w.ref))
		}
	}
	if !s.deep.empty() {
		s.fellShort(fmt.Sprintf("the bound on depth (%d steps) was hit: allow more, or make the system smaller", s.options.Bounds.Depth))
	}
	return nil
}

// expandBatch takes all steps from the states of the batch and stores where they
// lead, in order.
func (s *search) expandBatch() error {
	portions := s.crew.expand(s.batch, s.options.Bounds.Depth)
	done, err := s.acceptAll(portions)
	if err != nil {
		return err
	}
	for i := done; i < len(s.batch); i++ {
		w := s.batch[i]
		p := &portions[i/portionLen]
		e := &p.expansions[i%portionLen]
		switch {
		case s.depths.outdated(e.from, w.depth):
		case e.complete:
			err = s.revise(w, p, e)
		default:
			err = s.expand(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// acceptAll stores what the crew found out about the states of the batch, as far as nothing has to be learned: then what it found
// to be new is new. It returns how many states are done.
func (s *search) acceptAll(portions []portion) (int, error) {
	if s.crew.table == nil {
		return 0, nil
	}
	defer s.crew.enter(portions)
	for i, w := range s.batch {
		p := &portions[i/portionLen]
		e := &p.expansions[i%portionLen]
		if !e.complete || s.depths.outdated(e.from, w.depth) {
			return i, nil
		}
		if err := s.accept(w, portions, p, e); err != nil {
			return i, err
		}
	}
	return len(s.batch), nil
}

// accept stores what a worker found out about a state. What is new has to be entered in the table.
func (s *search) accept(w waiting, portions []portion, p *portion, e *expansion) error {
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &p.arrivals[i]
		switch {
		case a.found:
			s.meet(a.known, e.from, w.depth+1)
		case a.first != 0:
			_, first := a.first.of(portions)
			s.meet(first.known, e.from, w.depth+1)
		default:
			r, err := s.add(p.rows[a.begin:a.end], e.from, w.depth+1)
			if err != nil {
				return err
			}
			s.crew.table.reserve()
			a.known, a.pending = r, true
		}
	}
	s.conclude(e)
	return nil
}

// revise stores what a worker found out about a state, when other states were stored since.
func (s *search) revise(w waiting, p *portion, e *expansion) error {
	s.acyclic = s.acyclic && !e.back
	for i := e.begin; i < e.end; i++ {
		a := &p.arrivals[i]
		if a.found {
			s.meet(a.known, e.from, w.depth+1)
		} else if _, err := s.store(a.tag, p.rows[a.begin:a.end], e.from, w.depth+1); err != nil {
			return err
		}
	}
	s.conclude(e)
	return nil
}

// conclude counts a state that a worker expanded.
func (s *search) conclude(e *expansion) {
	if e.reduced {
		s.partial.add(e.from)
	}
	s.finish(e.from, e.steps, e.steps, e.quiescent)
}

// expand takes the steps from a state that have to be followed, learning what is new about them.
func (s *search) expand(w waiting) error {
	if err := s.context.Err(); err != nil {
		return err
	}
	id := s.arena.number(w.ref)
	s.scholar.load(s.row(id))
	s.learner.where = moment{state: id}
	var only []bool
	if !s.full.has(id) {
		var err error
		if only, err = s.scholar.reduce(); err != nil && !s.stops(err) {
			return err
		}
	}
	x := &expander{search: s, from: id, depth: w.depth}
	quiescent, err := s.scholar.steps(x, only)
	switch {
	case errors.Is(err, errDeep):
		s.tooDeep(id)
		return nil
	case err != nil:
		return err
	}
	if x.cut {
		s.markCut(id)
	}
	if only != nil {
		s.partial.add(id)
	}
	s.finish(id, x.steps, x.known, quiescent)
	return nil
}

// errDeep ends the expansion of a state whose steps lead beyond the bound on depth.
var errDeep = errors.New("the bound on depth was hit")

// expander stores where the steps of a state lead.
type expander struct {
	*search
	from         core.StateID
	depth        uint32
	steps, known int
	cut          bool
}

// took implements [visitor].
func (x *expander) took(*taken) error {
	if x.beyond(x.depth) {
		return errDeep
	}
	x.steps++
	if !x.learner.fresh {
		x.known++
	}
	_, err := x.arrive(x.scholar, x.from, x.depth+1)
	return err
}

// stopped implements [visitor].
func (x *expander) stopped(_ *taken, err error) error {
	if !x.stops(err) {
		return err
	}
	x.cut = true
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
	w.buffer = w.appendRow(w.buffer[:0])
	return s.store(w.fingerprint.Lo, w.buffer, from, depth)
}

// store stores a state if it is new, and puts it on the frontier.
func (s *search) store(tag uint64, row []byte, from core.StateID, depth uint32) (core.StateID, error) {
	if r, known := s.visited.find(tag, row); known {
		return s.meet(r, from, depth), nil
	}
	r, err := s.add(row, from, depth)
	if err != nil {
		return 0, err
	}
	s.visited.add(tag, r)
	return s.arena.number(r), nil
}

// add stores a new state, which has to be entered where it is found, and puts it on the frontier.
func (s *search) add(row []byte, from core.StateID, depth uint32) (ref, error) {
	id := core.StateID(s.arena.len())
	if limit := s.options.Bounds.States; limit > 0 && int(id) >= limit {
		s.fellShort(fmt.Sprintf("the bound on states (%d) was hit: allow more, or make the system smaller", limit))
		return 0, errFull
	}
	if growth := s.visited.growth(); growth > 0 && !s.meter.affords(growth) {
		s.fellShort(s.outOfMemory())
		return 0, errFull
	}
	r, ok := s.arena.add(row, from)
	if !ok {
		s.because("there are too many states, or too large ones, to store: make the system smaller")
		return 0, errFull
	}
	s.depths.add(depth)
	s.levels.add(depth)
	s.Stats.Depth = max(s.Stats.Depth, int(depth))
	s.frontier.push(waiting{ref: r, depth: depth})
	s.inspect(id, row)
	return r, nil
}

// meet takes note of a step to a stored state.
func (s *search) meet(r ref, from core.StateID, depth uint32) core.StateID {
	id := s.arena.number(r)
	if from != noParent && id <= from {
		s.acyclic = false
	}
	switch {
	case !s.depths.shallower(id, depth):
	case s.order.Walks():
		s.arena.adopt(r, from)
	default:
		s.cut.remove(id)
		s.deep.remove(id)
		s.frontier.push(waiting{ref: r, depth: depth})
	}
	return id
}
