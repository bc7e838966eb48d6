package kube

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

// hasItself tells whether the value itself is in the set.
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

// meets tells whether a field below the value is in both sets.
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

// covers tells whether all fields below the value that are in the other set are in this
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
