package explore

import (
	"context"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/grace"
)

// reduced searches again and again, each time with what is known by then of what steps touch, until a search learns
// nothing by which it would have chosen otherwise: only then was every choice made with all there is to know. Behaviour
// trees are kept, so that the later searches are fast.
func reduced(ctx context.Context, m *transition.Machine, l *transition.Learner, options Options, began time.Time) (*Space, error) {
	r := &reduction.Reductions{Footprints: reduction.NewFootprints()}
	r.Footprints.Record(m)
	if err := options.growth.lookFirst(l, r, began); err != nil {
		return nil, err
	}
	for patience := firstPatience; ; {
		if err := r.TryLists(ctx, l); err != nil && ctx.Err() == nil {
			return nil, err
		}
		r.MakeChoosers(m, options.Reducer)
		space, err := explore(ctx, m, l, r, options, began, patience)
		options.earlier.collect(l, space)
		if space != nil {
			patience = 2 * max(patience, space.States())
		}
		if err != nil {
			return nil, err
		}
		switch {
		case space.givenUp && space.pointless():
			// Asking in every state what could be left out only costs time.
			options.earlier.givenUp("nothing could be left out")
			m.Recorder, options.Reducer = nil, nil
			return explore(ctx, m, l, &reduction.Reductions{}, options, began, 0)
		case space.givenUp: // whatever it has found, it did not come to its end
			if space.States() >= suspect && r.Strangers() {
				// Hardly anything is left out as long as somebody is known who has never taken a step. It takes less to
				// go ahead to the first one than to search all that is before it.
				ahead, err := explore(ctx, m, l, r, options.followed(), began, 0)
				options.earlier.collect(l, ahead)
				if err != nil {
					return nil, err
				}
			}
		case len(m.Conditions.Forking) > 0 && !space.endsAlways():
			// Whether chance leads out of a loop shows in all of its states, and what is left out there is left out for
			// runs of any chance.
			options.earlier.givenUp("something goes round where controllers leave something to chance")
			m.Recorder, options.Reducer = nil, nil
			return explore(ctx, m, l, &reduction.Reductions{}, options, began, 0)
		case len(space.reasons) > 0:
			return space, nil
		default:
			if err := space.lookBack(ctx, options); err != nil {
				return nil, err
			}
			if len(space.reasons) > 0 || !r.Outdated(m) {
				return space, nil
			}
		}
		options.earlier.givenUp("more became known of what its steps read and write")
	}
}

// endsAlways reports whether nothing goes round in the steps that were followed.
func (s *Space) endsAlways() bool {
	ends := true
	s.eachLoop(func([]core.StateID) bool {
		ends = false
		return false
	})
	return ends
}

// Reduced reports whether steps were left out whose order cannot matter, as far as there were any.
func (s *Space) Reduced() bool { return s.Footprints != nil }

// lookBack finds out at the end of a search what event handlers heed of what they remember, and what agents heed of
// what they list.
func (s *Space) lookBack(ctx context.Context, options Options) error {
	err := s.executor.Heed()
	if err == nil {
		err = s.TryLists(ctx, s.learner)
	}
	if ctx.Err() == nil {
		return err
	}
	s.because(endOf(ctx, options.Bounds))
	return nil
}

// firstPatience is how many states the first search stores before it is begun again because something was
// learned. Each search has twice the patience of the one before.
const firstPatience = 4

// givesUp reports whether the search has learned something by which it would have chosen otherwise, so that there has
// to be another one, and has gone on long enough to have learned the most of it. It is asked whenever there are twice
// as many states.
func (s *search) givesUp() bool {
	switch growth := s.Reductions.Growth(); {
	case s.options.Reducer == nil:
		return false
	case s.pointless():
		return true
	case growth == s.grown || s.States() < s.patience:
		return false
	default:
		s.grown, s.patience = growth, 2*s.States()
		return s.Outdated(s.machine)
	}
}

// enoughTried is how many states without anything to leave out are enough to expect nothing of the rest.
const enoughTried = 1 << 11

// pointless reports whether the search could leave out something and has not done so in many states.
func (s *Space) pointless() bool {
	return s.Choosers != nil && s.partial.Empty() && s.States() >= enoughTried
}

// Whole searches the states of a space without leaving out anything, if controllers that change nothing were followed
// alone there: on the same machine, so that little has to be learned. It returns nil if there are more states than
// that, or if they cannot be searched to the end.
func (s *Space) Whole(ctx context.Context, states int) *Space {
	if s.level.Empty() {
		return nil
	}
	l := *s.learner
	l.Context = ctx
	options := Options{Conditions: s.machine.Conditions, Workers: 1, Bounds: Bounds{States: states}, Logger: l.Logger, Logs: s.logs}
	options.growth = &growth{context: ctx, system: s.machine.System, options: options}
	whole, err := explore(ctx, s.machine, &l, &reduction.Reductions{}, options, time.Now(), 0)
	l.Context, l.Searching = context.WithoutCancel(ctx), false
	if err != nil || len(whole.reasons) > 0 {
		return nil
	}
	whole.executor.EndVisit()
	return whole
}

// earlier is what searches have come to that were begun again.
type earlier struct {
	// sightings are what was found out about the code of controllers. A later search may not meet it once more: what is
	// learned is kept, a coin falls otherwise, and what code keeps outside of its instances is not as it was.
	sightings []sighting
	// largest is how many states the largest of them has stored, and why is what more was known of controllers behind
	// it.
	largest int
	why     string
}

// sighting is an incident, with the fingerprint of the state that it is put down to.
type sighting struct {
	incident core.Incident
	at       state.Fingerprint
	// suspect is where it may have been chance, see [transition.Learner.Explained].
	suspect memo.Digest
}

// collect adds what a search found. There is no space if it ended before its first state.
func (e *earlier) collect(l *transition.Learner, space *Space) {
	if space != nil && space.States() > e.largest {
		e.largest, e.why = space.States(), ""
	}
	for _, incident := range l.Incidents {
		if slices.ContainsFunc(e.sightings, func(known sighting) bool { return transition.WrongOf(known.incident) == transition.WrongOf(incident) }) {
			continue
		}
		seen := sighting{incident: incident, suspect: l.Suspects[transition.WrongOf(incident)]}
		if space != nil && int(incident.State) < space.States() {
			seen.at = space.Fingerprint(incident.State)
		}
		e.sightings = append(e.sightings, seen)
	}
}

// givenUp notes why the search begins again.
func (e *earlier) givenUp(why string) {
	if e.why == "" {
		e.why = why
	}
}

// recallGrace is how long states are looked for after the search was to end.
const recallGrace = 100 * time.Millisecond

// recall adds to what the last search found what the searches before it did. What is put down to a state that was not
// stored again is told without a run.
func (s *Space) recall(ctx context.Context, seen []sighting) {
	var missing []sighting
	for _, before := range seen {
		if !s.learner.Explained(before.suspect) && !slices.ContainsFunc(s.learner.Incidents, func(known core.Incident) bool {
			return transition.WrongOf(known) == transition.WrongOf(before.incident)
		}) {
			missing = append(missing, before)
		}
	}
	if len(missing) == 0 {
		return
	}
	states := map[state.Fingerprint]core.StateID{}
	later, stop := grace.After(ctx, recallGrace)
	defer stop()
	// If there is no time to look at all states, some are not found.
	_ = s.Within(later, func() error {
		for id := range core.StateID(s.States()) {
			states[s.Fingerprint(id)] = id
		}
		return nil
	})
	for _, before := range missing {
		incident := before.incident
		if id, stored := states[before.at]; stored {
			incident.State = id
		} else {
			incident.State, incident.AtStart = 0, true
		}
		s.learner.Incidents = append(s.learner.Incidents, incident)
	}
}
