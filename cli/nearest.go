package cli

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/internal/typo"
)

// unknown returns an error about a name that is none of the known ones. It
// suggests the nearest one, or else tells how to see them all.
func unknown(what, name string, known []string, how string) error {
	if suggestion := typo.Nearest(name, slices.Sorted(slices.Values(known))); suggestion != "" {
		return fmt.Errorf("there is no %s %q: did you mean %q? (%s shows all)", what, name, suggestion, how)
	}
	return fmt.Errorf("there is no %s %q (%s shows all)", what, name, how)
}
