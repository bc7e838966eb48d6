package reduction

import (
	"cmp"
	"slices"

	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// canonicalizer is the part of an explorer that brings states which differ only in which of interchangeable names is
// which to one form.
type canonicalizer struct {
	// says is what a state says about each name, all in all.
	says        []uint64
	names       []int
	Arrangement state.Arrangement
	arranged    state.Vector
	places      []byte
}

// Pack appends the row of the state that the walker is in, or of the one that stands for it if names are
// interchangeable, and returns it with its tag.
func (w *Explorer) Pack(rows []byte) ([]byte, uint64, error) {
	if w.Symmetry == nil {
		return w.AppendRow(rows), w.Fingerprint.Lo, nil
	}
	if err := w.arrange(); err != nil {
		return nil, 0, err
	}
	if !w.Arrangement.Moves() {
		return w.AppendRow(rows), w.Fingerprint.Lo, nil
	}
	arranged, err := w.Image(w.Vector, w.Arrangement)
	if err != nil {
		return nil, 0, err
	}
	return arranged.AppendRow(rows), w.Machine.Vocabulary.Fingerprint(arranged).Lo, nil
}

// PackKnown is as [walker.pack] for a walker that only reads. It returns false for a state of which not enough is
// known: it is not stored.
func (w *Explorer) PackKnown(rows []byte) (row []byte, tag uint64, known bool) {
	row, tag, err := w.Pack(rows)
	return row, tag, err == nil
}

// arrange finds the arrangement that puts the names in order by what the state says about them. Any order would
// do: states are only merged less if names cannot be told apart by it.
func (w *Explorer) arrange() error {
	x := w.Symmetry
	if w.Arrangement == nil {
		w.Arrangement = x.Identity()
		w.says = make([]uint64, len(w.Arrangement))
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
			w.Arrangement[name] = group[i]
		}
	}
	return nil
}

// traits returns what a value says about names.
func (w *Explorer) traits(c state.Cell, value state.Value) ([]state.Trait, error) {
	traits, known := w.Symmetry.Traits(c, value)
	switch {
	case known:
		return traits, nil
	case w.Learn == nil:
		return nil, transition.ErrUnknown
	}
	traits, err := w.Symmetry.Learn(c, value)
	if err != nil {
		return nil, asymmetric("%v", err)
	}
	return traits, nil
}

// Image returns what an arrangement makes of a state. It is valid until the next call.
func (w *Explorer) Image(vector state.Vector, a state.Arrangement) (state.Vector, error) {
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

func (w *Explorer) imageOf(c state.Cell, value state.Value, a state.Arrangement) (state.Place, error) {
	traits, err := w.traits(c, value)
	if err != nil {
		return state.Place{}, err
	}
	x := w.Symmetry
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
