package canonical

import (
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Move moves all times in an object of a kind, as far as its schema tells which values are times. It changes the tree.
func (f *Form) Move(kind core.Kind, tree map[string]any, by time.Duration) {
	if by != 0 {
		moved(f.fieldsOf(kind).places, tree, by)
	}
}

// moved returns the value at a place with its times moved.
func moved(p *place, value any, by time.Duration) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			value[name] = moved(p.field(name), below, by)
		}
	case []any:
		for i, below := range value {
			value[i] = moved(p.item(), below, by)
		}
	case string:
		if p == nil || !p.time {
			return value
		}
		if later, is := storage.MovedText(value, by); is {
			return later
		}
	}
	return value
}
