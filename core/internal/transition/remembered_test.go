package transition

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// TestRemembered has the versions that memories name be found, by their objects, and by the memory before a step.
func TestRemembered(t *testing.T) {
	first := naming(0, nil, []version{{cell: 5, value: 2}, {cell: 6, value: 3}, {cell: 5, value: 4}})
	second := naming(1, nil, nil, []version{{cell: 5, value: 7}})
	w := &Walker{Machine: &Machine{parts: []*part{first, second}}}
	w.Vector = append(w.Vector, 1, 2)
	for c, want := range map[state.Cell][]state.Value{5: {2, 4, 7}, 6: {3}, 7: nil} {
		if got := w.remembered(c); !slices.Equal(got, want) {
			t.Errorf("of %d these are remembered: %v", c, got)
		}
	}
	if got := w.letGo(state.Touch{Cell: 1, Was: 2}); !slices.Equal(got, []version{{5, 7}}) {
		t.Errorf("these are let go: %v", got)
	}
	if got := w.letGo(state.Touch{Cell: 2, Was: 1}); got != nil {
		t.Errorf("of no memory, these are let go: %v", got)
	}
	w.Vector[0] = 0
	if got := w.remembered(5); !slices.Equal(got, []state.Value{7}) {
		t.Errorf("these are remembered: %v", got)
	}
}

// identified is a content with names that no other object has.
type identified struct {
	text  string
	names []string
}

func (c identified) Canonical() string    { return c.text }
func (c identified) Fields() any          { return c.text }
func (c identified) Identities() []string { return c.names }

func (c identified) Chosen() string { return "" }

// TestIdentitiesInMemory has memories note the identities of objects: a version of each such object is held by them,
// but no version is by its own name.
func TestIdentitiesInMemory(t *testing.T) {
	same := func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }
	m := &Machine{Vocabulary: state.NewVocabulary(same), Holds: true}
	a, b := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"}), m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "b"})
	m.Vocabulary.Note("a note")
	m.Vocabulary.Intern(a, identified{"first", []string{"uid-of-a"}})
	m.Vocabulary.Intern(a, identified{"second", []string{"uid-of-a"}})
	m.Vocabulary.Intern(b, identified{"nameless", nil})
	if got := m.identified("done[uid-of-a] uid-of-b"); !slices.Equal(got, []version{{a, 1}}) {
		t.Errorf("a memory has noted %v", got)
	}
	m.Vocabulary.Intern(b, identified{"named", []string{"name-of-b", "uid-of-b"}})
	both := m.identified("done[uid-of-b] uid-of-a")
	if !slices.Equal(both, []version{{a, 1}, {b, 2}}) || m.identified("nothing") != nil {
		t.Errorf("a memory has noted %v", both)
	}
	its := &part{cell: m.Vocabulary.Note("memory"), domain: &domain{memory: memory{held: [][]version{nil, nil}, known: [][]version{nil, both}}}}
	m.Vocabulary.Extend(its.cell, "both")
	m.parts = append(m.parts, its)
	w := NewWalker(m, nil)
	w.Set(its.cell, 1)
	if got := w.held(a); !slices.Equal(got, []state.Value{1}) {
		t.Errorf("these are held: %v", got)
	}
	if got := w.remembered(a); got != nil {
		t.Errorf("these have to keep their names: %v", got)
	}
	if got := w.letGo(state.Touch{Cell: its.cell, Was: 1}); !slices.Equal(got, both) {
		t.Errorf("these are let go: %v", got)
	}
}
