package behavior

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/state"
)

// TestFanIsAMap compares a fan with the map that it stands for.
func TestFanIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f fan
		twin := map[state.Value]branch{}
		highest := rapid.SampledFrom([]uint32{6, 40, 5000}).Draw(t, "highest")
		values := rapid.SliceOf(rapid.Uint32Range(0, highest)).Draw(t, "values")
		for _, v := range values {
			value := state.Value(v)
			b := branch{answered: &Answered{}}
			f.put(value, b)
			twin[value] = b
			for known, want := range twin {
				if got := f.get(known); got != want {
					t.Fatalf("after putting %d: the branch of %d is not the one that was put", value, known)
				}
			}
		}
		for value := state.Value(0); uint32(value) <= highest+3; value++ {
			if got, want := f.get(value), twin[value]; got != want {
				t.Fatalf("get(%d) is not what the map holds", value)
			}
		}
	})
}
