package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/state"
)

// Stats are the counts of a search.
type Stats struct {
	// Transitions are the steps taken from expanded states; FromTree those of them that ran no code.
	Transitions, FromTree int
	// Terminal are the states in which nothing can happen.
	Terminal int
	// Depth is the number of steps to the deepest stored state, by the way it was found.
	Depth int
	// Executed are runs of reconcilers, audits included; Behaviours the distinct runs that were learned.
	Executed, Behaviours int
}

// Space is what a search stored of the states of a system. It implements
// [core.Graph]: states are kept, steps are taken again when they are asked for, by
// walking the behaviour trees.
type Space struct {
	Stats Stats

	machine *machine
	learner *learner
	*reductions
	// scholar is the walker that learns, reader one that only reads.
	scholar, reader *explorer

	store store.Store
	// table is the store if workers insert states into it, or else nil.
	table *store.Full
	// mirror checks that names are treated alike, nil if states are not merged, and apart is why they are not although that was asked for.
	mirror *mirror
	apart  string
	// arranging tells that arrangements of stored states are stored, of which all is known.
	arranging bool
	standIns  standIns
	// rebuilder makes again what the store does not keep, nil if it keeps all.
	rebuilder *rebuilder
	order     Order
	initial   []core.StateID
	// quiescent are the states with nothing to do but to wait for timers, in the order of their expansion.
	quiescent []core.StateID
	acyclic   bool
	expanded  idSet
	// partial are the states in which agents are left out, and full those in which none is so as not to put it
	// off for ever.
	partial, full idSet
	cut           idSet
	depths        depths
	sleeps        sleeps
	reasons       []string

	invariants []invariant
	lister     lister
	// starts are what the system starts with, by the rows of initial states; nil if nobody has asked.
	starts map[string]*core.Initial
	// growing is a run on which there are more and more objects, nil if none was found.
	growing *Growth
}

var _ core.Graph = (*Space)(nil)

// invariant is a property of single states, with the first state that breaks it.
type invariant struct {
	property core.Property
	broken   bool
	state    core.StateID
	err      error
}

func newSpace(m *machine, l *learner, r *reductions, options Options) *Space {
	l.incidents, l.seen = nil, map[wrong]bool{}
	s := &Space{
		machine: m, reductions: r,
		learner: l,
		order:   options.Order,
		acyclic: true,
		depths:  depths{needed: options.Order == DepthFirst && options.Bounds.Depth > 0 || options.Order.Walks()},
	}
	s.sleeps.needed = r.choosers != nil && !s.depths.needed
	if options.Compact {
		s.store, s.rebuilder = store.NewCompact(), newRebuilder(s)
	} else {
		full := store.NewFull()
		s.store = full
		if !s.depths.needed {
			s.table = full
		}
	}
	s.scholar, s.reader = s.explorer(l), s.explorer(nil)
	s.lister.space = s
	if r.symmetry != nil {
		s.mirror = newMirror(s)
		s.scholar.mirror = s.mirror
	}
	for _, p := range m.system.Properties {
		if p.Invariant != nil {
			s.invariants = append(s.invariants, invariant{property: p})
		}
	}
	return s
}

// because adds a reason why the search is not complete, once.
func (s *Space) because(reason string) {
	if !slices.Contains(s.reasons, reason) {
		s.reasons = append(s.reasons, reason)
	}
}

// stops tells whether an error only means that the search does not go on behind a step,
// and takes note of the reason.
func (s *Space) stops(err error) bool {
	var unsupported *core.Unsupported
	if errors.As(err, &unsupported) {
		s.because(unsupported.Error())
		return true
	}
	return errors.Is(err, errStopped)
}

// Merged tells whether states are merged that differ only in which of interchangeable names is which. If they are not, although that was
// asked for, it says why.
func (s *Space) Merged() (merged bool, why string) { return s.mirror != nil, s.apart }

func (s *Space) markCut(id core.StateID) { s.cut.add(id) }

// Reasons returns why the search is not complete; there is none if it is.
func (s *Space) Reasons() []string { return slices.Concat(s.reasons, s.machine.doubts) }

// inspect checks the invariants in a new state.
func (s *Space) inspect(id core.StateID) error {
	if s.recording() {
		s.see(s.row(id))
	}
	var look core.State
	for i := range s.invariants {
		inv := &s.invariants[i]
		if inv.broken {
			continue
		}
		if look == nil {
			look = s.observe(s.row(id))
		}
		if err := judge(inv.property, look); err != nil {
			inv.broken, inv.state, inv.err = true, id, err
		}
	}
	if s.mirror == nil || s.arranging {
		return nil
	}
	return s.mirror.inspect(id, s.row(id))
}

// see takes note of what properties look at in a state.
func (s *Space) see(row []byte) {
	for _, p := range s.machine.system.Properties {
		if p.Sees != nil {
			look(p, s.observe(row))
		}
	}
}

// look has a property look at a state. That it panics is said when it is judged.
func look(p core.Property, state core.State) {
	defer func() { _ = recover() }()
	p.Sees(state)
}

// observe returns the state of a row. If orders may be left out, note is taken of what is looked at.
func (s *Space) observe(row []byte) core.State {
	look := s.look(row)
	if !s.recording() {
		return look
	}
	return &observer{Look: look, vocabulary: s.machine.vocabulary, footprints: s.footprints}
}

// judge evaluates an invariant. A panic of the user's predicate is a violation.
func judge(p core.Property, look core.State) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the predicate panicked: %v", value)
		}
	}()
	return p.Invariant(look)
}

// Broken returns the first state that breaks the invariant of that name, and how.
func (s *Space) Broken(name string) (core.StateID, error) {
	for _, inv := range s.invariants {
		if inv.property.Name == name && inv.broken {
			return inv.state, inv.err
		}
	}
	return 0, nil
}

// row returns the packed row of a state. It must not be changed.
func (s *Space) row(id core.StateID) []byte {
	if row := s.store.Encoded(s.store.At(id)); row != nil || s.rebuilder == nil {
		return row
	}
	return s.rebuilder.row(id)
}

// Odds returns how likely it is, about, that states were missed because others were taken for them: 0 unless the search was compact.
func (s *Space) Odds() float64 {
	if s.rebuilder == nil {
		return 0
	}
	return store.Odds(s.States())
}

// look returns the state of a row. It is valid until the next call.
func (s *Space) look(row []byte) state.Look {
	s.reader.load(row)
	return state.NewLook(s.machine.vocabulary, s.reader.vector)
}

// Fingerprint returns the fingerprint of a state.
func (s *Space) Fingerprint(id core.StateID) state.Fingerprint {
	s.reader.load(s.row(id))
	return s.reader.fingerprint
}
