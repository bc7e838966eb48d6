package state

import "github.com/orrery-dev/orrery/core"

// Projection is a [core.Projection] of the objects of a kind. It interns what it shows of them.
type Projection struct {
	Kind core.Kind

	of core.Projection
	// contents are what is shown, by number from 1, and numbers finds them by their canonical texts.
	contents []core.Content
	numbers  map[string]Value
	// shown are by cell and value; 0 is not known, but of the value 0.
	shown [][]Value
}

// projectionName names a projection.
type projectionName struct {
	kind     core.Kind
	identity string
}

// Projection returns the projection of that identity, which it adds if it is new.
func (v *Vocabulary) Projection(kind core.Kind, of core.Projection) *Projection {
	name := projectionName{kind, of.Identity()}
	p, known := v.projections[name]
	if !known {
		p = &Projection{Kind: kind, of: of, contents: []core.Content{nil}, numbers: map[string]Value{}}
		v.projections[name] = p
		v.projecting[kind] = append(v.projecting[kind], p)
	}
	return p
}

// Projections returns the projections of a kind, in the order of discovery. The slice must not be changed.
func (v *Vocabulary) Projections(kind core.Kind) []*Projection { return v.projecting[kind] }

// Shown returns the number of what is shown of a value of an object's cell, 0 if there is no object, and whether that
// is known.
func (p *Projection) Shown(c Cell, value Value) (shown Value, known bool) {
	switch {
	case value == 0:
		return 0, true
	case int(c) >= len(p.shown) || int(value) >= len(p.shown[c]):
		return 0, false
	}
	return p.shown[c][value], p.shown[c][value] != 0
}

// Content returns what has a number, nil for 0.
func (p *Projection) Content(shown Value) core.Content { return p.contents[shown] }

// Project returns the number of what is shown of a value of an object's cell, and remembers it.
func (v *Vocabulary) Project(p *Projection, c Cell, value Value) Value {
	if shown, known := p.Shown(c, value); known {
		return shown
	}
	for int(c) >= len(p.shown) {
		p.shown = append(p.shown, nil)
	}
	for int(value) >= len(p.shown[c]) {
		p.shown[c] = append(p.shown[c], 0)
	}
	key, _ := v.Key(c)
	content := p.of.Project(core.Object{Key: key, Content: v.Content(c, value)})
	number, known := p.numbers[content.Canonical()]
	if !known {
		number = Value(len(p.contents))
		p.contents = append(p.contents, content)
		p.numbers[content.Canonical()] = number
	}
	p.shown[c][value] = number
	return number
}
