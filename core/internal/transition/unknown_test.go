package transition

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// flying is a machine of one controller whose run is parked at a point, with a walker that may not learn in the state
// in which it is.
func flying(at point) (*Machine, *Walker, *Item) {
	m, w := desk("web")
	it := m.Item(m.Actors[0], "r")
	at.item = it
	it.parked = append(it.parked, at)
	m.Vocabulary.Park(it.Cell, "point")
	w.fit()
	w.Set(it.Cell, state.Value(0).ParkedAt(1))
	w.Forget()
	return m, w, it
}

// TestUnknownNames has a step that is known be left to who learns if it is not known how the versions of objects are to
// be named behind it, and be taken where it is.
func TestUnknownNames(t *testing.T) {
	call, done := query{"get a", ""}, &behavior.Leaf{}
	node := &behavior.Node{Call: call, Faults: []behavior.Fault{{Name: "refused"}}}
	edge := node.Respond(reply("refused"))
	edge.To.Leaf = done
	node.Faults[0].Edge = edge
	for _, test := range []struct {
		name string
		at   point
		take func(w *Walker, it *Item) error
	}{
		{"a call fails", point{Node: node}, func(w *Walker, it *Item) error {
			return w.ask(it, plan{faults: []injectedFault{{call: 0, fault: 0, node: node}}})
		}},
		{"a run ends", point{Node: &behavior.Node{Leaf: done}}, func(w *Walker, it *Item) error { _, err := w.land(it); return err }},
		{"a run is blocked", point{Node: &behavior.Node{Leaf: &behavior.Leaf{Result: core.Result{Blocked: true}}}}, func(w *Walker, it *Item) error { _, err := w.land(it); return err }},
		{"a whole run", point{Node: node}, func(w *Walker, it *Item) error { _, err := w.reconcile(it, plan{}); return err }},
		{"an action", point{Node: node}, func(w *Walker, it *Item) error {
			w.Machine.Histories = []history{{next: map[*Item]state.Value{it: 0}}}
			_, err := w.act(it, plan{})
			return err
		}},
		{"a restart", point{Node: node}, func(w *Walker, it *Item) error { return w.restart(it.Actor.Process, nil) }},
		{"a delivery", point{Node: node}, func(w *Walker, it *Item) error {
			v := w.Machine.Processes[0].Views[0]
			return w.take(&Taken{Kind: core.Deliver, Actor: it.Actor, View: v})
		}},
	} {
		m, w, it := flying(test.at)
		m.parkBlocked(it)
		m.Crashes, m.History = m.counter("crashes", 1), m.Vocabulary.Note("history")
		it.roots[0].Leaf = done
		it.at = map[*behavior.Node]int{edge.To: 1}
		c := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
		value := m.Vocabulary.Intern(c, content("x"))
		m.Holds = true
		if test.name == "a delivery" {
			m.Views = map[core.Kind][]*view.View{}
			v := lagging(m, "Job")
			other := m.Vocabulary.Object(core.Key{Kind: "Job", Name: "a"})
			m.deliver(other, transition{to: 0})
			w.fit()
			w.Set(v.Cell(), v.Commit(0, view.Change{Cell: other}))
			v.Deliver(w.Value(v.Cell()))
		}
		w.fit()
		w.Forget()
		before := slices.Clone(w.Vector)
		w.Set(c, value)
		if err := test.take(w, it); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", test.name, err)
		}
		if w.undo(); !slices.Equal(w.Vector, before) {
			t.Errorf("%s: it is not taken back", test.name)
		}
		m.Vocabulary.Normalize(c, []state.Value{value}, nil)
		w.Set(c, value)
		if err := test.take(w, it); err != nil {
			t.Errorf("%s, and it is known: %v", test.name, err)
		}
		if released := test.name != "a whole run" && test.name != "an action" && test.name != "a delivery"; released != (len(w.released) == 1) {
			t.Errorf("%s, and %d points are left", test.name, len(w.released))
		}
		if w.undo(); test.name == "a call fails" {
			it.at = nil
			if err := test.take(w, it); !errors.Is(err, ErrUnknown) {
				t.Errorf("where it leads is no point that is known: %v", err)
			}
		}
	}
}

// TestUnknownEnds has a walker that may not learn leave to who does what becomes of a run that was never blocked
// before, whether one that was blocked can begin again, who gets a change, and what users have done by then. It is
// where it was.
func TestUnknownEnds(t *testing.T) {
	blocked := &behavior.Node{Leaf: &behavior.Leaf{Result: core.Result{Blocked: true}}}
	m, w, it := flying(point{Node: blocked})
	if leaf, err := w.land(it); leaf != nil || !errors.Is(err, ErrUnknown) {
		t.Errorf("a run is blocked for the first time: %v, %v", leaf, err)
	}
	w.undo()
	w.Learn = learning(t, m)
	if leaf, err := w.land(it); leaf != blocked.Leaf || err != nil || !w.Flight(it).Blocked {
		t.Errorf("a run is blocked: %v, %v", leaf, err)
	}
	w.Forget()
	// Nothing is known of how it begins by now.
	w.Learn, m.Conditions = nil, Conditions{Granularity: PerCall, Deadlines: 1}
	m.Clock = m.counter("clock", 1)
	w.fit()
	w.Set(m.Clock, 1)
	w.mark(it.Cell, state.Queued)
	w.Forget()
	before := slices.Clone(w.Vector)
	if _, err := w.reconcile(it, plan{}); !errors.Is(err, ErrUnknown) || !slices.Equal(w.Vector, before) || len(w.Touched) > 0 {
		t.Errorf("a run of which nothing is known: %v, and %v is touched", err, w.Touched)
	}
	var seen looking
	quiescent, err := w.Steps(&seen, nil)
	if want := []string{core.Step{Kind: core.Begin, Item: it.Item}.String() + ": " + ErrUnknown.Error()}; quiescent || err != nil || !slices.Equal(seen.stopped, want) || !slices.Equal(w.Vector, before) {
		t.Errorf("it stops at %q, %v, quiescent: %t", seen.stopped, err, quiescent)
	}
	it.Actor.Workers = 2
	if may, err := w.MayBegin(it); may || !errors.Is(err, ErrUnknown) {
		t.Errorf("it may begin again: %t, %v", may, err)
	}
	w.Set(it.Cell, state.Value(0).ParkedAt(1)|state.Queued)
	if may, err := w.MayBegin(it); may || err != nil {
		t.Errorf("what is in flight may begin: %t, %v", may, err)
	}
	w.nested = maxNested
	if err := w.handle(delivery{{actor: it.Actor, roots: it.roots}}, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("handlers that set each other off: %v", err)
	}
	w.nested = 0
	c := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
	if err := w.publish(m.Actors[0], c, transition{to: 1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a change of which nobody knows who is told: %v", err)
	}
}

// TestUnknownHistory has a walker that may not learn leave an action of a user to who does, if it is not known what
// users have done by then.
func TestUnknownHistory(t *testing.T) {
	w := begin(t, users()[0].system(), Conditions{})
	m := w.Machine
	row := w.AppendRow(nil)
	if _, err := w.Steps(&looking{}, nil); err != nil { // which learns each action as the first one
		t.Fatal(err)
	}
	w.Load(row)
	if _, err := w.Choose(core.Step{Kind: core.Intervene, Item: core.Item{Strategy: m.Actors[0].Name, Request: "b"}}); err != nil {
		t.Fatal(err)
	}
	reader := NewWalker(m, nil)
	reader.Load(w.AppendRow(nil))
	var seen looking
	if _, err := reader.Steps(&seen, nil); err != nil || !slices.ContainsFunc(seen.stopped, func(text string) bool {
		return text == fmt.Sprintf("%s: %s", core.Step{Kind: core.Intervene, Item: core.Item{Strategy: m.Actors[0].Name, Request: "d"}}, ErrUnknown)
	}) {
		t.Errorf("behind another one, it stops at %q, %v", seen.stopped, err)
	}
}
