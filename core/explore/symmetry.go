package explore

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// apart is why states cannot be merged.
type apart string

// Error implements error.
func (a apart) Error() string { return string(a) }

// asymmetric says how names are not treated alike.
func asymmetric(format string, args ...any) error {
	return apart("the names are not treated alike: " + fmt.Sprintf(format, args...))
}

// interchange makes what exchanges the names of a system in the states of a machine. It returns nil if the store cannot rename.
func interchange(m *transition.Machine) *state.Interchange {
	store, ok := m.System.Store.(core.Renamer)
	if !ok {
		return nil
	}
	return state.NewInterchange(m.Vocabulary, m.System.Interchangeable, store.Rename, func(item core.Item) (state.Cell, error) {
		a, err := m.Actor(item.Strategy)
		if err != nil {
			return 0, err
		}
		it := m.Item(a, item.Request)
		if it.Standing {
			return 0, fmt.Errorf("%s is a message here and a guarded action there", it)
		}
		return it.Cell, nil
	})
}

// arranges is the part of an explorer that brings states which differ only in which of interchangeable names is which to one form.
type arranges struct {
	// says is what a state says about each name, all in all.
	says        []uint64
	names       []int
	arrangement state.Arrangement
	arranged    state.Vector
	places      []byte
}

// pack appends the row of the state that the walker is in, or of the one that stands for it if names are interchangeable, and
// returns it with its tag.
func (w *explorer) pack(rows []byte) ([]byte, uint64, error) {
	if w.symmetry == nil {
		return w.AppendRow(rows), w.Fingerprint.Lo, nil
	}
	if err := w.arrange(); err != nil {
		return nil, 0, err
	}
	if !w.arrangement.Moves() {
		return w.AppendRow(rows), w.Fingerprint.Lo, nil
	}
	arranged, err := w.image(w.Vector, w.arrangement)
	if err != nil {
		return nil, 0, err
	}
	return arranged.AppendRow(rows), w.Machine.Vocabulary.Fingerprint(arranged).Lo, nil
}

// packKnown is as [walker.pack] for a walker that only reads. It returns false for a state of which not enough is known: it is
// not stored.
func (w *explorer) packKnown(rows []byte) (row []byte, tag uint64, known bool) {
	row, tag, err := w.pack(rows)
	return row, tag, err == nil
}

// arrange finds the arrangement that puts the names in order by what the state says about them. Any order would
// do: states are only merged less if names cannot be told apart by it.
func (w *explorer) arrange() error {
	x := w.symmetry
	if w.arrangement == nil {
		w.arrangement = x.Identity()
		w.says = make([]uint64, len(w.arrangement))
	}
	clear(w.says)
	for c := range state.Cell(len(w.Vector)) {
		if w.Vector[c] == 0 {
			continue
		}
		traits, err := w.traits(c, w.Vector[c])
		if err != nil {
			return err
		}
		for _, t := range traits {
			w.says[t.Name] += t.Says
		}
	}
	for _, group := range x.Groups() {
		w.names = append(w.names[:0], group...)
		slices.SortStableFunc(w.names, func(a, b int) int { return cmp.Compare(w.says[a], w.says[b]) })
		for i, name := range w.names {
			w.arrangement[name] = group[i]
		}
	}
	return nil
}

// traits returns what a value says about names.
func (w *explorer) traits(c state.Cell, value state.Value) ([]state.Trait, error) {
	traits, known := w.symmetry.Traits(c, value)
	switch {
	case known:
		return traits, nil
	case w.Learn == nil:
		return nil, transition.ErrUnknown
	}
	traits, err := w.symmetry.Learn(c, value)
	if err != nil {
		return nil, asymmetric("%v", err)
	}
	return traits, nil
}

// image returns what an arrangement makes of a state. It is valid until the next call.
func (w *explorer) image(vector state.Vector, a state.Arrangement) (state.Vector, error) {
	w.arranged = w.arranged[:0]
	for c := range state.Cell(len(vector)) {
		if vector[c] == 0 {
			continue
		}
		place, err := w.imageOf(c, vector[c], a)
		if err != nil {
			return nil, err
		}
		for len(w.arranged) <= int(place.Cell) {
			w.arranged = append(w.arranged, 0)
		}
		if w.arranged[place.Cell] != 0 {
			return nil, asymmetric("two objects become %s", w.Machine.Vocabulary.Describe(place.Cell))
		}
		w.arranged[place.Cell] = place.Value
	}
	return w.arranged, nil
}

func (w *explorer) imageOf(c state.Cell, value state.Value, a state.Arrangement) (state.Place, error) {
	traits, err := w.traits(c, value)
	if err != nil {
		return state.Place{}, err
	}
	x := w.symmetry
	if cap(w.places) == 0 {
		w.places = make([]byte, 0, 2*len(a))
	}
	place, known := x.Image(c, value, traits, a, w.places)
	switch {
	case known:
		return place, nil
	case w.Learn == nil:
		return state.Place{}, transition.ErrUnknown
	}
	place, err = x.LearnImage(c, value, traits, a)
	if err != nil {
		return state.Place{}, asymmetric("%v", err)
	}
	return place, nil
}

// mirror checks that interchangeable names are treated alike: that a step with names exchanged leads where the step leads, with names
// exchanged. It takes the step in all arrangements of the state, and remembers what that depends on: cells of the state, with their
// values. Where they are the same again there is nothing to check.
type mirror struct {
	space  *Space
	walker *explorer
	// arrangements are all there are, but for the one in which nothing is exchanged, and inverses are what takes them back.
	arrangements, inverses []state.Arrangement
	// known are the steps that were checked, and seen the invariants, by number.
	known, seen transition.Shortcuts
	// starts are the initial states.
	starts [][]byte
	// cells is how many there were when the first of these was checked: lists depend on cells that are new.
	cells int
	// taken tells that the step at hand is possible, and behind is where it leads.
	taken  bool
	behind state.Vector
}

// reflection is a step in a state with names exchanged.
type reflection struct {
	item   *transition.Item
	vector state.Vector
}

func newMirror(s *Space) *mirror {
	m := &mirror{space: s, walker: s.explorer(s.learner)}
	m.arrangements = s.symmetry.Arrangements()
	for _, a := range m.arrangements {
		m.inverses = append(m.inverses, a.Inverse())
	}
	m.renew()
	return m
}

// renew forgets what was checked if there are new cells.
func (m *mirror) renew() {
	if cells := m.walker.Machine.Vocabulary.Cells(); m.cells != cells {
		m.cells = cells
		m.known, m.seen = transition.Shortcuts{Room: math.MaxInt}, transition.Shortcuts{Room: math.MaxInt}
	}
}

// knows tells whether the step of an item was checked in a state like this.
func (m *mirror) knows(it *transition.Item, vector state.Vector) bool {
	return len(vector) == m.cells && m.known.Find(it.Agent, vector) != nil
}

// check checks the step of an item in a state. The error is an [apart] if names are not treated alike.
func (m *mirror) check(it *transition.Item, vector state.Vector) error {
	vector = slices.Clone(vector)
	for {
		m.renew()
		trace, err := m.compare(it, vector)
		if err != nil {
			return err
		}
		if m.walker.Machine.Vocabulary.Cells() == m.cells {
			m.known.Remember(it.Agent, vector, trace)
			return nil
		}
	}
}

// checkStarts checks that an initial state with names exchanged is an initial state.
func (m *mirror) checkStarts() error {
	for _, row := range m.starts {
		for _, a := range m.arrangements {
			m.walker.Load(row)
			image, err := m.walker.image(m.walker.Vector, a)
			if err != nil {
				return err
			}
			name := image.AppendRow(nil)
			if !slices.ContainsFunc(m.starts, func(other []byte) bool { return bytes.Equal(name, other) }) {
				return asymmetric("the system does not start the same with names exchanged")
			}
		}
	}
	return nil
}

// compare takes the step in all arrangements, and returns what that depends on.
func (m *mirror) compare(it *transition.Item, vector state.Vector) ([]transition.Touch, error) {
	trace, err := m.take(reflection{it, vector})
	if err != nil {
		return nil, err
	}
	taken, behind := m.taken, slices.Clone(m.behind)
	for i, a := range m.arrangements {
		image, err := m.reflect(it, vector, a)
		if err != nil {
			return nil, err
		}
		other, err := m.take(image)
		if err != nil {
			return nil, err
		}
		if taken != m.taken {
			return nil, asymmetric("what is possible for %s is not for %s in the same state with names exchanged, or the other way round", it, image.item)
		}
		if taken {
			if err := m.same(it, behind, image.item, a); err != nil {
				return nil, err
			}
		}
		if trace, err = m.bringBack(trace, other, i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}

// bringBack adds to what something depends on in a state what it depends on in one of the arrangements.
func (m *mirror) bringBack(trace, arranged []transition.Touch, arrangement int, vector state.Vector) ([]transition.Touch, error) {
	for _, t := range arranged {
		back, err := m.walker.imageOf(t.Cell, 0, m.inverses[arrangement])
		if err != nil {
			return nil, err
		}
		if !transition.Touches(trace, back.Cell) {
			trace = append(trace, transition.Touch{Cell: back.Cell, Was: transition.ValueIn(vector, back.Cell)})
		}
	}
	return trace, nil
}

// take takes a step, and returns what it depends on.
func (m *mirror) take(r reflection) ([]transition.Touch, error) {
	kind := core.Reconcile
	if r.item.Standing {
		kind = core.Act
	}
	step := transition.Taken{Kind: kind, Actor: r.item.Actor, Item: r.item}
	w := m.walker
	row := r.vector.AppendRow(nil)
	// What is learned is not traced, so the step is taken once more.
	for _, traced := range []bool{false, true} {
		w.Load(row)
		m.taken, m.behind = false, m.behind[:0]
		w.Shortcuts.Tracing, w.Shortcuts.Trace = traced, nil
		w.Tour = transition.Tour{Walker: w.Walker, Visitor: m}
		err := w.Tour.Try(step)
		w.Shortcuts.Tracing = false
		if err != nil {
			return nil, err
		}
	}
	return w.Shortcuts.Trace, nil
}

// Took implements [transition.Visitor].
func (m *mirror) Took(*transition.Taken) error {
	m.taken = true
	m.behind = append(m.behind[:0], m.walker.Vector...)
	return nil
}

// Stopped implements [transition.Visitor].
func (m *mirror) Stopped(_ *transition.Taken, err error) error {
	if m.space.stops(err) {
		return nil
	}
	return err
}

// reflect returns a step with names exchanged.
func (m *mirror) reflect(it *transition.Item, vector state.Vector, a state.Arrangement) (reflection, error) {
	machine := m.walker.Machine
	image, err := m.walker.image(vector, a)
	if err != nil {
		return reflection{}, err
	}
	renaming := m.space.symmetry.Renaming(a)
	actor, err := machine.Actor(renaming(it.Strategy))
	if err != nil {
		return reflection{}, asymmetric("%v", err)
	}
	other := machine.Item(actor, core.Request(renaming(string(it.Request))))
	if other.Standing != it.Standing {
		return reflection{}, asymmetric("%s is always in the work queue and %s is not, or the other way round", it, other)
	}
	return reflection{other, image}, nil
}

// same checks that the step at hand leads where another one leads, with names exchanged.
func (m *mirror) same(it *transition.Item, behind state.Vector, other *transition.Item, a state.Arrangement) error {
	image, err := m.walker.image(behind, a)
	if err != nil {
		return err
	}
	for c := range state.Cell(max(len(image), len(m.behind))) {
		if transition.ValueIn(image, c) != transition.ValueIn(m.behind, c) {
			return asymmetric("%s and %s, in the same state with names exchanged, do not do the same to %s", it, other, m.walker.Machine.Vocabulary.Describe(c))
		}
	}
	return nil
}

// onlooker is a state that takes note of the cells that a predicate looks at.
type onlooker struct {
	state.Look
	vocabulary *state.Vocabulary
	vector     state.Vector
	trace      []transition.Touch
}

var _ core.State = (*onlooker)(nil)

func (o *onlooker) see(c state.Cell) {
	if !transition.Touches(o.trace, c) {
		o.trace = append(o.trace, transition.Touch{Cell: c, Was: transition.ValueIn(o.vector, c)})
	}
}

// Get implements [core.State]. An object that was never met has a cell from now on.
func (o *onlooker) Get(key core.Key) core.Content {
	o.see(o.vocabulary.Object(key))
	return o.Look.Get(key)
}

// List implements [core.State].
func (o *onlooker) List(kind core.Kind, namespace string) []core.Object {
	for _, c := range o.vocabulary.Kind(kind) {
		o.see(c)
	}
	return o.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (o *onlooker) Objects() []core.Object {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isObject := o.vocabulary.Key(c); isObject {
			o.see(c)
		}
	}
	return o.Look.Objects()
}

// Work implements [core.State].
func (o *onlooker) Work() []core.Item {
	o.seeItems()
	return o.Look.Work()
}

// InFlight implements [core.State].
func (o *onlooker) InFlight() []core.Item {
	o.seeItems()
	return o.Look.InFlight()
}

// Timers implements [core.State].
func (o *onlooker) Timers() []core.Item {
	o.seeItems()
	return o.Look.Timers()
}

func (o *onlooker) seeItems() {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isItem := o.vocabulary.ItemAt(c); isItem {
			o.see(c)
		}
	}
}

// inspect checks the invariants in all states that a new one stands for, unless it was done for one with which they cannot
// tell it from.
func (m *mirror) inspect(id core.StateID, row []byte) error {
	s := m.space
	for i := range s.invariants {
		inv := &s.invariants[i]
		for !inv.broken {
			m.renew()
			m.walker.Load(row)
			if m.seen.Find(i, m.walker.Vector) != nil {
				break
			}
			trace, err := m.behold(inv, id, row)
			if err != nil {
				return err
			}
			if m.walker.Machine.Vocabulary.Cells() == m.cells {
				m.walker.Load(row)
				m.seen.Remember(i, m.walker.Vector, trace)
				break
			}
		}
	}
	return nil
}

// behold checks an invariant in all arrangements of a state, and returns the cells that it looks at with their values in the state.
func (m *mirror) behold(inv *invariant, id core.StateID, row []byte) ([]transition.Touch, error) {
	vocabulary := m.walker.Machine.Vocabulary
	m.walker.Load(row)
	vector := slices.Clone(m.walker.Vector)
	look := func(at state.Vector) []transition.Touch {
		o := &onlooker{Look: state.NewLook(vocabulary, at), vocabulary: vocabulary, vector: at}
		if err := judge(inv.property, o); err != nil && !inv.broken {
			inv.broken, inv.state, inv.err = true, id, err
		}
		return o.trace
	}
	trace := look(vector)
	for i, a := range m.arrangements {
		image, err := m.walker.image(vector, a)
		if err != nil {
			return nil, err
		}
		if trace, err = m.bringBack(trace, look(image), i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}
