package fieldrules

import (
	"encoding/json"
	"strings"
)

func bytesOf(text string) *strings.Reader { return strings.NewReader(text) }

// whole makes the numbers of a tree what a server reads.
func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			value[name] = whole(below)
		}
	case []any:
		for i, below := range value {
			value[i] = whole(below)
		}
	case json.Number:
		n, _ := value.Int64()
		return n
	}
	return value
}
