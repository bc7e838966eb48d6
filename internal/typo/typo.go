// Package typo finds out what was meant by a name that is misspelt.
package typo

import "strings"

// Nearest returns the first of the known names that are most like a name, whatever the case of letters, and an empty
// text if none is much like it. The part of a known name after its last slash counts as a name, too.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	nearest, least := "", max(2, len(name)/3)+1
	for _, candidate := range known {
		whole := strings.ToLower(candidate)
		last := whole[strings.LastIndexByte(whole, '/')+1:]
		if d := min(Distance(name, whole), Distance(name, last)); d < least {
			nearest, least = candidate, d
		}
	}
	return nearest
}

// Distance returns how many characters must be added, removed or replaced to make one text the other
// (Levenshtein).
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			replaced := diagonal
			if r != s {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
