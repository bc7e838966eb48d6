package fieldrules

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rules are the rules for one kind.
type Rules struct{ shape *shape }

// Validate returns what is wrong with an object, a tree of JSON values that a server has filled
// its defaults into. A new one is one that is created.
func (r *Rules) Validate(object map[string]any, isNew bool) field.ErrorList {
	if r == nil || r.shape == nil {
		return nil
	}
	return r.shape.validate(&scope{object: object, created: isNew})
}

// scope is an object in its surroundings.
type scope struct {
	object map[string]any
	path   *field.Path
	outer  *scope
	// created tells, of the outermost object, that it is a new one.
	created bool
}

// isNew reports whether the whole is a new object.
func (s *scope) isNew() bool {
	for s.outer != nil {
		s = s.outer
	}
	return s.created
}

// found is what is at a path.
type found struct {
	value any
	there bool
	path  *field.Path
	// in is the object around it, or, for a rule without a path, the object itself.
	in *scope
}

func (s *shape) validate(at *scope) field.ErrorList {
	var errs field.ErrorList
	for _, m := range s.members {
		m.each(at, func(f found) {
			for _, rule := range m.rules {
				wrong, done := rule(f)
				errs = append(errs, wrong...)
				if done || len(wrong) > 0 {
					return
				}
			}
			if object, ok := f.value.(map[string]any); ok {
				for _, shape := range m.shapes {
					errs = append(errs, shape.validate(&scope{object: object, path: f.path, outer: f.in})...)
				}
			}
		})
	}
	return errs
}

// each calls visit for all that a path leads to. The last step is taken even if nothing is
// there, unless the object that it would be in is missing.
func (m *member) each(at *scope, visit func(found)) {
	if len(m.path) == 0 {
		visit(found{value: at.object, there: true, path: at.path, in: at})
		return
	}
	walk(at, m.path, func(f found) {
		if m.told != "" {
			f.path = child(at.path, m.told)
		}
		visit(f)
	})
}

func walk(at *scope, path []segment, visit func(found)) {
	step, rest := path[0], path[1:]
	value, there := at.object[step.name]
	there = there && value != nil
	here := child(at.path, step.name)
	onward := func(f found) {
		switch {
		case len(rest) == 0:
			visit(f)
		case f.there:
			if object, ok := f.value.(map[string]any); ok {
				walk(&scope{object: object, path: f.path, outer: f.in}, rest, visit)
			}
		}
	}
	switch step.into {
	case itself:
		onward(found{value, there, here, at})
	case items:
		list, _ := value.([]any)
		for i, item := range list {
			onward(found{item, true, here.Index(i), at})
		}
	default:
		object, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			below := object[key]
			if step.into == keys {
				below = key
			}
			onward(found{below, true, here.Key(key), at})
		}
	}
}

func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

// Drop takes away from a new object what a server does not store, because the feature gate of
// it is off. old is the object before an update, nil if there was none: what is in use stays.
// It reports whether there was anything.
func (r *Rules) Drop(object, old map[string]any) bool {
	if r == nil || r.shape == nil {
		return false
	}
	inUse := map[*member]bool{}
	if old != nil {
		r.shape.dropped(&scope{object: old}, func(m *member, _ found) { inUse[m] = true })
	}
	dropped := false
	r.shape.dropped(&scope{object: object}, func(m *member, f found) {
		if !inUse[m] {
			delete(f.in.object, m.path[len(m.path)-1].name)
			dropped = true
		}
	})
	return dropped
}

// dropped calls visit for all that is to be dropped.
func (s *shape) dropped(at *scope, visit func(*member, found)) {
	for _, m := range s.members {
		if !m.dropped && len(m.shapes) == 0 {
			continue
		}
		m.each(at, func(f found) {
			object, ok := f.value.(map[string]any)
			if m.dropped && f.there {
				visit(m, f)
				return
			}
			if ok {
				for _, shape := range m.shapes {
					shape.dropped(&scope{object: object, path: f.path, outer: f.in}, visit)
				}
			}
		})
	}
}

// empty reports whether a value is none at all.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// text is a value as a string, for messages and comparisons.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return fmt.Sprint(value)
}

// WellFormed returns what is wrong with a text that is to be in one of the formats of the
// tables.
func WellFormed(format, text string, at *field.Path) field.ErrorList {
	return formats()[format](text, at)
}
