package properties_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestOneDefectIsOneFinding has defects that show in many objects, and different defects that look alike.
func TestOneDefectIsOneFinding(t *testing.T) {
	x, y, from := plain.NewFamily[int]("X"), plain.NewFamily[int]("Y"), plain.NewFamily[int]("From")
	zeros := func(family plain.Family[int], names ...string) []core.Object {
		var all []core.Object
		for _, name := range names {
			all = append(all, family.Named(name).Is(0))
		}
		return all
	}
	// copies looks once at what others change.
	copies := func(to plain.Family[int], names ...core.Request) plain.Controller {
		return does("copies to "+string(to.Kind()), func(w *plain.World, r core.Request) { to.Named(string(r)).Set(w, from.Named(string(r)).Get(w)) }, names...)
	}
	moves := func(names ...core.Request) plain.Controller {
		return does("moves", func(w *plain.World, r core.Request) { from.Named(string(r)).Set(w, 1) }, names...)
	}
	// splits writes to one kind for one of its requests, and to another for the other.
	splits := does("splits", func(w *plain.World, r core.Request) {
		to := x
		if r == "b" {
			to = y
		}
		to.Named(string(r)).Set(w, from.Named(string(r)).Get(w))
	}, "a", "b")
	// first claims what nobody has claimed before.
	first := func(name string, value int, family plain.Family[int], names ...core.Request) plain.Controller {
		return does(name, func(w *plain.World, r core.Request) {
			if v := family.Named(string(r)); v.Get(w) == 0 {
				v.Set(w, value)
			}
		}, names...)
	}
	try(t, []fixture{
		{name: "a missing watch for many requests", property: properties.Fixpoint(),
			start:       append(zeros(from, "a", "b", "c"), zeros(x, "a", "b", "c")...),
			controllers: []plain.Controller{copies(x, "a", "b", "c"), moves("a", "b", "c")},
			want:        []string{"And 2 more like this: "}},
		{name: "two controllers without a watch", property: properties.Fixpoint(),
			start:       append(zeros(from, "a"), append(zeros(x, "a"), zeros(y, "a")...)...),
			controllers: []plain.Controller{copies(x, "a"), copies(y, "a"), moves("a")},
			want:        []string{"running copies to X(a) again", "running copies to Y(a) again"}},
		{name: "one controller without two watches", property: properties.Fixpoint(),
			start:       append(zeros(from, "a", "b"), append(zeros(x, "a"), zeros(y, "b")...)...),
			controllers: []plain.Controller{splits, moves("a", "b")},
			want:        []string{"still changes X a", "still changes Y b"}},
		{name: "a race for many objects", property: properties.SameOutcome(), start: zeros(x, "a", "b"),
			controllers: []plain.Controller{first("one", 1, x, "a", "b"), first("other", 2, x, "a", "b")},
			want:        []string{"4 different outcomes, depending on the order of steps: they differ in X b\nX b is 1 in the first outcome, 2 in the second."}},
		{name: "races for two kinds", property: properties.SameOutcome(), start: append(zeros(x, "a"), zeros(y, "a")...),
			controllers: []plain.Controller{first("one", 1, x, "a"), first("other", 2, x, "a"), first("third", 1, y, "a"), first("fourth", 2, y, "a")},
			want:        []string{"differ in Y a", "differ in X a"}},
		{name: "a race of three", property: properties.SameOutcome(), start: zeros(x, "a"),
			controllers: []plain.Controller{first("one", 1, x, "a"), first("other", 2, x, "a"), first("third", 3, x, "a")},
			want:        []string{"3 different outcomes"}},
		{name: "a race with consequences", property: properties.SameOutcome(), start: append(zeros(from, "a"), zeros(x, "a")...),
			controllers: []plain.Controller{copies(x, "a"), first("one", 1, from, "a"), first("other", 2, from, "a"), {
				Name: "follows", Watches: []plain.Watch{{Kind: "From"}}, Reconcile: copies(x).Reconcile,
			}},
			want: []string{"they differ in From a and X a"}},
	})
}

// TestOnePanicIsOneFinding has incidents of one place in the code and of several.
func TestOnePanicIsOneFinding(t *testing.T) {
	g := &graph{initial: []core.StateID{0}}
	g.add(0, 0, "a")
	handled := core.Key{Kind: "K", Namespace: "ns", Name: "b"}
	for _, i := range []struct {
		request, message string
		handling         *core.Key
	}{
		{"ns/a", "panics: no a (at x.f, f.go:1)", nil},
		{"ns/b", "panics: no b (at x.f, f.go:1)", nil},
		{"ns/a", "panics: no a (at x.f, f.go:2)", nil},
		{"ns/a", "panics: no a (at x.f, f.go:1)", &handled},
		{"ns/a", "gone with ns/a, 3 of 4", nil},
		{"ns/b", "gone with ns/b, 1 of 2", nil},
		{"ns/b", "gone without ns/b, 1 of 2", nil},
	} {
		step := core.Step{Item: core.Item{Strategy: "c", Request: core.Request(i.request)}}
		g.incident = append(g.incident, core.Incident{Kind: core.Panicked, Strategy: "c", Step: step, Message: i.message, Handling: i.handling})
	}
	violations, err := properties.NoPanic().Judge(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range violations {
		got = append(got, v.Summary+" | "+v.Details[len(v.Details)-1])
	}
	const advice = "A manager that recovers panics retries the request; without that, the process crashes and restarts."
	want := []string{
		"c, reconciling ns/a: panics: no a (at x.f, f.go:1) | And one more like this: reconciling ns/b.",
		"c, reconciling ns/a: panics: no a (at x.f, f.go:2) | " + advice,
		"c, handling an event of K ns/b: panics: no a (at x.f, f.go:1) | " + advice,
		"c, reconciling ns/a: gone with ns/a, 3 of 4 | And one more like this: reconciling ns/b.",
		"c, reconciling ns/b: gone without ns/b, 1 of 2 | " + advice,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
