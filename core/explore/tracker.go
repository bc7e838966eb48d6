package explore

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// tracker shows a store the state of a walker, and takes note of what it looks at.
type tracker struct {
	walker *walker
	reads  []behavior.Read
}

var _ core.Snapshot = (*tracker)(nil)

func (t *tracker) note(read behavior.Read) {
	for _, known := range t.reads {
		if known.Asks(read) {
			return
		}
	}
	t.reads = append(t.reads, read)
}

// Get implements [core.Snapshot].
func (t *tracker) Get(key core.Key) core.Content {
	vocabulary := t.walker.machine.vocabulary
	c := vocabulary.Object(key)
	value := t.walker.Value(c)
	t.note(behavior.Read{Cell: c, Value: value})
	return vocabulary.Content(c, value)
}

// List implements [core.Snapshot].
func (t *tracker) List(kind core.Kind, namespace string) []core.Object {
	t.note(behavior.Read{
		Listed:    true,
		Kind:      kind,
		Namespace: namespace,
		Signature: string(t.walker.AppendSignature(nil, kind, namespace)),
	})
	return state.NewLook(t.walker.machine.vocabulary, t.walker.vector).List(kind, namespace)
}
