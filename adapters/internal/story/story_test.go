package story_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

func change(kind core.Kind, name, verb string, fields ...core.FieldChange) core.TraceChange {
	return core.TraceChange{Kind: kind, Namespace: "default", Name: name, Verb: verb, Fields: fields}
}

func call(text string, wrote bool) core.TraceCall {
	return core.TraceCall{Call: text, Response: "ok", Wrote: wrote}
}

// TestIdle checks which steps are nothing to tell of.
func TestIdle(t *testing.T) {
	for _, test := range []struct {
		name string
		step core.TraceStep
		want bool
	}{
		{"a look", core.TraceStep{Kind: "reconcile", Calls: []core.TraceCall{call("get Pod default/a", false)}}, true},
		{"a delivery", core.TraceStep{Kind: "deliver"}, true},
		{"a look at a stale cache", core.TraceStep{Kind: "reconcile", Late: true}, false},
		{"a write of the same", core.TraceStep{Kind: "reconcile", Calls: []core.TraceCall{call("update Pod default/a", true)}}, false},
		{"a change", core.TraceStep{Kind: "reconcile", Changes: []core.TraceChange{change("Pod", "a", "deleted")}}, false},
		{"an error", core.TraceStep{Kind: "reconcile", Result: "returns the error: no"}, false},
		{"a fault", core.TraceStep{Kind: "reconcile", Detail: "crashes"}, false},
		{"something queued", core.TraceStep{Kind: "deliver", Enqueued: []string{"a(b)"}}, false},
		{"something remembered", core.TraceStep{Kind: "reconcile", Memory: []core.MemoryChange{{Controller: "a"}}}, false},
		{"a timer", core.TraceStep{Kind: "fire"}, false},
		{"a single call", core.TraceStep{Kind: "call"}, false},
		{"a probe", core.TraceStep{Kind: "probe"}, false},
	} {
		if got := story.Idle(test.step); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

// TestAbout checks which objects a story is about.
func TestAbout(t *testing.T) {
	object := func(kind core.Kind, name string) core.TraceObject {
		return core.TraceObject{Kind: kind, Namespace: "default", Name: name}
	}
	finding := core.Finding{Trace: core.Trace{
		Initial: []core.TraceObject{
			object("ConfigMap", "read"), object("ConfigMap", "reader"), object("Node", "a"), object("Node", "b"), object("Pod", "requested"),
			object("Pod", "written"), object("Secret", "other"), object("Service", "elsewhere"),
		},
		Steps: []core.TraceStep{
			{Kind: "reconcile", Request: "default/requested", Calls: []core.TraceCall{call("get ConfigMap default/read", false), call("list Node", false)}},
			{Kind: "reconcile", Request: "x", Changes: []core.TraceChange{change("Pod", "written", "deleted")}},
		},
	}, Other: &core.Trace{Steps: []core.TraceStep{{Calls: []core.TraceCall{call("get Service default/elsewhere", false)}}}}}
	names := func(objects []core.TraceObject) (names []string) {
		for _, o := range objects {
			names = append(names, o.Name)
		}
		return names
	}
	if got, want := names(story.About(finding, finding.Trace)), []string{"read", "a", "b", "requested", "written", "elsewhere"}; !slices.Equal(got, want) {
		t.Errorf("it is about %v, want %v", got, want)
	}
	nothing := core.Trace{Initial: finding.Trace.Initial}
	if got := story.About(core.Finding{Trace: nothing}, nothing); len(got) != len(nothing.Initial) {
		t.Errorf("a run without steps is about %v", got)
	}
}

// TestDeciding checks which calls of a long step are told.
func TestDeciding(t *testing.T) {
	late := call("list Pod", false)
	late.Behind = []core.TraceLag{{Kind: "Pod", Changes: 1}}
	step := core.TraceStep{
		Calls: []core.TraceCall{
			call("get Secret default/a", false), call("get Pod default/a", false), late, call("get Secret default/a", false),
			call("update Pod default/a", true), call("get Secret default/b", false),
		},
		Changes: []core.TraceChange{change("Pod", "a", "changed")},
	}
	for most, want := range map[int][]int{6: {0, 1, 2, 3, 4, 5}, 5: {1, 2, 4}, 3: {1, 2, 4}, 2: {2, 4}, 1: {4}} {
		if got := story.Deciding(step, most); !slices.Equal(got, want) {
			t.Errorf("of at most %d: %v, want %v", most, got, want)
		}
	}
}

// TestAt checks for which calls it is told where they are made.
func TestAt(t *testing.T) {
	site := &core.Site{File: "web.go", Line: 41, Function: "shop.Reconcile"}
	located := func(c core.TraceCall) core.TraceCall { c.At = site; return c }
	read, write, failed := located(call("get Pod default/a", false)), located(call("update Pod default/a", true)), located(call("get Pod default/b", false))
	failed.Fault = "timeout"
	for _, test := range []struct {
		name string
		step core.TraceStep
		want []int
	}{
		{"writes", core.TraceStep{Calls: []core.TraceCall{read, write, read, failed}}, []int{1, 3}},
		{"a look", core.TraceStep{Calls: []core.TraceCall{read, read}}, nil},
		{"an error", core.TraceStep{Calls: []core.TraceCall{read, read}, Result: "returns the error: no"}, []int{1}},
		{"a stale cache", core.TraceStep{Calls: []core.TraceCall{read}, Late: true}, []int{0}},
		{"nothing known", core.TraceStep{Calls: []core.TraceCall{call("update Pod default/a", true)}, Late: true}, nil},
		{"no calls", core.TraceStep{Late: true}, nil},
	} {
		for i := range test.step.Calls {
			if told := story.At(test.step, i); (told == "web.go:41, shop.Reconcile") != slices.Contains(test.want, i) {
				t.Errorf("%s: of call %d it is told %q", test.name, i, told)
			}
		}
	}
}

// TestLegs checks that legs are all steps in their order, that only idle steps share one, and that what repeats begins
// one.
func TestLegs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"reconcile", "fire"}), 0, 12).Draw(t, "kinds")
		trace := core.Trace{CycleStart: rapid.IntRange(-1, max(0, len(kinds)-1)).Draw(t, "cycle")}
		for _, kind := range kinds {
			trace.Steps = append(trace.Steps, core.TraceStep{Kind: kind})
		}
		from := rapid.IntRange(0, len(kinds)).Draw(t, "from")
		next := from
		for _, leg := range story.Legs(trace, from, len(kinds)) {
			if leg.First != next || leg.Last < leg.First {
				t.Fatalf("%v follows after %d", leg, next)
			}
			for i := leg.First; i <= leg.Last; i++ {
				if leg.Last > leg.First && kinds[i] != "reconcile" || i == trace.CycleStart && i > leg.First {
					t.Fatalf("step %d is in %v", i, leg)
				}
			}
			next = leg.Last + 1
		}
		if next != len(kinds) {
			t.Fatalf("the legs end at %d of %d", next, len(kinds))
		}
	})
}

// TestNothingIsLost checks that all fields are told or counted, that what tells something is told, and that something
// is told if there is anything.
func TestNothingIsLost(t *testing.T) {
	paths := []string{
		"spec.replicas", "metadata.generation", "metadata.managedFields[0].manager", "metadata.labels.app", "status.conditions[type=Ready].lastTransitionTime",
		"status.observedGeneration", "metadata.resourceVersion", "kind", "kindness", "status.conditions[type=Ready].status",
	}
	telltale := []string{"spec.replicas", "metadata.labels.app", "kindness", "status.conditions[type=Ready].status"}
	rapid.Check(t, func(t *rapid.T) {
		var fields []core.Leaf
		var changes []core.FieldChange
		for _, path := range rapid.SliceOfDistinct(rapid.SampledFrom(paths), rapid.ID).Draw(t, "paths") {
			fields, changes = append(fields, core.Leaf{Path: path}), append(changes, core.FieldChange{Path: path})
		}
		changed := rapid.SliceOfDistinct(rapid.SampledFrom(paths), rapid.ID).Draw(t, "changed")
		telling, others := story.Telling(fields, changed)
		tellingChanges, otherChanges := story.TellingChanges(changes)
		if len(telling)+others != len(fields) || len(tellingChanges)+otherChanges != len(changes) {
			t.Fatalf("of %v, %v and %d others are told", fields, telling, others)
		}
		if len(fields) > 0 && (len(telling) == 0 || len(tellingChanges) == 0) {
			t.Fatalf("nothing is told of %v", fields)
		}
		for _, f := range fields {
			told := slices.Contains(telling, f)
			if !told && (slices.Contains(telltale, f.Path) || strings.HasPrefix(f.Path, "status.") && slices.Contains(changed, f.Path)) {
				t.Fatalf("%s is not told", f.Path)
			}
		}
	})
}

// TestCommon checks how many steps two runs have in common.
func TestCommon(t *testing.T) {
	steps := func(names ...string) (all []core.TraceStep) {
		for _, name := range names {
			all = append(all, core.TraceStep{Controller: name})
		}
		return all
	}
	one := core.Trace{Steps: steps("a", "b", "c")}
	for _, test := range []struct {
		other core.Trace
		want  int
	}{
		{core.Trace{Steps: steps("a", "b", "d")}, 2},
		{core.Trace{Steps: steps("b")}, 0},
		{core.Trace{}, 0},
		{one, 3},
		{core.Trace{Steps: steps("a", "b"), Initial: []core.TraceObject{{Name: "x"}}}, 0},
		{core.Trace{Steps: steps("a", "b"), Memory: []core.MemoryChange{{Controller: "x"}}}, 0},
	} {
		if got := story.Common(one, test.other); got != test.want {
			t.Errorf("%s: %d, want %d", fmt.Sprint(test.other.Steps), got, test.want)
		}
	}
}

func TestEntries(t *testing.T) {
	text := func(s string) *string { return &s }
	change := func(field string, from, to *string) core.MemoryChange {
		return core.MemoryChange{Controller: "c", Field: field, From: from, To: to}
	}
	lost := change("R.items[a].name", text("x"), nil)
	lost.Lost = true
	for _, test := range []struct {
		changes []core.MemoryChange
		want    []string
	}{
		{nil, nil},
		{[]core.MemoryChange{change("R.last", nil, text("1"))}, []string{"R.last = 1"}},
		{
			[]core.MemoryChange{change("R.items[a].action", nil, text("create")), change("R.items[a].group", nil, text("")), change("R.items[b].action", nil, text("delete"))},
			[]string{`R.items[a] = {action: create, group: ""}`, "R.items[b].action = delete"},
		},
		{
			[]core.MemoryChange{change("R.items[a].action", text("create"), nil), change("R.items[a].group", text(""), nil)},
			[]string{"R.items[a]: {…} → (absent)"},
		},
		{
			[]core.MemoryChange{change("R.items[a].action", text("create"), text("delete")), change("R.items[a].group", text("x"), text("y"))},
			[]string{"R.items[a].action: create → delete", "R.items[a].group: x → y"},
		},
		{
			[]core.MemoryChange{change("R.items[a].action", nil, text("create")), change("R.items[a].group", text("x"), nil), lost},
			[]string{"R.items[a].action = create", "R.items[a].group: x → (absent)", "loses R.items[a].name = x"},
		},
	} {
		var got []string
		for _, c := range story.Entries(test.changes) {
			got = append(got, c.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestFieldsThatBeginAlike: a report names many fields in memory by what they have in common, with as many parts as
// leave few of them, and few by themselves.
func TestFieldsThatBeginAlike(t *testing.T) {
	var deep, keyed, flat []string
	for i := range 13 {
		deep = append(deep, fmt.Sprintf("C.cache.list.next.Value.f%02d", i))
		keyed = append(keyed, fmt.Sprintf("C.items[a.io/b].f%02d.of", i))
		flat = append(flat, fmt.Sprintf("C.f%02d", i))
	}
	for name, test := range map[string]struct{ fields, want []string }{
		"few":                  {deep[:12], deep[:12]},
		"many in one place":    {deep, []string{"C.cache.list.next.Value (13 fields)"}},
		"and others":           {append([]string{"C.cache.len", "C.seen"}, deep...), []string{"C.cache.len", "C.seen", "C.cache.list.next.Value (13 fields)"}},
		"in an entry of a map": {keyed, []string{"C.items[a.io/b] (13 fields)"}},
		"in two places":        {append(append([]string{}, deep...), keyed...), []string{"C.cache.list.next.Value (13 fields)", "C.items[a.io/b] (13 fields)"}},
		"nothing in common":    {flat, flat},
	} {
		line := story.Searched(&core.Report{Memory: []core.MemoryReport{{Controller: "c", Fields: test.fields, Contents: 2}}})[3]
		want := "memory: c keeps " + strings.Join(test.want, ", ") + ", 2 contents so far; it is part of each state"
		if line != want {
			t.Errorf("%s: %q, want %q", name, line, want)
		}
	}
}

// TestHeadline says what was not searched to the end of what may go wrong, where the verdict is that of nothing going
// wrong.
func TestHeadline(t *testing.T) {
	rungs := func(verdicts ...core.Verdict) *core.Report {
		r := &core.Report{Verdict: core.Holds}
		for _, v := range verdicts {
			r.Rungs = append(r.Rungs, core.RungReport{Verdict: v})
		}
		return r
	}
	for _, test := range []struct {
		report *core.Report
		want   string
	}{
		{rungs(), "everything was searched, and nothing wrong was found."},
		{rungs(core.Holds, core.Holds), "everything was searched, and nothing wrong was found."},
		{rungs(core.Holds, core.Inconclusive, core.Holds, ""),
			"everything was searched, and nothing wrong was found while nothing goes wrong; of what may go wrong, 2 of 3 were not searched to the end."},
	} {
		if got := story.Headline(test.report); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
