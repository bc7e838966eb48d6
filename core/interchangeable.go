package core

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// wellFormedName is what can be found in texts: an interchangeable name begins and ends with a letter or digit.
var wellFormedName = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$`)

// mostArrangements is in how many ways interchangeable names may be arranged in all: those of six names.
const mostArrangements = 720

// validateNames says what is wrong with groups of interchangeable names.
func validateNames(groups [][]string) []error {
	var errs []error
	seen := map[string]bool{}
	arrangements := 1
	for i, group := range groups {
		if len(group) < 2 {
			errs = append(errs, fmt.Errorf("group %d of interchangeable names has %d of them: name at least two, or leave it out", i+1, len(group)))
		}
		for j, name := range group {
			arrangements = min(arrangements*(j+1), 2*mostArrangements)
			if !wellFormedName.MatchString(name) {
				errs = append(errs, fmt.Errorf("%q cannot be an interchangeable name: use letters, digits, dashes, dots and underscores, with a letter or digit at both ends", name))
			}
			if seen[name] {
				errs = append(errs, fmt.Errorf("%q is an interchangeable name twice: remove one", name))
			}
			seen[name] = true
		}
	}
	all := slices.Sorted(maps.Keys(seen))
	for i, name := range all {
		for _, other := range all[i:] {
			if overlap(name, other) || overlap(other, name) {
				errs = append(errs, fmt.Errorf("the interchangeable names %q and %q can overlap in a text, so that it is not clear what is exchanged: rename one", name, other))
			}
		}
	}
	if arrangements > mostArrangements {
		errs = append(errs, fmt.Errorf("there are more than %d arrangements of the interchangeable names, and all have to be looked at: name at most six of a group, and fewer if there are several groups", mostArrangements))
	}
	return errs
}

// overlap reports whether there is a text in which one name begins within another one or with it. Then to exchange
// names is nothing that can be taken back: if "a" and "b" are exchanged in "b-a", that becomes another name, "a-b".
func overlap(name, other string) bool {
	for at := range len(name) {
		if at > 0 && !separates(name[at-1]) || at == 0 && name == other {
			continue
		}
		rest := name[at:]
		within := strings.HasPrefix(rest, other) && (len(rest) == len(other) || separates(rest[len(other)]))
		beyond := strings.HasPrefix(other, rest) && (len(rest) == len(other) || separates(other[len(rest)]))
		if within || beyond {
			return true
		}
	}
	return false
}

// separates reports whether a byte of a name can stand between names.
func separates(b byte) bool { return b == '-' || b == '.' || b == '_' }
