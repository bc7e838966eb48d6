package properties

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Without leaves a field out of comparisons, with all that is below it. The objects are a kind, one object as findings
// name it, or "*" for all objects; the path is that of a field as findings name it, such as status.lastSeen or
// metadata.annotations["example.com/touched"]. The items of a list may be named by their type, name, key or uid, as in
// status.conditions.Ready.reason, or by their position, and "*" stands for any field or item:
// status.conditions[*].reason. The empty path is the whole object.
func Without(objects core.Kind, path string) core.Comparison {
	return core.Comparison{Objects: objects, Path: path, As: core.AsAbsent}
}

// AsSet compares a list as a set: the order of its items does not count. The objects and the path are those of
// [Without]. The names in except are fields of the items that do not count.
func AsSet(objects core.Kind, path string, except ...string) core.Comparison {
	return core.Comparison{Objects: objects, Path: path, As: core.AsSet, Except: except}
}

// AsMap compares a list as a map: its items by the fields that are their keys, and not by their positions. The objects
// and the path are those of [Without]. A list with items that have no key, or two of which have the same, is compared
// as it is.
func AsMap(objects core.Kind, path string, keys ...string) core.Comparison {
	return core.Comparison{Objects: objects, Path: path, As: core.AsMap, Keys: keys}
}

// ConditionsByType compares the conditions in the status of all objects by their types. The names in except are fields
// of conditions that do not count, such as reason, message and lastTransitionTime.
func ConditionsByType(except ...string) core.Comparison {
	return core.Comparison{Objects: "*", Path: "status.conditions", As: core.AsMap, Keys: []string{"type"}, Except: except}
}

// ParseComparison reads what [Without] leaves out, as findings name a field: "KIND: PATH", "KIND NAMESPACE/NAME: PATH",
// "*: PATH" for all objects, or a kind or object alone.
func ParseComparison(text string) (core.Comparison, error) {
	objects, path, _ := strings.Cut(text, ": ")
	c := Without(core.Kind(strings.TrimSpace(objects)), strings.TrimSpace(path))
	return c, ValidateComparisons([]core.Comparison{c})
}

// ValidateComparisons returns an error that says what to change if one of the rules makes no sense.
func ValidateComparisons(comparisons []core.Comparison) error {
	_, err := rulesOf(comparisons)
	return err
}

// rule is a comparison with its path taken apart.
type rule struct {
	core.Comparison
	path []element
}

// element is one part of a path: the name of a field or an item, the position of an item, or any.
type element struct {
	name     string
	position int // -1 if it is none
	any      bool
}

// rulesOf returns the rules in the order in which they are followed: what is left out comes first, then what is
// deepest.
func rulesOf(comparisons []core.Comparison) ([]rule, error) {
	var rules []rule
	for _, c := range comparisons {
		r, err := newRule(c)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		if absent := a.As == core.AsAbsent; absent != (b.As == core.AsAbsent) {
			if absent {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(b.path), len(a.path))
	})
	return rules, nil
}

func newRule(c core.Comparison) (rule, error) {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("comparison of %q: %s", c.Place(), fmt.Sprintf(format, args...))
	}
	switch c.As {
	case core.AsAbsent:
		if c.Objects == "*" && c.Path == "" {
			return rule{}, wrong("this rule would ignore everything: name a kind or a path")
		}
	case core.AsSet, core.AsMap:
	default:
		return rule{}, wrong("values cannot be compared as %q: use %q, %q or %q", c.As, core.AsAbsent, core.AsSet, core.AsMap)
	}
	if c.Objects == "" {
		return rule{}, wrong(`it names no objects: use a kind, or "*" for all`)
	}
	if c.As == core.AsMap && len(c.Keys) == 0 {
		return rule{}, wrong("a map needs keys: name the fields that identify its items")
	}
	path, err := parsePath(c.Path)
	if err != nil {
		return rule{}, wrong("%v", err)
	}
	return rule{c, path}, nil
}

// parsePath takes a path apart.
func parsePath(text string) ([]element, error) {
	var path []element
	for rest := text; rest != ""; {
		var next element
		var err error
		if rest[0] == '[' {
			next, rest, err = bracketed(rest)
		} else {
			next, rest, err = dotted(rest, len(path) == 0)
		}
		if err != nil {
			return nil, err
		}
		path = append(path, next)
	}
	return path, nil
}

// dotted reads a name at the beginning of a text, after a dot unless it is the first of the path.
func dotted(text string, first bool) (element, string, error) {
	name, dot := strings.CutPrefix(text, ".")
	if !first && !dot {
		return element{}, "", fmt.Errorf("the path needs a dot or a bracket before %q", text)
	}
	rest := ""
	if end := strings.IndexAny(name, ".[]\" "); end >= 0 {
		name, rest = name[:end], name[end:]
	}
	if name == "" || first && dot {
		return element{}, "", fmt.Errorf(`the path has an empty name: put names with dots or other signs in brackets and quotes, as in metadata.labels["example.com/team"]`)
	}
	return element{name: name, position: -1, any: name == "*"}, rest, nil
}

// bracketed reads what stands in brackets at the beginning of a text: a name in quotes, a position, or nothing or a
// star for any item.
func bracketed(text string) (element, string, error) {
	if quoted, err := strconv.QuotedPrefix(text[1:]); err == nil && strings.HasPrefix(text[1+len(quoted):], "]") {
		name, err := strconv.Unquote(quoted)
		return element{name: name, position: -1}, text[len(quoted)+2:], err
	}
	inside, rest, closed := strings.Cut(text[1:], "]")
	if !closed {
		return element{}, "", fmt.Errorf("the bracket before %q is not closed", text[1:])
	}
	if inside == "" || inside == "*" {
		return element{position: -1, any: true}, rest, nil
	}
	if key, name, keyed := strings.Cut(inside, "="); keyed && slices.Contains(core.KeyFields(), key) { // as stories name items
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		return element{name: name, position: -1}, rest, nil
	}
	n, err := strconv.Atoi(inside)
	if err != nil || n < 0 {
		return element{}, "", fmt.Errorf("%q in brackets is neither a position, a name in quotes, nor what tells an item apart, such as type=Ready", inside)
	}
	return element{position: n}, rest, nil
}

// isName reports whether the element stands for a field.
func (e element) isName(name string) bool { return e.any || e.position < 0 && e.name == name }

// isItem reports whether the element stands for an item of a list whose items have these names.
func (e element) isItem(i int, names []string) bool {
	return e.any || e.position == i || e.position < 0 && names != nil && names[i] == e.name
}

// about reports whether the rule is about an object.
func (r rule) about(key core.Key) bool {
	return r.Objects == "*" || r.Objects == key.Kind && key.Kind != "" || string(r.Objects) == key.String()
}

// followed is what a rule makes of a value.
type followed struct {
	value any
	// gone tells that nothing is left of it, and found that the rule found what it is about.
	gone, found bool
}

// follow returns a tree as the rule has it compared. The tree that is given stays as it is.
func (r rule) follow(tree any) followed { return r.descend(tree, r.path) }

func (r rule) descend(tree any, path []element) followed {
	if len(path) == 0 {
		items, isList := tree.([]any)
		switch {
		case r.As == core.AsAbsent:
			return followed{gone: true, found: true}
		case isList:
			return r.unordered(items)
		}
		return followed{value: tree}
	}
	found := false
	switch tree := tree.(type) {
	case map[string]any:
		kept := make(map[string]any, len(tree))
		for name, value := range tree {
			if !path[0].isName(name) {
				kept[name] = value
				continue
			}
			below := r.descend(value, path[1:])
			found = found || below.found
			// What is empty but for what is left out is as good as absent.
			if !below.gone && (r.As != core.AsAbsent || len(path) <= 1 || !empty(below.value)) {
				kept[name] = below.value
			}
		}
		return followed{value: kept, found: found}
	case []any:
		names := itemNames(tree)
		kept := make([]any, 0, len(tree))
		for i, value := range tree {
			below := followed{value: value}
			if path[0].isItem(i, names) {
				below = r.descend(value, path[1:])
				found = found || below.found
			}
			if !below.gone {
				kept = append(kept, below.value)
			}
		}
		return followed{value: kept, found: found}
	}
	return followed{value: tree}
}

func empty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// itemNames returns the names of the items of a list, nil if these do not tell them apart.
func itemNames(items []any) []string {
	for _, key := range core.KeyFields() {
		if _, ok := byKey(items, key); !ok {
			continue
		}
		names := make([]string, len(items))
		for i, item := range items {
			names[i], _ = item.(map[string]any)[key].(string)
		}
		return names
	}
	return nil
}

// unordered returns the items of a list as a set or a map.
func (r rule) unordered(items []any) followed {
	kept, found := r.except(items)
	if r.As == core.AsSet {
		return followed{value: sorted(kept), found: found}
	}
	all := make(map[string]any, len(items))
	for i, item := range items {
		name, hasKeys := r.keyOf(item)
		if _, known := all[name]; known || !hasKeys {
			return followed{value: kept}
		}
		all[name] = kept[i]
	}
	return followed{value: all, found: found}
}

// except returns the items without the fields that do not count, and reports whether there are such fields, if any are
// named.
func (r rule) except(items []any) ([]any, bool) {
	kept, found := slices.Clone(items), len(r.Except) == 0
	for i, item := range items {
		fields, isMap := item.(map[string]any)
		if !isMap || len(r.Except) == 0 {
			continue
		}
		rest := make(map[string]any, len(fields))
		for name, value := range fields {
			if !slices.Contains(r.Except, name) {
				rest[name] = value
			}
		}
		kept[i], found = rest, found || len(rest) < len(fields)
	}
	return kept, found
}

// keyOf returns the key of an item of a list, and false if it has none.
func (r rule) keyOf(item any) (string, bool) {
	fields, _ := item.(map[string]any)
	var parts []string
	for _, key := range r.Keys {
		value, there := fields[key]
		if !there {
			return "", false
		}
		text, isText := value.(string)
		if !isText {
			text = core.FieldText(value)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ","), true
}

// sorted returns items in the order of their texts.
func sorted(items []any) []any {
	texts := make(map[int]string, len(items))
	order := make([]int, len(items))
	for i, item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			text = []byte(core.FieldText(item))
		}
		texts[i], order[i] = string(text), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(texts[a], texts[b]) })
	all := make([]any, len(items))
	for i, at := range order {
		all[i] = items[at]
	}
	return all
}
