package explore

import (
	"fmt"
	"math/rand/v2"

	"github.com/orrery-dev/orrery/core"
)

const (
	// WalkCount is how many walks there are if nobody says.
	WalkCount = 1000
	// WalkLength is how many steps a walk has at most if nobody says.
	WalkLength = 1000
)

// walks visits states by walks from the start, each of which ends where nothing can happen, or after so many steps. In each state on
// its way a walk takes all steps, so that what is wrong right beside it is seen, too, and
// then chooses the one to go on with. So the states that were visited are those of any search, and what lies
// beyond is cut.
func (s *search) walks() error {
	w := &wanderer{search: s, length: s.options.Bounds.Depth}
	if w.length == 0 {
		w.length = WalkLength
	}
	count := s.options.Bounds.Walks
	if count == 0 && s.options.Bounds.Time == 0 {
		count = WalkCount
	}
	for s.frontier.len() > 0 && (count == 0 || w.walked < count) {
		reason, err := w.walk()
		if err != nil {
			if err = s.interrupted(err); err != nil {
				return err
			}
			break
		}
		if reason != "" {
			s.because(reason)
			break
		}
	}
	for id := range core.StateID(s.States()) {
		if !s.expanded.has(id) {
			s.markCut(id)
		}
	}
	if s.frontier.len() > 0 {
		s.because(w.tell())
	}
	return nil
}

// wanderer takes walks.
type wanderer struct {
	*search
	coverage coverage
	// length is how many steps a walk has at most, walked how many walks were begun, and longest how many steps the longest had.
	length, walked, longest int
	steps                   []branch
}

// branch is a step that a walk may go on with.
type branch struct {
	agent int
	to    core.StateID
	// visited tells that all steps were taken already from where it leads.
	visited bool
}

// guide chooses the steps of a walk.
type guide interface {
	// choose returns which of the steps is taken. There is at least one.
	choose(steps []branch) int
	// returned tells it that the step led to where the walk had been before.
	returned(step branch)
}

// walk takes one walk. It returns the bound that ended it, if any did.
func (w *wanderer) walk() (reason string, err error) {
	chance := rand.New(rand.NewPCG(uint64(w.options.Seed), uint64(w.walked)))
	guide := w.guide(chance)
	w.walked++
	at := w.initial[chance.IntN(len(w.initial))]
	for step := range w.length {
		if reason := w.exhausted(); reason != "" {
			return reason, nil
		}
		w.coverage.visit(at, w.walked)
		if err := w.cross(at); err != nil {
			return "", err
		}
		if len(w.steps) == 0 {
			return "", nil
		}
		chosen := w.steps[guide.choose(w.steps)]
		if at = chosen.to; w.coverage.visitedIn(at, w.walked) {
			guide.returned(chosen)
		}
		w.longest = max(w.longest, step+1)
	}
	return "", nil
}

// guide returns what chooses the steps of the next walk.
func (w *wanderer) guide(chance *rand.Rand) guide {
	switch w.order {
	case PriorityWalks:
		return newPriorities(chance, w.options.ChangePoints, w.longest)
	case SwarmWalks:
		return w.swarmGuide(chance)
	}
	return &evenly{chance}
}

// swarmGuide returns the next of the kinds of guides: searches that differ find more than the same one that goes on for longer (Holzmann, Joshi and
// Groce, Swarm verification techniques, IEEE Transactions on Software Engineering 37, 2011).
func (w *wanderer) swarmGuide(chance *rand.Rand) guide {
	switch w.walked % 5 {
	case 1:
		return newPriorities(chance, 0, w.longest)
	case 2:
		return &newcomer{chance: chance}
	case 3:
		return newPriorities(chance, 1+chance.IntN(4), w.longest)
	case 4:
		return newPriorities(chance, 8, w.longest)
	}
	return &evenly{chance}
}

// cross takes all steps from a state and stores where they lead.
func (w *wanderer) cross(id core.StateID) error {
	if err := w.context.Err(); err != nil {
		return err
	}
	s := w.search
	s.scholar.load(s.row(id))
	s.learner.where = moment{state: id}
	w.steps = w.steps[:0]
	c := &crossing{expander: expander{search: s, from: id, depth: s.depths.of.At(int(id))}, wanderer: w}
	var err error
	if c.quiescent, err = s.scholar.steps(c, nil); err != nil {
		return err
	}
	if c.cut {
		s.markCut(id)
	}
	if !s.expanded.has(id) {
		s.frontier.(*aside).count--
	}
	s.finish(id, c.depth, c.tally)
	return nil
}

// crossing stores where the steps of a state lead, and notes them for the guide.
type crossing struct {
	expander
	wanderer *wanderer
}

// took implements [visitor].
func (c *crossing) took(t *taken) error {
	c.steps++
	if !c.learner.fresh {
		c.known++
	}
	to, err := c.arrive(c.scholar, c.from, c.depth+1, nil)
	if err != nil {
		return err
	}
	w := c.wanderer
	w.steps = append(w.steps, branch{agent: t.agent(), to: to, visited: c.expanded.has(to)})
	return nil
}

// tell says what the walks have seen, and what they have not.
func (w *wanderer) tell() string {
	visited := w.States() - w.frontier.len()
	told := fmt.Sprintf("walks at random do not go everywhere: %d of them (seed %d) came to %d states and saw %d more from there",
		w.walked, w.options.Seed, visited, w.frontier.len())
	estimate := w.coverage.estimate()
	if w.order == SwarmWalks { // these are not all made in the same way
		estimate = w.coverage.lately()
	}
	if estimate != "" {
		told += "; " + estimate
	}
	return told
}
