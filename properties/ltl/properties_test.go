package ltl_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// TestPatterns compares what is found against patterns and against formulas of the same form, word for word.
func TestPatterns(t *testing.T) {
	p, q := atoms()[0], atoms()[1]
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, "x", "y", "z")
		for formula, property := range map[string]core.Property{
			"F a":          properties.Eventually("a", p.State),
			"G F a":        properties.InfinitelyOften("a", p.State),
			"F G a":        properties.EventuallyAlways("a", p.State),
			"a leads to b": ltl.LeadsTo.Property("G (a -> F b)", ltl.Weak, p, q),
		} {
			want, err := property.Judge(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			got := g.violation(t, formula, ltl.Weak)
			if (got == nil) != (len(want) == 0) || got != nil && !reflect.DeepEqual(*got, want[0]) {
				t.Fatalf("%s: got %+v, want %+v", formula, got, want)
			}
		}
	})
}
