package core_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestDoing has an incident say what the code was doing.
func TestDoing(t *testing.T) {
	i := core.Incident{Step: core.Step{Item: core.Item{Strategy: "web", Request: "n/a"}}}
	if got := i.Doing(); got != "reconciling n/a" {
		t.Errorf("it was %q", got)
	}
	i.Handling = &core.Key{Kind: "Pod", Namespace: "n", Name: "a"}
	if got := i.Doing(); got != "handling an event of Pod n/a" {
		t.Errorf("it was %q", got)
	}
}

// TestComparisons has a rule name its place and what it does.
func TestComparisons(t *testing.T) {
	for _, test := range []struct {
		c    core.Comparison
		want string
	}{
		{core.Comparison{Objects: "Pod", As: core.AsAbsent}, "Pod is ignored"},
		{core.Comparison{Objects: "Pod", Path: "status.a", As: core.AsAbsent}, "Pod: status.a is ignored"},
		{core.Comparison{Objects: "Pod", Path: "status.a", As: core.AsSet}, "Pod: status.a is compared as a set"},
		{core.Comparison{Objects: "Pod", Path: "status.a", As: core.AsMap, Keys: []string{"type", "name"}, Except: []string{"time", "age"}}, "Pod: status.a is compared as a map by type and name, without time, age"},
	} {
		if got := test.c.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestWarnings counts the findings that are only to be warned of.
func TestWarnings(t *testing.T) {
	for want, findings := range [][]core.Finding{{{}}, {{}, {Warning: true}, {}}, {{Warning: true}, {Warning: true}}} {
		if got := (&core.Report{Findings: findings}).Warnings(); got != want {
			t.Errorf("of %+v, %d are warnings", findings, got)
		}
	}
}

// TestNamesThatOverlap refuses interchangeable names of which one may begin within another one: then it is not clear
// what is exchanged.
func TestNamesThatOverlap(t *testing.T) {
	for _, test := range []struct {
		one, other string
		want       bool
	}{
		{"a", "b", false}, {"a", "a-b", true}, {"a", "b-a", true}, {"a", "b.a", true}, {"a", "b_a_c", true}, {"a", "ab", false}, {"a", "b-ac", false},
		{"x-a", "a-y", true}, {"x.a", "a_y", true}, {"x-a", "ab-y", false}, {"x-a", "y-a", false}, {"x-a-b", "a-b-y", true}, {"x-a-b", "a-c-y", false}, {"a-b", "b-c", true},
		{"a", "ba", false}, {"a-a", "b", true}, {"a-b-a", "c", true}, {"a-b", "c", false},
	} {
		system := core.System{Interchangeable: [][]string{{test.one, test.other}}}
		err := system.Validate()
		if got := err != nil && strings.Contains(err.Error(), "can overlap in a text"); got != test.want {
			t.Errorf("%q and %q overlap: %t", test.one, test.other, got)
		}
	}
}

// TestMostArrangements refuses more interchangeable names than there are arrangements that can be looked at: those of
// six names, of all groups together.
func TestMostArrangements(t *testing.T) {
	names := func(first byte, n int) []string {
		var all []string
		for i := range n {
			all = append(all, string([]byte{first, byte('a' + i)}))
		}
		return all
	}
	for _, test := range []struct {
		groups [][]string
		want   bool
	}{
		{[][]string{names('x', 6)}, false}, {[][]string{names('x', 7)}, true}, {[][]string{names('x', 6), names('y', 2)}, true}, {[][]string{names('x', 5), names('y', 3)}, false},
		{[][]string{names('x', 5), names('y', 3), names('z', 2)}, true}, {[][]string{names('x', 20)}, true},
	} {
		err := (&core.System{Interchangeable: test.groups}).Validate()
		if got := err != nil && strings.Contains(err.Error(), "arrangements of the interchangeable names"); got != test.want {
			t.Errorf("%v are too many: %t", test.groups, got)
		}
	}
}

// TestCommonSteps counts the steps that two runs have in common at their beginning, whatever they log.
func TestCommonSteps(t *testing.T) {
	step := func(controller string, logs ...core.TraceLog) core.TraceStep {
		return core.TraceStep{Controller: controller, Logs: logs}
	}
	a, b, c := step("a"), step("b"), step("c")
	loud := step("a", core.TraceLog{})
	for _, test := range []struct {
		one, other []core.TraceStep
		want       int
	}{
		{nil, nil, 0}, {[]core.TraceStep{a}, nil, 0}, {[]core.TraceStep{a, b}, []core.TraceStep{a, b}, 2}, {[]core.TraceStep{a, b}, []core.TraceStep{a, b, c}, 2},
		{[]core.TraceStep{a, b, c}, []core.TraceStep{a, c, c}, 1}, {[]core.TraceStep{b}, []core.TraceStep{a}, 0}, {[]core.TraceStep{a}, []core.TraceStep{loud}, 1},
	} {
		if one, other := core.CommonSteps(test.one, test.other), core.CommonSteps(test.other, test.one); one != test.want || other != test.want {
			t.Errorf("%v and %v have %d and %d steps in common, want %d", test.one, test.other, one, other, test.want)
		}
	}
}

// TestDifferencesOfLists tells the items of lists apart by a field if both lists have names, in the order of the names,
// and else compares the lists as they are.
func TestDifferencesOfLists(t *testing.T) {
	item := func(name string, value any) any { return map[string]any{"name": name, "value": value} }
	list := func(items ...any) map[string]any { return map[string]any{"l": items} }
	for _, test := range []struct {
		from, to map[string]any
		want     []string
	}{
		{list(item("a", 1.0)), list(item("a", 2.0)), []string{"l[name=a].value"}},
		{list(item("a", 1.0), item("b", 1.0)), list(item("c", 1.0), item("d", 1.0)), []string{"l[name=a]", "l[name=b]", "l[name=c]", "l[name=d]"}},
		{list(item("b", 1.0), item("a", 1.0)), list(item("a", 2.0), item("b", 2.0)), []string{"l[name=a].value", "l[name=b].value", "l[order]"}},
		{list(item("a", 1.0)), list("x"), []string{"l"}},
		{list("x"), list(item("a", 1.0)), []string{"l"}},
		{list("x"), list("y", "z"), []string{"l[0]", "l[1]"}},
		{list(item("", 1.0)), list(item("", 2.0)), []string{"l[0].value"}},
	} {
		if got := core.ChangedPaths(test.from, test.to); !slices.Equal(got, test.want) {
			t.Errorf("from %v to %v these change: %q, want %q", test.from, test.to, got, test.want)
		}
	}
	for value, want := range map[string]string{"a": "p[f=a]", "": `p[f=""]`, "a b": `p[f="a b"]`, "a=b": `p[f="a=b"]`} {
		if got := core.KeyedOf("p", "f", value); got != want {
			t.Errorf("the path is %s, want %s", got, want)
		}
	}
}

// TestMistakesOfSystems has what is wrong be said of properties and of processes.
func TestMistakesOfSystems(t *testing.T) {
	invariant := func(core.State) error { return nil }
	judge := func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }
	for _, test := range []struct {
		p    core.Property
		want string
	}{
		{core.Property{Name: "p", Invariant: invariant}, ""}, {core.Property{Name: "p", Judge: judge}, ""}, {core.Property{Name: "p", Judge: judge, Unreducible: "why"}, ""},
		{core.Property{Name: "p", Invariant: invariant, Unreducible: "why"}, "leave Unreducible empty"}, {core.Property{Name: "p", Judge: judge, Ends: true, Unreducible: "why"}, "leave Unreducible empty"},
		{core.Property{Invariant: invariant}, "has no name"}, {core.Property{Name: "p"}, "exactly one of"}, {core.Property{Name: "p", Judge: judge, Invariant: invariant}, "exactly one of"},
		{core.Property{Name: "p", Judge: judge, Comparisons: make([]core.Comparison, 1)}, "compares nothing"}, {core.Property{Name: "p", Judge: judge, Compares: true, Comparisons: make([]core.Comparison, 1)}, ""},
	} {
		err := test.p.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.p, err, test.want)
		}
	}
	for _, test := range []struct {
		d    core.Description
		want bool
	}{
		{core.Description{Name: "a", Process: "p", Initial: []core.Request{"r"}}, false}, {core.Description{Name: "a", Process: "p", Standing: []core.Request{"r"}}, true},
		{core.Description{Name: "a", Process: "p", Messages: true}, true}, {core.Description{Name: "a", Standing: []core.Request{"r"}}, false}, {core.Description{Name: "a", Messages: true}, false},
	} {
		err := (&core.System{Strategies: []core.Strategy{declared(test.d)}}).Validate()
		if got := err != nil && strings.Contains(err.Error(), "cannot share the process"); got != test.want {
			t.Errorf("%+v: %v", test.d, err)
		}
	}
	if name, is := core.BackgroundOf(core.Background("web")); name != "web" || !is || core.Background("web") == "web" {
		t.Errorf("what goes on in web is called %q", core.Background("web"))
	}
	if name, is := core.BackgroundOf("web"); is {
		t.Errorf("web is what goes on in %q", name)
	}
}

// declared is a strategy of which only the description is of interest.
type declared core.Description

func (d declared) Describe() core.Description { return core.Description(d) }
func (declared) New() (core.Instance, error)  { return nil, nil }

// TestKeysInTraces has what a trace says of an object name it.
func TestKeysInTraces(t *testing.T) {
	want := core.Key{Kind: "Pod", Namespace: "n", Name: "a"}
	for _, got := range []core.Key{
		core.TraceChange{Kind: "Pod", Namespace: "n", Name: "a"}.Key(), core.TraceEvent{Kind: "Pod", Namespace: "n", Name: "a"}.Key(), core.TraceObject{Kind: "Pod", Namespace: "n", Name: "a"}.Key(),
	} {
		if got != want {
			t.Errorf("the object is %s", got)
		}
	}
}
