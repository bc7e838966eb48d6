package properties_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// setter is a controller that sets a number to what it should be by its own lights, whenever somebody changes it.
func setter(name string, x plain.Family[int], which string, want func(int) int) plain.Controller {
	return plain.Controller{
		Name:    name,
		Watches: []plain.Watch{{Kind: x.Kind(), Map: func(key core.Key) []core.Request { return requestOf(key.Name, which) }}},
		Reconcile: func(w *plain.World, r core.Request) core.Result {
			v := x.Named(string(r))
			v.Set(w, want(v.Get(w)))
			return core.Result{}
		},
	}
}

// requestOf returns a request for a name, if it is the one, or if all are wanted.
func requestOf(name, which string) []core.Request {
	if which != "" && which != name {
		return nil
	}
	return []core.Request{core.Request(name)}
}

func atLeast(n int) func(int) int { return func(x int) int { return max(n, x) } }
func atMost(n int) func(int) int  { return func(x int) int { return min(n, x) } }

// failing is a controller that fails on each of its requests.
func failing(name string, because func(core.Request) string, requests ...core.Request) plain.Controller {
	return plain.Controller{Name: name, Requests: requests, Reconcile: func(_ *plain.World, r core.Request) core.Result {
		return core.Result{Err: errors.New(because(r))}
	}}
}

// asking is a controller that asks for its requests to be run again.
func asking(name string, requests ...core.Request) plain.Controller {
	return plain.Controller{Name: name, Requests: requests, Reconcile: func(*plain.World, core.Request) core.Result {
		return core.Result{Requeue: true}
	}}
}

// checked checks a property of a model, with orders left out and without, which must find as much.
func checked(t *testing.T, model plain.Model, p core.Property) []core.Finding {
	t.Helper()
	model.Name, model.Properties = "checked", []core.Property{p}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	var findings, first []core.Finding
	for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
		result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Report.Reasons) > 0 {
			t.Fatalf("it is not certain: %v", result.Report.Reasons)
		}
		findings = slices.DeleteFunc(result.Report.Findings, func(f core.Finding) bool { return f.Property != p.Name })
		counts = append(counts, len(findings))
		if first == nil {
			first = findings
		}
	}
	if counts[0] != counts[1] {
		t.Errorf("%d findings with orders left out, %d without", counts[0], counts[1])
		t.Logf("%+v", first)
	}
	return findings
}

// told is a finding in a few lines.
func told(f core.Finding) string {
	return strings.Join(append([]string{f.Summary}, f.Details...), "\n")
}

// pair is an object with two fields.
type pair struct{ F, G int }

func TestLivelocks(t *testing.T) {
	x, y := plain.NewFamily[int]("X"), plain.NewFamily[int]("Y")
	fight := func(kind plain.Family[int], which string, names ...string) []plain.Controller {
		return []plain.Controller{setter(names[0], kind, which, atLeast(3)), setter(names[1], kind, which, atMost(2))}
	}
	mirror := plain.Controller{
		Name:    "mirror",
		Watches: []plain.Watch{{Kind: x.Kind()}},
		Reconcile: func(w *plain.World, r core.Request) core.Result {
			// It never writes the same twice, so that it cannot keep out of a cycle.
			last := y.Named(string(r)).Get(w)
			y.Named(string(r)).Set(w, 10*x.Named(string(r)).Get(w)+1-last%10)
			return core.Result{}
		},
	}
	// Each follows the other, one of them to the contrary.
	follows := func(name string, from, to plain.Family[int], value func(int) int) plain.Controller {
		return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: from.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			to.Named(string(r)).Set(w, value(from.Named(string(r)).Get(w)))
			return core.Result{}
		}}
	}
	exists := plain.Controller{Name: "maker", Watches: []plain.Watch{{Kind: x.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		if _, there := x.Named(string(r)).Lookup(w); !there {
			x.Named(string(r)).Set(w, 1)
		}
		return core.Result{}
	}}
	cleans := plain.Controller{Name: "cleaner", Watches: []plain.Watch{{Kind: x.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
		if _, there := x.Named(string(r)).Lookup(w); there {
			x.Named(string(r)).Delete(w)
		}
		return core.Result{}
	}}
	pairs := plain.NewFamily[pair]("Pair")
	keeper := func(name string, want func(pair) pair) plain.Controller {
		return plain.Controller{Name: name, Watches: []plain.Watch{{Kind: pairs.Kind()}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			pairs.Named(string(r)).Set(w, want(pairs.Named(string(r)).Get(w)))
			return core.Result{}
		}}
	}
	both := []core.Object{x.Named("a").Is(1), x.Named("b").Is(1)}
	for _, test := range []struct {
		name        string
		start       []core.Object
		controllers []plain.Controller
		want        []string // each finding, all of it
	}{
		{"two fight over a field", both[:1], fight(x, "", "up", "down"), []string{
			"down and up never stop undoing each other's changes to X a, which goes 3 → 2 → 3\n" +
				"X a goes 3 → 2 → 3: down writes 2, up writes 3.",
		}},
		{"the same fight over two objects is one", both, fight(x, "", "up", "down"), []string{
			"down and up never stop undoing each other's changes to X a, which goes 3 → 2 → 3\n" +
				"X a goes 3 → 2 → 3: down writes 2, up writes 3.\n" +
				"And one more like this: X b.",
		}},
		{"two fights of others are two", append(both, y.Named("a").Is(1)), slices.Concat(fight(x, "a", "up", "down"), fight(y, "a", "more", "less")), []string{
			"down and up never stop undoing each other's changes to X a, which goes 3 → 2 → 3\n" +
				"X a goes 3 → 2 → 3: down writes 2, up writes 3.",
			"less and more never stop undoing each other's changes to Y a, which goes 3 → 2 → 3\n" +
				"Y a goes 3 → 2 → 3: less writes 2, more writes 3.",
		}},
		{"two fights of one controller are two", []core.Object{pairs.Named("a").Is(pair{1, 1})}, []plain.Controller{
			keeper("both", func(p pair) pair { return pair{max(p.F, 3), max(p.G, 3)} }),
			keeper("less", func(p pair) pair { return pair{min(p.F, 2), p.G} }),
			keeper("few", func(p pair) pair { return pair{p.F, min(p.G, 2)} }),
		}, []string{
			"less and both never stop undoing each other's changes to Pair a: F, which goes 3 → 2 → 3\n" +
				"Pair a: F goes 3 → 2 → 3: less writes 2, both writes 3.",
			"few and both never stop undoing each other's changes to Pair a: G, which goes 3 → 2 → 3\n" +
				"Pair a: G goes 3 → 2 → 3: few writes 2, both writes 3.",
		}},
		{"what follows is told with it", []core.Object{x.Named("a").Is(1), y.Named("a").Is(1)}, append(fight(x, "", "up", "down"), mirror), []string{
			"down and up never stop undoing each other's changes to X a, which goes 3 → 2 → 3\n" +
				"X a goes 3 → 2 → 3: down writes 2, up writes 3.\n" +
				"As a consequence, these fields repeat, too: Y a.",
		}},
		{"a circle of two is one", []core.Object{x.Named("a").Is(0), y.Named("a").Is(0)}, []plain.Controller{
			follows("copies", x, y, func(v int) int { return v }), follows("turns", y, x, func(v int) int { return 1 - v }),
		}, []string{
			"turns and copies never stop undoing each other's changes to X a, which goes 0 → 1 → 0, and to one more field\n" +
				"X a goes 0 → 1 → 0: turns writes 1 and 0.\n" +
				"Y a goes 0 → 1 → 0: copies writes 1 and 0.",
		}},
		{"an object comes and goes", both[:1], []plain.Controller{exists, cleans}, []string{
			"cleaner and maker never stop undoing each other's changes to X a, which is created and deleted again and again\n" +
				"X a is created and deleted again and again: cleaner deletes it, maker creates it.",
		}},
		{"an error behind a fight is one more", both[:1], append(fight(x, "", "up", "down"), failing("fails", func(core.Request) string { return "no luck" }, "r")), []string{
			"down and up never stop undoing each other's changes to X a, which goes 3 → 2 → 3\n" +
				"X a goes 3 → 2 → 3: down writes 2, up writes 3.",
			"fails retries r forever: no luck\n" +
				"Every retry returns the error, and no other step ends this.",
		}},
		{"two that ask for more are two", nil, []plain.Controller{asking("one", "r", "s"), asking("other", "r")}, []string{
			"one requeues r forever without changing anything\n" +
				"No other step ends this. To wait for some time, return RequeueAfter instead of Requeue.\n" +
				"And one more like this: one(s).",
			"other requeues r forever without changing anything\n" +
				"No other step ends this. To wait for some time, return RequeueAfter instead of Requeue.",
		}},
		{"who writes and fails does both", []core.Object{x.Named("r").Is(0)}, []plain.Controller{{
			Name: "counts", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, r core.Request) core.Result {
				x.Named(string(r)).Set(w, 1-x.Named(string(r)).Get(w))
				return core.Result{Err: errors.New("no luck")}
			},
		}}, []string{
			"counts never stops changing X r, which goes 0 → 1 → 0\n" +
				"X r goes 0 → 1 → 0: counts writes 1 and 0.\n" +
				"counts(r), which writes, returns an error: no luck",
		}},
		{"one error for many requests is one", nil, []plain.Controller{failing("fails", func(r core.Request) string { return "no luck with " + string(r) }, "r", "s", "t")}, []string{
			"fails retries r forever: no luck with r\n" +
				"Every retry returns the error, and no other step ends this.\n" +
				"And 2 more like this: fails(s) and fails(t).",
		}},
		{"two errors are two", nil, []plain.Controller{failing("fails", func(r core.Request) string { return map[core.Request]string{"r": "no luck", "s": "no money"}[r] }, "r", "s")}, []string{
			"fails retries r forever: no luck\nEvery retry returns the error, and no other step ends this.",
			"fails retries s forever: no money\nEvery retry returns the error, and no other step ends this.",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range checked(t, plain.Model{Initial: []core.Initial{plain.Start(test.start...)}, Controllers: test.controllers}, properties.StableConvergence()) {
				got = append(got, told(f))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %d findings:\n%s\n\nwant %d:\n%s", len(got), strings.Join(got, "\n\n"), len(test.want), strings.Join(test.want, "\n\n"))
			}
		})
	}
}
