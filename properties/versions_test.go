package properties_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
)

var seeds = flag.Int("seeds", 25, "how many random systems are compared")

// TestVersionsSurviveReduction is what the properties of single objects rest on: with orders left out, the controllers
// make the same changes to each object, and overwrite each other as they do in all orders.
func TestVersionsSurviveReduction(t *testing.T) {
	less, compared, n := 0, 0, *seeds
	if testing.Short() {
		n /= 6
	}
	for seed := range uint64(n) {
		system, err := random.Loose(seed)
		if err != nil {
			t.Fatal(err)
		}
		owners := properties.OneWriter()
		system.Properties = []core.Property{owners}
		options := orrery.Options{MaxStates: 3000}
		if seed%3 == 1 {
			options.Granularity = orrery.PerCall
		}
		if seed%4 == 1 {
			options.Stale = []orrery.Staleness{{Rule: orrery.Lag(1)}}
		}
		full, whole := versions(t, system, options, orrery.NoReduction)
		reduced, also := versions(t, system, options, orrery.ByPartialOrder)
		if !whole || !also {
			continue
		}
		compared++
		if reduced.states < full.states {
			less++
		}
		if !slices.Equal(full.changes, reduced.changes) {
			t.Errorf("seed %d: with orders left out there are other changes:\n%q\nwant\n%q", seed, reduced.changes, full.changes)
		}
		if !slices.Equal(full.overwrites, reduced.overwrites) {
			t.Errorf("seed %d: with orders left out there are other overwrites:\n%q\nwant\n%q", seed, reduced.overwrites, full.overwrites)
		}
	}
	if compared < n/2 || less < n/8 {
		t.Errorf("only %d systems were compared, and in %d of them orders were left out", compared, less)
	}
}

// seen is what is seen of the versions of objects.
type seen struct {
	states              int
	changes, overwrites []string
}

// versions searches a system, and returns false if it is too large.
func versions(t *testing.T, system *core.System, options orrery.Options, reduction orrery.Reduction) (seen, bool) {
	t.Helper()
	options.Reduction = reduction
	result, err := orrery.Run(context.Background(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Report.Reasons) > 0 {
		return seen{}, false
	}
	s := seen{states: result.Report.States}
	g := result.Graph
	for id := range core.StateID(g.States()) {
		for _, e := range slices.Clone(g.Edges(id)) {
			for _, change := range g.Effect(e).Changes {
				text := func(c core.Content) string {
					if c == nil {
						return "none"
					}
					return c.Canonical()
				}
				s.changes = append(s.changes, fmt.Sprintf("%s: %s %s → %s", e.Step, change.Key, text(change.Before), text(change.After)))
			}
		}
	}
	for _, f := range result.Report.Findings {
		if f.Property == properties.OneWriter().Name {
			// Which object shows it first depends on the orders that are left.
			pair := slices.Sorted(slices.Values(f.Controllers))
			kind, _, _ := strings.Cut(f.Fields[0], " ")
			s.overwrites = append(s.overwrites, fmt.Sprint(pair, kind))
		}
	}
	for _, list := range []*[]string{&s.changes, &s.overwrites} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s, true
}
