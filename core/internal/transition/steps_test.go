package transition

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// TestTaken has steps be named, be counted as due or faulty, and belong to agents, by what they are.
func TestTaken(t *testing.T) {
	m, _ := desk("web", "db")
	web := m.Actors[0]
	pods := view.New(m.Vocabulary, "web", "Pod", view.Lag(3))
	jobs := view.New(m.Vocabulary, "web", "Job", view.Lag(3))
	web.Process.Views, web.Process.Deliveries = []*view.View{pods, jobs}, []int{m.addAgent(), m.addAgent()}
	web.Process.Restarts = m.addAgent()
	it := m.Item(web, "r")
	node := &behavior.Node{Call: query{"get a", ""}, Faults: []behavior.Fault{{Name: "timeout"}}}
	other := &behavior.Node{Call: query{"get b", ""}}
	both := turns("get c", "get d")
	fails, crashes := injectedFault{call: 0, fault: 0, node: node}, injectedFault{call: 1, fault: crash, node: other, after: node}
	item := core.Item{Strategy: "web", Request: "r"}
	for _, test := range []struct {
		name                string
		step                Taken
		want                core.Step
		agent               int
		due, faulty, breaks bool
	}{
		{"reconcile", Taken{Kind: core.Reconcile, Actor: web, Item: it}, core.Step{Item: item}, it.Agent, true, false, false},
		{"a call fails", Taken{Kind: core.Reconcile, Actor: web, Item: it, plan: plan{faults: []injectedFault{fails}}},
			core.Step{Item: item, Detail: `call 1, "get a", fails: timeout`}, it.Agent, false, true, false},
		{"it crashes after that", Taken{Kind: core.Reconcile, Actor: web, Item: it, plan: plan{faults: []injectedFault{fails, crashes}}, positions: []int{2, 1}},
			core.Step{Item: item, Detail: `call 1, "get a", fails: timeout, and it crashes after "get a" and before call 2, "get b", and starts again, ` +
				"and its view of Pod is 2 changes behind, and its view of Job is 1 change behind"}, it.Agent, false, true, true},
		{"another order", Taken{Kind: core.Ask, Actor: web, Item: it, plan: plan{turns: []pick{{2, both[1]}, {3, both[1]}}}},
			core.Step{Kind: core.Ask, Item: item, Order: `call 3 is "get d", the second of 2 that wait at the same time, and call 4 is "get d", the second of 2 that wait at the same time`}, it.Agent, true, false, false},
		{"deliver", Taken{Kind: core.Deliver, Actor: web, View: jobs}, core.Step{Kind: core.Deliver, Item: core.Item{Strategy: "web", Request: "Job"}}, web.Process.Deliveries[1], true, false, false},
		{"restart", Taken{Kind: core.Restart, Actor: web, positions: []int{0, 1}, lost: []*point{{item: it}, {item: it, Node: other, Path: pathOf(node.Call)}, {item: it, Node: &behavior.Node{}, Path: pathOf(node.Call)}}},
			core.Step{Kind: core.Restart, Item: core.Item{Strategy: "web"}, Detail: `what it did for r ends after "get a" and before call 2, "get b", and what it did for r ends after "get a", and its view of Job is 1 change behind`},
			web.Process.Restarts, false, false, false},
		{"fire", Taken{Kind: core.Fire, Actor: web, Item: it}, core.Step{Kind: core.Fire, Item: item}, it.Agent, false, false, false},
		{"a user", Taken{Kind: core.Intervene, Actor: web, Item: it}, core.Step{Kind: core.Intervene, Item: item}, it.Agent, false, false, false},
		{"time", Taken{Kind: core.Pass, Actor: web, span: behavior.Epoch}, core.Step{Kind: core.Pass, Item: core.Everything()}, web.Process.Restarts, false, false, false},
		{"a shorter time", Taken{Kind: core.Pass, Actor: web, span: calendar.Spans()[1]}, core.Step{Kind: core.Pass, Item: core.Item{Strategy: "time", Request: "an hour"}}, web.Process.Restarts, false, false, false},
	} {
		s := &test.step
		if got := s.Step(); got != test.want {
			t.Errorf("%s is %+v, want %+v", test.name, got, test.want)
		}
		if s.Agent() != test.agent || s.due() != test.due || s.Faulty() != test.faulty || s.Crashes() != test.breaks {
			t.Errorf("%s: agent %d, due %t, faulty %t, crashes %t", test.name, s.Agent(), s.due(), s.Faulty(), s.Crashes())
		}
	}
}

// TestSignatures has a signature say all there is to say of a step, unless something is chosen in it, goes wrong, or is
// lost.
func TestSignatures(t *testing.T) {
	w := &Walker{}
	for turns := range 3 {
		for faults := range 3 {
			for positions := range 3 {
				for lost := range 3 {
					s := &Taken{plan: plan{turns: make([]pick, turns), faults: make([]injectedFault, faults)}, positions: make([]int, positions), lost: make([]*point, lost)}
					if _, plain := w.Signature(s); plain != (turns == 0 && faults == 0 && positions == 0 && lost == 0) {
						t.Errorf("with %d turns, %d faults, %d positions and %d lost runs there is no more to say: %t", turns, faults, positions, lost, plain)
					}
				}
			}
		}
	}
}

// TestEndings has a step be shown once of the orders of concurrent calls that lead to the same.
func TestEndings(t *testing.T) {
	m := noted(2, 3)
	w := NewWalker(m, nil)
	w.Load(nil)
	turned := plan{turns: []pick{{0, turns("a", "b")[1]}}}
	again := func(p plan, value state.Value, wrote bool, leaf *behavior.Leaf) bool {
		w.undo()
		w.Set(1, value)
		w.Wrote = wrote
		return w.again(&Taken{plan: p, Leaf: leaf})
	}
	done, asks := &behavior.Leaf{}, &behavior.Leaf{Result: core.Result{Requeue: true}}
	failed := &behavior.Leaf{Result: core.Result{Err: errors.New("conflict")}}
	for range 2 {
		if again(plan{}, 1, true, done) {
			t.Error("a step that comes in one order only is not shown")
		}
	}
	for _, test := range []struct {
		name  string
		p     plan
		value state.Value
		wrote bool
		leaf  *behavior.Leaf
		want  bool
	}{
		{"the first", turned, 1, true, done, false},
		{"the same", turned, 1, true, done, true},
		{"somewhere else", turned, 2, true, done, false},
		{"nothing written", turned, 1, false, done, false},
		{"once more", turned, 1, true, asks, false},
		{"an error", turned, 1, true, failed, false},
		{"the same error", turned, 1, true, failed, true},
		{"a fault", plan{turns: turned.turns, faults: []injectedFault{{}}}, 1, true, done, false},
		{"not at its end", turned, 1, true, nil, false},
		{"the same once more", turned, 1, true, asks, true},
	} {
		if got := again(test.p, test.value, test.wrote, test.leaf); got != test.want {
			t.Errorf("%s: it was shown before: %t", test.name, got)
		}
	}
	w.Reversed = []reversed{{}}
	if !again(plan{}, 1, true, done) {
		t.Error("the first of several orders is shown again")
	}
	for leaf, want := range map[*behavior.Leaf]string{done: "", failed: "conflict", {Failure: behavior.Deadlock, Message: "it waits"}: "it waits", {Failure: behavior.Panicked, Message: "nil"}: "panics: nil"} {
		if got := errorOf(leaf); got != want {
			t.Errorf("%+v ends with the error %q, want %q", leaf, got, want)
		}
	}
}

// TestFollows has all agents be followed, or some only: one that comes in the midst of that is left out.
func TestFollows(t *testing.T) {
	w := &Walker{}
	if w.AddAgent(); !w.follows(0) || !w.follows(7) {
		t.Error("an agent is not followed where all are")
	}
	w.visit.only = []bool{false, true}
	if w.AddAgent(); w.follows(0) || !w.follows(1) || w.follows(2) {
		t.Errorf("these are followed: %v", w.visit.only)
	}
	if w.EndVisit(); !w.follows(0) || w.Current().Actor != nil {
		t.Error("a visit that has ended goes on")
	}
}

// showing is a store in which records have no outcome.
type showing struct{ core.Store }

func (showing) Outcome(key core.Key, c core.Content) any {
	if key.Kind == "record" {
		return nil
	}
	return c.Fields()
}

// TestEffect has the changes of a step be those of the objects that people want to see, in their order, from what was
// there at first.
func TestEffect(t *testing.T) {
	m, w := desk("web")
	m.System.Store = showing{}
	put := func(kind core.Kind, name string) (state.Cell, func(text string) state.Value) {
		c := m.Vocabulary.Object(core.Key{Kind: kind, Name: name})
		return c, func(text string) state.Value { return m.Vocabulary.Intern(c, content(text)) }
	}
	b, inB := put("thing", "b")
	a, inA := put("thing", "a")
	gone, inGone := put("thing", "gone")
	undone, inUndone := put("thing", "undone")
	record, inRecord := put("record", "r")
	it := m.Item(m.Actors[0], "r")
	w.fit()
	w.Set(b, inB("1"))
	w.Set(gone, inGone("1"))
	w.Set(undone, inUndone("1"))
	w.Forget()
	w.Set(b, inB("2"))
	w.Set(it.Cell, state.Queued)
	w.Set(a, inA("1"))
	w.Set(b, inB("3"))
	w.Set(gone, 0)
	w.Set(record, inRecord("1"))
	w.Set(undone, inUndone("2"))
	w.Set(undone, inUndone("1"))
	w.Wrote = true
	key := func(name string) core.Key { return core.Key{Kind: "thing", Name: name} }
	want := []core.Change{{Key: key("a"), After: content("1")}, {Key: key("b"), Before: content("1"), After: content("3")}, {Key: key("gone"), Before: content("1")}}
	if got := w.Changes(); !slices.Equal(got, want) {
		t.Errorf("these change: %+v, want %+v", got, want)
	}
	step := &Taken{Kind: core.Reconcile, Actor: m.Actors[0], Item: it, Late: true, Leaf: &behavior.Leaf{Result: core.Result{Err: errors.New("conflict"), Requeue: true}}, plan: plan{turns: []pick{{0, turns("a", "b")[1]}}}}
	if e := w.Effect(step); !slices.Equal(e.Changes, want) || !e.Wrote || e.Failed != "conflict" || e.Order != step.Step().Order || e.Order == "" {
		t.Errorf("the effect is %+v", e)
	}
	if e, want := w.Edge(3, step), (core.Edge{From: 3, Step: step.Step(), Wrote: true, Late: true, Failed: "conflict", Requeued: true}); e != want {
		t.Errorf("the step is %+v, want %+v", e, want)
	}
	step.Leaf = nil
	if e := w.Edge(3, step); e.Failed != "" || e.Requeued || w.Effect(step).Failed != "" {
		t.Errorf("a step without an end is %+v", e)
	}
	signature, plain := w.Signature(step)
	if again, _ := w.Signature(&Taken{Kind: core.Reconcile, Actor: m.Actors[0], Item: it, Late: true}); plain || again != signature {
		t.Errorf("%+v stands for the step, and all there is to say: %t", signature, plain)
	}
	for name, other := range map[string]Taken{
		"another kind": {Kind: core.Act, Actor: m.Actors[0], Item: it, Late: true}, "another item": {Actor: m.Actors[0], Item: m.Item(m.Actors[0], "s"), Late: true},
		"not late": {Actor: m.Actors[0], Item: it}, "an end": {Actor: m.Actors[0], Item: it, Late: true, Leaf: &behavior.Leaf{}},
	} {
		if got, plain := w.Signature(&other); got == signature || !plain {
			t.Errorf("%s: it has the same signature, or there is more to say", name)
		}
	}
	w.Wrote = false
	if again, _ := w.Signature(step); again == signature {
		t.Error("a step that writes nothing has the same signature")
	}
	for name, more := range map[string]Taken{"a fault": {plan: plan{faults: []injectedFault{{}}}}, "a view that is behind": {positions: []int{1}}, "a run that is lost": {lost: []*point{{}}}} {
		if _, plain := w.Signature(&more); plain {
			t.Errorf("%s: there is no more to say", name)
		}
	}
}

// TestWhatEndsSteps tells how steps end from what goes wrong with whoever takes them.
func TestWhatEndsSteps(t *testing.T) {
	other := core.Step{Item: core.Item{Strategy: "other"}}
	for _, test := range []struct {
		name    string
		err     error
		ends    bool
		reports bool // although it is of another step than the one that is wanted
	}{
		{"nothing", nil, false, false},
		{"it is stopped", fmt.Errorf("in a step: %w", ErrStopped), true, false},
		{"it is not modelled", fmt.Errorf("in a step: %w", &core.Unsupported{Call: "break"}), true, false},
		{"it is not known", ErrUnknown, false, false},
		{"memory", &unexpectedMemory{Memory: "a"}, false, true},
		{"another one", errors.New("it fails"), false, false},
	} {
		if got := Ends(test.err); got != test.ends {
			t.Errorf("%s: it ends a step: %t", test.name, got)
		}
		if test.err == nil {
			continue
		}
		m, _ := desk("web")
		c, taken := &chooser{want: other}, &Taken{Kind: core.Reconcile, Actor: m.Actors[0], Item: m.Item(m.Actors[0], "r")}
		if err := c.Stopped(taken, test.err); (err != nil) != test.reports || test.reports && !errors.Is(err, test.err) || c.err != nil {
			t.Errorf("%s: of another step, %v and %v are reported", test.name, err, c.err)
		}
		c.want = taken.Step()
		if err := c.Stopped(taken, test.err); !errors.Is(err, errChosen) || !errors.Is(c.err, test.err) {
			t.Errorf("%s: of the step, %v and %v are reported", test.name, err, c.err)
		}
	}
}

// TestOtherStepsTeach takes a step of a state in which another one, of code of which nothing is known, comes first:
// what is met there has whoever takes the step begin again.
func TestOtherStepsTeach(t *testing.T) {
	keeps := controller("keeps", func() core.Instance {
		kept := map[string]string{}
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			kept["ran"] = "once"
			return core.Result{}
		}}, func() map[string]string { return maps.Clone(kept) }}
	})
	system := lab([]core.Strategy{keeps, simple("puts", func(w world, _ core.Request) core.Result {
		w.put("a", "1")
		return core.Result{}
	})})
	l, err := NewLearner(t.Context(), system, Conditions{}, behavior.Limits{Deadline: 10 * time.Second, Calls: 50}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Following, l.Seen = true, map[Wrong]bool{}
	w := NewWalker(l.Machine, l)
	if err := w.Start(system.Initial[0]); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	var memory *unexpectedMemory
	if chosen, err := w.Choose(core.Step{Item: core.Item{Strategy: "puts", Request: "go"}}); !errors.As(err, &memory) || chosen != nil {
		t.Errorf("the step is chosen: %v, %v", chosen, err)
	}
}

// TestRetake takes each step of a few systems again as it was taken among all of them, whoever it is of.
func TestRetake(t *testing.T) {
	kinds := map[core.StepKind]bool{}
	background := controller("c", handing)
	background.Active = true
	for name, system := range map[string]*core.System{
		"memory": alone(sequential(controller("c", countingUp(true)))), "timers": alone(controller("c", since), "since 2000-01-01T00:00:00Z"), "background": alone(background),
	} {
		f := explored(t, system, Conditions{Crashes: 1, Deadlines: 1})
		w := NewWalker(f.learner.Machine, f.learner)
		for _, row := range f.rows {
			w.Load(row)
			var all []core.Step
			if _, err := w.Steps(&func1{func(step *Taken) error { all = append(all, step.Step()); return nil }}, nil); err != nil {
				t.Fatal(err)
			}
			for _, step := range all {
				kinds[step.Kind] = true
				w.Load(row)
				chosen, err := w.Choose(step)
				if err != nil || chosen == nil {
					t.Fatalf("%s: %s: %v", name, step, err)
				}
				want := w.AppendRow(nil)
				w.Load(row)
				again, err := w.Retake(step)
				if err != nil || again == nil || again.Step() != step || again.Leaf != chosen.Leaf || !slices.Equal(w.AppendRow(nil), want) {
					t.Errorf("%s: %s is not the same again: %v, %v", name, step, again, err)
				}
			}
			w.Load(row)
			if taken, err := w.Retake(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "nobody asks for this"}}); taken != nil || err != nil {
				t.Errorf("%s: what is not possible is taken again: %v, %v", name, taken, err)
			}
		}
	}
	for _, kind := range []core.StepKind{core.Reconcile, core.Work, core.Restart, core.Pass} {
		if !kinds[kind] {
			t.Errorf("there was no step %s", kind.Name())
		}
	}
}
