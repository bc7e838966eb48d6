package explore

import (
	"errors"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// expand takes the steps from a state that have to be followed, learning what is new about them.
func (s *search) expand(w waiting) error {
	if err := s.context.Err(); err != nil {
		return err
	}
	id := s.store.ID(w.ref)
	s.scholar.load(s.row(id))
	s.learner.where = moment{state: id}
	asleep, woken := s.sleeps.at(id), s.sleeps.rouse(id)
	reduced, only, err := s.scholar.turnout(s.full.has(id), asleep, woken)
	if err != nil && !s.stops(err) {
		return err
	}
	if s.scholar.disturbs {
		s.scholar.disturbs = false
		s.wakeAll()
	}
	x := &expander{search: s, from: id, depth: w.depth}
	x.asleep = slices.Clone(s.scholar.asleep)
	x.quiescent, err = s.scholar.steps(x, only)
	if err == nil && reduced && x.steps+len(x.asleep) == 0 && !x.cut {
		// All that were followed are blocked, which was not known.
		s.full.add(id)
		reduced, s.scholar.wakeful = false, true
		x.quiescent, err = s.scholar.steps(x, nil)
	}
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
	if reduced {
		s.partial.add(id)
	}
	s.finish(id, w.depth, x.tally)
	return nil
}

// errDeep ends the expansion of a state whose steps lead beyond the bound on depth.
var errDeep = errors.New("the bound on depth was hit")

// expander stores where the steps of a state lead.
type expander struct {
	*search
	tally
	from  core.StateID
	depth uint32
	cut   bool
}

// tally is what an expansion of a state comes to.
type tally struct {
	// steps were taken, known of them without running code. Agents that are asleep took none.
	steps, known int
	asleep       []int
	quiescent    bool
}

// took implements [visitor].
func (x *expander) took(t *taken) error {
	if x.beyond(x.depth) {
		return errDeep
	}
	x.steps++
	if !x.learner.fresh {
		x.known++
	}
	_, err := x.arrive(x.scholar, x.from, x.depth+1, x.scholar.behind(t))
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
func (s *search) finish(id core.StateID, depth uint32, v tally) {
	again := s.expanded.has(id)
	if again && s.depths.needed {
		return
	}
	s.Stats.Transitions += v.steps
	s.Stats.FromTree += v.known
	if again {
		return
	}
	s.slept(id, depth, v.asleep)
	s.expanded.add(id)
	if v.quiescent {
		s.quiescent = append(s.quiescent, id)
	}
	if v.steps+len(v.asleep) == 0 && !s.cut.has(id) {
		s.Stats.Terminal++
	}
}
