package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/internal/typo"
)

// unknown returns an error about a name that is none of the known ones. It
// suggests the nearest one, or else tells how to see them all.
func unknown(what, name string, known []string, how string) error {
	if suggestion, found := nearest(name, known); found {
		return fmt.Errorf("there is no %s %q: did you mean %q? (%s shows all)", what, name, suggestion, how)
	}
	return fmt.Errorf("there is no %s %q (%s shows all)", what, name, how)
}

// nearest returns the known name that is most like a name, if any is much like it.
// The part after the last slash counts as a name, too.
func nearest(name string, known []string) (string, bool) {
	best, least := "", typo.Tolerance(name)+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		last := candidate[strings.LastIndexByte(candidate, '/')+1:]
		if d := min(typo.Distance(name, candidate), typo.Distance(name, last)); d < least {
			best, least = candidate, d
		}
	}
	return best, best != ""
}
