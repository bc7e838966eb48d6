package behavior

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestProcessOfAName finds the process of a controller, of itself, and of what goes on in it between activations.
func TestProcessOfAName(t *testing.T) {
	e := &enactment{programs: map[string]string{"web": "both", "alone": "alone"}}
	for name, want := range map[string]string{"web": "both", "alone": "alone", "both": "both", core.Background("both"): "both"} {
		if got := e.process(name); got != want {
			t.Errorf("the process of %s is %q, want %q", name, got, want)
		}
	}
}
