package explore

import (
	"errors"

	"github.com/orrery-dev/orrery/core"
)

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
