package transition

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core/state"
)

// TestRemembered has the versions that memories name be found, by their objects, and by the memory before a step.
func TestRemembered(t *testing.T) {
	first := &part{cell: 0, domain: &domain{memory: memory{held: [][]version{nil, {{cell: 5, value: 2}, {cell: 6, value: 3}, {cell: 5, value: 4}}}}}}
	second := &part{cell: 1, domain: &domain{memory: memory{held: [][]version{nil, nil, {{cell: 5, value: 7}}}}}}
	w := &Walker{Machine: &Machine{parts: []*part{first, second}}}
	w.Vector = append(w.Vector, 1, 2)
	if want := []version{{5, 2}, {6, 3}, {5, 4}, {5, 7}}; !slices.Equal(w.inMemory(), want) {
		t.Errorf("these are in memory: %v", w.inMemory())
	}
	for c, want := range map[state.Cell][]state.Value{5: {2, 4, 7}, 6: {3}, 7: nil} {
		if got := w.remembered(c); !slices.Equal(got, want) {
			t.Errorf("of %d these are remembered: %v", c, got)
		}
	}
	if got := w.letGo(Touch{Cell: 1, Was: 2}); !slices.Equal(got, []version{{5, 7}}) {
		t.Errorf("these are let go: %v", got)
	}
	if got := w.letGo(Touch{Cell: 2, Was: 1}); got != nil {
		t.Errorf("of no memory, these are let go: %v", got)
	}
	w.Vector[0] = 0
	if got := w.remembered(5); !slices.Equal(got, []state.Value{7}) {
		t.Errorf("these are remembered: %v", got)
	}
}
