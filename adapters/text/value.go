package text

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// valueWidth is the number of runes of a value that are shown, unless all is.
const valueWidth = 72

// value returns the value of a field as JSON on one line.
func (p *page) value(v any) string {
	if v == nil {
		return "(absent)"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return clean(fmt.Sprint(v))
	}
	text := clean(strings.TrimSuffix(b.String(), "\n"))
	runes := []rune(text)
	if !p.elide || len(runes) <= valueWidth {
		return text
	}
	return fmt.Sprintf("%s… (%s)", string(runes[:valueWidth-20]), counted(len(runes), "character", "characters"))
}

// field is a path with its value.
type field struct {
	path  string
	value any
}

// leaves returns the fields of a tree that have none below them, in the order of
// their paths; lists keep their own order.
func leaves(path string, tree any) []field {
	var fields []field
	switch tree := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			fields = append(fields, leaves(strings.TrimPrefix(path+"."+name, "."), tree[name])...)
		}
	case []any:
		for i, below := range tree {
			fields = append(fields, leaves(path+"["+strconv.Itoa(i)+"]", below)...)
		}
	default:
		return []field{{path, tree}}
	}
	return fields
}

// sortedFirst moves fields at or below some paths to the front, and else keeps the
// order.
func sortedFirst(fields []field, paths []string) []field {
	rest := func(f field) int {
		for _, path := range paths {
			below, found := strings.CutPrefix(f.path, path)
			if found && (path == "" || below == "" || below[0] == '.' || below[0] == '[') {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(fields, func(a, b field) int { return rest(a) - rest(b) })
	return fields
}

// object writes an object with its fields, under a title.
func (p *page) object(level int, title string, fields []field) {
	if len(fields) == 1 && fields[0].path == "" {
		p.line(level, title, " = ", p.value(fields[0].value))
		return
	}
	p.line(level, title)
	shown := fields
	if p.elide && len(fields) > fieldLimit {
		shown = fields[:fieldLimit-1]
	}
	for _, f := range shown {
		p.line(level+1, clean(f.path), " = ", p.value(f.value))
	}
	if rest := len(fields) - len(shown); rest > 0 {
		p.line(level+1, p.faint(fmt.Sprintf("… and %s", counted(rest, "more field", "more fields"))))
	}
}
