package reduction

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// Observer is a state that notes what a predicate looks at.
type Observer struct {
	state.Look
	Vocabulary *state.Vocabulary
	Footprints *footprints
}

var _ core.State = (*Observer)(nil)

func (o *Observer) see(name placeName) {
	f := o.Footprints
	grow(f, f.visible.reads, f.place(name))
}

// Get implements [core.State].
func (o *Observer) Get(key core.Key) core.Content {
	if c, known := o.Vocabulary.Lookup(key); known {
		o.see(placeName{cell: c})
	} else {
		o.see(placeName{listed: true, kind: key.Kind})
	}
	return o.Look.Get(key)
}

// List implements [core.State].
func (o *Observer) List(kind core.Kind, namespace string) []core.Object {
	o.see(placeName{listed: true, kind: kind, namespace: namespace})
	return o.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (o *Observer) Objects() []core.Object {
	o.Footprints.seeAll()
	return o.Look.Objects()
}

// Work implements [core.State].
func (o *Observer) Work() []core.Item {
	o.Footprints.seeAll()
	return o.Look.Work()
}

// InFlight implements [core.State].
func (o *Observer) InFlight() []core.Item {
	o.Footprints.seeAll()
	return o.Look.InFlight()
}

// Timers implements [core.State].
func (o *Observer) Timers() []core.Item {
	o.Footprints.seeAll()
	return o.Look.Timers()
}

// onlooker is a state that notes the cells that a predicate looks at.
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
