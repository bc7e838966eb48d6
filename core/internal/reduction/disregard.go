package reduction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// Controllers often list all objects of a kind and pick those of the request at hand, and so do event handlers. An
// agent disregards an object that it lists if all of its steps are the same whatever that object is: such steps do not
// depend on who changes it. That is found out by taking the steps again with each value that the object was seen to
// have, and with all combinations of them if there are several such objects. They must make the same calls, as what
// they look at besides would be nothing that is known of them, and come to the same. It is tried only of objects that
// agents change which have nothing else to do with who lists them.

// lister is what is known of the steps of an agent that show it lists.
type lister struct {
	// met are the steps that were met, by the answers that they got, and samples are one of each.
	met     answers
	samples []sample
	// disregards are the objects that it disregards, as far as was tried, and heeds those that make a difference.
	disregards, heeds bitset.Set[state.Cell]
}

// answers are those that may come after others, and whether a step has ended there.
type answers struct {
	next map[*behavior.Answered]*answers
	ends bool
}

// sample is a step, with the state in which it was taken.
type sample struct {
	it  *transition.Item
	row []byte
	// tried are the values that were tried.
	tried []alternatives
}

// alternatives are the values that an object may have.
type alternatives struct {
	cell   state.Cell
	values []state.Value
}

func (a alternatives) equal(other alternatives) bool {
	return a.cell == other.cell && slices.Equal(a.values, other.values)
}

// meets notes that the walker has taken a step that shows lists, unless one with the same answers was met before. It
// returns false if that is to be noted by a walker that may learn.
func (f *footprints) meets(w *Explorer, s *transition.Taken) bool {
	if !f.looksOver(w, s) {
		return true
	}
	agent := s.Agent()
	for agent >= len(f.listers) {
		if w.Learn == nil {
			return false
		}
		f.listers = append(f.listers, &lister{})
	}
	l := f.listers[agent]
	at := &l.met
	for _, answered := range w.Asked {
		next := at.next[answered]
		if next == nil {
			if w.Learn == nil {
				return false
			}
			if at.next == nil {
				at.next = map[*behavior.Answered]*answers{}
			}
			next = &answers{}
			at.next[answered] = next
		}
		at = next
	}
	switch {
	case at.ends:
	case w.Learn == nil:
		return false
	default:
		at.ends = true
		l.samples = append(l.samples, sample{it: s.Item, row: before(w).AppendRow(nil)})
	}
	return true
}

// looksOver reports whether a step is one of those that are tried with other objects in lists. What is shown in views
// that lag behind is not tried, and where there may be faults nothing is left out.
func (f *footprints) looksOver(w *Explorer, s *transition.Taken) bool {
	return s.Kind == core.Reconcile && w.Machine.Conditions.Granularity == transition.PerReconcile && len(w.Machine.Views) == 0 && !s.Actor.Atomic && !w.Faulty() && !s.Faulty() &&
		slices.ContainsFunc(w.Asked, func(a *behavior.Answered) bool { return a.Lists })
}

// Strangers reports whether there is somebody who has never taken a step, so that it is not known what that would
// touch.
func (r *Reductions) Strangers() bool {
	return slices.ContainsFunc(r.Footprints.agents, func(known *footprint) bool { return !known.known })
}

// TryLists finds out which objects agents disregard that they list. If the context is done, the rest of them is taken
// to be heeded.
func (r *Reductions) TryLists(ctx context.Context, l *transition.Learner) error {
	f := r.Footprints
	for _, lists := range f.listers {
		lists.disregards.Clear()
	}
	if len(f.listers) == 0 || r.Strangers() {
		return nil // as long as somebody may touch anything
	}
	values := f.valuesSeen()
	beside := make([][]alternatives, len(f.agents))
	for agent := range f.listers {
		beside[agent] = f.bystanders(agent, values)
	}
	groups := f.groups(beside)
	for agent, lists := range f.listers {
		strangers := slices.DeleteFunc(beside[agent], func(a alternatives) bool { return !f.comesFromElsewhere(a.cell, agent, groups) })
		if err := f.tryLister(ctx, l, lists, strangers); err != nil {
			return err
		}
	}
	return nil
}

// groups returns the groups of agents that have to do with each other even if what they may disregard is nothing to
// them.
func (f *footprints) groups(beside [][]alternatives) union {
	readers, changers := map[Place][]int{}, map[Place][]int{}
	groups := newUnion(len(f.agents))
	for agent, known := range f.agents {
		for place := range f.readsOf(known) {
			name := f.names[place]
			if !name.listed {
				readers[place] = append(readers[place], agent)
				continue
			}
			for _, c := range f.vocabulary.Kind(name.kind) {
				at, met := f.places[placeName{sight: sight{cell: c}}]
				if met && f.mayList(name, c) && !slices.ContainsFunc(beside[agent], func(a alternatives) bool { return a.cell == c }) {
					readers[at] = append(readers[at], agent)
				}
			}
		}
		for _, places := range []map[Place]bool{known.writes, known.alters} {
			for place := range places {
				changers[place] = append(changers[place], agent)
			}
		}
	}
	for place, agents := range changers {
		if name := f.names[place]; !name.listed {
			for _, agent := range slices.Concat(agents, readers[place]) {
				groups.join(agent, agents[0])
			}
		}
	}
	for agent, known := range f.agents {
		for woken := range known.wakes {
			groups.join(agent, woken)
		}
	}
	return groups
}

// union is a partition of the first numbers: each of them leads to the one that its part is named by.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

// of returns the part that a number is in.
func (u union) of(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(one, other int) { u[u.of(one)] = u.of(other) }

// comesFromElsewhere reports whether an object is changed by an agent of another group.
func (f *footprints) comesFromElsewhere(c state.Cell, agent int, groups union) bool {
	for other, known := range f.agents {
		if groups.of(other) != groups.of(agent) && known.touched.Has(c) {
			return true
		}
	}
	return false
}

// valuesSeen returns the values that objects were seen to have before or behind a change, in order.
func (f *footprints) valuesSeen() map[state.Cell][]state.Value {
	seen := map[state.Cell][]state.Value{}
	for at, changes := range f.woken {
		if _, isObject := f.vocabulary.Key(at.cell); !isObject || at.viewed || at.projection != nil {
			continue
		}
		var values []state.Value
		for was, all := range changes {
			values = append(values, was.from)
			for _, known := range all {
				values = append(values, known.to)
			}
		}
		slices.Sort(values)
		seen[at.cell] = slices.Compact(values)
	}
	return seen
}

// bystanders returns the objects that an agent meets in lists and nowhere else, and that others change, with their
// values.
func (f *footprints) bystanders(agent int, values map[state.Cell][]state.Value) []alternatives {
	known := f.agents[agent]
	var own bitset.Set[state.Cell]
	var lists []placeName
	for _, place := range sorted(f.readsOf(known)) {
		if name := f.names[place]; name.listed {
			lists = append(lists, name)
		} else {
			own.Add(name.cell)
		}
	}
	var all []alternatives
	for c, alternative := range values {
		if !own.Has(c) && !known.touched.Has(c) && !f.listers[agent].heeds.Has(c) && slices.ContainsFunc(lists, func(l placeName) bool { return f.mayList(l, c) }) {
			all = append(all, alternatives{c, alternative})
		}
	}
	slices.SortFunc(all, func(a, b alternatives) int { return cmp.Compare(a.cell, b.cell) })
	return all
}

// mayList reports whether an object may be in a list.
func (f *footprints) mayList(list placeName, c state.Cell) bool {
	key, isObject := f.vocabulary.Key(c)
	return isObject && key.Kind == list.kind && (list.namespace == "" || list.namespace == key.Namespace) && (list.selection == nil || f.vocabulary.May(list.selection, c))
}

// tryLister takes the samples of an agent again with other objects beside.
func (f *footprints) tryLister(ctx context.Context, l *transition.Learner, lists *lister, beside []alternatives) error {
	for i := 0; i < len(lists.samples) && len(beside) > 0; {
		s := &lists.samples[i]
		if slices.EqualFunc(s.tried, beside, alternatives.equal) {
			i++
			continue
		}
		heeded, err := s.heeds(ctx, f.machine, l, beside)
		if err != nil {
			return err
		}
		for _, c := range heeded {
			lists.heeds.Add(c)
		}
		if beside = slices.DeleteFunc(slices.Clone(beside), func(a alternatives) bool { return slices.Contains(heeded, a.cell) }); len(heeded) == 0 {
			s.tried = beside
			i++
		}
	}
	for _, a := range beside {
		lists.disregards.Add(a.cell)
	}
	return nil
}

// heeds returns objects that make a difference to a step, none if none does. Where there are too many combinations to
// try, it does.
func (s *sample) heeds(ctx context.Context, m *transition.Machine, l *transition.Learner, beside []alternatives) ([]state.Cell, error) {
	combinations := 1
	for _, a := range beside {
		if combinations *= len(a.values); combinations > mostTries {
			most := slices.MaxFunc(beside, func(a, b alternatives) int { return cmp.Compare(len(a.values), len(b.values)) })
			return []state.Cell{most.cell}, nil
		}
	}
	t := newRetrial(m, l, s)
	want, err := t.deeds(nil)
	if err != nil {
		return nil, err
	}
	for n := range combinations {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		changes := make([]state.Touch, 0, len(beside))
		for _, a := range beside {
			changes = append(changes, state.Touch{Cell: a.cell, Was: a.values[n%len(a.values)]})
			n /= len(a.values)
		}
		got, err := t.deeds(changes)
		if err != nil {
			return nil, err
		}
		if got == want {
			continue
		}
		return t.causes(changes, want)
	}
	return nil, nil
}

// retrial takes a step again in states that differ in what is there beside.
type retrial struct {
	transition.Inattentive
	walker *transition.Walker
	wakes  *enabling
	it     *transition.Item
	vector state.Vector
	text   []byte
	calls  []string
}

func newRetrial(m *transition.Machine, l *transition.Learner, s *sample) *retrial {
	t := &retrial{walker: transition.NewWalker(m, l), it: s.it}
	t.wakes = &enabling{walker: t.walker}
	t.walker.Listener = t
	t.walker.Load(s.row)
	t.vector = slices.Clone(t.walker.Vector)
	return t
}

// deeds describes what the step does with these values to be seen.
func (t *retrial) deeds(changes []state.Touch) (string, error) {
	vector := slices.Clone(t.vector)
	for _, change := range changes {
		vector = with(vector, change.Cell, change.Was)
	}
	t.walker.Load(vector.AppendRow(nil))
	t.text = t.text[:0]
	l := t.walker.Learn
	err := l.Try(func() error { return quietly(l, func() error { return t.walker.StepsOf(t, t.it) }) })
	if errors.Is(err, transition.ErrUnmet) {
		return err.Error(), nil
	}
	return string(t.text), err
}

// causes returns which of some changes make a difference, all if none does alone.
func (t *retrial) causes(changes []state.Touch, want string) ([]state.Cell, error) {
	var alone, all []state.Cell
	for i, change := range changes {
		got, err := t.deeds(changes[i : i+1])
		if err != nil {
			return nil, err
		}
		if all = append(all, change.Cell); got != want {
			alone = append(alone, change.Cell)
		}
	}
	if len(alone) > 0 {
		return alone, nil
	}
	return all, nil
}

// Took implements [transition.Visitor].
func (t *retrial) Took(s *transition.Taken) error {
	edge := t.walker.Edge(0, s)
	var changed []state.Touch
	for i, touched := range t.walker.Touched {
		if now := t.walker.Value(touched.Cell); now != touched.Was && !state.Touches(t.walker.Touched[:i], touched.Cell) {
			changed = append(changed, state.Touch{Cell: touched.Cell, Was: now})
		}
	}
	slices.SortFunc(changed, func(a, b state.Touch) int { return cmp.Compare(a.Cell, b.Cell) })
	woken, timed := slices.Clone(t.wakes.woken), slices.Clone(t.wakes.timed)
	slices.Sort(woken)
	slices.Sort(timed)
	t.text = fmt.Appendf(t.text, "%s %q %t %t %q %v %v %v %q\n", edge.Step, edge.Step.Order, edge.Requeued, edge.Wrote, edge.Failed, changed, slices.Compact(woken), slices.Compact(timed), t.calls)
	return nil
}

// Stopped implements [transition.Visitor].
func (t *retrial) Stopped(_ *transition.Taken, err error) error {
	if transition.Ends(err) {
		t.text = fmt.Appendf(t.text, "%v %q\n", err, t.calls)
		return nil
	}
	return err
}

// Began implements [transition.Listener].
func (t *retrial) Began() {
	t.wakes.Began()
	t.calls = t.calls[:0]
}

// Called implements [transition.Listener].
func (t *retrial) Called(a *transition.Actor, activation behavior.Activation, call transition.CallEvent) {
	t.wakes.Called(a, activation, call)
	t.calls = append(t.calls, call.Node.Call.Identity())
}

// Ended implements [transition.Listener].
func (t *retrial) Ended(a *transition.Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	t.wakes.Ended(a, activation, path, leaf)
}

// entries are the lists that agents read object by object, as they disregard some of them.
func (f *footprints) entries() []placeName {
	seen := map[Place]bool{}
	for agent, l := range f.listers {
		if l.disregards.Empty() {
			continue
		}
		for place := range f.readsOf(f.agents[agent]) {
			if name := f.names[place]; name.listed && f.disregardsIn(l, name) {
				seen[place] = true
			}
		}
	}
	var lists []placeName
	for _, place := range sorted(seen) {
		lists = append(lists, f.names[place])
	}
	return lists
}

// disregardsIn reports whether some of what may be in a list is disregarded.
func (f *footprints) disregardsIn(l *lister, list placeName) bool {
	for c := range l.disregards.All() {
		if f.mayList(list, c) {
			return true
		}
	}
	return false
}

// pick has the footprint of an agent read lists object by object of which it disregards some, and alter those objects
// in them that it changes.
func (f *footprints) pick(agent int, exported *Footprint, lists []placeName) {
	if len(lists) == 0 {
		return
	}
	reads, alters := map[Place]bool{}, map[Place]bool{}
	for _, place := range exported.Reads {
		reads[place] = true
	}
	for _, place := range exported.Alters {
		alters[place] = true
	}
	for _, list := range lists {
		place := f.place(list)
		picks := reads[place] && agent < len(f.listers) && !f.agents[agent].blocks && f.disregardsIn(f.listers[agent], list)
		if picks {
			delete(reads, place)
		}
		for _, c := range f.vocabulary.Kind(list.kind) {
			if !f.mayList(list, c) {
				continue
			}
			entry := list
			entry.cell, entry.entry = c, true
			if picks && !f.listers[agent].disregards.Has(c) {
				reads[f.place(entry)] = true
			}
			if f.agents[agent].touched.Has(c) {
				alters[f.place(entry)] = true
			}
		}
	}
	exported.Reads, exported.Alters = sorted(reads), sorted(alters)
}
