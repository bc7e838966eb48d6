package cli

import (
	"fmt"
	"slices"
	"strings"
)

// unknown returns an error about a name that is none of the known ones. It
// suggests the nearest one, or else tells how to see them all.
func unknown(what, name string, known []string, how string) error {
	if suggestion, found := nearest(name, known); found {
		return fmt.Errorf("there is no %s %q: did you mean %q? %s shows them all", what, name, suggestion, how)
	}
	return fmt.Errorf("there is no %s %q: %s shows them all", what, name, how)
}

// nearest returns the known name that is most like a name, if any is much like it.
// The part after the last slash counts as a name, too.
func nearest(name string, known []string) (string, bool) {
	best, least := "", max(2, len(name)/3)+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		last := candidate[strings.LastIndexByte(candidate, '/')+1:]
		if d := min(distance(name, candidate), distance(name, last)); d < least {
			best, least = candidate, d
		}
	}
	return best, best != ""
}

// distance returns how many letters must be added, dropped or replaced to make
// one word the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
