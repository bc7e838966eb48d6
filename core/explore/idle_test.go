package explore

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestIdleRule says of rules that concern no view which views there are.
func TestIdleRule(t *testing.T) {
	kinds := []core.Kind{"Pod", "Job", "Pod"}
	for _, test := range []struct {
		controller string
		has        []core.Kind
		want       string
	}{
		{"", nil, "no cache can be stale: no controller watches a kind or reads one through a cache"},
		{"", kinds, `no controller watches "Cron" or reads it through a cache: cached kinds are Job, Pod`},
		{"web", nil, `controller "web" has no cache that could be stale: it does not watch a kind or read one through a cache`},
		{"web", kinds, `controller "web" does not watch "Cron" or read it through a cache: its cached kinds are Job, Pod`},
	} {
		if got := idleRule(Staleness{Controller: test.controller, Kind: "Cron"}, test.has).Error(); got != test.want {
			t.Errorf("got %s", got)
		}
	}
}

// TestUnmergeable says why states are not merged, and says nothing where they can be.
func TestUnmergeable(t *testing.T) {
	in := func(c Conditions, change func(*transition.Machine)) *transition.Machine {
		m := &transition.Machine{Conditions: c, System: &core.System{}}
		change(m)
		return m
	}
	nothing := func(*transition.Machine) {}
	judges := func(m *transition.Machine) {
		m.System.Properties = []core.Property{
			{Name: "always", Invariant: func(core.State) error { return nil }}, {Name: "ends", Merges: core.InEnds}, {Name: "loops", Merges: core.WithoutLoops},
		}
	}
	for _, test := range []struct {
		machine *transition.Machine
		order   Order
		want    string
	}{
		{in(Conditions{}, nothing), BreadthFirst, ""},
		{in(Conditions{}, judges), DepthFirst, ""},
		{in(Conditions{}, nothing), RandomWalks, "walks do not merge states"},
		{in(Conditions{Remembering: []string{"web"}}, nothing), BreadthFirst, "controllers keep memory, in which names cannot be exchanged"},
		{in(Conditions{Drawing: []string{"web"}}, nothing), BreadthFirst, "controllers draw random values, which depend on names"},
		{in(Conditions{}, func(m *transition.Machine) { m.Holds = true }), BreadthFirst, "caches may be stale, or each call is a step"},
		{in(Conditions{Crashes: 1}, nothing), BreadthFirst, "faults or second instances are allowed"},
		{in(Conditions{Failures: 1}, nothing), BreadthFirst, "faults or second instances are allowed"},
		{in(Conditions{Doubles: []string{"web"}}, nothing), BreadthFirst, "faults or second instances are allowed"},
		{in(Conditions{}, func(m *transition.Machine) { m.System.Scenario.Actions = make([]core.Action, 1) }), BreadthFirst, "the scenario has actions of users"},
		{in(Conditions{}, func(m *transition.Machine) {
			judges(m)
			m.System.Properties = append(m.System.Properties, core.Property{Name: "steps"})
		}), BreadthFirst, `"steps" judges states or steps on the way`},
	} {
		if got := unmergeable(test.machine, Options{Order: test.order}); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
