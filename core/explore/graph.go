package explore

import (
	"context"
	"iter"
	"reflect"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/effort"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// States implements [core.Graph].
func (s *Space) States() int { return s.store.Len() }

// Minimal tells that the run by which each state was first reached is one that [Space.Shortest] would choose, and that
// states are numbered in the order of the lengths of these runs.
func (s *Space) Minimal() bool { return s.order == BreadthFirst && !s.machine.Disturbs() }

// Initial implements [core.Graph].
func (s *Space) Initial() []core.StateID { return s.initial }

// State implements [core.Graph]. The state is valid until the next call of any
// method of the space.
func (s *Space) State(id core.StateID) core.State { return s.look(s.row(id)) }

// Cut implements [core.Graph].
func (s *Space) Cut(id core.StateID) bool { return s.cut.Has(id) }

// Quiescent implements [core.Graph].
func (s *Space) Quiescent() []core.StateID {
	return slices.Sorted(slices.Values(s.quiescent))
}

// Acyclic implements [core.Graph]: every step led to a state with a higher number.
func (s *Space) Acyclic() bool { return s.acyclic }

// Incidents implements [core.Graph].
func (s *Space) Incidents() []core.Incident { return s.learner.Incidents }

// Fair implements [core.Graph]: faults and users are not forced to do anything.
func (s *Space) Fair(step core.Step) bool {
	return (step.Kind.Timed() || step.Due()) && !s.machine.Unfair(step)
}

// Surrounds implements [core.Graph].
func (s *Space) Surrounds(strategy string) bool {
	return slices.Contains(s.machine.System.Surroundings, strategy)
}

// Promised implements [core.Graph].
func (s *Space) Promised(step core.Step) *core.Promise {
	if step.Kind != core.Intervene {
		return nil
	}
	actions := s.machine.System.Scenario.Actions
	i := slices.IndexFunc(actions, func(a core.Action) bool { return core.Request(a.Name) == step.Item.Request })
	if i < 0 {
		return nil
	}
	return actions[i].Promise
}

// expected tells that the step is taken sooner or later if it stays possible, because fairness is assumed of it or
// because it was promised.
func (s *Space) expected(step core.Step) bool { return s.Fair(step) || s.Promised(step) != nil }

// History implements [core.Graph].
func (s *Space) History(id core.StateID) []core.Request {
	s.reader.Load(s.row(id))
	return s.machine.Histories[s.reader.Value(s.machine.History)].Actions
}

// Awaited implements [core.Graph].
func (s *Space) Awaited(id core.StateID) []core.Item {
	if len(s.machine.Waiting()) == 0 {
		return nil
	}
	s.reader.Load(s.row(id))
	v := awaitedVisitor{items: s.reader.Awaited()}
	if _, err := s.reader.Steps(&v, nil); err != nil {
		panic("explore: listing the steps of a state ended with " + err.Error())
	}
	return v.items
}

// awaitedVisitor lists the items whose runs would be others at a later time, to which no run comes.
type awaitedVisitor struct{ items []core.Item }

// Stopped implements [transition.Visitor].
func (a *awaitedVisitor) Stopped(*transition.Taken, error) error { return nil }

// Took implements [transition.Visitor].
func (a *awaitedVisitor) Took(t *transition.Taken) error {
	if item := t.Step().Item; t.Leaf != nil && t.Leaf.Awaits && !slices.Contains(a.items, item) {
		a.items = append(a.items, item)
	}
	return nil
}

// Items implements [core.Graph].
func (s *Space) Items() []core.Item {
	var items []core.Item
	for _, it := range s.machine.Items {
		if !it.Standing && !it.Actor.Messages {
			items = append(items, it.Item)
		}
	}
	return items
}

// Edges implements [core.Graph].
func (s *Space) Edges(id core.StateID) []core.Edge { return s.list(id, s.extent(id)) }

// extent returns whose steps are followed in a state.
func (s *Space) extent(id core.StateID) reduction.Extent {
	switch {
	case s.full.Has(id):
		return reduction.Full
	case s.grouped.Has(id):
		return reduction.Grouped
	}
	return reduction.Chosen
}

// list returns the steps from a state of those agents that are followed to some extent.
func (s *Space) list(id core.StateID, extent reduction.Extent) []core.Edge {
	s.reader.Load(s.row(id))
	l := &s.lister
	l.from, l.edges = id, l.edges[:0]
	l.targets.clear()
	if _, err := s.reader.Steps(l, followed(s.reader, extent)); err != nil {
		panic("explore: listing the steps of a state ended with " + err.Error())
	}
	return l.stored()
}

// followed returns whose steps are followed in the state of an explorer, nil for all.
func followed(w *reduction.Explorer, extent reduction.Extent) []bool {
	// What is not known is not followed either: it is behind a cut.
	only, _ := w.Reduce(extent)
	return only
}

// lister lists the steps of a state.
type lister struct {
	space *Space
	from  core.StateID
	edges []core.Edge
	// targets are where the edges lead.
	targets targets
}

// Stopped implements [transition.Visitor]: what is not known is behind the cut.
func (l *lister) Stopped(*transition.Taken, error) error { return nil }

// Took implements [transition.Visitor].
func (l *lister) Took(t *transition.Taken) error {
	if w := l.space.reader; l.targets.add(w) {
		l.edges = append(l.edges, w.Edge(l.from, t))
	}
	return nil
}

// stored returns the edges. Those to states that were not stored are left out.
func (l *lister) stored() []core.Edge {
	kept := l.edges[:0]
	for i, to := range l.targets.stored(l.space.store) {
		e := l.edges[i]
		e.To = to
		kept = append(kept, e)
	}
	return l.space.orbits.spread(kept)
}

// targets are where steps from a state lead, which is looked up for all at once.
type targets struct {
	lookups []store.Lookup
	rows    []byte
}

func (t *targets) clear() { t.lookups, t.rows = t.lookups[:0], t.rows[:0] }

// add adds the state that a walker is in, and returns false if it is not known well enough to be stored.
func (t *targets) add(w *reduction.Explorer) bool {
	begin := len(t.rows)
	rows, tag, known := w.PackKnown(t.rows)
	if !known {
		return false
	}
	t.rows = rows
	t.lookups = append(t.lookups, store.Lookup{Hash: tag, Begin: int32(begin), End: int32(len(t.rows))})
	return true
}

// stored returns those that are stored, by their places among all.
func (t *targets) stored(in store.Store) iter.Seq2[int, core.StateID] {
	return func(yield func(int, core.StateID) bool) {
		in.Prefetch(t.lookups)
		for i, l := range t.lookups {
			if r, known := in.Find(l.Hash, t.rows[l.Begin:l.End]); known && !yield(i, in.ID(r)) {
				return
			}
		}
	}
}

// Relisted implements [core.Graph].
func (s *Space) Relisted(id core.StateID) []core.Item {
	w := s.executor
	w.Load(s.row(id))
	for _, it := range s.machine.Items {
		if !it.Standing {
			w.Set(it.Cell, 0)
		}
	}
	s.learner.Where = transition.Provenance{State: id}
	for _, p := range s.machine.Processes {
		if err := w.Relist(p); err != nil {
			s.untried(err)
			return nil
		}
	}
	var items []core.Item
	for _, it := range s.machine.Items {
		if !it.Standing && !it.Actor.Messages && w.Pending(it) {
			items = append(items, it.Item)
		}
	}
	return items
}

// Try implements [core.Graph].
func (s *Space) Try(id core.StateID, item core.Item) []core.Effect {
	a, err := s.machine.Actor(item.Strategy)
	if err != nil {
		return nil
	}
	w := s.executor
	w.Load(s.row(id))
	s.learner.Where = transition.Provenance{State: id}
	var effects []core.Effect
	err = w.EachOrder(s.machine.Item(a, item.Request), func(t *transition.Taken) bool {
		effect := w.Effect(t)
		effect.Alike = s.alike(s.look(s.row(id)), effect.Changes)
		effects = append(effects, effect)
		return true
	})
	if err != nil {
		s.untried(err)
		return nil
	}
	return effects
}

// alike reports whether all objects of a state count in outcomes as they do after some changes. The state is the one
// before them, or the one after.
func (s *Space) alike(look state.Look, changes []core.Change) bool {
	objects := look.Objects()
	before, after := slices.Clone(objects), slices.Clone(objects)
	for _, change := range changes {
		i := slices.IndexFunc(objects, func(o core.Object) bool { return o.Key == change.Key })
		if i < 0 || change.Before == nil || change.After == nil {
			return false
		}
		before[i].Content, after[i].Content = change.Before, change.After
	}
	return len(changes) == 0 || reflect.DeepEqual(s.canonical(before), s.canonical(after))
}

// canonical returns what of objects counts in outcomes, in the form in which it is compared.
func (s *Space) canonical(objects []core.Object) map[core.Key]any {
	return s.machine.System.Store.CanonicalOutcome(objects, s.outcomeOf(objects))
}

// Effect implements [core.Graph].
func (s *Space) Effect(e core.Edge) core.Effect {
	w := s.executor
	w.Load(s.row(e.From))
	s.learner.Where = transition.Provenance{State: e.From}
	chosen, err := w.Choose(e.Step)
	if err != nil || chosen == nil {
		s.attend()
		return core.Effect{}
	}
	effect := w.Effect(chosen)
	timely := func(c core.Change) bool {
		return c.Before != nil && c.After != nil && behavior.SameButForTimes(c.Before.Canonical(), c.After.Canonical())
	}
	effect.Dated = len(effect.Changes) > 0 && !slices.ContainsFunc(effect.Changes, func(c core.Change) bool { return !timely(c) })
	return effect
}

// untried notes that something could not be tried in a stored state. What is wrong
// with a run that never came back is an incident already.
func (s *Space) untried(err error) {
	s.attend()
	if !s.stops(err) {
		s.because(err.Error())
	}
}

// Outcome implements [core.Graph].
func (s *Space) Outcome(id core.StateID) map[core.Key]any {
	return s.outcomeOf(s.look(s.row(id)).Objects())
}

// outcomeOf returns what of objects counts in outcomes.
func (s *Space) outcomeOf(objects []core.Object) map[core.Key]any {
	outcome := map[core.Key]any{}
	for _, object := range objects {
		if fields := s.machine.System.Store.Outcome(object.Key, object.Content); fields != nil {
			outcome[object.Key] = fields
		}
	}
	return outcome
}

// CanonicalOutcome implements [core.Graph].
func (s *Space) CanonicalOutcome(id core.StateID, outcome map[core.Key]any) map[core.Key]any {
	return s.machine.System.Store.CanonicalOutcome(s.look(s.row(id)).Objects(), outcome)
}

// Shortest implements [core.Graph].
func (s *Space) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	s.attend() // the predicate need not ask for anything of a state
	if s.Minimal() {
		for id := range core.StateID(s.States()) {
			if accept(id) {
				return s.ancestry(id), true
			}
		}
		return nil, false
	}
	if s.order.Walks() && s.States() > manyStates {
		return s.nearby(accept)
	}
	return s.nearest(accept)
}

// manyStates is how many states are searched for a shortest run at most, where walks would do that for no other reason.
const manyStates = 20_000

// nearby returns a short run: walks remember the shortest way on which they came to each state.
func (s *Space) nearby(accept func(core.StateID) bool) (core.Run, bool) {
	best := store.NoParent
	for id := range core.StateID(s.States()) {
		if (best == store.NoParent || s.depths.of.At(int(id)) < s.depths.of.At(int(best))) && accept(id) {
			best = id
		}
	}
	if best == store.NoParent {
		return nil, false
	}
	return s.ancestry(best), true
}

// ancestry returns the run by which a state was first reached.
func (s *Space) ancestry(id core.StateID) core.Run {
	var run core.Run
	for {
		parent := s.store.Parent(s.store.At(id))
		if parent == store.NoParent {
			slices.Reverse(run)
			return run
		}
		// Before a search is over, it may still learn what can be left out.
		edges := s.list(parent, reduction.Full)
		at := slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == id })
		if at < 0 {
			panic("explore: a stored state has no step to it from its parent")
		}
		run = append(run, edges[at])
		id = parent
	}
}

// nearest searches what is stored for the run that takes the least effort.
func (s *Space) nearest(accept func(core.StateID) bool) (core.Run, bool) {
	reach, found := effort.Search(context.Background(), s, nil, accept)
	if len(found) == 0 {
		return nil, false
	}
	return reach.Run(found[0]), true
}

// Within calls a function that reads the space, and ends it when the context does: the next method of the space that it
// calls does not return then. What goes on within one step of a state is not ended, but real code is. It returns the
// error of the function, or that of the context if it ended the function.
func (s *Space) Within(ctx context.Context, read func() error) (err error) {
	reading, learning, ended := s.reading, s.learner.Context, s.ended
	s.reading, s.learner.Context, s.ended = ctx, ctx, nil
	defer func() {
		if s.ended != nil { // whoever calls methods of the space may have recovered
			err = s.ended
		}
		s.reading, s.learner.Context, s.ended = reading, learning, ended
		if value := recover(); value != nil {
			if _, ours := value.(interruption); !ours {
				panic(value)
			}
		}
	}()
	return read()
}

// interruption is the value of the panic that ends what reads a space.
type interruption struct{}

// attend ends what reads the space if its time is over.
func (s *Space) attend() {
	if s.reading == nil {
		return
	}
	if s.ended == nil {
		s.ended = s.reading.Err()
	}
	if s.ended != nil {
		panic(interruption{})
	}
}
