package orrery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// TestGrowth checks systems in which there are more and more objects, and such in which there are many.
func TestGrowth(t *testing.T) {
	item, copied, count := plain.NewFamily[int]("Item"), plain.NewFamily[int]("Copy"), plain.NewVar[int]("count")
	other := plain.NewVar[int]("other")
	counts := plain.Controller{Name: "counts", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		if other.Get(w) < 12 {
			other.Set(w, other.Get(w)+1)
			return core.Result{Requeue: true}
		}
		return core.Result{}
	}}
	many := make([]core.Object, 0, 50)
	for i := range 50 {
		many = append(many, item.Named(fmt.Sprintf("i%02d", i)).Is(0))
	}
	for _, test := range []struct {
		name    string
		start   []core.Object
		makes   plain.Controller
		bound   int
		verdict core.Verdict
		// verdict is empty if it may be any without a finding, and says is part of the finding.
		says string
	}{
		{
			name: "each object makes another one", start: []core.Object{item.Named("a").Is(0)}, verdict: core.Violated, bound: 1100,
			says: "each round adds 1 more Item, for example by Item a",
			makes: plain.Controller{Name: "makes", Watches: []plain.Watch{{Kind: "Item"}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
				item.Named(string(r)+"x").Set(w, 0)
				return core.Result{}
			}},
		},
		{
			name: "each retry makes one more, by a number", start: []core.Object{count.Is(0)}, verdict: core.Inconclusive, bound: 1100,
			says: "each round adds 1 more Copy",
			makes: plain.Controller{Name: "makes", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				n := count.Get(w)
				copied.Named(fmt.Sprintf("c%d", n)).Set(w, 0)
				count.Set(w, n+1)
				return core.Result{Err: errors.New("a later step fails")}
			}},
		},
		{
			name: "each of many is copied", start: many, bound: 1200,
			makes: plain.Controller{Name: "makes", Watches: []plain.Watch{{Kind: "Item"}}, Reconcile: func(w *plain.World, r core.Request) core.Result {
				if strings.HasPrefix(string(r), "i") {
					copied.Named(string(r)).Set(w, 0)
				}
				return core.Result{}
			}},
		},
		{
			name: "as many as there are to be", start: []core.Object{count.Is(20)}, verdict: core.Holds,
			makes: plain.Controller{Name: "makes", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if there := len(copied.All(w)); there < count.Get(w) {
					copied.Named(fmt.Sprintf("c%d", there)).Set(w, 0)
					return core.Result{Requeue: true}
				}
				return core.Result{}
			}},
		},
		{
			name: "a loop without growth", start: []core.Object{count.Is(0)}, verdict: core.Holds,
			makes: plain.Controller{Name: "makes", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				n := count.Get(w)
				copied.Named(fmt.Sprintf("c%d", (n+1)%2)).Set(w, 0)
				copied.Named(fmt.Sprintf("c%d", n)).Delete(w)
				count.Set(w, 1-n)
				return core.Result{Requeue: true}
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := plain.Model{
				Name: "growth", Initial: []core.Initial{plain.Start(append([]core.Object{other.Is(0)}, test.start...)...)},
				Controllers: []plain.Controller{test.makes, counts},
			}.System()
			if err != nil {
				t.Fatal(err)
			}
			ways := []orrery.Options{
				{Reduction: orrery.NoReduction, Workers: 2},
				{},
				{Search: orrery.DepthFirst},
				{Granularity: orrery.PerCall},
				{Crashes: 1},
			}
			if testing.Short() {
				ways = ways[:1]
			}
			for _, options := range ways {
				options.MaxStates = test.bound
				result, err := orrery.Run(context.Background(), system, options)
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if test.verdict == "" && len(report.Findings) == 0 {
					continue
				}
				if report.Verdict != test.verdict {
					t.Fatalf("%+v: the verdict is %s, want %s; reasons %q", options, report.Verdict, test.verdict, report.Reasons)
				}
				var told []string
				for _, finding := range report.Findings {
					told = append(told, finding.Summary)
					if different, err := orrery.Replay(context.Background(), system, finding.Trace, again(t, options, &report)); err != nil || different != nil {
						t.Errorf("replayed, it is different: %v, %v", different, err)
					}
				}
				if !slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, test.says) }) && test.says != "" {
					t.Errorf("%+v: told is %q, want %q", options, told, test.says)
				}
			}
		})
	}
}

// TestBegunAgainSoon wants a large search that has to be begun again, as a controller waits for a time in the end, to
// be so long before it comes to that end.
func TestBegunAgainSoon(t *testing.T) {
	const counters, most = 5, 7
	count, done := plain.NewFamily[int]("Count"), plain.NewVar[bool]("done")
	model := plain.Model{Name: "soon"}
	var start []core.Object
	for i := range counters {
		own := count.At(i)
		start = append(start, own.Is(0))
		model.Controllers = append(model.Controllers, plain.Controller{Name: fmt.Sprintf("counts%d", i), Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			if n := own.Get(w); n < most {
				own.Set(w, n+1)
				return core.Result{Requeue: true}
			}
			return core.Result{}
		}})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	watch := plain.Watch{Kind: count.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"r"} }}
	last := plain.Controller{Name: "last", Watches: []plain.Watch{watch}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		for i := range counters {
			if count.At(i).Get(w) < most {
				return core.Result{}
			}
		}
		if time.Now().Year() < 2010 {
			return core.Result{RequeueAfter: time.Hour}
		}
		done.Set(w, true)
		return core.Result{}
	}}
	model.Controllers = append(model.Controllers, last)
	var log bytes.Buffer
	result := run(t, model, orrery.Options{Reduction: orrery.NoReduction, Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &log})})
	if r := result.Report; !slices.Equal(r.Awaiting, []string{"last"}) || r.TerminalStates != 1 {
		t.Errorf("%v wait for times, and there are %d terminal states", r.Awaiting, r.TerminalStates)
	}
	var searched []int
	for line := range strings.Lines(log.String()) {
		var n int
		if _, states, ended := strings.Cut(line, "the search ended: states="); ended {
			if _, err := fmt.Sscan(states, &n); err != nil {
				t.Fatal(err)
			}
			searched = append(searched, n)
		}
	}
	if len(searched) != 2 || searched[0] > searched[1]/4 {
		t.Errorf("searches ended with %v states, want two, the first of which is begun again soon", searched)
	}
}
