package reduction_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/reduction"
)

// built returns the system of an entry of a catalog.
func built(t *testing.T, entries []catalog.Entry, name string, params ...string) *core.System {
	t.Helper()
	i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("there is no %q", name)
	}
	values, err := entries[i].Parse(params)
	if err != nil {
		t.Fatal(err)
	}
	system, err := entries[i].Build(values)
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// searched returns a complete search of a system.
func searched(t *testing.T, system *core.System, reducer explore.Reducer) *explore.Space {
	t.Helper()
	o := options()
	o.Reducer = reducer
	space, err := explore.Search(context.Background(), system, o)
	if err != nil || len(space.Reasons()) > 0 {
		t.Fatal(err, space.Reasons())
	}
	return space
}

// TestCountersGrowLinearly checks that counters which have nothing to do with each other are counted up one after the
// other.
func TestCountersGrowLinearly(t *testing.T) {
	for _, n := range []int{1, 2, 10, 50} {
		system := built(t, models.Catalog(), "model/counters", fmt.Sprintf("n=%d", n), "k=2")
		if got, want := searched(t, system, reduction.Stubborn{}).States(), 2*n+1; got != want {
			t.Errorf("%d counters have %d states, want %d", n, got, want)
		}
	}
}

// TestTenantsGrowLinearly checks that one more tenant costs what a tenant costs, under real controllers.
func TestTenantsGrowLinearly(t *testing.T) {
	one := 0
	for n := 1; n <= 10; n++ {
		got := searched(t, built(t, tenants.Catalog(), "tenants", fmt.Sprintf("n=%d", n)), reduction.Stubborn{}).States()
		if n == 1 {
			one = got
		}
		if most := n*one + n; got > most {
			t.Errorf("%d tenants have %d states, want at most %d", n, got, most)
		}
	}
}

// TestTenantsAreJudgedAlike checks that of tenants a reduced search finds what a full one does.
func TestTenantsAreJudgedAlike(t *testing.T) {
	want, full, _ := find(t, built(t, tenants.Catalog(), "tenants", "n=4"), options())
	o := options()
	o.Reducer = reduction.Stubborn{}
	got, reduced, _ := find(t, built(t, tenants.Catalog(), "tenants", "n=4"), o)
	if difference := differ(got, want); difference != "" {
		t.Errorf("%d states in full, %d reduced: %s", full.States(), reduced.States(), difference)
	}
	if reduced.States()*10 > full.States() {
		t.Errorf("%d states in full, %d reduced", full.States(), reduced.States())
	}
}
