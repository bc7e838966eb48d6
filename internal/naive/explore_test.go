package naive_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

func system(t *testing.T, model plain.Model) *core.System {
	t.Helper()
	model.Name = "test"
	s, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func explore(t *testing.T, model plain.Model) *naive.Graph {
	t.Helper()
	g, err := naive.Explore(system(t, model), 1_000)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// draw writes the graph down, one edge a line: states by what work and timers
// they hold and what x is there.
func draw(g *naive.Graph, x plain.Var[int]) []string {
	name := func(id core.StateID) string {
		s := g.States[id]
		text := fmt.Sprint(x.Get(s))
		for _, item := range s.Work() {
			text += " " + string(item.Request)
		}
		for _, item := range s.Timers() {
			text += " ~" + string(item.Request)
		}
		return text
	}
	var lines []string
	for _, edges := range g.Edges {
		for _, e := range edges {
			step := string(e.Step.Item.Request)
			if e.Step.Kind == core.Fire {
				step = "fire " + step
			}
			if e.Failed != "" {
				step += "!"
			}
			if e.Requeued {
				step += "+"
			}
			if e.Wrote {
				step += "*"
			}
			lines = append(lines, fmt.Sprintf("[%s] %s [%s]", name(e.From), step, name(e.To)))
		}
	}
	return lines
}

var errFailed = errors.New("failed")

func TestResults(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, test := range []struct {
		name     string
		requests []core.Request
		do       func(*plain.World, core.Request) core.Result
		want     []string
	}{
		{
			"success consumes the request", []core.Request{"r"},
			func(*plain.World, core.Request) core.Result { return core.Result{} },
			[]string{"[0 r] r [0]"},
		},
		{
			"an error puts it back, and its writes stay", []core.Request{"r"},
			func(w *plain.World, _ core.Request) core.Result {
				x.Set(w, 1)
				return core.Result{Err: errFailed}
			},
			[]string{"[0 r] r!* [1 r]", "[1 r] r! [1 r]"},
		},
		{
			"requeue puts it back", []core.Request{"r"},
			func(w *plain.World, _ core.Request) core.Result {
				now := x.Get(w)
				x.Set(w, 1)
				return core.Result{Requeue: now == 0}
			},
			[]string{"[0 r] r+* [1 r]", "[1 r] r [1]"},
		},
		{
			"a timer fires only when nothing else can happen", []core.Request{"a", "b"},
			func(w *plain.World, request core.Request) core.Result {
				if request == "b" || x.Get(w) == 1 {
					return core.Result{}
				}
				x.Set(w, 1)
				return core.Result{RequeueAfter: time.Hour}
			},
			[]string{
				"[0 a b] a* [1 b ~a]", "[0 a b] b [0 a]",
				"[1 b ~a] b [1 ~a]",
				"[0 a] a* [1 ~a]",
				"[1 ~a] fire a [1 a]",
				"[1 a] a [1]",
			},
		},
		{
			"a blocked request does not hold timers up", []core.Request{"a", "b"},
			func(w *plain.World, request core.Request) core.Result {
				w.Require(request == "a")
				now := x.Get(w)
				x.Set(w, 1)
				if now == 1 {
					return core.Result{}
				}
				return core.Result{RequeueAfter: time.Hour}
			},
			[]string{"[0 a b] a* [1 b ~a]", "[1 b ~a] fire a [1 a b]", "[1 a b] a [1 b]"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := explore(t, plain.Model{
				Initial:     []core.Initial{plain.Start(x.Is(0))},
				Controllers: []plain.Controller{{Name: "c", Requests: test.requests, Reconcile: test.do}},
			})
			if got := draw(g, x); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Every watcher is told at once of each write, and at start of what exists.
func TestDelivery(t *testing.T) {
	things, x := plain.NewFamily[int]("thing"), plain.NewVar[int]("x")
	watch := []plain.Watch{{Kind: things.Kind()}}
	g := explore(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0), things.Named("old").Is(0))},
		Controllers: []plain.Controller{
			{
				Name: "maker", Requests: []core.Request{"make"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					things.Named("new").Set(w, 1)
					things.Named("old").Delete(w)
					return core.Result{}
				},
			},
			{
				Name: "watcher", Watches: watch,
				Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} },
			},
		},
	})
	want := []string{
		"[0 make old] make* [0 new old]", "[0 make old] old [0 make]",
		"[0 new old] new [0 old]", "[0 new old] old [0 new]",
		"[0 make] make* [0 new old]",
		"[0 old] old [0]", "[0 new] new [0]",
	}
	if got := draw(g, x); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A standing request is enabled for ever, is never in a queue, and a step that
// changes nothing is a step.
func TestStandingRequests(t *testing.T) {
	x := plain.NewVar[int]("x")
	g := explore(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0)), plain.Start(x.Is(2)), plain.Start(x.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{
			{Name: "up", Do: func(w *plain.World) {
				now := x.Get(w)
				w.Require(now < 2)
				x.Set(w, now+1)
			}},
			{Name: "stay", Do: func(w *plain.World) { x.Get(w) }},
		}}},
	})
	want := []string{
		"[0] up* [1]", "[0] stay [0]",
		"[2] stay [2]",
		"[1] up* [2]", "[1] stay [1]",
	}
	if got := draw(g, x); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []core.StateID{0, 1}; !slices.Equal(g.Initial, want) {
		t.Errorf("initial states: got %v, want %v", g.Initial, want)
	}
	if got, want := g.Transitions(), 5; got != want {
		t.Errorf("got %d transitions, want %d", got, want)
	}
}

func TestViolationsAndEnds(t *testing.T) {
	x := plain.NewVar[int]("x")
	g := explore(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "up", Do: func(w *plain.World) {
			now := x.Get(w)
			w.Require(now < 2)
			x.Set(w, now+1)
		}}}}},
		Properties: []core.Property{{Name: "never 1", Invariant: func(s core.State) error {
			if x.Get(s) == 1 {
				return errFailed
			}
			return nil
		}}},
	})
	if want := []naive.Violation{{Property: "never 1", State: 1, Err: errFailed}}; !slices.Equal(g.Violations, want) {
		t.Errorf("violations: got %v, want %v", g.Violations, want)
	}
	if got, want := g.Terminal(), []core.StateID{2}; !slices.Equal(got, want) {
		t.Errorf("terminal states: got %v, want %v", got, want)
	}
}

// capped settles every number to at most 3, like a counter that only counts up
// is brought down.
type capped struct {
	core.Store
	x plain.Var[int]
}

func (c capped) Normalize(key core.Key, versions []core.Content, _ []bool) []core.Content {
	three := c.x.Is(3).Content
	settled := slices.Clone(versions)
	for i, content := range versions {
		if key == c.x.Key() && content.Canonical() > three.Canonical() {
			settled[i] = three
		}
	}
	return settled
}

func TestSettling(t *testing.T) {
	x := plain.NewVar[int]("x")
	s := system(t, plain.Model{
		Initial:   []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "up", Do: func(w *plain.World) { x.Set(w, x.Get(w)+1) }}}}},
	})
	s.Store = capped{s.Store, x}
	g, err := naive.Explore(s, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"[0] up* [1]", "[1] up* [2]", "[2] up* [3]", "[3] up* [3]"}
	if got := draw(g, x); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGivingUp(t *testing.T) {
	x := plain.NewVar[int]("x")
	up := plain.Model{
		Initial:   []core.Initial{plain.Start(x.Is(0))},
		Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "up", Do: func(w *plain.World) { x.Set(w, x.Get(w)+1) }}}}},
	}
	if _, err := naive.Explore(system(t, up), 10); err == nil || !strings.Contains(err.Error(), "more than 10 states") {
		t.Errorf("without an end: got error %v", err)
	}
	if _, err := naive.Explore(&core.System{}, 10); err == nil {
		t.Error("an empty system was explored")
	}
}
