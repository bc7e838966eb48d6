package orrery_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// one returns a model of one controller with one request and a variable x that starts at 0.
func one(reconcile func(*plain.World) core.Result, given ...core.Property) plain.Model {
	return plain.Model{
		Name:       "one",
		Initial:    []core.Initial{plain.Start(x().Is(0))},
		Properties: given,
		Controllers: []plain.Controller{{
			Name: "c", Requests: []core.Request{"r"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result { return reconcile(w) },
		}},
	}
}

func x() plain.Var[int] { return plain.NewVar[int]("x") }

// set sets x, once or for ever.
func set(value func(int) int, again bool) func(*plain.World) core.Result {
	return func(w *plain.World) core.Result {
		x().Set(w, value(x().Get(w)))
		return core.Result{Requeue: again}
	}
}

func next(n int) int  { return n + 1 }
func other(n int) int { return 1 - n }
func five(int) int    { return 5 }

func run(t *testing.T, model plain.Model, options orrery.Options) *orrery.Result {
	t.Helper()
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(context.Background(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func never(value int) core.Property {
	return properties.Always("never that", func(s core.State) bool { return x().Get(s) != value })
}

// TestVerdicts checks that a verdict is never better than what was searched and judged.
func TestVerdicts(t *testing.T) {
	runs := 0
	failing := core.Property{Name: "failing", Judge: func(context.Context, core.Graph) ([]core.Violation, error) { return nil, errors.New("no idea") }}
	panicking := core.Property{Name: "panicking", Judge: func(context.Context, core.Graph) ([]core.Violation, error) { panic("oh") }}
	unreal := core.Property{Name: "unreal", Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
		edge := g.Edges(0)[0]
		edge.To = 0
		return []core.Violation{{Stem: core.Run{edge}}, {State: 0}, {Stem: core.Run{edge}}}, nil
	}}
	// Only running the request once more shows what is wrong.
	onSecond := func(f func(*plain.World)) func(*plain.World) core.Result {
		return func(w *plain.World) core.Result {
			if x().Get(w) == 5 {
				f(w)
			}
			x().Set(w, 5)
			return core.Result{}
		}
	}
	// panicsFor returns a model whose controller panics when it gets a request that nobody queues.
	panicsFor := func(request core.Request, given ...core.Property) plain.Model {
		model := one(nil, given...)
		model.Controllers[0].Reconcile = func(_ *plain.World, r core.Request) core.Result {
			if r == request {
				panic("boom")
			}
			return core.Result{}
		}
		return model
	}
	for _, test := range []struct {
		name    string
		model   plain.Model
		options orrery.Options
		verdict core.Verdict
		reason  string // in the reasons; without one there are none
		// judged are verdicts on properties.
		judged map[string]core.Verdict
	}{
		{
			"settles", one(set(five, false), append(properties.Convergent(), never(4))...), orrery.Options{},
			core.Holds, "", map[string]core.Verdict{"same outcome": core.Holds, "never that": core.Holds, "no panic": core.Holds},
		},
		{
			"livelock", one(set(other, true), properties.StableConvergence(), never(4)), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"stable convergence": core.Violated, "never that": core.Holds},
		},
		{
			"cut by states", one(set(next, true), properties.StableConvergence(), never(4)), orrery.Options{MaxStates: 3},
			core.Inconclusive, "limit of", map[string]core.Verdict{"stable convergence": core.Inconclusive, "never that": core.Inconclusive},
		},
		{
			"cut by depth", one(set(next, true), never(4)), orrery.Options{MaxDepth: 3, Search: orrery.DepthFirst},
			core.Inconclusive, "depth limit", nil,
		},
		{
			"cut by time", one(set(next, true), never(-1)), orrery.Options{MaxTime: 20 * time.Millisecond},
			core.Inconclusive, "time limit", map[string]core.Verdict{"never that": core.Inconclusive},
		},
		{
			"cut, but violated before", one(set(next, true), properties.StableConvergence(), never(2)), orrery.Options{MaxStates: 5},
			core.Violated, "limit of", map[string]core.Verdict{"never that": core.Violated, "stable convergence": core.Inconclusive},
		},
		{
			"not judged", one(set(five, false), failing), orrery.Options{},
			core.Inconclusive, "no idea", map[string]core.Verdict{"failing": core.Inconclusive, "no panic": core.Inconclusive},
		},
		{
			"judged with a panic", one(set(five, false), panicking), orrery.Options{},
			core.Inconclusive, "it panicked: oh", map[string]core.Verdict{"panicking": core.Inconclusive},
		},
		{
			"a violation that cannot be repeated beside one that can", one(set(five, false), unreal), orrery.Options{},
			core.Violated, "could not be reproduced", map[string]core.Verdict{"unreal": core.Violated},
		},
		{
			"panics", one(func(*plain.World) core.Result { panic("boom") }), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"no panic": core.Violated},
		},
		{
			"calls without end", one(func(w *plain.World) core.Result {
				for {
					x().Get(w)
				}
			}, properties.StableConvergence()), orrery.Options{},
			core.Violated, "did not return", map[string]core.Verdict{"no runaway reconcile": core.Violated, "stable convergence": core.Inconclusive},
		},
		{
			"hidden memory", one(func(w *plain.World) core.Result {
				runs++
				x().Set(w, runs)
				return core.Result{}
			}, never(-1)), orrery.Options{MaxStates: 100},
			core.Inconclusive, "is not deterministic", map[string]core.Verdict{"deterministic reconciler": core.Violated, "never that": core.Inconclusive},
		},
		{
			"a panic that only a restart shows, judged before it is met",
			one(onSecond(func(*plain.World) { panic("boom") }), properties.NoPanic(), properties.Fixpoint()), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"no panic": core.Violated},
		},
		{
			"a panic that only the comparison of outcomes shows",
			one(onSecond(func(*plain.World) { panic("boom") })), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"no panic": core.Violated},
		},
		{
			"a panic that only another property shows",
			panicsFor("never queued", properties.NoPanic(), core.Property{
				Name: "curious",
				Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
					g.Try(g.Quiescent()[0], core.Item{Strategy: "c", Request: "never queued"})
					return nil, nil
				},
			}), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"no panic": core.Violated},
		},
		{
			"an unsupported call that only a restart makes",
			one(onSecond(func(w *plain.World) { plain.NewInbox[string]("nobody").Send(w, "m") }), properties.Fixpoint()), orrery.Options{},
			core.Inconclusive, "unsupported call", map[string]core.Verdict{"fixpoint": core.Inconclusive},
		},
		{
			"never settled by itself",
			one(onSecond(func(w *plain.World) { plain.NewVar[int]("y").Set(w, 1) }), properties.Fixpoint()), orrery.Options{},
			core.Violated, "", map[string]core.Verdict{"fixpoint": core.Violated},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, test.model, test.options).Report
			if report.Verdict != test.verdict {
				t.Errorf("the verdict is %s, want %s (%q)", report.Verdict, test.verdict, report.Reasons)
			}
			if (test.reason == "") != (len(report.Reasons) == 0) || !strings.Contains(strings.Join(report.Reasons, "\n"), test.reason) {
				t.Errorf("the reasons are %q, want %q", report.Reasons, test.reason)
			}
			for name, want := range test.judged {
				i := slices.IndexFunc(report.Properties, func(p core.PropertyReport) bool { return p.Name == name })
				if i < 0 || report.Properties[i].Verdict != want {
					t.Errorf("of %q it says %v, want %s", name, report.Properties, want)
				}
			}
			if (report.Verdict == core.Violated) != (len(report.Findings) > report.Warnings()) {
				t.Errorf("the verdict is %s with %d findings", report.Verdict, len(report.Findings))
			}
			for i, f := range report.Findings {
				if f.ID != i+1 || f.Controllers == nil || f.Fields == nil || f.Steps != len(f.Trace.Steps) {
					t.Errorf("finding %d is %+v", i+1, f)
				}
			}
		})
	}
}

// stuck is a strategy whose event handler never returns.
type stuck struct{}

func (stuck) Describe() core.Description {
	return core.Description{Name: "stuck", Watches: []core.Kind{""}}
}
func (stuck) New() (core.Instance, error)                             { return stuck{}, nil }
func (stuck) Handle(core.EffectRecorder, core.Event) []core.Request   { select {} }
func (stuck) Reconcile(core.EffectRecorder, core.Request) core.Result { return core.Result{} }

// TestStuckAtStart checks that a system that cannot even start is reported like any other.
func TestStuckAtStart(t *testing.T) {
	neverEnds(t)
	system, err := one(set(five, false)).System()
	if err != nil {
		t.Fatal(err)
	}
	system.Strategies = append(system.Strategies, stuck{})
	result, err := orrery.Run(context.Background(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	if r.Verdict != core.Violated || r.States != 0 || len(r.Findings) != 1 || r.Findings[0].Property != "no stuck reconcile" {
		t.Errorf("the report is %+v", r)
	}
}

func TestCancelled(t *testing.T) {
	system, err := one(set(next, true), properties.Convergent()...).System()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	result, err := orrery.Run(ctx, system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), "interrupted") {
		t.Errorf("the verdict is %s, for %q", r.Verdict, r.Reasons)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, test := range []struct {
		options orrery.Options
		want    string
	}{
		{orrery.Options{Search: "sideways"}, `use "bfs", "dfs", "random", "pct" or "swarm"`},
		{orrery.Options{Search: orrery.DepthFirst, Compact: true}, `use the search "bfs"`},
		{orrery.Options{Walks: -1}, "must not be negative"},
		{orrery.Options{Workers: -1}, "use at least 1"},
		{orrery.Options{MaxStates: -1}, "must not be negative"},
		{orrery.Options{MaxDepth: -1}, "must not be negative"},
		{orrery.Options{MaxTime: -1}, "must not be negative"},
		{orrery.Options{MaxMemory: -1}, "must not be negative"},
		{orrery.Options{StepDeadline: -1}, "must not be negative"},
		{orrery.Options{MaxCalls: -1}, "must not be negative"},
	} {
		system, err := one(set(five, false)).System()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := orrery.Run(context.Background(), system, test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got the error %v, want one with %q", test.options, err, test.want)
		}
	}
	if _, err := orrery.Run(context.Background(), nil, orrery.Options{}); err == nil {
		t.Error("nothing was checked")
	}
	if _, err := orrery.Run(context.Background(), &core.System{}, orrery.Options{}); err == nil {
		t.Error("an empty system was checked")
	}
}

// TestReportsAreEqual checks that nothing in a report depends on the number of workers or
// differs from run to run, and the verdict and the counts not on the order of search.
func TestReportsAreEqual(t *testing.T) {
	y := plain.NewVar[int]("y")
	model := one(set(other, true), append(properties.Convergent(), never(4), never2(y))...)
	model.Initial = append(model.Initial, plain.Start(x().Is(1)))
	for _, name := range []string{"p", "q", "s"} {
		v := plain.NewVar[int](name)
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
			now, _ := v.Lookup(w)
			w.Require(now < 5)
			v.Set(w, now+1)
			y.Set(w, now)
		}}}})
	}
	var first core.Report
	texts := map[orrery.Search]string{}
	for _, order := range []orrery.Search{orrery.BreadthFirst, orrery.DepthFirst} {
		for _, workers := range []int{1, 1, 2, 3} {
			report := run(t, model, orrery.Options{Search: order, Workers: workers}).Report
			report.Workers, report.Elapsed, report.ElapsedMS, report.StatesPerSecond, report.PeakRSSBytes = 0, 0, 0, 0, 0
			text, err := json.Marshal(struct {
				core.Report
				Traces   []core.Trace
				Outcomes []core.OutcomeReport
			}{report, traces(report), report.OutcomeList})
			if err != nil {
				t.Fatal(err)
			}
			if texts[order] == "" {
				texts[order] = string(text)
			}
			if string(text) != texts[order] {
				t.Errorf("%s with %d workers: the report is\n%s\nwant\n%s", order, workers, text, texts[order])
			}
			if first.Schema == "" {
				first = report
			}
			if report.Verdict != first.Verdict || report.States != first.States || report.Transitions != first.Transitions ||
				report.TerminalStates != first.TerminalStates || report.Outcomes != first.Outcomes || !slices.Equal(report.Properties, first.Properties) {
				t.Errorf("%s: the report is %+v, want %+v", order, report, first)
			}
		}
	}
	if first.Verdict != core.Violated || len(first.Findings) < 2 {
		t.Errorf("the report is %+v", first)
	}
}

func never2(y plain.Var[int]) core.Property {
	return properties.Always("y is never 3", func(s core.State) bool { now, _ := y.Lookup(s); return now != 3 })
}

func traces(r core.Report) []core.Trace {
	var all []core.Trace
	for _, f := range r.Findings {
		all = append(all, f.Trace)
	}
	return all
}

// TestConductOnly checks that a report says that nothing was asked of a system without properties, and of one with any
// it does not.
func TestConductOnly(t *testing.T) {
	for name, given := range map[string][]core.Property{"none": nil, "its own": {never(7)}, "known": properties.Convergent()} {
		report := run(t, one(set(five, false), given...), orrery.Options{}).Report
		if report.Verdict != core.Holds || report.ConductOnly != (name == "none") {
			t.Errorf("%s: %s, and only conduct is %t", name, report.Verdict, report.ConductOnly)
		}
	}
}
