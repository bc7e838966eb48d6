package fieldrules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed checked.txt
var checkedFields string

// Coverage knows which fields of a kind are checked: of those a real server refuses nothing
// that is not refused here, as far as TestFields in adapters/kube/conformance has found, which writes the
// list, checked.txt.
//
// In it a kind begins at the margin. Below it stand the fields of the kind, by the object that they are in. One
// with a ! before it is not checked, or not for all that a real server wants. An object after an equals
// sign has the fields of that one of another kind.
type Coverage struct {
	fields map[string]*Coverage
	// unchecked tells that what is here is not checked.
	unchecked bool
}

// Coverage returns what is known of a kind. Of one that is not in the list nothing is
// checked.
func (t *Table) Coverage(kind string) *Coverage {
	if c := t.checked[kind]; c != nil {
		return c
	}
	return &Coverage{}
}

// Unchecked returns the paths of the fields that an object sets and that are not checked, in
// order. The metadata, which are checked for all kinds alike, are left out. An item of a list has
// the path of the list with [].
func (c *Coverage) Unchecked(object map[string]any) []string {
	if c == nil {
		return nil
	}
	var paths []string
	for name, value := range object {
		switch name {
		case "apiVersion", "kind", "metadata":
			continue
		}
		c.unknown(name, value, name, &paths)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// unknown adds the paths below a field that are set and are not checked.
func (c *Coverage) unknown(name string, value any, path string, paths *[]string) {
	if value == nil {
		return
	}
	below := c.fields[name]
	if below == nil || below.unchecked {
		*paths = append(*paths, path)
		return
	}
	if len(below.fields) > 0 {
		below.inside(value, path, paths)
	}
}

func (c *Coverage) inside(value any, path string, paths *[]string) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			c.unknown(name, field, path+"."+name, paths)
		}
	case []any:
		for _, item := range value {
			c.inside(item, path+"[]", paths)
		}
	}
}

// readChecked reads the list of what is checked.
func (t *Table) readChecked(list string) error {
	t.checked = map[string]*Coverage{}
	var kind *Coverage
	for i, line := range strings.Split(list, "\n") {
		wrong := func(why string) error { return fmt.Errorf("checked.txt:%d: %s", i+1, why) }
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, " "):
			kind = &Coverage{}
			t.checked[words[0]] = kind
		case kind == nil:
			return wrong("a line of no kind")
		case len(words) == 4 && words[1] == "=":
			other := t.checked[words[2]]
			if other == nil {
				return wrong("no such kind above: " + words[2])
			}
			*kind.at(words[0]) = *other.at(words[3])
		default:
			in := kind
			if name, isPath := strings.CutSuffix(words[0], ":"); isPath {
				in, words = kind.at(name), words[1:]
			}
			for _, word := range words {
				name, unchecked := strings.CutPrefix(word, "!")
				in.at(name).unchecked = unchecked
			}
		}
	}
	return nil
}

// at returns what is known at a path.
func (c *Coverage) at(path string) *Coverage {
	for _, name := range strings.Split(path, ".") {
		if c.fields == nil {
			c.fields = map[string]*Coverage{}
		}
		if c.fields[name] == nil {
			c.fields[name] = &Coverage{}
		}
		c = c.fields[name]
	}
	return c
}
