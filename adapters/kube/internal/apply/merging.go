package apply

import (
	"maps"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// merger merges what is wanted of a value into what there is, as the library does that the
// real server uses, but goes through nothing that is not wanted. It knows the types of
// fields, and leaves to the library whatever is not plain: what has no place in the types,
// values that take the place of those of another type, items of lists that change places or
// are there twice, fractions.
type merger struct {
	types *schema.Schema
	// odd tells that something is not plain. The outcome is worth nothing then.
	odd bool
	// certain tells that the outcome is another value even for those to whom the empty
	// fields are there that a Go type always has.
	certain bool
}

// merged is the outcome of a merge.
type merged struct {
	// value shares with what there is all that does not change.
	value any
	// wanted are the fields that are wanted. changed are those that are added or modified,
	// and perhaps some that contain such. None is ever removed.
	wanted, changed fieldSet
}

// merge merges a wanted value of a type into the live one, if one is found.
func (m *merger) merge(of schema.TypeRef, live any, found bool, wanted any) merged {
	atom, known := m.types.Resolve(of)
	if !known || atom == (schema.Atom{}) {
		return m.giveUp()
	}
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		switch {
		case atom.Map == nil || found && !ok:
		case atom.Map.ElementRelationship == schema.Atomic:
			return m.replaceParts(of, live, found, wanted)
		case len(wanted) == 0:
			return m.keep(live, found, wanted)
		default:
			return m.mergeFields(atom.Map, fields, wanted)
		}
	case []any:
		items, ok := live.([]any)
		switch {
		case atom.List == nil || found && !ok:
		case atom.List.ElementRelationship == schema.Atomic:
			return m.replaceParts(of, live, found, wanted)
		case len(wanted) == 0:
			kept := m.keep(live, found, wanted)
			kept.wanted = nil // Only its items belong to those who want a list.
			return kept
		default:
			return m.mergeItems(atom.List, items, wanted)
		}
	case nil:
		if !found || live == nil {
			return m.keep(live, found, wanted)
		}
	case string, bool, int64:
		if fitsScalar(atom.Scalar, wanted) && (!found || scalar(live)) {
			return m.replace(live, found, wanted)
		}
	}
	return m.giveUp()
}

func (m *merger) giveUp() merged {
	m.odd = true
	return merged{}
}

// keep merges a value without anything in it.
func (m *merger) keep(live any, found bool, wanted any) merged {
	if found {
		return merged{value: live, wanted: fieldSet{}}
	}
	return merged{value: wanted, wanted: fieldSet{}, changed: fieldSet{}}
}

// replaceParts puts a wanted value that has parts in the place of the live one as a whole.
func (m *merger) replaceParts(of schema.TypeRef, live any, found bool, wanted any) merged {
	if !jsontree.IsPlain(wanted) || !jsontree.IsPlain(live) {
		return m.giveUp()
	}
	if _, err := typed.AsTyped(value.NewValueInterface(wanted), m.types, of); err != nil {
		return m.giveUp()
	}
	return m.replace(live, found, wanted)
}

// replace puts a wanted value in the place of the live one.
func (m *merger) replace(live any, found bool, wanted any) merged {
	if found && jsontree.Same(live, wanted) {
		return merged{value: live, wanted: fieldSet{}}
	}
	m.certain = m.certain || found || !emptyValue(wanted)
	return merged{value: wanted, wanted: fieldSet{}, changed: fieldSet{}}
}

// mergeFields merges an object field by field.
func (m *merger) mergeFields(t *schema.Map, live, wanted map[string]any) merged {
	all := merged{value: live}
	var fields map[string]any
	for name, below := range wanted {
		of := t.ElementType
		field, declared := t.FindField(name)
		if declared {
			of = field.Type
		}
		old, found := live[name]
		one := m.merge(of, old, found, below)
		if m.odd {
			return merged{}
		}
		if !declared {
			one.wanted = one.wanted.withItself()
		}
		all.add(toField+name, one)
		if one.changed == nil {
			continue
		}
		if fields == nil {
			fields = make(map[string]any, max(len(live), len(wanted)))
			maps.Copy(fields, live)
			all.value = fields
		}
		fields[name] = one.value
	}
	if len(live) == 0 {
		all.changed = all.changed.withItself()
	}
	return all
}

// add adds the fields after a step.
func (all *merged) add(step string, one merged) {
	all.wanted = all.wanted.with(step, one.wanted)
	all.changed = all.changed.with(step, one.changed)
}

// mergeItems merges a list item by item. Those that are not wanted come before the wanted
// ones that are not there yet.
func (m *merger) mergeItems(t *schema.List, live, wanted []any) merged {
	if t.ElementRelationship != schema.Associative {
		return m.giveUp()
	}
	places := make(map[string]int, len(live))
	for i, item := range live {
		places[m.stepTo(t, item)] = i
	}
	steps, shared := make([]string, len(wanted)), make([]bool, len(live))
	for i, item := range wanted {
		steps[i] = m.stepTo(t, item)
		if place, found := places[steps[i]]; found {
			shared[place] = true
		}
	}
	if m.odd || len(places) < len(live) {
		return m.giveUp()
	}
	all := merged{}
	items := make([]any, 0, len(live)+len(wanted))
	next := 0 // of the live items
	for i, item := range wanted {
		for next < len(live) && !shared[next] {
			items = append(items, live[next])
			next++
		}
		var old any
		place, found := places[steps[i]]
		if found {
			if place != next {
				return m.giveUp()
			}
			old = live[place]
			next++
		}
		one := m.merge(t.ElementType, old, found, item)
		if m.odd {
			return merged{}
		}
		one.wanted = one.wanted.withItself()
		if !found {
			one.changed = one.changed.withItself()
			m.certain = true
		}
		items = append(items, one.value)
		all.add(steps[i], one)
	}
	if len(all.wanted) < len(wanted) {
		return m.giveUp()
	}
	all.value = append(items, live[next:]...)
	if all.changed == nil {
		all.value = live
	}
	if len(live) == 0 {
		all.changed = all.changed.withItself()
	}
	return all
}

// stepTo is the step to an item of a list.
func (m *merger) stepTo(t *schema.List, item any) string {
	const usual = 64 // bytes of a step
	step := make([]byte, 0, usual)
	if len(t.Keys) == 0 {
		m.odd = m.odd || !scalar(item)
		return string(jsontree.Append(append(step, toValue...), item))
	}
	fields, ok := item.(map[string]any)
	m.odd = m.odd || !ok
	key := make(map[string]any, len(t.Keys))
	for _, name := range t.Keys {
		value, found := fields[name]
		if !found {
			value = m.keyDefault(t, name)
		}
		if found || value != nil {
			m.odd = m.odd || !scalar(value)
			key[name] = value
		}
	}
	m.odd = m.odd || len(key) == 0
	return string(jsontree.AppendObject(append(step, toKey...), key))
}

// keyDefault is what a field that tells items apart is taken to be where it is missing.
func (m *merger) keyDefault(t *schema.List, name string) any {
	atom, known := m.types.Resolve(t.ElementType)
	if !known || atom.Map == nil {
		m.odd = true
		return nil
	}
	field, _ := atom.Map.FindField(name)
	return field.Default
}

// scalar reports whether a value is a plain one that has no parts.
func scalar(value any) bool {
	switch value.(type) {
	case string, bool, int64:
		return true
	}
	return false
}

// fitsScalar reports whether a value that has no parts has a type.
func fitsScalar(of *schema.Scalar, value any) bool {
	if of == nil {
		return false
	}
	ok := false
	switch *of {
	case schema.Numeric:
		_, ok = value.(int64)
	case schema.String:
		_, ok = value.(string)
	case schema.Boolean:
		_, ok = value.(bool)
	case schema.Untyped:
		ok = scalar(value)
	}
	return ok
}

// emptyValue reports whether a Go type may always have a value, whatever is said of it.
func emptyValue(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			if !emptyValue(below) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	}
	return value == nil || value == "" || value == false || value == int64(0)
}

// fieldSet is a set of fields of a value, as the record of managers writes it: a tree of
// the steps to them. It is nil if no field is in it. A value without steps is in the set
// itself, and one with steps is so if one of them is [itself].
type fieldSet map[string]any

// itself is the step that stays at a value.
const itself = "."

// steps to a field of an object, to an item of a list that is told apart by some of its
// fields, and to one that is told apart by its value.
const (
	toField = "f:"
	toKey   = "k:"
	toValue = "v:"
)

// below are the fields in the set after a step.
func (s fieldSet) below(step string) fieldSet {
	below, _ := s[step].(map[string]any)
	return below
}

// hasItself reports whether the value itself is in the set.
func (s fieldSet) hasItself() bool {
	return s != nil && (len(s) == 0 || s[itself] != nil)
}

// withItself adds the value itself, when all below it that is in the set has been added.
func (s fieldSet) withItself() fieldSet {
	if s == nil {
		return fieldSet{}
	}
	if len(s) > 0 {
		s[itself] = map[string]any{}
	}
	return s
}

// with adds the fields after a step. The value itself must not be in the set yet.
func (s fieldSet) with(step string, below fieldSet) fieldSet {
	if below == nil {
		return s
	}
	if s == nil {
		s = fieldSet{}
	}
	s[step] = map[string]any(below)
	return s
}

// without removes a field and all below it.
func (s fieldSet) without(steps ...string) fieldSet {
	below := s.below(steps[0])
	if below == nil {
		return s
	}
	if len(steps) > 1 {
		below = below.without(steps[1:]...)
	} else {
		below = nil
	}
	if below != nil {
		s[steps[0]] = map[string]any(below)
		return s
	}
	delete(s, steps[0])
	switch {
	case len(s) == 0:
		return nil
	case len(s) == 1 && s[itself] != nil:
		return fieldSet{}
	}
	return s
}

// meets reports whether a field below the value is in both sets.
func (s fieldSet) meets(other fieldSet) bool {
	for step := range s {
		if step == itself {
			continue
		}
		mine, theirs := s.below(step), other.below(step)
		if mine.hasItself() && theirs.hasItself() || mine.meets(theirs) {
			return true
		}
	}
	return false
}

// covers reports whether all fields below the value that are in the other set are in this
// one.
func (s fieldSet) covers(other fieldSet) bool {
	for step := range other {
		if step == itself {
			continue
		}
		mine, theirs := s.below(step), other.below(step)
		if theirs == nil || theirs.hasItself() && !mine.hasItself() || !mine.covers(theirs) {
			return false
		}
	}
	return true
}
