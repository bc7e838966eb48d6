package cel_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/properties/cel"
)

// TestDear checks that an expression that would take for ever is given up.
func TestDear(t *testing.T) {
	digits := `[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]`
	p, err := cel.Compile(strings.Repeat(digits+`.all(a, `, 12)+`pods.size() > 0`+strings.Repeat(`)`, 12), cel.Types{})
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := p.Holds(worldOf(t, shop)); holds || err == nil || !strings.Contains(err.Error(), "it takes too long to evaluate") {
		t.Errorf("it is %t, %v", holds, err)
	}
}
