package reduction

import "github.com/orrery-dev/orrery/core/state"

// coversParts reports whether it is known that the walker's step changes the parts of an object that it does.
func (f *footprints) coversParts(w *Explorer, known *footprint, t state.Touch) bool {
	covered := true
	sure := eachPart(w.Machine.Vocabulary, t.Cell, t.Was, w.Value(t.Cell), false, func(p *state.Projection, _, _ state.Value) {
		place, placed := f.places[placeName{sight: sight{cell: t.Cell, projection: p}}]
		covered = covered && placed && known.alters[place]
	})
	return sure && covered
}

// noteParts notes which parts of an object the walker's step changes.
func (f *footprints) noteParts(w *Explorer, known *footprint, t state.Touch) {
	eachPart(w.Machine.Vocabulary, t.Cell, t.Was, w.Value(t.Cell), true, func(p *state.Projection, _, _ state.Value) {
		grow(f, known.alters, f.place(placeName{sight: sight{cell: t.Cell, projection: p}}))
	})
}

// eachPart calls a function with the parts in which two values of a cell differ, and with what they are in each. It
// returns false where it is not known whether a part differs; with what learns that, it always is. What is no object
// has no parts.
func eachPart(vocabulary *state.Vocabulary, c state.Cell, one, other state.Value, learns bool, call func(p *state.Projection, one, other state.Value)) bool {
	key, isObject := vocabulary.Key(c)
	if !isObject {
		return true
	}
	sure := true
	for _, p := range vocabulary.Projections(key.Kind) {
		if learns {
			vocabulary.Project(p, c, one)
			vocabulary.Project(p, c, other)
		}
		a, knownOne := p.Shown(c, one)
		b, knownOther := p.Shown(c, other)
		switch {
		case !knownOne || !knownOther:
			sure = false
		case a != b:
			call(p, a, b)
		}
	}
	return sure
}
