package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Reducer leaves out orders of steps that cannot matter. It knows neither controllers nor objects, only
// agents and what they may touch.
//
// An agent is something that takes steps one after the other: a work item of a controller, the delivery to a view,
// the restarts of a controller.
type Reducer interface {
	// Learn is told what is known of all agents, by number, and which places are looked at by what is
	// checked. It returns what makes a chooser for each goroutine that searches.
	Learn(footprints []Footprint, visible []Place) func() Chooser
}

// Chooser chooses which agents have to be followed in a state. It is used by one goroutine at a time.
type Chooser interface {
	// Choose returns what has to be followed in a state. It must be a function of its argument, which it must not keep.
	// The choice is valid until the next call.
	Choose(enabled []Enabled) Choice
	// Commute tells whether the steps of two agents that are followed in the state of the last choice lead to the same state in either
	// order, and whoever goes second is followed behind the step of the first, unless agents like that are put off somewhere.
	Commute(agent, other int) bool
}

// Choice is what has to be followed in a state.
type Choice struct {
	// Follow are the numbers of agents, in order; nil stands for all that are enabled.
	Follow []int
	// PutOff are enabled agents that are not followed, although they may have been before a step of one that is: what
	// an order of steps that was followed becomes if they are swapped is not followed then.
	PutOff []int
}

// Place numbers something that steps may touch: an object, the objects of a kind in a namespace, a view, a budget.
type Place uint32

// Footprint is what an agent may touch, now or later, as far as it is known.
type Footprint struct {
	// Known tells that the agent has taken a step. What others may touch is open.
	Known bool
	// Everything tells that the agent may touch whatever there is.
	Everything bool
	// Takes tells that the agent takes out of a queue what others put there.
	Takes bool
	// Reads and Writes are the places it looks at and changes, each once and in order.
	Reads, Writes []Place
	// Alters are the lists that what it writes may be in: it matters to who reads such a list, but not to who alters it, too.
	Alters []Place
	// Wakes are the agents that it may enable by putting work into a queue, in order.
	Wakes []int
	// Gates are the places that may keep it from taking a step, in order.
	Gates []Place
}

// Enabled is an agent that can take a step in a state.
type Enabled struct {
	Agent int
	// Due tells that it takes the step sooner or later, unless others keep it from it: not what users do, nor those of whom no
	// fairness is assumed.
	Due bool
	// Now is what the step itself may touch, nil for all that the agent may.
	Now *Footprint
}

// reduced searches again and again, each time with what is known by then of what steps touch, until a search learns nothing
// more: only then was every choice made with all there is to know. Behaviour trees are kept, so that
// the later searches are fast.
func reduced(ctx context.Context, m *transition.Machine, l *transition.Learner, options Options, began time.Time, found *sightings) (*Space, error) {
	r := &reductions{footprints: newFootprints()}
	r.footprints.record(m)
	for patience := firstPatience; ; patience *= 2 {
		r.makeChoosers(m, options.Reducer)
		before := r.growth()
		space, err := explore(ctx, m, l, r, options, began, patience)
		found.collect(l, space)
		r.footprints.selects(m.Vocabulary)
		if err != nil {
			return nil, err
		}
		for _, incident := range l.Incidents {
			if incident.Kind == core.Nondeterministic {
				// What such a controller touches cannot be learned.
				options.Reducer = nil
				return unmerged(ctx, m.System, options, began, found)
			}
		}
		switch {
		case len(space.reasons) > 0:
			return space, nil
		case space.pointless():
			// Asking in every state what could be left out only costs time.
			m.Recorder, options.Reducer = nil, nil
			return explore(ctx, m, l, &reductions{}, options, began, 0)
		case r.growth() == before:
			return space, nil
		}
	}
}

// reductions are what is known that lets a search leave out orders or merge states.
type reductions struct {
	// footprints are what steps touch, nil if no orders are left out.
	footprints *footprints
	// choosers make what leaves out agents; nil leaves out none.
	choosers func() Chooser
	// symmetry exchanges names in states, nil if none are merged.
	symmetry *state.Interchange
}

// growth counts what was learned of footprints.
func (r *reductions) growth() int {
	if r.footprints == nil {
		return 0
	}
	return r.footprints.growth
}

// makeChoosers makes choosers from what is known.
func (r *reductions) makeChoosers(m *transition.Machine, reducer Reducer) {
	r.choosers = nil
	r.footprints.gate(m)
	if !r.footprints.allVisible {
		r.choosers = reducer.Learn(r.footprints.all(), sorted(r.footprints.visible.reads))
	}
}

// recording reports whether footprints are recorded.
func (r *reductions) recording() bool { return r.footprints != nil && r.footprints.recording }

// finishRecording ends the record of footprints.
func (r *reductions) finishRecording() {
	if r.footprints != nil {
		r.footprints.recording = false
	}
}

// explorer is a walker that knows which of its steps can be left out, and which state stands for the one that it is in.
type explorer struct {
	*transition.Walker
	*reductions
	chooses
	dozes
	arranges
	// mirror checks that names are treated alike, nil if it is no matter.
	mirror *mirror
}

var _ transition.Monitor = (*explorer)(nil)

// explorer returns an explorer that leaves out what can be left out.
func (s *Space) explorer(l *transition.Learner) *explorer {
	w := &explorer{Walker: transition.NewWalker(s.machine, l), reductions: s.reductions}
	if s.recording() {
		listen(w)
	}
	if s.choosers != nil {
		w.chooser = s.choosers()
	}
	if s.footprints != nil || s.symmetry != nil {
		w.Monitor = w
	}
	return w
}

// Before implements [transition.Monitor]: if states are merged, it makes sure that a step is the same with names exchanged.
func (w *explorer) Before(s *transition.Taken) error {
	switch {
	case w.mirror == nil, s.Kind != core.Reconcile && s.Kind != core.Act, w.mirror.knows(s.Item, w.Vector):
		return nil
	case w.Learn == nil:
		return transition.ErrUnknown
	}
	where := w.Learn.Where
	defer func() { w.Learn.Where = where }()
	return w.mirror.check(s.Item, w.Vector)
}

// After implements [transition.Monitor]: it notes what a step touched, if it is to be known. Where concurrent calls are answered in several orders no
// states are merged: with names exchanged, another order comes first.
func (w *explorer) After(s *transition.Taken) error {
	if err := w.account(s); err != nil || len(w.Reversed) == 0 || w.symmetry == nil {
		return err
	}
	if w.Learn == nil {
		return transition.ErrUnknown
	}
	return apart(fmt.Sprintf("%s makes calls at the same time whose order matters", s.Actor.Name))
}

// account notes what a step touched, if it is to be known.
func (w *explorer) account(s *transition.Taken) error {
	switch {
	case !w.recording() || s.Kind == core.Fire || s.Kind == core.Restart || w.footprints.covers(w, s):
		return nil
	case w.Learn == nil:
		return transition.ErrUnknown
	}
	w.footprints.note(w, s)
	return nil
}

// firstPatience is how many states the first search stores before it is begun again because something was
// learned. Each search has twice the patience of the one before.
const firstPatience = 4

// hopeless tells whether the search has learned something, so that there has to be another one, and has gone on long enough to
// have learned the most of it.
func (s *search) hopeless() bool {
	return s.options.Reducer != nil && (s.growth() > s.grown && s.States() >= s.patience || s.pointless())
}

// enoughTried is how many states without anything to leave out are enough to expect nothing of the rest.
const enoughTried = 1 << 11

// pointless tells whether the search could leave out something and has not done so in many states.
func (s *Space) pointless() bool {
	return s.choosers != nil && s.partial.empty() && s.States() >= enoughTried
}

// sightings are what was found out about the code of controllers in searches that were begun again. A later search may not meet it once
// more: what is learned is kept, a coin falls otherwise, and what code keeps outside of its instances is not as it was.
type sightings []sighting

// sighting is an incident, with the fingerprint of the state that it is put down to.
type sighting struct {
	incident core.Incident
	at       state.Fingerprint
}

// collect adds what a search found. There is no space if it ended before its first state.
func (s *sightings) collect(l *transition.Learner, space *Space) {
	for _, incident := range l.Incidents {
		if slices.ContainsFunc(*s, func(known sighting) bool { return transition.WrongOf(known.incident) == transition.WrongOf(incident) }) {
			continue
		}
		seen := sighting{incident: incident}
		if space != nil && int(incident.State) < space.States() {
			seen.at = space.Fingerprint(incident.State)
		}
		*s = append(*s, seen)
	}
}

// recall adds to what the last search found what the searches before it did. What is put down to a state that was not
// stored again is told without a run.
func (s *Space) recall(seen sightings) {
	var missing []sighting
	for _, before := range seen {
		if !slices.ContainsFunc(s.learner.Incidents, func(known core.Incident) bool {
			return transition.WrongOf(known) == transition.WrongOf(before.incident)
		}) {
			missing = append(missing, before)
		}
	}
	if len(missing) == 0 {
		return
	}
	states := map[state.Fingerprint]core.StateID{}
	for id := range core.StateID(s.States()) {
		states[s.Fingerprint(id)] = id
	}
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
