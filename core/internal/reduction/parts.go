package reduction

import (
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// coversParts reports whether it is known that the walker's step changes the parts of an object that it does.
func (f *footprints) coversParts(w *Explorer, known *footprint, t transition.Touch) bool {
	key, isObject := w.Machine.Vocabulary.Key(t.Cell)
	if !isObject {
		return true
	}
	for _, p := range w.Machine.Vocabulary.Projections(key.Kind) {
		if changes, sure := differs(p, t.Cell, t.Was, w.Value(t.Cell)); !sure {
			return false
		} else if changes {
			place, placed := f.places[placeName{cell: t.Cell, projection: p}]
			if !placed || !known.alters[place] {
				return false
			}
		}
	}
	return true
}

// noteParts notes which parts of an object the walker's step changes.
func (f *footprints) noteParts(w *Explorer, known *footprint, t transition.Touch) {
	vocabulary := w.Machine.Vocabulary
	key, isObject := vocabulary.Key(t.Cell)
	if !isObject {
		return
	}
	for _, p := range vocabulary.Projections(key.Kind) {
		if vocabulary.Project(p, t.Cell, t.Was) != vocabulary.Project(p, t.Cell, w.Value(t.Cell)) {
			grow(f, known.alters, f.place(placeName{cell: t.Cell, projection: p}))
		}
	}
}

// differs reports whether two values of an object's cell differ in a part, and whether that is known.
func differs(p *state.Projection, c state.Cell, one, other state.Value) (differ, known bool) {
	a, knownOne := p.Shown(c, one)
	b, knownOther := p.Shown(c, other)
	return a != b, knownOne && knownOther
}
