package reduction

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Reductions are what is known that lets a search leave out orders or merge states.
type Reductions struct {
	// Footprints are what steps touch, nil if no orders are left out.
	Footprints *footprints
	// Choosers make what leaves out agents; nil leaves out none.
	Choosers func() Chooser
	// Symmetry exchanges names in states, nil if none are merged.
	Symmetry *state.Interchange
}

// Growth counts what was learned of footprints, and of how versions are renamed.
func (r *Reductions) Growth() int {
	if r.Footprints == nil {
		return 0
	}
	return r.Footprints.growth + r.Footprints.machine.Heeded + r.Footprints.vocabulary.Normalizations()
}

// MakeChoosers makes choosers from what is known.
func (r *Reductions) MakeChoosers(m *transition.Machine, reducer Reducer) {
	r.Choosers = nil
	f := r.Footprints
	f.searches++
	m.Searches, f.heeded = f.searches, m.Heeded
	f.judged = judged{lasting: map[string]bool{}}
	if f.settled = f.known(m); !f.allVisible {
		r.Choosers = reducer.Learn(f.settled.agents, f.settled.visible)
	}
}

// Outdated reports whether choosers made from what is known by now might choose otherwise. Much of what a search
// learns, such as who is not woken by one more change of an object, says nothing new of any agent.
func (r *Reductions) Outdated(m *transition.Machine) bool {
	known := r.Footprints.known(m)
	return m.Heeded != r.Footprints.heeded || !known.comesTo(&r.Footprints.settled) || !r.Footprints.judgesAlike(&known)
}

// Recording reports whether footprints are recorded.
func (r *Reductions) Recording() bool { return r.Footprints != nil && r.Footprints.recording }

// FinishRecording ends the record of footprints.
func (r *Reductions) FinishRecording() {
	if r.Footprints != nil {
		r.Footprints.recording = false
	}
}

// Explorer is a walker that knows which of its steps can be left out, and which state stands for the one that it is in.
type Explorer struct {
	*transition.Walker
	*Reductions
	selection
	level
	sleepSet
	canonicalizer
	// Checker checks that names are treated alike, nil if it is no matter.
	Checker *Checker
}

var _ transition.Monitor = (*Explorer)(nil)

// NewExplorer returns an explorer that leaves out what can be left out. It learns with a learner, or takes only steps
// that are known if that is nil.
func NewExplorer(m *transition.Machine, l *transition.Learner, r *Reductions) *Explorer {
	w := &Explorer{Walker: transition.NewWalker(m, l), Reductions: r}
	if r.Choosers != nil {
		w.chooser = r.Choosers()
	}
	if r.Recording() || w.chooser != nil {
		listen(w)
	}
	if r.Footprints != nil || r.Symmetry != nil {
		w.Monitor = w
	}
	return w
}

// Load puts the explorer in a state, of which nothing is found out yet.
func (w *Explorer) Load(row []byte) {
	w.Walker.Load(row)
	w.Level, w.Learned = false, w.Learned[:0]
}

// Before implements [transition.Monitor]: if states are merged, it makes sure that a step is the same with names
// exchanged.
func (w *Explorer) Before(s *transition.Taken) error {
	switch {
	case w.Checker == nil, s.Kind != core.Reconcile && s.Kind != core.Act, w.Checker.knows(s.Item, w.Vector):
		return nil
	case w.Learn == nil:
		return transition.ErrUnknown
	}
	where := w.Learn.Where
	defer func() { w.Learn.Where = where }()
	return w.Checker.check(s.Item, w.Vector)
}

// After implements [transition.Monitor]: it notes what a step touched, if it is to be known, and that one which goes
// first because it does nothing is not late. Where concurrent calls are answered in several orders no states are
// merged: with names exchanged, another order comes first.
func (w *Explorer) After(s *transition.Taken) error {
	// What does nothing does no more on a stale view: it could as well be done later.
	s.Late = s.Late && !w.Level
	if err := w.account(s); err != nil {
		return err
	}
	switch {
	case !w.Contends() || w.Symmetry == nil:
		return nil
	case w.Learn == nil:
		return transition.ErrUnknown
	}
	return Apart(fmt.Sprintf("%s makes concurrent calls whose order matters", s.Actor.Name))
}

// account notes what a step touched, if it is to be known.
func (w *Explorer) account(s *transition.Taken) error {
	if !w.Recording() || s.Kind.Timed() {
		return nil
	}
	w.seeMemories()
	switch {
	case w.Footprints.covers(w, s) && w.Footprints.meets(w, s):
		return nil
	case w.Learn == nil:
		return transition.ErrUnknown
	}
	w.Footprints.note(w, s)
	w.Footprints.meets(w, s)
	return nil
}
