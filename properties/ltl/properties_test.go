package ltl_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// TestAgainstProperties compares the verdicts on formulas that there is a property of its own for.
func TestAgainstProperties(t *testing.T) {
	p, q := atoms()[0].State, atoms()[1].State
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, "x", "y", "z")
		clear(g.cut)
		for _, test := range []struct {
			formula  string
			property core.Property
		}{
			{"F a", properties.Eventually("p", p)},
			{"G F a", properties.InfinitelyOften("p", p)},
			{"F G a", properties.EventuallyAlways("p", p)},
			{"a leads to b", properties.LeadsTo("p", p, q)},
		} {
			want, err := test.property.Judge(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			got := g.violation(t, test.formula, ltl.Weak)
			if (got == nil) != (len(want) == 0) {
				t.Fatalf("%s: got %+v, want %+v", test.formula, got, want)
			}
		}
	})
}
