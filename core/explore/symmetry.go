package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
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

// interchange makes what exchanges the names of a system in the states of a machine. It returns false if the store cannot rename.
func (m *machine) interchange() bool {
	store, ok := m.system.Store.(core.Renamer)
	if !ok {
		return false
	}
	m.symmetry = state.NewInterchange(m.vocabulary, m.system.Interchangeable, store.Rename, func(item core.Item) (state.Cell, error) {
		a, err := m.actor(item.Strategy)
		if err != nil {
			return 0, err
		}
		it := m.item(a, item.Request)
		if it.standing {
			return 0, fmt.Errorf("%s is a message here and a guarded action there", it)
		}
		return it.cell, nil
	})
	return true
}

// arranges is the part of a walker that brings states which differ only in which of interchangeable names is which to one form.
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
func (w *walker) pack(rows []byte) ([]byte, uint64, error) {
	if w.machine.symmetry == nil {
		return w.appendRow(rows), w.fingerprint.Lo, nil
	}
	if err := w.arrange(); err != nil {
		return nil, 0, err
	}
	if !w.arrangement.Moves() {
		return w.appendRow(rows), w.fingerprint.Lo, nil
	}
	arranged, err := w.image(w.vector, w.arrangement)
	if err != nil {
		return nil, 0, err
	}
	return arranged.AppendRow(rows), w.machine.vocabulary.Fingerprint(arranged).Lo, nil
}

// packKnown is as [walker.pack] for a walker that only reads. It returns false for a state of which not enough is known: it is
// not stored.
func (w *walker) packKnown(rows []byte) (row []byte, tag uint64, known bool) {
	row, tag, err := w.pack(rows)
	return row, tag, err == nil
}

// arrange finds the arrangement that puts the names in order by what the state says about them. Any order would
// do: states are only merged less if names cannot be told apart by it.
func (w *walker) arrange() error {
	x := w.machine.symmetry
	if w.arrangement == nil {
		w.arrangement = x.Identity()
		w.says = make([]uint64, len(w.arrangement))
	}
	clear(w.says)
	for c := range state.Cell(len(w.vector)) {
		if w.vector[c] == 0 {
			continue
		}
		traits, err := w.traits(c, w.vector[c])
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
func (w *walker) traits(c state.Cell, value state.Value) ([]state.Trait, error) {
	traits, known := w.machine.symmetry.Traits(c, value)
	switch {
	case known:
		return traits, nil
	case w.learn == nil:
		return nil, errUnknown
	}
	traits, err := w.machine.symmetry.Learn(c, value)
	if err != nil {
		return nil, asymmetric("%v", err)
	}
	return traits, nil
}

// image returns what an arrangement makes of a state. It is valid until the next call.
func (w *walker) image(vector state.Vector, a state.Arrangement) (state.Vector, error) {
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
			return nil, asymmetric("two objects become %s", w.machine.vocabulary.Describe(place.Cell))
		}
		w.arranged[place.Cell] = place.Value
	}
	return w.arranged, nil
}

func (w *walker) imageOf(c state.Cell, value state.Value, a state.Arrangement) (state.Place, error) {
	traits, err := w.traits(c, value)
	if err != nil {
		return state.Place{}, err
	}
	x := w.machine.symmetry
	if cap(w.places) == 0 {
		w.places = make([]byte, 0, 2*len(a))
	}
	place, known := x.Image(c, value, traits, a, w.places)
	switch {
	case known:
		return place, nil
	case w.learn == nil:
		return state.Place{}, errUnknown
	}
	place, err = x.LearnImage(c, value, traits, a)
	if err != nil {
		return state.Place{}, asymmetric("%v", err)
	}
	return place, nil
}
