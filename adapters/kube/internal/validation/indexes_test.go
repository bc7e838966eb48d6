package validation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestIndexes(t *testing.T) {
	for _, test := range []struct{ text, wantErr string }{
		{"", ""}, {"0", ""}, {"0,2,4-6,9", ""},
		{"10", `too large index: "10"`},
		{"3,1", "non-increasing order, previous: 3, current: 1"},
		{"1-3,3", "non-increasing order, previous: 3, current: 3"},
		{"4-2", "non-increasing order, previous: 4, current: 2"},
		{"a", `cannot convert string to integer for index: "a"`},
		{"1-2-3", `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`},
	} {
		_, err := parseIndexes(test.text, 10)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.wantErr {
			t.Errorf("%q: got %q, want %q", test.text, got, test.wantErr)
		}
	}
}

// TestIndexesAgainstLists compares with lists of single numbers.
func TestIndexesAgainstLists(t *testing.T) {
	const completions = 12
	draw := func(t *rapid.T, label string) ([]int32, indexes) {
		numbers := rapid.SliceOfDistinct(rapid.Int32Range(0, completions-1), rapid.ID[int32]).Draw(t, label)
		slices.Sort(numbers)
		var all indexes
		for _, n := range numbers {
			if last := len(all) - 1; last >= 0 && all[last][1] == n-1 {
				all[last][1] = n
			} else {
				all = append(all, [2]int32{n, n})
			}
		}
		return numbers, all
	}
	rapid.Check(t, func(t *rapid.T) {
		a, x := draw(t, "a")
		b, y := draw(t, "b")
		if got := x.count(); int(got) != len(a) {
			t.Fatalf("%v has %d indexes, want %d", x, got, len(a))
		}
		both, found := x.common(y)
		i := slices.IndexFunc(a, func(n int32) bool { return slices.Contains(b, n) })
		if found != (i >= 0) || found && both != a[i] {
			t.Fatalf("%v and %v have %d in common (%t), want the first of %v in %v", x, y, both, found, a, b)
		}
	})
}
