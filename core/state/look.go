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
func (l Look) Work() []core.Item { return l.marked(Queued) }

// Timers implements [core.State].
func (l Look) Timers() []core.Item { return l.marked(Timed) }

func (l Look) marked(mark Value) []core.Item {
	var items []core.Item
	for c, value := range l.vector {
		if item, isItem := l.vocabulary.ItemAt(Cell(c)); isItem && value&mark != 0 {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, core.Item.Compare)
	return items
}
