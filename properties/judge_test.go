package properties_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestUnrest checks what is said about each way of never coming to rest, and that each is shown
// by a cycle.
func TestUnrest(t *testing.T) {
	x := plain.NewVar[int]("x")
	ball := plain.NewInbox[string]("ping")
	back := plain.NewInbox[string]("pong")
	controller := func(reconcile func(*plain.World) core.Result) plain.Model {
		return plain.Model{
			Initial: []core.Initial{plain.Start(x.Is(0))},
			Controllers: []plain.Controller{{
				Name: "c", Requests: []core.Request{"r"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result { return reconcile(w) },
			}},
		}
	}
	toggle := func(w *plain.World) { x.Set(w, 1-x.Get(w)) }
	for _, test := range []struct {
		name  string
		model plain.Model
		want  string // of the summary, empty if it holds
		cycle int
	}{
		{"comes to rest", controller(func(w *plain.World) core.Result { x.Set(w, 1); return core.Result{} }), "", 0},
		{"looks again now and then", controller(func(*plain.World) core.Result { return core.Result{RequeueAfter: time.Hour} }), "", 0},
		{
			"changes something now and then",
			controller(func(w *plain.World) core.Result { toggle(w); return core.Result{RequeueAfter: time.Hour} }),
			"c never stops changing", 4,
		},
		{"toggles", controller(func(w *plain.World) core.Result { toggle(w); return core.Result{Requeue: true} }), "c never stops changing x", 2},
		{
			"writes and takes it back",
			controller(func(w *plain.World) core.Result { toggle(w); toggle(w); return core.Result{Requeue: true} }),
			"c never stops changing", 1,
		},
		{"asks for more", controller(func(*plain.World) core.Result { return core.Result{Requeue: true} }), "c requeues r forever", 1},
		{"fails", controller(func(*plain.World) core.Result { return core.Result{Err: context.Canceled} }), "c retries r forever: context canceled", 1},
		{
			"passes messages",
			plain.Model{
				Initial: []core.Initial{plain.Start()},
				Processes: []plain.Process{
					{Name: "ping", Messages: []core.Request{"ball"}, Receive: ball.Receive(func(w *plain.World, m string) { back.Send(w, m) })},
					{Name: "pong", Receive: back.Receive(func(w *plain.World, m string) { ball.Send(w, m) })},
				},
			},
			"ping and pong can continue forever without changing anything", 2,
		},
		{
			"does nothing for ever",
			plain.Model{
				Initial:   []core.Initial{plain.Start(x.Is(0))},
				Processes: []plain.Process{{Name: "p", Actions: []plain.Action{action("look", func(w *plain.World) { x.Get(w) })}}},
			},
			"p can continue forever without changing anything", 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := explored(t, test.model)
			v := violated(t, g, properties.StableConvergence())
			if test.want == "" {
				if v != nil {
					t.Errorf("it is violated: %s", v.Summary)
				}
				return
			}
			if v == nil {
				t.Fatal("it holds")
			}
			if !strings.Contains(v.Summary, test.want) {
				t.Errorf("the summary is %q, want %q", v.Summary, test.want)
			}
			if len(v.Cycle) != test.cycle {
				t.Errorf("the cycle has %d steps, want %d: %v", len(v.Cycle), test.cycle, v.Cycle)
			}
			realRun(t, g, v.Cycle, v.State, v.State)
		})
	}
}

// TestLivelockBehindACut checks that a livelock is found although the state on the way to it is
// cut.
func TestLivelockBehindACut(t *testing.T) {
	g := &graph{initial: []core.StateID{0}, cut: []bool{true, false}}
	g.add(0, 1, "a")
	g.add(1, 1, "b").Wrote = true
	for _, p := range []core.Property{
		properties.StableConvergence(),
		properties.EventuallyAlways("at the start", predicate(1)),
	} {
		if v := violated(t, g, p); v == nil || len(v.Stem) != 1 || len(v.Cycle) != 1 {
			t.Errorf("%s: %+v", p.Name, v)
		}
	}
	g.cut[1] = true
	if v := violated(t, g, properties.StableConvergence()); v != nil {
		t.Errorf("a cut state is judged: %+v", v)
	}
}

func TestFixpoint(t *testing.T) {
	one, other := item("one"), item("other")
	changes := core.Effect{Wrote: true, Changes: []core.Change{{Key: core.Key{Kind: "K", Name: "k"}, Before: number(1), After: number(2)}}}
	for _, test := range []struct {
		name string
		graph
		want *core.Item
	}{
		{"nothing is known", graph{}, nil},
		{"a restart changes nothing", graph{relisted: map[core.StateID][]core.Item{1: {one}}}, nil},
		{
			"a restart changes something",
			graph{
				relisted: map[core.StateID][]core.Item{1: {one, other}},
				tried:    map[core.StateID]map[core.Item]core.Effect{1: {one: {}, other: changes}},
			},
			&other,
		},
		{
			"what was queued on the way changes something",
			graph{
				queued: map[core.StateID][]core.Item{0: {one}},
				tried:  map[core.StateID]map[core.Item]core.Effect{1: {one: changes}},
			},
			&one,
		},
		{
			"what was queued elsewhere does not count",
			graph{
				queued: map[core.StateID][]core.Item{2: {one}},
				tried:  map[core.StateID]map[core.Item]core.Effect{1: {one: changes}},
			},
			nil,
		},
		{
			"a write that is undone is none",
			graph{
				relisted: map[core.StateID][]core.Item{1: {one}},
				tried:    map[core.StateID]map[core.Item]core.Effect{1: {one: {Wrote: true}}},
			},
			nil,
		},
		{
			"a state that is not quiet",
			graph{
				relisted: map[core.StateID][]core.Item{0: {one}},
				tried:    map[core.StateID]map[core.Item]core.Effect{0: {one: changes}},
			},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := test.graph
			g.initial = []core.StateID{0, 2}
			g.add(0, 1, "one")
			g.add(2, 3, "other")
			v := violated(t, &g, properties.Fixpoint())
			if (v == nil) != (test.want == nil) {
				t.Fatalf("the violation is %+v", v)
			}
			if v != nil && (*v.Probe != (core.Step{Kind: core.Reconcile, Item: *test.want}) || v.State != 1 || len(v.Stem) != 1 || v.Controllers[0] != test.want.Strategy) {
				t.Errorf("the violation is %+v", v)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	made := core.Effect{Wrote: true, Changes: []core.Change{{Key: core.Key{Kind: "K", Name: "k"}, After: number(1)}}}
	g := &graph{
		initial:  []core.StateID{0},
		outcomes: map[core.StateID]string{1: "x", 2: "y", 3: "x", 4: "z"},
		relisted: map[core.StateID][]core.Item{4: {item("one")}},
		tried:    map[core.StateID]map[core.Item]core.Effect{4: {item("one"): made}},
	}
	for to := range core.StateID(4) {
		g.add(0, to+1, []string{"a", "b", "c", "d"}[to])
	}
	outcomes, err := properties.Outcomes(context.Background(), g)
	if err != nil || len(outcomes) != 2 || len(outcomes[0].States) != 2 || outcomes[1].States[0] != 2 {
		t.Fatalf("the outcomes are %+v, %v", outcomes, err)
	}
	v := violated(t, g, properties.SameOutcome())
	if v == nil || v.Other == nil || v.State != 1 || v.OtherState != 2 || !strings.Contains(v.Summary, "2 different outcomes") {
		t.Fatalf("the violation is %+v", v)
	}
	if len(v.Controllers) != 2 || v.Controllers[0] != "a" || v.Controllers[1] != "b" {
		t.Errorf("the controllers are %v", v.Controllers)
	}
	// A request that would change nothing that counts, such as the time, takes no outcome away.
	g.tried[4] = map[core.Item]core.Effect{item("one"): {Wrote: true, Alike: true, Changes: made.Changes}}
	if outcomes, err = properties.Outcomes(context.Background(), g); err != nil || len(outcomes) != 3 || outcomes[2].States[0] != 4 {
		t.Fatalf("the outcomes are %+v, %v", outcomes, err)
	}
	g.tried[4] = map[core.Item]core.Effect{item("one"): made}
	g.outcomes[2] = "x"
	if v := violated(t, g, properties.SameOutcome()); v != nil {
		t.Errorf("equal ends violate it: %+v", v)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := properties.Outcomes(ctx, g); err == nil {
		t.Error("the end of the context is not told")
	}
}

func TestOutcomesWhereSomebodyWaits(t *testing.T) {
	g := &graph{
		initial:  []core.StateID{0},
		outcomes: map[core.StateID]string{1: "x", 2: "y", 3: "z"},
		awaited:  map[core.StateID][]core.Item{2: {item("a")}},
	}
	g.add(0, 1, "a")
	g.add(0, 2, "b")
	if v := violated(t, g, properties.SameOutcome()); v != nil {
		t.Errorf("an end is compared with one at which somebody waits for a time that was not searched: %+v", v)
	}
	g.add(0, 3, "c")
	g.awaited[3] = g.awaited[2]
	if v := violated(t, g, properties.SameOutcome()); v == nil || v.State != 2 || v.OtherState != 3 {
		t.Errorf("ends at which the same waits are not compared: %+v", v)
	}
	g.awaited[2] = append(g.awaited[2], core.Item{Strategy: core.Background("p"), Request: "time"})
	g.awaited[3] = g.awaited[2]
	if v := violated(t, g, properties.SameOutcome()); v != nil {
		t.Errorf("ends are compared of which one may have come further: %+v", v)
	}
}

func TestNoDeadlock(t *testing.T) {
	g := &graph{initial: []core.StateID{0}, cut: []bool{false, false}}
	g.add(0, 1, "a")
	if v := violated(t, g, properties.NoDeadlock()); v == nil || v.State != 1 || len(v.Stem) != 1 {
		t.Errorf("the violation is %+v", v)
	}
	g.cut[1] = true
	if v := violated(t, g, properties.NoDeadlock()); v != nil {
		t.Errorf("a cut state is taken for a deadlock: %+v", v)
	}
	g.cut[1] = false
	for _, kind := range []core.StepKind{core.Restart, core.Intervene} {
		g.edges[1] = nil
		g.add(1, 1, "b").Step.Kind = kind
		if v := violated(t, g, properties.NoDeadlock()); v == nil || v.State != 1 {
			t.Errorf("a state in which only a user or a crash can do something is no deadlock: %+v", v)
		}
	}
	g.edges[1] = nil
	g.add(1, 1, "b").Step.Kind = core.Fire
	if v := violated(t, g, properties.NoDeadlock()); v != nil {
		t.Errorf("a state in which a timer fires is taken for a deadlock: %+v", v)
	}
}

func TestConduct(t *testing.T) {
	key := core.Key{Kind: "K", Name: "k"}
	step := func(name string) core.Step {
		return core.Step{Kind: core.Reconcile, Item: item(name), Detail: "call 1 fails"}
	}
	g := &graph{initial: []core.StateID{0}, incident: []core.Incident{
		{Kind: core.Panicked, Strategy: "c", State: 1, Step: step("c"), Message: "boom", Details: []string{"get"}},
		{Kind: core.Stuck, Strategy: "d", AtStart: true, Handling: &key, Message: "hangs"},
		{Kind: core.Runaway, Strategy: "e", State: 0, Step: step("e"), Message: "runs"},
		{Kind: core.Mutated, Strategy: "g", State: 0, Step: step("g"), Message: "changed"},
		{Kind: core.Nondeterministic, Strategy: "f", State: 0, Step: step("f"), Message: "differs"},
	}}
	g.add(0, 1, "a")
	for name, want := range map[string]string{
		"no panic":                 "c, reconciling r: boom",
		"no stuck reconcile":       "d, handling an event of K k: hangs",
		"no runaway reconcile":     "e, reconciling r: runs",
		"no cache mutation":        "g, reconciling r: changed",
		"deterministic reconciler": "f, reconciling r: differs",
	} {
		for _, p := range properties.Conduct() {
			if p.Name != name {
				continue
			}
			v := violated(t, g, p)
			if v == nil || v.Summary != want {
				t.Errorf("%s: %+v, want %q", name, v, want)
				continue
			}
			if atStart := name == "no stuck reconcile"; atStart != (v.Probe == nil) {
				t.Errorf("%s: the probe is %v", name, v.Probe)
			} else if !atStart && *v.Probe != step(v.Controllers[0]) {
				t.Errorf("%s: the probe is %v, want the step it happened in", name, v.Probe)
			}
			if name == "no panic" && len(v.Stem) != 1 {
				t.Errorf("the run to the panic is %v", v.Stem)
			}
		}
	}
	if len(g.incident[0].Details) != 1 {
		t.Error("judging changed the incident")
	}
}
