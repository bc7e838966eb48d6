package explore

import (
	"context"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// reduced searches again and again, each time with what is known by then of what steps touch, until a search learns nothing
// more: only then was every choice made with all there is to know. Behaviour trees are kept, so that
// the later searches are fast.
func reduced(ctx context.Context, m *machine, l *learner, options Options, began time.Time, found *sightings) (*Space, error) {
	m.reduces = true
	for patience := firstPatience; ; patience *= 2 {
		m.learnFootprints(options.Reducer)
		before := m.footprints.growth
		space, err := explore(ctx, m, l, options, began, patience)
		found.collect(l, space)
		m.footprints.selects(m.vocabulary)
		if err != nil {
			return nil, err
		}
		for _, incident := range l.incidents {
			if incident.Kind == core.Nondeterministic {
				// What such a controller touches cannot be learned.
				options.Reducer = nil
				return unmerged(ctx, m.system, options, began, found)
			}
		}
		switch {
		case len(space.reasons) > 0:
			return space, nil
		case space.pointless():
			// Asking in every state what could be left out only costs time.
			m.reduces, m.choosers, options.Reducer = false, nil, nil
			return explore(ctx, m, l, options, began, 0)
		case m.footprints.growth == before:
			return space, nil
		}
	}
}

// learnFootprints makes choosers from what is known.
func (m *machine) learnFootprints(r Reducer) {
	m.choosers = nil
	m.footprints.gate(m)
	if !m.footprints.allVisible {
		m.choosers = r.Learn(m.footprints.all(), sorted(m.footprints.visible.reads))
	}
}

// walker returns a walker that leaves out what can be left out.
func (s *Space) walker(l *learner) *walker {
	w := newWalker(s.machine, l)
	if s.machine.reduces {
		listen(w)
	}
	if s.machine.choosers != nil {
		w.chooser = s.machine.choosers()
	}
	return w
}

// firstPatience is how many states the first search stores before it is begun again because something was
// learned. Each search has twice the patience of the one before.
const firstPatience = 4

// hopeless tells whether the search has learned something, so that there has to be another one, and has gone on long enough to
// have learned the most of it.
func (s *search) hopeless() bool {
	return s.options.Reducer != nil && (s.machine.footprints.growth > s.grown && s.States() >= s.patience || s.pointless())
}

// enoughTried is how many states without anything to leave out are enough to expect nothing of the rest.
const enoughTried = 1 << 11

// pointless tells whether the search could leave out something and has not done so in many states.
func (s *Space) pointless() bool {
	return s.machine.choosers != nil && s.partial.empty() && s.States() >= enoughTried
}
