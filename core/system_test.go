package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

type strategy core.Description

func (s strategy) Describe() core.Description { return core.Description(s) }
func (strategy) New() (core.Instance, error)  { return nil, nil }

type store struct{ core.Store }

type content string

func (c content) Canonical() string { return string(c) }
func (c content) Fields() any       { return string(c) }

func valid() *core.System {
	return &core.System{
		Name:       "s",
		Store:      store{},
		Strategies: []core.Strategy{strategy{Name: "c", Watches: []core.Kind{"K"}}},
		Initial:    []core.Initial{{Objects: []core.Object{{Key: core.Key{Kind: "K", Name: "a"}, Content: content("x")}}}},
		Properties: []core.Property{{Name: "p", Invariant: func(core.State) error { return nil }}},
	}
}

func TestValidate(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatalf("a valid system is refused: %v", err)
	}
	nothing := func(core.EffectRecorder) error { return nil }
	scenario := func(actions ...core.Action) func(*core.System) {
		return func(s *core.System) { s.Scenario.Actions = actions }
	}
	names := func(groups ...[]string) func(*core.System) {
		return func(s *core.System) { s.Interchangeable = groups }
	}
	a := valid().Initial[0].Objects[0].Key
	underway := func(at ...core.AtWork) func(*core.System) {
		return func(s *core.System) { s.Initial[0].Underway = &core.Underway{Processes: at} }
	}
	invariant := func(core.State) error { return nil }
	judge := func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }
	for _, test := range []struct {
		want  string
		spoil func(*core.System)
	}{
		{"the system has no name: set System.Name", func(s *core.System) { s.Name = "" }},
		{"the system has no store: set System.Store", func(s *core.System) { s.Store = nil }},
		{"the system has no controllers", func(s *core.System) { s.Strategies = nil }},
		{"strategy number 2 is nil", func(s *core.System) { s.Strategies = append(s.Strategies, nil) }},
		{"strategy number 2 is nil", func(s *core.System) {
			s.Strategies = append(s.Strategies, nil)
			underway(core.AtWork{Process: "c"})(s)
		}},
		{"strategy number 1 has no name", func(s *core.System) { s.Strategies[0] = strategy{Messages: true} }},
		{`two controllers are called "c"`, func(s *core.System) { s.Strategies = append(s.Strategies, s.Strategies[0]) }},
		{`controller "c" watches nothing and has no requests`, func(s *core.System) { s.Strategies[0] = strategy{Name: "c"} }},
		{`a process and a controller are called "c"`, func(s *core.System) {
			s.Strategies = append(s.Strategies, strategy{Name: "d", Process: "c", Watches: []core.Kind{"K"}})
		}},
		{`"c" has messages or guarded actions, and cannot share the process "p"`, func(s *core.System) {
			s.Strategies[0] = strategy{Name: "c", Process: "p", Messages: true}
		}},
		{"the system has no initial state", func(s *core.System) { s.Initial = nil }},
		{"object K a of initial state 1 has no content", func(s *core.System) { s.Initial[0].Objects[0].Content = nil }},
		{"object K a is given twice in initial state 1", func(s *core.System) {
			s.Initial[0].Objects = append(s.Initial[0].Objects, s.Initial[0].Objects[0])
		}},
		{"a property has no name: set Property.Name", func(s *core.System) { s.Properties[0].Name = "" }},
		{`two properties are called "p"`, func(s *core.System) { s.Properties = append(s.Properties, s.Properties[0]) }},
		{`property "p" must have exactly one of Invariant and Judge`, func(s *core.System) { s.Properties[0] = core.Property{Name: "p"} }},
		{`property "p" must have exactly one of Invariant and Judge`, func(s *core.System) {
			s.Properties[0] = core.Property{Name: "p", Invariant: invariant, Judge: judge}
		}},
		{`property "p": column 3 is wrong`, func(s *core.System) {
			s.Properties[0] = core.Property{Name: "p", Mistake: errors.New("column 3 is wrong")}
		}},
		{`property "p" says why no order of steps can be left out, although some can`, func(s *core.System) {
			s.Properties[0] = core.Property{Name: "p", Judge: judge, Ends: true, Unreducible: "why"}
		}},
		{`property "p" has comparisons and compares nothing: set Compares, or leave Comparisons empty`, func(s *core.System) {
			s.Properties[0] = core.Property{Name: "p", Judge: judge, Comparisons: make([]core.Comparison, 1)}
		}},
		{`property "p" says why no order of steps can be left out, although some can`, func(s *core.System) {
			s.Properties[0] = core.Property{Name: "p", Invariant: invariant, Unreducible: "why"}
		}},
		{`there is no process "d" that could be at work: give the name of a process of the system`, underway(core.AtWork{Process: "d"})},
		{`the process "c" is at work twice: give each once`, underway(core.AtWork{Process: "c"}, core.AtWork{Process: "c"})},
		{`d(r) is in a queue of the process "c", which has no controller of that name`, underway(core.AtWork{Process: "c", Queued: []core.Item{{Strategy: "c"}, {Strategy: "d", Request: "r"}}})},
		{`d(r) is in a queue of the process "c", which has no controller of that name`, underway(core.AtWork{Process: "c", Timed: []core.Item{{Strategy: "d", Request: "r"}}})},
		{`the changes of K a that the caches of "c" have not received do not lead to what is there: give all of them, in order`, underway(core.AtWork{Process: "c", Behind: []core.Missing{{Key: a}}})},
		{`the changes of K b that the caches of "c" have not received do not lead to what is there: give all of them, in order`, underway(core.AtWork{Process: "c", Behind: []core.Missing{
			{Key: core.Key{Kind: "K", Name: "b"}, To: stuff("1")},
		}})},
		{`the changes of K a that the caches of "c" have not received do not lead to what is there: give all of them, in order`, underway(core.AtWork{Process: "c", Behind: []core.Missing{
			{Key: a, To: stuff("1")}, {Key: a, From: stuff("2"), To: valid().Initial[0].Objects[0].Content},
		}})},
		{"action number 2 of the scenario has no name", scenario(core.Action{Name: "a", Do: nothing}, core.Action{Do: nothing})},
		{`action "a" of the scenario does nothing: set Action.Do`, scenario(core.Action{Name: "a"})},
		{`two actions of the scenario are called "a"`, scenario(core.Action{Name: "a", Do: nothing}, core.Action{Name: "a", Do: nothing})},
		{`action "b" of the scenario is one of several alternatives, and is taken at any moment: set Action.Settled`, func(s *core.System) {
			s.Scenario = core.Scenario{Alternatives: true, Actions: []core.Action{{Name: "a", Do: nothing, Settled: true}, {Name: "b", Do: nothing}}}
		}},
		{"the actions of the scenario are alternatives and come one after the other", func(s *core.System) {
			s.Scenario = core.Scenario{Alternatives: true, InOrder: true}
		}},
		{"group 2 of interchangeable names has 1 of them: name at least two", names([]string{"a", "b"}, []string{"c"})},
		{`"a" is an interchangeable name twice`, names([]string{"a", "b", "a"})},
		{`"a b" cannot be an interchangeable name`, names([]string{"a b", "c"})},
		{`"-a" cannot be an interchangeable name`, names([]string{"-a", "c"})},
		{`"a-b" and "b" can overlap in a text`, names([]string{"b", "c"}, []string{"a-b", "d"})},
		{`"a-b" and "b-c" can overlap in a text`, names([]string{"a-b", "b-c"})},
		{`"a" and "a-b" can overlap in a text`, names([]string{"a", "c"}, []string{"a-b", "d"})},
		{"more than 720 arrangements", names([]string{"a", "b", "c", "d", "e", "f"}, []string{"x", "y"})},
		{`a controller is called "user", as the actions of the scenario are`, func(s *core.System) {
			scenario(core.Action{Name: "a", Do: nothing})(s)
			s.Strategies[0] = strategy{Name: core.User, Messages: true}
		}},
	} {
		system := valid()
		test.spoil(system)
		err := system.Validate()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got the error %v, want one with %q", err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("one mistake gives several errors: %v", err)
		}
	}
	// All mistakes are told at once.
	err := (&core.System{}).Validate()
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("an empty system is refused with %v", err)
	}
	alike := valid()
	names([]string{"a", "b1", "c-1"}, []string{"x.y", "x.z", "ab"})(alike)
	if err := alike.Validate(); err != nil {
		t.Errorf("interchangeable names are refused: %v", err)
	}
	working := valid()
	underway(core.AtWork{
		Process: "c", Queued: []core.Item{{Strategy: "c", Request: "r"}}, Timed: []core.Item{{Strategy: "c", Request: "s"}},
		Behind: []core.Missing{
			{Key: core.Key{Kind: "K", Name: "b"}, To: stuff("1")}, {Key: a, To: stuff("1")}, {Key: core.Key{Kind: "K", Name: "b"}, From: stuff("1")},
			{Key: a, From: stuff("1"), To: valid().Initial[0].Objects[0].Content},
		},
	})(working)
	if err := working.Validate(); err != nil {
		t.Errorf("what is under way is refused: %v", err)
	}
	working.Initial = append(working.Initial, core.Initial{}, core.Initial{Underway: &core.Underway{Processes: []core.AtWork{{Process: "c", Behind: make([]core.Missing, 9)}}}})
	for kind, want := range map[core.Kind]int{"K": 4, "": 9, "L": 0} {
		if got := working.BehindIn("c", kind); got != want {
			t.Errorf("%q of c is %d changes behind, want %d", kind, got, want)
		}
	}
	if got := working.BehindIn("d", "K"); got != 0 {
		t.Errorf("d is %d changes behind", got)
	}
	acted := valid()
	scenario(core.Action{Name: "a", Do: nothing}, core.Action{Name: "b", Do: nothing})(acted)
	if err := acted.Validate(); err != nil {
		t.Errorf("a scenario of two actions is refused: %v", err)
	}
	named := valid()
	named.Strategies[0] = strategy{Name: core.User, Messages: true}
	if err := named.Validate(); err != nil {
		t.Errorf("without a scenario a controller called %q is refused: %v", core.User, err)
	}
	// Any one of these makes a controller run.
	for _, s := range []strategy{
		{Name: "c", Initial: []core.Request{"r"}},
		{Name: "c", Standing: []core.Request{"r"}},
		{Name: "c", Messages: true},
		{Name: "c", Active: true},
	} {
		system := valid()
		system.Strategies[0] = s
		if err := system.Validate(); err != nil {
			t.Errorf("%+v is refused: %v", s, err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	err := &core.Unsupported{Call: "watch K", Reason: "list instead"}
	if got, want := err.Error(), "unsupported call: watch K: list instead"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// stuff is a content that is a text.
type stuff string

func (s stuff) Canonical() string { return string(s) }
func (s stuff) Fields() any       { return string(s) }
