package store

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestParents adds parents in order, with a jump now and then.
func TestParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []core.StateID{NoParent}
		step := rapid.OneOf(rapid.Just(-1), rapid.IntRange(0, 3), rapid.IntRange(jumped-2, jumped+2))
		for range rapid.IntRange(0, 200).Draw(t, "states") {
			parent := core.StateID(rapid.IntRange(0, len(list)-1).Draw(t, "parent"))
			if s := step.Draw(t, "step"); s >= 0 && list[len(list)-1] != NoParent {
				parent = list[len(list)-1] + core.StateID(s)
			}
			list = append(list, parent)
		}
		var p parents
		for _, parent := range list {
			p.add(parent)
		}
		for id, want := range list {
			if got := p.at(core.StateID(id)); got != want {
				t.Fatalf("the parent of state %d is %d, want %d", id, got, want)
			}
		}
	})
}
