package properties_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

type fields = map[string]any

type items = []any

// TestComparisons compares the ends of two runs by rules.
func TestComparisons(t *testing.T) {
	widget := core.Key{Kind: "Widget", Namespace: "ns", Name: "a"}
	condition := func(name, status, reason string) any {
		return fields{"type": name, "status": status, "reason": reason}
	}
	for _, test := range []struct {
		name       string
		one, other any
		rules      []core.Comparison
		same       bool
	}{
		{"nothing left out", fields{"x": 1}, fields{"x": 2}, nil, false},
		{"a field", fields{"status": fields{"seen": 1, "ok": true}}, fields{"status": fields{"seen": 2, "ok": true}}, []core.Comparison{properties.Without("Widget", "status.seen")}, true},
		{"another field", fields{"status": fields{"seen": 1, "ok": true}}, fields{"status": fields{"seen": 1, "ok": false}}, []core.Comparison{properties.Without("Widget", "status.seen")}, false},
		{"a field of the same name elsewhere", fields{"spec": fields{"seen": 1}}, fields{"spec": fields{"seen": 2}}, []core.Comparison{properties.Without("Widget", "status.seen")}, false},
		{"another kind", fields{"x": 1}, fields{"x": 2}, []core.Comparison{properties.Without("Gadget", "x")}, false},
		{"all kinds", fields{"x": 1}, fields{"x": 2}, []core.Comparison{properties.Without("*", "x")}, true},
		{"one object", fields{"x": 1}, fields{"x": 2}, []core.Comparison{properties.Without("Widget ns/a", "x")}, true},
		{"another object", fields{"x": 1}, fields{"x": 2}, []core.Comparison{properties.Without("Widget ns/b", "x")}, false},
		{"whole objects", fields{"x": 1}, nil, []core.Comparison{properties.Without("Widget", "")}, true},
		{"all that is below", fields{"status": fields{"a": fields{"b": 1}}}, fields{"status": fields{"a": fields{"c": 2}}}, []core.Comparison{properties.Without("Widget", "status.a")}, true},
		{"absent in one", fields{"status": fields{"seen": 1}}, fields{}, []core.Comparison{properties.Without("Widget", "status.seen")}, true},
		{"an empty place that is named", fields{"status": fields{}}, fields{}, []core.Comparison{properties.Without("Widget", "status.seen")}, true},
		{"an empty place that is not", fields{"spec": fields{}}, fields{}, []core.Comparison{properties.Without("Widget", "status.seen")}, false},
		{"a name in brackets", fields{"metadata": fields{"labels": fields{"a.b/c": "1", "d": "1"}}}, fields{"metadata": fields{"labels": fields{"a.b/c": "2", "d": "1"}}},
			[]core.Comparison{properties.Without("*", `metadata.labels["a.b/c"]`)}, true},
		{"the same for another name", fields{"metadata": fields{"labels": fields{"a.b/c": "1", "d": "1"}}}, fields{"metadata": fields{"labels": fields{"a.b/c": "1", "d": "2"}}},
			[]core.Comparison{properties.Without("*", `metadata.labels["a.b/c"]`)}, false},
		{"any name", fields{"data": fields{"a": fields{"t": 1}}}, fields{"data": fields{"a": fields{"t": 2}}}, []core.Comparison{properties.Without("*", "data.*.t")}, true},
		{"any item", fields{"l": items{fields{"t": 1}}}, fields{"l": items{fields{"t": 2}}}, []core.Comparison{properties.Without("*", "l[*].t")}, true},
		{"any item, as patterns have it", fields{"l": items{fields{"t": 1}}}, fields{"l": items{fields{"t": 2}}}, []core.Comparison{properties.Without("*", "l[].t")}, true},
		{"an item by its position", fields{"l": items{1, 2}}, fields{"l": items{3, 2}}, []core.Comparison{properties.Without("*", "l[0]")}, true},
		{"an item by its type", fields{"l": items{fields{"type": "A", "x": 1}}}, fields{"l": items{fields{"type": "A", "x": 2}}}, []core.Comparison{properties.Without("*", "l[type=A].x")}, true},
		{"an item of another type", fields{"l": items{fields{"type": "A", "x": 1}}}, fields{"l": items{fields{"type": "A", "x": 2}}}, []core.Comparison{properties.Without("*", "l[type=B].x")}, false},
		{"an item by a name that is no word", fields{"l": items{fields{"name": "a b", "x": 1}}}, fields{"l": items{fields{"name": "a b", "x": 2}}}, []core.Comparison{properties.Without("*", `l[name="a b"].x`)}, true},
		{"another item", fields{"l": items{1, 2}}, fields{"l": items{1, 3}}, []core.Comparison{properties.Without("*", "l[0]")}, false},
		{"an item by its name", fields{"l": items{fields{"name": "a", "v": 1}, fields{"name": "b", "v": 1}}}, fields{"l": items{fields{"name": "a", "v": 2}, fields{"name": "b", "v": 1}}},
			[]core.Comparison{properties.Without("*", "l.a.v")}, true},
		{"a key that looks like a position", fields{"data": fields{"0": 1}}, fields{"data": fields{"0": 2}}, []core.Comparison{properties.Without("*", "data[0]")}, false},
		{"order counts", fields{"l": items{1, 2}}, fields{"l": items{2, 1}}, nil, false},
		{"a set", fields{"l": items{1, 2}}, fields{"l": items{2, 1}}, []core.Comparison{properties.AsSet("*", "l")}, true},
		{"sets that differ", fields{"l": items{1, 2}}, fields{"l": items{1, 1}}, []core.Comparison{properties.AsSet("*", "l")}, false},
		{"sets of sets", fields{"l": items{fields{"m": items{1, 2}}, fields{"m": items{3}}}}, fields{"l": items{fields{"m": items{3}}, fields{"m": items{2, 1}}}},
			[]core.Comparison{properties.AsSet("*", "l"), properties.AsSet("*", "l[*].m")}, true},
		{"conditions in another order", fields{"status": fields{"conditions": items{condition("A", "True", "x"), condition("B", "True", "x")}}},
			fields{"status": fields{"conditions": items{condition("B", "True", "x"), condition("A", "True", "x")}}}, []core.Comparison{properties.ConditionsByType()}, true},
		{"conditions with another reason", fields{"status": fields{"conditions": items{condition("A", "True", "x")}}},
			fields{"status": fields{"conditions": items{condition("A", "True", "y")}}}, []core.Comparison{properties.ConditionsByType()}, false},
		{"conditions but for their reasons", fields{"status": fields{"conditions": items{condition("A", "True", "x")}}},
			fields{"status": fields{"conditions": items{condition("A", "True", "y")}}}, []core.Comparison{properties.ConditionsByType("reason")}, true},
		{"conditions with another status", fields{"status": fields{"conditions": items{condition("A", "True", "x")}}},
			fields{"status": fields{"conditions": items{condition("A", "False", "x")}}}, []core.Comparison{properties.ConditionsByType("reason")}, false},
		{"conditions elsewhere", fields{"spec": fields{"conditions": items{condition("A", "", ""), condition("B", "", "")}}},
			fields{"spec": fields{"conditions": items{condition("B", "", ""), condition("A", "", "")}}}, []core.Comparison{properties.ConditionsByType()}, false},
		{"two items of a key", fields{"l": items{fields{"k": 1, "v": 1}, fields{"k": 1, "v": 2}}}, fields{"l": items{fields{"k": 1, "v": 2}, fields{"k": 1, "v": 1}}},
			[]core.Comparison{properties.AsMap("*", "l", "k")}, false},
		{"two keys", fields{"l": items{fields{"k": 1, "v": 1}, fields{"k": 1, "v": 2}}}, fields{"l": items{fields{"k": 1, "v": 2}, fields{"k": 1, "v": 1}}},
			[]core.Comparison{properties.AsMap("*", "l", "k", "v")}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, objects: map[core.StateID]map[core.Key]any{1: {}, 2: {}}}
			restart(g.add(0, 2, "b"))
			g.add(0, 1, "a")
			before := fmt.Sprint(test.one, test.other)
			if test.one != nil {
				g.objects[1][widget] = test.one
			}
			if test.other != nil {
				g.objects[2][widget] = test.other
			}
			if v := violated(t, g, properties.CrashSafety(test.rules...)); (v == nil) != test.same {
				t.Errorf("crash safety: %+v", v)
			}
			g.edges[0][0].Step.Kind = core.Reconcile
			if v := violated(t, g, properties.SameOutcome(test.rules...)); (v == nil) != test.same {
				t.Errorf("same outcome: %+v", v)
			}
			if after := fmt.Sprint(test.one, test.other); before != after {
				t.Errorf("the objects were changed from %s to %s", before, after)
			}
		})
	}
}

// TestComparisonMistakes has rules that are refused.
func TestComparisonMistakes(t *testing.T) {
	for _, test := range []struct {
		rule core.Comparison
		want string
	}{
		{properties.Without("*", ""), "would ignore everything"},
		{properties.Without("", "x"), "names no objects"},
		{properties.Without("K", "a..b"), "empty name"},
		{properties.Without("K", "a[b]"), "neither a position, a name in quotes"},
		{properties.Without("K", "a[1"), "not closed"},
		{properties.Without("K", "a[1]b"), "needs a dot or a bracket"},
		{properties.AsMap("K", "a"), "a map needs keys"},
		{core.Comparison{Objects: "K", As: "list"}, "cannot be compared as"},
	} {
		p := properties.SameOutcome(test.rule)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.rule, err, test.want)
		}
		if err := properties.ValidateComparisons([]core.Comparison{test.rule}); err == nil {
			t.Errorf("%+v is valid", test.rule)
		}
	}
}

// beat is what a controller reports of itself.
type beat struct {
	Seen  int
	Ready bool
}

// TestSettledWithout has a controller that writes something else whenever it is run.
func TestSettledWithout(t *testing.T) {
	beats := plain.NewFamily[beat]("Beat")
	heartbeat := func(ready bool) plain.Controller {
		return does("heartbeat", func(w *plain.World, r core.Request) {
			b := beats.Named(string(r)).Get(w)
			b.Seen = (b.Seen + 1) % 3
			if ready {
				b.Ready = !b.Ready
			}
			beats.Named(string(r)).Set(w, b)
		}, "a")
	}
	for _, test := range []struct {
		name  string
		ready bool
		rules []core.Comparison
		holds bool
	}{
		{"everything counts", false, nil, false},
		{"the heartbeat does not count", false, []core.Comparison{properties.Without("Beat", "Seen")}, true},
		{"the object does not count", true, []core.Comparison{properties.Without("Beat", "")}, true},
		{"something else changes as well", true, []core.Comparison{properties.Without("Beat", "Seen")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			model := plain.Model{Initial: []core.Initial{plain.Start(beats.Named("a").Is(beat{}))}, Controllers: []plain.Controller{heartbeat(test.ready)}}
			v := violated(t, explored(t, model), properties.Fixpoint(test.rules...))
			if (v == nil) != test.holds {
				t.Fatalf("%+v", v)
			}
			if v != nil && len(test.rules) > 0 && slices.ContainsFunc(v.Fields, func(f string) bool { return strings.Contains(f, "Seen") }) {
				t.Errorf("what does not count is told: %v", v.Fields)
			}
		})
	}
}

// TestLoopsThatDoNotCount has two controllers that fight over a field that is left out: they are told all the same, in
// true words.
func TestLoopsThatDoNotCount(t *testing.T) {
	beats := plain.NewFamily[beat]("Beat")
	set := func(name string, to int) plain.Controller {
		return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: "Beat"}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			if b := beats.Named(string(r)); b.Get(w).Seen != to {
				b.Set(w, beat{Seen: to})
			}
			return core.Result{}
		}}
	}
	model := plain.Model{Initial: []core.Initial{plain.Start(beats.Named("a").Is(beat{}))}, Controllers: []plain.Controller{set("one", 1), set("two", 2)}}
	v := violated(t, explored(t, model), properties.StableConvergence(properties.Without("Beat", "Seen")))
	if v == nil || !strings.Contains(v.Summary, "only what is ignored") || !slices.Equal(v.Fields, []string{"Beat a: Seen"}) {
		t.Errorf("%+v", v)
	}
}

// TestUnsettledEndsAreNotExpected has an end that only a crash leads to, and a state that is equal to it but for what
// is left out, and has more to follow.
func TestUnsettledEndsAreNotExpected(t *testing.T) {
	key := core.Key{Kind: "K", Name: "a"}
	again := item("again")
	g := &graph{
		initial: []core.StateID{0}, outcomes: map[core.StateID]string{},
		objects: map[core.StateID]map[core.Key]any{
			1: {key: fields{"x": 1, "seen": 0}}, 2: {key: fields{"x": 2, "seen": 0}}, 3: {key: fields{"x": 2, "seen": 1}},
		},
		relisted: map[core.StateID][]core.Item{3: {again}},
		tried:    map[core.StateID]map[core.Item]core.Effect{3: {again: {Wrote: true, Changes: []core.Change{{Key: key, After: number(1)}}}}},
	}
	g.add(0, 1, "calm")
	restart(g.add(0, 2, "c"))
	g.add(0, 3, "other")
	if v := violated(t, g, properties.CrashSafety(properties.Without("K", "seen"))); v == nil {
		t.Error("an end that only a crash leads to is expected")
	}
}

// TestUnmatched has rules that are about nothing.
func TestUnmatched(t *testing.T) {
	beats := plain.NewFamily[beat]("Beat")
	g := explored(t, plain.Model{Initial: []core.Initial{plain.Start(beats.Named("a").Is(beat{}))}, Controllers: []plain.Controller{does("c", func(*plain.World, core.Request) {}, "a")}})
	right := []core.Comparison{properties.Without("Beat", "Seen"), properties.Without("*", "Ready"), properties.Without("Beat a", ""), properties.Without("Beat", "")}
	wrong := []core.Comparison{properties.Without("Beat", "Sen"), properties.Without("Beet", ""), properties.Without("Beat b", "Seen"), properties.AsSet("Beat", "Seen"), properties.ConditionsByType()}
	got, err := properties.Unmatched(context.Background(), g, slices.Concat(right, wrong, wrong))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(wrong) {
		t.Errorf("got %v and %v, want %v", got, err, wrong)
	}
}

// TestComparisonsOnGraphs compares with a twin: leaving out a field is the same as a world in which it has always the
// same value.
func TestComparisonsOnGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "ends")
		world := func() *graph {
			return &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, objects: map[core.StateID]map[core.Key]any{}}
		}
		g, twin := world(), world()
		for id := range core.StateID(n) {
			how := rapid.SampledFrom([]func(*core.Edge){func(*core.Edge) {}, fault, late}).Draw(t, "how")
			how(g.add(0, id+1, fmt.Sprint(id)))
			how(twin.add(0, id+1, fmt.Sprint(id)))
			x, y := rapid.IntRange(0, 1).Draw(t, "x"), rapid.IntRange(0, 2).Draw(t, "y")
			key := core.Key{Kind: "K", Name: "a"}
			g.objects[id+1] = map[core.Key]any{key: fields{"x": x, "y": y}}
			twin.objects[id+1] = map[core.Key]any{key: fields{"x": x, "y": 0}}
		}
		without := properties.Without("K", "y")
		for _, pair := range [][2]core.Property{
			{properties.SameOutcome(without), properties.SameOutcome()},
			{properties.CrashSafety(without), properties.CrashSafety()},
			{properties.StalenessSafety(without), properties.StalenessSafety()},
		} {
			got, err := pair[0].Judge(context.Background(), g)
			want, failed := pair[1].Judge(context.Background(), twin)
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			if fmt.Sprintf("%+v", summaries(got)) != fmt.Sprintf("%+v", summaries(want)) {
				t.Fatalf("%s: got %v, want %v", pair[0].Name, summaries(got), summaries(want))
			}
		}
	})
}

func summaries(violations []core.Violation) []string {
	var all []string
	for _, v := range violations {
		all = append(all, v.Summary+strings.Join(v.Details, "; "))
	}
	return all
}
