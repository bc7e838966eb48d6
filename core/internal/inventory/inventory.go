// Package inventory takes stock of objects: how many values there are in their fields, what numbers come to there, and
// which fields get values that they never had.
package inventory

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/orrery-dev/orrery/core"
)

// Size is what there is in the fields of an object, by their paths. The path of a value that is no field of anything is
// "value".
type Size struct {
	// Values is how many values there are.
	Values int
	// Numbers are those that are numbers, which may be written as texts.
	Numbers map[string]int
	// Texts are all of them.
	Texts map[string]string
}

// sizeOf returns the size of an object with these fields: maps, lists, and what is neither.
func sizeOf(fields any) Size {
	s := Size{Numbers: map[string]int{}, Texts: map[string]string{}}
	s.add("", fields)
	return s
}

func (s *Size) add(path string, fields any) {
	switch at := fields.(type) {
	case map[string]any:
		for name, field := range at {
			s.add(core.FieldOf(path, name), field)
		}
	case []any:
		for i, item := range at {
			s.add(core.ItemOf(path, i), item)
		}
	case nil:
	default:
		path, text := cmp.Or(path, "value"), fmt.Sprint(at)
		s.Values++
		s.Texts[path] = text
		if number, err := strconv.Atoi(text); err == nil {
			s.Numbers[path] = number
		}
	}
}

// Grew reports whether there are more values than there were, or, in a field, a higher number.
func (s Size) Grew(was Size, field string) bool {
	return s.Values > was.Values || s.Numbers[field] > was.Numbers[field]
}

// Stock takes stock of states, of which most have most objects in common.
type Stock struct {
	// Outcome returns what matters of a version of an object, nil if nothing does.
	Outcome func(core.Key, core.Content) any
	known   map[string]Size
}

// Of returns the sizes of those objects of which something matters.
func (s *Stock) Of(objects []core.Object) map[core.Key]Size {
	if s.known == nil {
		s.known = map[string]Size{}
	}
	sizes := map[core.Key]Size{}
	for _, o := range objects {
		version := o.Key.String() + "\x00" + o.Content.Canonical()
		size, known := s.known[version]
		if !known {
			size = sizeOf(s.Outcome(o.Key, o.Content))
			s.known[version] = size
		}
		if size.Values > 0 {
			sizes[o.Key] = size
		}
	}
	return sizes
}

// Field is a field of an object.
type Field struct {
	Of   core.Key
	Path string
}

// History knows which values fields have had on a run, and which fields got others in which step.
type History struct {
	had     map[Field]map[string]bool
	renewed [][]Field
}

// Renewed returns the fields that have values before a step, from 0, which they never had before. Those that had none
// are not among them. What there is before a step is asked for once, in order.
func (h *History) Renewed(step int, before func(step int) map[core.Key]Size) []Field {
	if h.had == nil {
		h.had = map[Field]map[string]bool{}
	}
	for at := len(h.renewed); at <= step; at++ {
		var renewed []Field
		for key, size := range before(at) {
			for path, text := range size.Texts {
				field := Field{key, path}
				switch had := h.had[field]; {
				case had == nil:
					h.had[field] = map[string]bool{text: true}
				case !had[text]:
					had[text] = true
					renewed = append(renewed, field)
				}
			}
		}
		h.renewed = append(h.renewed, renewed)
	}
	return h.renewed[step]
}
