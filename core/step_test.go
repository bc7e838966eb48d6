package core_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestNobodysSteps has steps that are about no controller be told as those of the time, and not be those of a
// controller without a name.
func TestNobodysSteps(t *testing.T) {
	if item := core.Everything(); item == (core.Item{}) || !strings.Contains(item.String(), "time") {
		t.Errorf("they are of %q", item)
	}
}
