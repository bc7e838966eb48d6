package reduction

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSet checks sets against maps.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 200).Draw(t, "size")
		member := rapid.SliceOf(rapid.IntRange(0, size-1))
		one, other := newSet(size), newSet(size)
		want := map[int]bool{}
		for _, i := range member.Draw(t, "one") {
			one.add(i)
			want[i] = true
		}
		for _, i := range member.Draw(t, "other") {
			other.add(i)
			want[i] = true
		}
		one.addAll(other)
		var got []int
		one.each(func(i int) { got = append(got, i) })
		if !slices.IsSorted(got) || len(got) != len(want) {
			t.Fatalf("the members are %v, want %v", got, want)
		}
		for i := range size {
			if one.has(i) != want[i] {
				t.Fatalf("that %d is a member is %t", i, one.has(i))
			}
		}
		one.clear()
		one.each(func(i int) { t.Fatalf("%d is left", i) })
	})
}
