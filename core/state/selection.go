package state

import "github.com/orrery-dev/orrery/core"

// Selection is a [core.Selection] over the cells of a kind in a namespace (empty for all). It remembers what it
// selects. A nil selection selects everything.
type Selection struct {
	Kind      core.Kind
	Namespace string

	of core.Selection
	// verdicts are by cell and value.
	verdicts [][]verdict
}

// verdict is what is known of a value.
type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

// selectionName names a selection.
type selectionName struct {
	kind                core.Kind
	namespace, identity string
}

// Selection returns the selection of that identity, which it adds if it is new.
func (v *Vocabulary) Selection(kind core.Kind, namespace string, of core.Selection) *Selection {
	name := selectionName{kind, namespace, of.Identity()}
	s, known := v.selections[name]
	if !known {
		s = &Selection{Kind: kind, Namespace: namespace, of: of}
		v.selections[name] = s
		v.selecting[kind] = append(v.selecting[kind], s)
	}
	return s
}

// Selections returns the selections on a kind, in the order of discovery. The slice must not be changed.
func (v *Vocabulary) Selections(kind core.Kind) []*Selection { return v.selecting[kind] }

// Selected reports whether a value of an object's cell is selected, and whether that is known.
func (s *Selection) Selected(c Cell, value Value) (selected, known bool) {
	switch {
	case s == nil:
		return true, true
	case int(c) >= len(s.verdicts) || int(value) >= len(s.verdicts[c]):
		return false, false
	}
	return s.verdicts[c][value] == yes, s.verdicts[c][value] != unknown
}

// Evaluate reports whether a value of an object's cell is selected, and remembers it.
func (v *Vocabulary) Evaluate(s *Selection, c Cell, value Value) bool {
	if selected, known := s.Selected(c, value); known {
		return selected
	}
	for int(c) >= len(s.verdicts) {
		s.verdicts = append(s.verdicts, nil)
	}
	for int(value) >= len(s.verdicts[c]) {
		s.verdicts[c] = append(s.verdicts[c], unknown)
	}
	key, _ := v.Key(c)
	selected := value != 0 && (s.Namespace == "" || s.Namespace == key.Namespace) &&
		s.of.Selects(core.Object{Key: key, Content: v.Content(c, value)})
	s.verdicts[c][value] = no
	if selected {
		s.verdicts[c][value] = yes
	}
	return selected
}

// May reports whether any value of an object's cell is selected that was met so far.
func (v *Vocabulary) May(s *Selection, c Cell) bool {
	for value := range v.cells[c].contents {
		if v.Evaluate(s, c, Value(value)) {
			return true
		}
	}
	return false
}
