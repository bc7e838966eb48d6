package explore

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
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

// watching is a strategy that does nothing but to watch kinds.
type watching core.Description

func (w watching) Describe() core.Description { return core.Description(w) }
func (watching) New() (core.Instance, error)  { panic("nobody runs it") }

// TestIdle has it be an error, or a reason if there are others, that a condition concerns nothing, and nothing be said
// of those that do.
func TestIdle(t *testing.T) {
	actor := func(d core.Description, cached ...core.Kind) *transition.Actor {
		return &transition.Actor{Description: d, Strategy: watching(d), Cached: cached}
	}
	web, idle := actor(core.Description{Name: "web", Watches: []core.Kind{"Pod"}, Caches: []core.Kind{"Job"}}, "Cron"), actor(core.Description{Name: "idle"})
	user := actor(core.Description{Name: "user", Watches: []core.Kind{"Node"}})
	user.User = true
	lag := view.Lag(1)
	for _, test := range []struct {
		actors []*transition.Actor
		rule   Staleness
		idle   bool
	}{
		{[]*transition.Actor{web, idle}, Staleness{Rule: lag}, false},
		{[]*transition.Actor{web, idle}, Staleness{Kind: "Pod", Rule: lag}, false},
		{[]*transition.Actor{web, idle}, Staleness{Kind: "Job", Rule: lag}, false},
		{[]*transition.Actor{web, idle}, Staleness{Controller: "web", Kind: "Cron", Rule: lag}, false},
		{[]*transition.Actor{web, idle}, Staleness{Kind: "Node", Rule: view.Fresh()}, false},
		{[]*transition.Actor{web, idle}, Staleness{Kind: "Node", Rule: lag}, true},
		{[]*transition.Actor{web, idle}, Staleness{Controller: "idle", Rule: lag}, true},
		{[]*transition.Actor{web, idle}, Staleness{Controller: "idle", Kind: "Pod", Rule: lag}, true},
		{[]*transition.Actor{idle, user}, Staleness{Rule: lag}, true},
	} {
		for _, before := range []string{"", "something else was cut"} {
			s := &Space{machine: &transition.Machine{Actors: test.actors, Conditions: Conditions{Staleness: []Staleness{test.rule}}}}
			if before != "" {
				s.because(before)
			}
			err := s.idle()
			if (err != nil) != (test.idle && before == "") || (len(s.reasons) == 2) != (test.idle && before != "") {
				t.Errorf("%+v, before %q: %v, %q", test.rule, before, err, s.reasons)
			}
		}
	}
	for _, fails := range []bool{true, false} {
		s := &Space{machine: &transition.Machine{Conditions: Conditions{Failures: 1}, Fails: fails}}
		if err := s.idle(); err != nil || (len(s.reasons) == 1) == fails {
			t.Errorf("calls can fail: %t, and it is said %q, %v", fails, s.reasons, err)
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
