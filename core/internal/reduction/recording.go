package reduction

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// recordingState is a state that records what a predicate looks at.
type recordingState struct {
	state.Look
	record record
}

var _ core.State = (*recordingState)(nil)

// record is told what is looked at in a state, before it is shown.
type record interface {
	object(core.Key)
	kind(kind core.Kind, namespace string)
	objects()
	items()
}

// Get implements [core.State].
func (r *recordingState) Get(key core.Key) core.Content {
	r.record.object(key)
	return r.Look.Get(key)
}

// List implements [core.State].
func (r *recordingState) List(kind core.Kind, namespace string) []core.Object {
	r.record.kind(kind, namespace)
	return r.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (r *recordingState) Objects() []core.Object {
	r.record.objects()
	return r.Look.Objects()
}

// Work implements [core.State].
func (r *recordingState) Work() []core.Item {
	r.record.items()
	return r.Look.Work()
}

// InFlight implements [core.State].
func (r *recordingState) InFlight() []core.Item {
	r.record.items()
	return r.Look.InFlight()
}

// Timers implements [core.State].
func (r *recordingState) Timers() []core.Item {
	r.record.items()
	return r.Look.Timers()
}

// visible records which places predicates look at.
type visible struct {
	*footprints
	vocabulary *state.Vocabulary
}

// Observe returns a state that records what a predicate looks at, for the choice of what is left out.
func (r *Reductions) Observe(look state.Look, vocabulary *state.Vocabulary) core.State {
	return &recordingState{look, visible{r.Footprints, vocabulary}}
}

func (v visible) see(name placeName) { grow(v.footprints, v.visible.reads, v.place(name)) }

func (v visible) object(key core.Key) {
	if c, known := v.vocabulary.Lookup(key); known {
		v.see(placeName{sight: sight{cell: c}})
	} else {
		v.see(placeName{listed: true, kind: key.Kind})
	}
}

func (v visible) kind(kind core.Kind, namespace string) {
	v.see(placeName{listed: true, kind: kind, namespace: namespace})
}

func (v visible) objects() { v.seeAll() }

func (v visible) items() { v.seeAll() }

// trace records the cells that a predicate looks at, with their values.
type trace struct {
	vocabulary *state.Vocabulary
	vector     state.Vector
	touched    []state.Touch
}

func (t *trace) see(c state.Cell) {
	if !state.Touches(t.touched, c) {
		t.touched = append(t.touched, state.Touch{Cell: c, Was: t.vector.Value(c)})
	}
}

// object implements [record]. An object that was never met has a cell from now on.
func (t *trace) object(key core.Key) { t.see(t.vocabulary.Object(key)) }

func (t *trace) kind(kind core.Kind, _ string) {
	for _, c := range t.vocabulary.Kind(kind) {
		t.see(c)
	}
}

func (t *trace) objects() {
	for c := range state.Cell(t.vocabulary.Cells()) {
		if _, isObject := t.vocabulary.Key(c); isObject {
			t.see(c)
		}
	}
}

func (t *trace) items() {
	for c := range state.Cell(t.vocabulary.Cells()) {
		if _, isItem := t.vocabulary.ItemAt(c); isItem {
			t.see(c)
		}
	}
}
