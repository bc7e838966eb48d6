package state

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Look is a state as properties see it.
type Look struct {
	vocabulary *Vocabulary
	vector     Vector
}

var _ core.State = Look{}

// NewLook returns a look at a vector. It is valid as long as the vector is not changed.
func NewLook(vocabulary *Vocabulary, vector Vector) Look {
	return Look{vocabulary: vocabulary, vector: vector}
}

func (l Look) value(c Cell) Value {
	if int(c) >= len(l.vector) {
		return 0
	}
	return l.vector[c]
}

// Get implements [core.Snapshot].
func (l Look) Get(key core.Key) core.Content {
	c, known := l.vocabulary.Lookup(key)
	if !known {
		return nil
	}
	return l.vocabulary.Content(c, l.value(c))
}

// List implements [core.Snapshot].
func (l Look) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, c := range l.vocabulary.Kind(kind) {
		key, _ := l.vocabulary.Key(c)
		if value := l.value(c); value != 0 && (namespace == "" || namespace == key.Namespace) {
			objects = append(objects, core.Object{Key: key, Content: l.vocabulary.Content(c, value)})
		}
	}
	return objects
}

// Held implements [core.Snapshot]: it shows nobody's versions but those that are there.
func (l Look) Held(core.Key) []core.Content { return nil }

// Objects returns all objects, in the order of their keys.
func (l Look) Objects() []core.Object {
	var objects []core.Object
	for c, value := range l.vector {
		if key, isObject := l.vocabulary.Key(Cell(c)); isObject && value != 0 {
			objects = append(objects, core.Object{Key: key, Content: l.vocabulary.Content(Cell(c), value)})
		}
	}
	slices.SortFunc(objects, func(a, b core.Object) int { return a.Key.Compare(b.Key) })
	return objects
}

// Work implements [core.State].
func (l Look) Work() []core.Item { return l.those(func(value Value) bool { return value&Queued != 0 }) }

// Timers implements [core.State].
func (l Look) Timers() []core.Item {
	return l.those(func(value Value) bool { return value&Timed != 0 })
}

// InFlight implements [core.State].
func (l Look) InFlight() []core.Item {
	return l.those(func(value Value) bool { return value.Parked() > 0 })
}

func (l Look) those(accept func(Value) bool) []core.Item {
	var items []core.Item
	for c, value := range l.vector {
		if item, isItem := l.vocabulary.ItemAt(Cell(c)); isItem && accept(value) {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, core.Item.Compare)
	return items
}
