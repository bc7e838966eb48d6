package canonical

import (
	"strings"
	"time"

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
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return at.Add(by).Format(layoutOf(value))
		}
	}
	return value
}

// layoutOf returns the layout of a time with as many digits behind the second as a text has.
func layoutOf(text string) string {
	_, fraction, found := strings.Cut(text, ".")
	if !found {
		return time.RFC3339
	}
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	return "2006-01-02T15:04:05." + strings.Repeat("0", digits) + "Z07:00"
}
