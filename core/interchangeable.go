package core

import (
	"fmt"
	"regexp"
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
	if arrangements > mostArrangements {
		errs = append(errs, fmt.Errorf("there are more than %d arrangements of the interchangeable names, and all have to be looked at: name at most six of a group, and fewer if there are several groups", mostArrangements))
	}
	return errs
}
