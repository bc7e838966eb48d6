package reduction_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/examples/models"
	"github.com/orrery-dev/orrery/examples/tenants"
	"github.com/orrery-dev/orrery/reduction"
)

func space(t *testing.T, entry catalog.Entry, params ...string) *explore.Space {
	t.Helper()
	values, err := entry.Parse(params)
	if err != nil {
		t.Fatal(err)
	}
	system, err := entry.Build(values)
	if err != nil {
		t.Fatal(err)
	}
	for i := range system.Properties {
		t.Log(system.Properties[i].Name, system.Properties[i].Invariant != nil)
	}
	o := options()
	o.Bounds.States = 0
	o.Reducer = reduction.Stubborn{}
	s, err := explore.Search(context.Background(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGrowth(t *testing.T) {
	for _, e := range models.Catalog() {
		if e.Name == "model/counters" {
			for _, n := range []int{2, 10, 50} {
				s := space(t, e, fmt.Sprintf("n=%d", n), "k=2")
				t.Log(n, s.States(), s.Stats.Transitions, s.Reasons())
			}
		}
	}
	for _, e := range tenants.Catalog() {
		for _, n := range []int{1, 2, 3, 4, 6, 10} {
			s := space(t, e, fmt.Sprintf("n=%d", n))
			t.Log(n, s.States(), s.Stats.Transitions, s.Reasons())
		}
	}
}
