package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/bitset"
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

	machine *transition.Machine
	learner *transition.Learner
	*reduction.Reductions
	// executor is the walker that learns, reader one that only reads.
	executor, reader *reduction.Explorer

	store store.Store
	// buffer is for the row that was asked for last.
	buffer []byte
	// table is the store if workers insert states into it, or else nil.
	table *store.Full
	// checker checks that names are treated alike, nil if states are not merged, and apart is why they are not although that was asked for.
	checker *reduction.Checker
	apart   string
	// arranging tells that arrangements of stored states are stored, of which all is known.
	arranging bool
	orbits    orbits
	// rebuilder makes again what the store does not keep, nil if it keeps all.
	rebuilder *rebuilder
	order     Order
	workers   int
	// logs tells that traces say what controllers log.
	logs    bool
	initial []core.StateID
	// quiescent are the states with nothing to do but to wait for timers, in the order of their expansion.
	quiescent []core.StateID
	acyclic   bool
	expanded  bitset.Set[core.StateID]
	// partial are the states in which agents are left out, and full those in which none is so as not to put it
	// off for ever; in those that are grouped none of the group that is followed is.
	partial, full, grouped bitset.Set[core.StateID]
	// level are those of the partial states in which one agent is followed alone, as its step does nothing.
	level   bitset.Set[core.StateID]
	cut     bitset.Set[core.StateID]
	depths  depths
	sleeps  sleeps
	reasons []string
	// givenUp tells that the search learned something by which it would have chosen otherwise, and did not go on.
	givenUp bool

	invariants []invariant
	lister     lister
	// starts are what the system starts with, by the rows of initial states; nil if nobody has asked.
	starts map[string]*core.Initial
	// reading is the context that the space is read in, nil if nothing ends that, and ended the error with which it ended what
	// read the space.
	reading context.Context
	ended   error
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

func newSpace(m *transition.Machine, l *transition.Learner, r *reduction.Reductions, options Options) *Space {
	l.Incidents, l.Seen = nil, map[transition.Wrong]bool{}
	s := &Space{
		machine: m, Reductions: r,
		learner: l,
		order:   options.Order,
		workers: options.Workers,
		acyclic: true,
		logs:    options.Logs,
		depths:  depths{needed: options.Order == DepthFirst && options.Bounds.Depth > 0 || options.Order.Walks()},
	}
	s.sleeps.needed = r.Choosers != nil && !s.depths.needed
	if options.Compact {
		s.store, s.rebuilder = store.NewCompact(), newRebuilder(s)
	} else {
		full := store.NewFull()
		s.store = full
		if !s.depths.needed {
			s.table = full
		}
	}
	s.executor, s.reader = s.explorer(l), s.explorer(nil)
	s.lister.space = s
	if r.Symmetry != nil {
		s.checker = reduction.NewChecker(s.explorer(s.learner), s.stops)
		s.executor.Checker = s.checker
	}
	for _, p := range m.System.Properties {
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

// stops reports whether an error only means that the search does not go on behind a step,
// and notes the reason.
func (s *Space) stops(err error) bool {
	var unsupported *core.Unsupported
	if errors.As(err, &unsupported) {
		s.because(unsupported.Error())
	}
	return transition.Ends(err)
}

// Merged reports whether states are merged that differ only in which of interchangeable names is which. If they are not, although that was
// asked for, it says why.
func (s *Space) Merged() (merged bool, why string) { return s.checker != nil, s.apart }

func (s *Space) markCut(id core.StateID) { s.cut.Add(id) }

// Reasons returns why the search is not complete; there is none if it is. Who looks at its states may run code that was not run before, so
// that there are more later.
func (s *Space) Reasons() []string {
	return slices.Concat(s.reasons, s.machine.Waiting(), s.machine.Doubts)
}

// Files says which controllers look for files or read them, and where in their code, in the order in which that was found out.
func (s *Space) Files() []string { return s.machine.Files }

// inspect checks the invariants in a new state.
func (s *Space) inspect(id core.StateID) error {
	if s.Recording() {
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
	if s.checker == nil || s.arranging {
		return nil
	}
	return s.inspectArranged(id, s.row(id))
}

// see notes what properties look at in a state.
func (s *Space) see(row []byte) {
	for _, p := range s.machine.System.Properties {
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
	if !s.Recording() {
		return look
	}
	return s.Observe(look, s.machine.Vocabulary)
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

// row returns the packed row of a state. It must not be changed, and is good until the next call. As all that is known of a state is in its
// row, this is where what reads the space is ended.
func (s *Space) row(id core.StateID) []byte {
	s.attend()
	if s.rebuilder != nil {
		return s.rebuilder.row(id)
	}
	s.buffer = s.store.Encoded(s.store.At(id), s.buffer)
	return s.buffer
}

// IdleFirst returns in how many states one agent is followed alone, as its step does nothing and whatever changes what it looked at wakes
// it.
func (s *Space) IdleFirst() int {
	n := 0
	for range s.level.All() {
		n++
	}
	return n
}

// A part of the state is reported if it makes a difference: without it there would be at most so many of a hundred states. It is looked at
// in so many states at most, as that takes as long as to search some.
const (
	mostLeft   = 80
	mostParts  = 3
	fewStates  = 1_000
	large      = 100_000
	mostLooked = 100_000
)

// Parts returns the parts of the state that there are most states because of, the first one first: none if there are few states, if there
// are not many and all that is possible was searched, or if states are not kept.
func (s *Space) Parts() []core.StatePart {
	n := s.States()
	if s.rebuilder != nil || n < fewStates || n < large && len(s.reasons) == 0 {
		return nil
	}
	of, names := s.machine.Belongings()
	others := make([]map[state.Fingerprint]struct{}, len(names))
	for part := range others {
		others[part] = map[state.Fingerprint]struct{}{}
	}
	looked, rest := min(n, mostLooked), make([]state.Fingerprint, len(names))
	for id := range looked {
		s.reader.Load(s.row(core.StateID(id)))
		clear(rest)
		for c, value := range s.reader.Vector {
			if value != 0 {
				rest[of[c]].Toggle(s.machine.Vocabulary.Print(state.Cell(c), value))
			}
		}
		for part := range rest {
			rest[part].Toggle(s.reader.Fingerprint)
			others[part][rest[part]] = struct{}{}
		}
	}
	var parts []core.StatePart
	for part, without := range others {
		if share := len(without) * 100; share <= mostLeft*looked {
			parts = append(parts, core.StatePart{Name: names[part], Without: len(without) * n / looked})
		}
	}
	slices.SortStableFunc(parts, func(a, b core.StatePart) int { return cmp.Compare(a.Without, b.Without) })
	return parts[:min(mostParts, len(parts))]
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
	s.reader.Load(row)
	return state.NewLook(s.machine.Vocabulary, s.reader.Vector)
}

// Fingerprint returns the fingerprint of a state.
func (s *Space) Fingerprint(id core.StateID) state.Fingerprint {
	s.reader.Load(s.row(id))
	return s.reader.Fingerprint
}

// Memory returns what controllers were found to keep in memory from one run to the next.
func (s *Space) Memory() []core.MemoryReport { return s.machine.Memories() }

// Compared returns the kinds of which controllers were found to compare when their objects were created, in groups, besides those of which
// it was known, and these controllers. The search has them at one age.
func (s *Space) Compared() (groups [][]core.Kind, controllers []string) {
	return s.machine.Compared, s.machine.Comparing
}

// Dating returns the kinds of which controllers were found to compare times that are written into objects, besides those of which it was
// known, and these controllers. The search has them all at one time.
func (s *Space) Dating() (kinds []core.Kind, controllers []string) {
	return s.machine.Dated, s.machine.Dating
}

// Ordered reports whether the names of versions are in the order of their age, as a controller was found to compare them.
func (s *Space) Ordered() bool { return s.machine.Conditions.Ordered }

// Adopted returns the kinds that were found to matter to the store and to strategies, in order, see [core.Adopting].
func (s *Space) Adopted() []core.Kind { return s.machine.Conditions.Adopted }

// Counted returns the kinds of which what is counted stays as it is, as a controller was found to heed it, in order.
func (s *Space) Counted() []core.Kind { return s.machine.Conditions.Counted }

// Awaiting names the controllers that were found to wait for times, in the order of the system.
func (s *Space) Awaiting() []string { return s.machine.Awaiting() }

// Recurs reports whether controllers do after the last of the times that pass what they did after the one before, so that it makes no
// difference that no more pass.
func (s *Space) Recurs() bool { return s.machine.Recurs }

// Passing returns the times that pass besides one that is longer than whatever is waited for, as controllers were found to wait for
// several, and what people call them.
func (s *Space) Passing() (spans []time.Duration, names []string) { return s.machine.Passing() }

// Drawing names the controllers that were found to draw random values which follow from a seed, in the order of the system.
func (s *Space) Drawing() []string { return s.machine.Drawing() }

// Forking names the controllers of which it was searched what they do by chance, in the order of the system.
func (s *Space) Forking() []string { return s.machine.Forking() }

// Heeding names the controllers that were found to heed in which order their caches list objects, in the order of the system.
func (s *Space) Heeding() []string { return s.machine.Heeding() }

// Gambling names the controllers that were found to decide by random values, in the order of the system: of what they may do, only what
// came of those that were drawn was searched.
func (s *Space) Gambling() []string { return s.machine.Gambling() }

// Connected names the controllers that were found to ask somebody who is no part of the system, in the order of the system: of what they
// may do, only what came of the answers was searched.
func (s *Space) Connected() []string { return s.machine.Connected() }

// Batches returns how many changes of a kind one reconcile was found to commit at most.
func (s *Space) Batches() map[core.Kind]int { return s.machine.Batches() }

// Caches returns the kinds that the controllers of each process watch, or were found to read through its cache.
func (s *Space) Caches() map[string][]core.Kind {
	kinds := map[string][]core.Kind{}
	for _, a := range s.machine.Actors {
		if !a.User {
			name := a.Strategy.Describe().ProcessName()
			kinds[name] = slices.Concat(kinds[name], a.Watches, a.Caches, a.Cached)
		}
	}
	return kinds
}

// Views returns the views that may lag behind, in the order of processes. Both instances of a process that is active
// twice have those of the process.
func (s *Space) Views() []core.ViewReport {
	var views []core.ViewReport
	for _, p := range s.machine.Processes {
		if p.Name != p.Members[0].Strategy.Describe().ProcessName() {
			continue
		}
		for _, v := range p.Views {
			views = append(views, core.ViewReport{Controller: p.Name, Kind: v.Kind(), Rule: v.Rule().String()})
		}
	}
	return views
}

// unfailing is why a search under failed calls says nothing of them.
const unfailing = "failed calls are allowed, but no call that was made can fail: " +
	"leave out --failures (Options.Failures), or name controllers whose calls can fail with --faults-in (Options.FaultsIn)"

// Unfailing reports whether calls were to fail, and nothing speaks against a verdict but that none was made which can.
func (s *Space) Unfailing() bool {
	return slices.Equal(s.Reasons(), []string{unfailing})
}

// idle returns an error that says what there is if some view was to lag behind and no controller has it: a check must not seem to
// have been under conditions that could not act. If the search is not complete, that is one more reason.
func (s *Space) idle() error {
	if c := s.machine.Conditions; c.Failures > 0 && !s.machine.Fails && len(s.reasons) == 0 && len(s.machine.Doubts) == 0 { // or else such a call may be still to come
		s.because(unfailing) // a store says which can by Faults
	}
	kinds := s.Caches()
	var all []core.Kind
	for _, process := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, kinds[process]...)
	}
	for _, stale := range s.machine.Conditions.Staleness {
		has := all
		if stale.Controller != "" {
			has = kinds[stale.Controller]
		}
		if stale.Rule == view.Fresh() || len(has) > 0 && stale.Kind == "" || slices.Contains(has, stale.Kind) {
			continue
		}
		err := idleRule(stale, has)
		if len(s.reasons) == 0 {
			return err
		}
		s.because("as far as the search came, " + err.Error())
	}
	return nil
}

// idleRule says that a rule concerns no view, and which views there are.
func idleRule(stale Staleness, has []core.Kind) error {
	switch {
	case stale.Controller == "" && len(has) == 0:
		return fmt.Errorf("no cache can be stale: no controller watches a kind or reads one through a cache")
	case stale.Controller == "":
		return fmt.Errorf("no controller watches %q or reads it through a cache: cached kinds are %s", stale.Kind, transition.Listed(has))
	case len(has) == 0:
		return fmt.Errorf("controller %q has no cache that could be stale: it does not watch a kind or read one through a cache", stale.Controller)
	}
	return fmt.Errorf("controller %q does not watch %q or read it through a cache: its cached kinds are %s", stale.Controller, stale.Kind, transition.Listed(has))
}

// Unchecked returns the fields that are set in some version of an object that the search met
// and that the store did not check (see [core.Doubtful]), by kind and what can be done about it, in order.
func (s *Space) Unchecked() []core.Unchecked {
	type group struct {
		kind   core.Kind
		remedy string
	}
	found := map[group]map[string]bool{}
	v := s.machine.Vocabulary
	for c := range state.Cell(v.Cells()) {
		key, isObject := v.Key(c)
		if !isObject {
			continue
		}
		for value := range v.Values(c) {
			content, ok := v.Content(c, state.Value(value)).(core.Doubtful)
			if !ok {
				continue
			}
			fields, remedy := content.Unchecked()
			for _, name := range fields {
				g := group{key.Kind, remedy}
				if found[g] == nil {
					found[g] = map[string]bool{}
				}
				found[g][name] = true
			}
		}
	}
	all := make([]core.Unchecked, 0, len(found))
	for g, fields := range found {
		all = append(all, core.Unchecked{Kind: g.kind, Fields: slices.Sorted(maps.Keys(fields)), Remedy: g.remedy})
	}
	slices.SortFunc(all, func(a, b core.Unchecked) int {
		if a.Kind != b.Kind {
			return slices.Compare([]core.Kind{a.Kind}, []core.Kind{b.Kind})
		}
		return slices.Compare([]string{a.Remedy}, []string{b.Remedy})
	})
	return all
}

// explorer returns an explorer of the space.
func (s *Space) explorer(l *transition.Learner) *reduction.Explorer {
	return reduction.NewExplorer(s.machine, l, s.Reductions)
}
