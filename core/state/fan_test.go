package state_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/state"
)

// TestFanIsAMap compares a fan with the map that it stands for.
func TestFanIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f state.Fan[*int]
		twin := map[state.Value]*int{}
		highest := rapid.SampledFrom([]uint32{6, 40, 5000}).Draw(t, "highest")
		values := rapid.SliceOf(rapid.Uint32Range(0, highest)).Draw(t, "values")
		for _, v := range values {
			value := state.Value(v)
			to := new(int)
			f.Put(value, to)
			twin[value] = to
			for known, want := range twin {
				if got := f.Get(known); got != want {
					t.Fatalf("after putting %d: what belongs to %d is not what was put", value, known)
				}
			}
		}
		for value := state.Value(0); uint32(value) <= highest+3; value++ {
			if got, want := f.Get(value), twin[value]; got != want {
				t.Fatalf("Get(%d) is not what the map holds", value)
			}
		}
	})
}
