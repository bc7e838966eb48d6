package properties_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// fixture is a small system, and what a property says of it.
type fixture struct {
	name        string
	property    core.Property
	start       []core.Object
	controllers []plain.Controller
	user        []plain.Action
	// want is what the findings say, each part of one, in their order. Nothing is wrong if it is empty.
	want []string
	// unsure is part of the reason why nothing is certain.
	unsure string
}

// try checks fixtures, with orders left out and without.
func try(t *testing.T, fixtures []fixture) {
	t.Helper()
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			model := plain.Model{
				Name: "fixture", Initial: []core.Initial{plain.Start(f.start...)}, Controllers: f.controllers,
				Properties: []core.Property{f.property}, Scenario: plain.Scenario{Actions: f.user},
			}
			system, err := model.System()
			if err != nil {
				t.Fatal(err)
			}
			for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
				result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction})
				if err != nil {
					t.Fatal(err)
				}
				f.compare(t, result.Report)
				if result.Report.Reduction != string(reduction) {
					t.Errorf("asked for reduction %q, got %q", reduction, result.Report.Reduction)
				}
			}
		})
	}
}

func (f fixture) compare(t *testing.T, report core.Report) {
	t.Helper()
	var got []string
	for _, finding := range report.Findings {
		got = append(got, told(finding))
	}
	reasons := strings.Join(report.Reasons, "\n")
	if (f.unsure == "") != (reasons == "") || !strings.Contains(reasons, f.unsure) {
		t.Errorf("the reasons are %q, want %q", reasons, f.unsure)
	}
	if len(got) != len(f.want) {
		t.Fatalf("with reduction %s: got %d findings, want %d:\n%s", report.Reduction, len(got), len(f.want), strings.Join(got, "\n\n"))
	}
	for i, want := range f.want {
		if !strings.Contains(got[i], want) {
			t.Errorf("with reduction %s: finding %d is\n%s\nwant\n%s", report.Reduction, i+1, got[i], want)
		}
	}
}

// does is a controller that is run once for each request.
func does(name string, do func(*plain.World, core.Request), requests ...core.Request) plain.Controller {
	return plain.Controller{Name: name, Requests: requests, Reconcile: func(w *plain.World, r core.Request) core.Result {
		do(w, r)
		return core.Result{}
	}}
}

// sets is a controller that gives a variable a value, once.
func sets[T any](name string, family plain.Family[T], of string, value T) plain.Controller {
	return does(name, func(w *plain.World, r core.Request) { family.Named(string(r)).Set(w, value) }, core.Request(of))
}

// after is a controller that gives a variable a value once it has another one.
func after[T comparable](name string, family plain.Family[T], is, value T) plain.Controller {
	return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: family.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		if v := family.Named(string(r)); v.Get(w) == is {
			v.Set(w, value)
		}
		return core.Result{}
	}}
}

func TestOneWriter(t *testing.T) {
	x := plain.NewFamily[int]("X")
	type labels = map[string]map[string]map[string]string
	tagged := plain.NewFamily[labels]("Tagged")
	tags := func(in string, values ...string) labels {
		all := map[string]string{}
		for _, v := range values {
			key, value, _ := strings.Cut(v, "=")
			all[key] = value
		}
		return labels{"metadata": {in: all}}
	}
	// merges adds tags, and keeps those that are there.
	merges := func(name, in, key, value string) plain.Controller {
		return does(name, func(w *plain.World, r core.Request) {
			object := tagged.Named(string(r)).Get(w)
			object["metadata"][in][key] = value
			tagged.Named(string(r)).Set(w, object)
		}, "a")
	}
	owned := properties.OneWriter()
	one := []core.Object{x.Named("a").Is(0)}
	try(t, []fixture{
		{name: "good: one writes", property: owned, start: one, controllers: []plain.Controller{sets("one", x, "a", 1), after("one again", x, 7, 8)}},
		{name: "good: both write the same", property: owned, start: one, controllers: []plain.Controller{sets("one", x, "a", 1), sets("other", x, "a", 1)}},
		{name: "bad: each writes its own", property: owned, start: one, controllers: []plain.Controller{sets("one", x, "a", 1), sets("other", x, "a", 2)},
			want: []string{"one and other both write X a: one writes 1, and then other writes 2"}},
		{name: "ugly: the same for two objects", property: owned, start: append(one, x.Named("b").Is(0)),
			controllers: []plain.Controller{
				does("one", func(w *plain.World, r core.Request) { x.Named(string(r)).Set(w, 1) }, "a", "b"),
				does("other", func(w *plain.World, r core.Request) { x.Named(string(r)).Set(w, 2) }, "a", "b"),
			},
			want: []string{"And one more like this: X b."}},
		{name: "ugly: three writers are three pairs", property: owned, start: one,
			controllers: []plain.Controller{sets("a", x, "a", 1), sets("b", x, "a", 2), sets("c", x, "a", 3)},
			want:        []string{"a and b both", "a and c both", "b and c both"}},
		{name: "ugly: a user in between", property: owned, start: one, controllers: []plain.Controller{after("one", x, 0, 1), after("other", x, 5, 6)},
			user: []plain.Action{action("takes over", func(w *plain.World) { x.Named("a").Set(w, 5) })}},
		{name: "ugly: a first value is no claim", property: owned, controllers: []plain.Controller{sets("maker", x, "a", 1), after("other", x, 1, 2)}},
		{name: "good: different labels", property: owned, start: []core.Object{tagged.Named("a").Is(tags("labels"))},
			controllers: []plain.Controller{merges("one", "labels", "x", "1"), merges("other", "labels", "y", "2")}},
		{name: "bad: one label", property: owned, start: []core.Object{tagged.Named("a").Is(tags("labels"))},
			controllers: []plain.Controller{merges("one", "labels", "example.com/x", "1"), merges("other", "labels", "example.com/x", "2")},
			want:        []string{`one and other both write Tagged a: metadata.labels["example.com/x"]: one writes "1", and then other writes "2"`}},
		{name: "ugly: what the field is under comes with it", property: owned, start: []core.Object{tagged.Named("a").Is(labels{})},
			controllers: []plain.Controller{sets("one", tagged, "a", tags("labels", "x=1")), sets("other", tagged, "a", tags("labels", "x=2", "y=2"))},
			want: []string{
				`one and other both write Tagged a: metadata.labels.x: one writes "1", and then other writes "2"`,
				`other and one both write Tagged a: metadata.labels.y: other writes "2", and then one writes (absent)`,
			}},
		{name: "ugly: a path that may be shared", property: properties.OneWriter("metadata.labels"), start: []core.Object{tagged.Named("a").Is(tags("labels"))},
			controllers: []plain.Controller{merges("one", "labels", "x", "1"), merges("other", "labels", "x", "2")}},
		{name: "ugly: metadata that nobody owns", property: owned, start: []core.Object{tagged.Named("a").Is(tags("finalizers"))},
			controllers: []plain.Controller{merges("one", "finalizers", "x", "1"), merges("other", "finalizers", "x", "2")}},
	})
}

func TestMatches(t *testing.T) {
	want, have := plain.NewFamily[int]("Want"), plain.NewFamily[int]("Have")
	same := properties.Matches("what is wanted is had", "Want", func(s core.State, desired core.Object) bool {
		got, there := have.Named(desired.Key.Name).Lookup(s)
		return there && want.Named(desired.Key.Name).Is(got).Content.Canonical() == desired.Content.Canonical()
	})
	copies := func(name string, twist int) plain.Controller {
		return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: "Want"}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			if v, there := want.Named(string(r)).Lookup(w); there {
				have.Named(string(r)).Set(w, v+twist)
			}
			return core.Result{}
		}}
	}
	three := []core.Object{want.Named("a").Is(3)}
	try(t, []fixture{
		{name: "good: it comes about", property: same, start: three, controllers: []plain.Controller{copies("copies", 0)},
			user: []plain.Action{action("more", func(w *plain.World) { want.Named("a").Set(w, 4) }), action("none", func(w *plain.World) { want.Named("a").Delete(w) })}},
		{name: "bad: it settles elsewhere", property: same, start: three, controllers: []plain.Controller{copies("copies", 1)},
			want: []string{"what is wanted is had: Want a keeps asking for the same, but never gets it permanently"}},
		{name: "bad: it is created and deleted again and again", property: same, start: three,
			controllers: []plain.Controller{copies("copies", 0), setter("up", have, "", atLeast(4)), setter("down", have, "", atMost(3))},
			want:        []string{"never gets it permanently"}},
		{name: "ugly: many miss it for one reason", property: same, start: append(three, want.Named("b").Is(2)), controllers: []plain.Controller{copies("copies", 1)},
			want: []string{"And one more like this: Want b."}},
		{name: "ugly: what is wanted changes for ever", property: same, start: three,
			controllers: []plain.Controller{copies("copies", 0), setter("up", want, "", atLeast(4)), setter("down", want, "", atMost(3))}},
		{name: "ugly: something else goes on for ever", property: same, start: append(three, have.Named("x").Is(0)),
			controllers: []plain.Controller{copies("copies", 0), setter("up", have, "x", atLeast(4)), setter("down", have, "x", atMost(3))}},
		{name: "ugly: nobody does anything", property: same, start: three, controllers: []plain.Controller{sets("idle", have, "x", 0)},
			want: []string{"No further step is required there"}},
	})
}

func TestStatusFollowsSpec(t *testing.T) {
	type generations = map[string]map[string]int
	batch := plain.NewFamily[generations]("Batch")
	is := func(generation, observed int) generations {
		return generations{"metadata": {"generation": generation}, "status": {"observedGeneration": observed}}
	}
	type reported = map[string]map[string][]map[string]int
	job := plain.NewFamily[reported]("Job")
	follows := properties.StatusFollowsSpec("Batch")
	observes := plain.Controller{Name: "observes", Watches: []plain.Watch{{Kind: "Batch"}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		generation := batch.Named(string(r)).Get(w)["metadata"]["generation"]
		batch.Named(string(r)).Set(w, is(generation, generation))
		return core.Result{}
	}}
	bump := []plain.Action{action("changes the spec", func(w *plain.World) {
		now := batch.Named("a").Get(w)
		batch.Named("a").Set(w, is(now["metadata"]["generation"]+1, now["status"]["observedGeneration"]))
	})}
	try(t, []fixture{
		{name: "good: it is observed", property: follows, start: []core.Object{batch.Named("a").Is(is(1, 0))}, controllers: []plain.Controller{observes}, user: bump},
		{name: "bad: it is ahead", property: follows, start: []core.Object{batch.Named("a").Is(is(1, 1))},
			controllers: []plain.Controller{sets("guesses", batch, "a", is(1, 2)), keeps("corrects", batch, is(1, 1))},
			want:        []string{"the status of Batch a reports observed generation 2, but its generation is only 1"}},
		{name: "bad: it stays behind", property: follows, start: []core.Object{batch.Named("a").Is(is(1, 1))},
			controllers: []plain.Controller{sets("idle", batch, "b", is(1, 1))}, user: bump,
			want: []string{"the system is quiescent, but the status of Batch a still reports generation 1 instead of 2"}},
		{name: "ugly: both", property: follows, start: []core.Object{batch.Named("a").Is(is(2, 1)), batch.Named("b").Is(is(2, 3)), batch.Named("c").Is(is(2, 1))},
			controllers: []plain.Controller{sets("idle", batch, "d", is(1, 1))},
			want:        []string{"the status of Batch b reports", "the system is quiescent, but the status of Batch a still reports generation 1 instead of 2\nAnd one more like this: Batch c."}},
		{name: "ugly: being deleted", property: follows,
			start:       []core.Object{batch.Named("a").Is(generations{"metadata": {"generation": 2, "deletionTimestamp": 1}})},
			controllers: []plain.Controller{sets("idle", batch, "b", is(1, 1))}},
		{name: "ugly: without a generation", property: properties.StatusFollowsSpec("Job"), start: []core.Object{job.Named("a").Is(reported{})},
			controllers: []plain.Controller{sets("idle", job, "b", reported{})}},
	})
}

// keeps is a controller that gives a variable a value whenever it has another one.
func keeps[T any](name string, family plain.Family[T], value T) plain.Controller {
	return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: family.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		family.Named(string(r)).Set(w, value)
		return core.Result{}
	}}
}

func TestQuota(t *testing.T) {
	pod, limit := plain.NewFamily[string]("Pod"), plain.NewFamily[int]("Limit")
	byFirst := func(o core.Object) string { return strings.TrimSuffix(o.Key.Name[:1], "x") }
	limited := properties.Quota("no more than the limit", "Pod", byFirst, func(s core.State, group string) int { return limit.Named(group).Get(s) })
	adds := func(names ...core.Request) plain.Controller {
		return does("adds", func(w *plain.World, r core.Request) { pod.Named(string(r)).Set(w, "here") }, names...)
	}
	start := []core.Object{limit.Named("a").Is(1), limit.Named("b").Is(2)}
	try(t, []fixture{
		{name: "good: as many as may be", property: properties.AtMost(2, "Pod"), controllers: []plain.Controller{adds("a1", "a2")}},
		{name: "bad: one too many", property: properties.AtMost(1, "Pod"), controllers: []plain.Controller{adds("a1", "a2")},
			want: []string{"at most 1 of kind Pod: there are 2, but the limit is 1: Pod a1 and Pod a2"}},
		{name: "ugly: only for a moment", property: properties.AtMost(1, "Pod"), start: []core.Object{pod.Named("a1").Is("here")},
			controllers: []plain.Controller{adds("a2"), does("removes", func(w *plain.World, r core.Request) { pod.Named("a1").Delete(w) }, "r")},
			want:        []string{"there are 2, but the limit is 1"}},
		{name: "good: each group has its own limit", property: limited, start: start, controllers: []plain.Controller{adds("a1", "b1", "b2", "x1", "x2", "x3")}},
		{name: "bad: one group has too many", property: limited, start: start, controllers: []plain.Controller{adds("a1", "a2", "b1", "b2")},
			want: []string{"no more than the limit: there are 2 of a, but the limit is 1: Pod a1 and Pod a2"}},
		{name: "ugly: the limit falls", property: limited, start: start, controllers: []plain.Controller{adds("b1", "b2"), sets("lowers", limit, "b", 1)},
			want: []string{"there are 2 of b, but the limit is 1"}},
	})
}

func TestGroups(t *testing.T) {
	controlled := thing{"metadata": map[string]any{"labels": map[string]any{"example.com/team": "blue"}, "ownerReferences": []any{
		map[string]any{"apiVersion": "v1", "kind": "Note", "name": "n"},
		map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": true},
	}}}
	o := core.Object{Key: core.Key{Kind: "Pod", Namespace: "ns", Name: "p"}, Content: controlled}
	bare := core.Object{Key: core.Key{Kind: "Pod", Name: "p"}, Content: thing{}}
	for name, test := range map[string]struct {
		group       func(core.Object) string
		want, other string
	}{
		"namespace": {properties.ByNamespace, "ns", ""},
		"label":     {properties.ByLabel("example.com/team"), "blue", ""},
		"owner":     {properties.ByOwner, "ReplicaSet.apps ns/r", ""},
	} {
		if got := test.group(o); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := test.group(bare); got != test.other {
			t.Errorf("%s: %q, want %q", name, got, test.other)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, p := range []core.Property{
		properties.Monotone("Ready", "", true),
		properties.Matches("matches", "Want", nil),
		properties.Quota("quota", "Pod", nil, nil),
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "give") {
			t.Errorf("%s: the mistake is %v", p.Name, err)
		}
	}
}
