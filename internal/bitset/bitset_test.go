package bitset

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSet compares a set with a map.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set Set[uint32]
		want := map[uint32]bool{}
		number := rapid.Uint32Range(0, 300)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := number.Draw(t, "n")
				if set.Add(n) == want[n] {
					t.Fatalf("Add(%d) is %t", n, want[n])
				}
				want[n] = true
			},
			"remove": func(t *rapid.T) {
				n := number.Draw(t, "n")
				set.Remove(n)
				delete(want, n)
			},
			"add all": func(t *rapid.T) {
				var other Set[uint32]
				for _, n := range rapid.SliceOf(number).Draw(t, "more") {
					other.Add(n)
					want[n] = true
				}
				set.AddAll(other)
			},
			"clear": func(*rapid.T) {
				set.Clear()
				clear(want)
			},
			"": func(t *rapid.T) {
				var sorted []uint32
				for n := range uint32(301) {
					if set.Has(n) != want[n] {
						t.Fatalf("Has(%d) is %t", n, set.Has(n))
					}
					if want[n] {
						sorted = append(sorted, n)
					}
				}
				if all := slices.Collect(set.All()); !slices.Equal(all, sorted) {
					t.Fatalf("All() is %v, not %v", all, sorted)
				}
				if set.Empty() != (len(want) == 0) {
					t.Fatalf("Empty() is %t", set.Empty())
				}
			},
		})
	})
}
