package explore

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestLineageTellsParents adds parents in order, with a leap now and then.
func TestLineageTellsParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parents := []core.StateID{noParent}
		step := rapid.OneOf(rapid.Just(-1), rapid.IntRange(0, 3), rapid.IntRange(leapt-2, leapt+2))
		for range rapid.IntRange(0, 200).Draw(t, "states") {
			parent := core.StateID(rapid.IntRange(0, len(parents)-1).Draw(t, "parent"))
			if s := step.Draw(t, "step"); s >= 0 && parents[len(parents)-1] != noParent {
				parent = parents[len(parents)-1] + core.StateID(s)
			}
			parents = append(parents, parent)
		}
		var l lineage
		for _, parent := range parents {
			l.add(parent)
		}
		for id, want := range parents {
			if got := l.at(core.StateID(id)); got != want {
				t.Fatalf("the parent of state %d is %d, want %d", id, got, want)
			}
		}
	})
}
