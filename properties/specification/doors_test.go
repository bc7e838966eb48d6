package specification_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/cel"
	"github.com/orrery-dev/orrery/properties/specification"
)

// TestDoors asks for each pattern in Go, as an expression, by its name in a file and as a formula: what is found is the
// same, word for word.
func TestDoors(t *testing.T) {
	const p, q = `variable("x") == 1`, `variable("x") == 0`
	one, zero := at(1), at(0)
	for name, pattern := range map[string]struct {
		inGo, inCEL          core.Property
		statement, asFormula string
	}{
		"eventually": {
			properties.Eventually(`variable("x") == 7`, at(7)), cel.Eventually("asked", `variable("x") == 7`),
			`eventually: variable("x") == 7`, `F 'variable("x") == 7'`,
		},
		"infinitely often": {
			properties.InfinitelyOften(p, one), cel.InfinitelyOften("asked", p), "infinitelyOften: " + p, "G F '" + p + "'",
		},
		"eventually always": {
			properties.EventuallyAlways(p, one), cel.EventuallyAlways("asked", p), "eventuallyAlways: " + p, "stable '" + p + "'",
		},
		"leads to": {
			properties.LeadsTo("asked", one, zero), cel.LeadsTo("asked", p, q), fmt.Sprintf("leadsTo: {from: '%s', to: '%s'}", p, q),
			fmt.Sprintf("'%s' leads to '%s'", p, q),
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(statement string) core.Property {
				all, err := specification.Of(lamp(t, true)).Read("asked.yaml", []byte("properties:\n- name: asked\n  "+statement+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				return all[0]
			}
			want := found(t, pattern.inCEL)
			for door, given := range map[string]core.Property{"a file": read(pattern.statement), "a formula": read("formula: |-\n    " + pattern.asFormula)} {
				if got := found(t, given); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %+v, want %+v", door, got, want)
				}
				if given.Doc != pattern.inCEL.Doc {
					t.Errorf("%s says %q, an expression %q", door, given.Doc, pattern.inCEL.Doc)
				}
			}
			got := found(t, pattern.inGo)
			if name == "leads to" { // the predicates have no names
				got.Details = want.Details
			}
			if got.Property = want.Property; !reflect.DeepEqual(got, want) {
				t.Errorf("in Go: got %+v, want %+v", got, want)
			}
		})
	}
}

// at is the predicate that x has a value.
func at(value int) properties.Predicate {
	x := plain.NewVar[int]("x")
	return func(s core.State) bool { return x.Get(s) == value }
}

// found returns what is found against a property of the lamp.
func found(t *testing.T, p core.Property) core.Finding {
	t.Helper()
	report, _ := check(t, lamp(t, true), []core.Property{p})
	if len(report.Findings) != 1 {
		t.Fatalf("%s: there are %d findings", p.Name, len(report.Findings))
	}
	return report.Findings[0]
}
