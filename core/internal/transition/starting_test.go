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

// lagging gives the first process of a machine a view of a kind that may lag behind. Nobody's event handlers get its
// changes.
func lagging(m *Machine, kind core.Kind) *view.View {
	p := m.Processes[0]
	v := view.New(m.Vocabulary, p.Name, kind, view.Lag(3))
	p.Views, p.Deliveries = append(p.Views, v), append(p.Deliveries, m.addAgent())
	m.Views[kind] = append(m.Views[kind], v)
	m.lags, m.Holds = true, true
	return v
}

// viewing returns a machine of a controller with views of some kinds, and of another controller without, and a walker
// in the state in which there is nothing.
func viewing(kinds ...core.Kind) (*Machine, *Walker, []*view.View) {
	m, _ := desk("web", "db")
	m.Views = map[core.Kind][]*view.View{}
	var views []*view.View
	for _, kind := range kinds {
		views = append(views, lagging(m, kind))
	}
	w := NewWalker(m, nil)
	w.fit()
	return m, w, views
}

// TestPositions has a restart put each view where it may be, in all combinations, the newest first.
func TestPositions(t *testing.T) {
	m, w, views := viewing("Pod", "Job")
	p, pods, jobs := m.Processes[0], views[0], views[1]
	wait := func(v *view.View, key core.Key, changes int) {
		c := m.Vocabulary.Object(key)
		w.fit()
		for i := range changes {
			change := view.Change{Cell: c, From: state.Value(i), To: m.Vocabulary.Intern(c, content(fmt.Sprint(i)))}
			w.Set(v.Cell(), v.Commit(w.Value(v.Cell()), change))
		}
	}
	wait(pods, core.Key{Kind: "Pod", Name: "a"}, 1)
	wait(jobs, core.Key{Kind: "Job", Name: "a"}, 2)
	if want, got := "[[0 0] [0 1] [0 2] [1 0] [1 1] [1 2]]", fmt.Sprint(w.positions(p)); got != want {
		t.Errorf("the positions are %s, want %s", got, want)
	}
	if !w.late(p) || w.late(m.Processes[1]) {
		t.Error("changes wait for another process")
	}
	if got := w.positions(m.Processes[1]); len(got) != 1 || got[0] != nil {
		t.Errorf("the positions of a process without views are %v", got)
	}
}

// TestHeld has the versions of an object be held that views show or wait for, that runs in flight were shown, and that
// are remembered: each once, but for that which is there, and nothing.
func TestHeld(t *testing.T) {
	m, w, views := viewing("Pod")
	v := views[0]
	c, other := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"}), m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "b"})
	for _, text := range []string{"1", "2", "3", "4", "5"} {
		m.Vocabulary.Intern(c, content(text))
		m.Vocabulary.Intern(other, content(text))
	}
	it := m.Item(m.Actors[0], "r")
	it.parked = append(it.parked, point{item: it, Node: &behavior.Node{}, held: []version{{c, 5}, {other, 4}}})
	m.Vocabulary.Park(it.Cell, "point")
	memory := m.Vocabulary.Note("memory")
	m.Vocabulary.Extend(memory, "one")
	m.parts = []*part{naming(memory, nil, []version{{c, 3}, {other, 5}})}
	w.fit()
	if got := w.held(c); len(got) > 0 {
		t.Errorf("at first %v are held", got)
	}
	backlog := v.Commit(0, view.Change{Cell: c, To: 1})
	w.Set(v.Cell(), v.Commit(backlog, view.Change{Cell: c, From: 1, To: 2}))
	w.Set(c, 2)
	if got := w.held(c); !slices.Equal(got, []state.Value{1}) {
		t.Errorf("for a view %v are held", got)
	}
	w.Set(it.Cell, state.Value(0).ParkedAt(1))
	w.Set(memory, 1)
	if got := w.held(c); !slices.Equal(got, []state.Value{1, 3, 5}) {
		t.Errorf("for all of them %v are held", got)
	}
	if got := w.Live.AppendHeld([]byte("x"), c); string(got) != "x\x01\x03\x05" {
		t.Errorf("these are held: %q", got)
	}
	w.Learn = learning(t, m)
	if got := (&tracker{client: w.Live}).Held(core.Key{Kind: "Pod", Name: "a"}); !slices.Equal(got, []core.Content{content("1"), content("3"), content("5")}) {
		t.Errorf("these are held: %v", got)
	}
	if !w.pinned(c) || !w.pinned(other) {
		t.Error("what a run was shown may be renamed")
	}
	w.Set(it.Cell, 0)
	if w.pinned(c) {
		t.Error("what is waited for or remembered is pinned")
	}
	if m.Holds = false; len(w.held(c)) > 0 {
		t.Error("where nobody holds anything, something is held")
	}
}

// refreshed counts what a listener is notified of.
type refreshed struct {
	Inattentive
	views []*view.View
}

func (r *refreshed) Refreshed(v *view.View, changes []view.Change) {
	if len(changes) == 0 {
		r.views = append(r.views, v)
	}
}

// TestRestart has a process lose its work, its timers, its runs and its memory, its views be put where it is said, and
// others go on.
func TestRestart(t *testing.T) {
	m, w, views := viewing("Pod")
	l, v := learning(t, m), views[0]
	w.Learn = l
	m.Crashes = m.counter("crashes", 2)
	web, db := m.Actors[0], m.Actors[1]
	d := web.domain
	cell := keep(m, d, "m")
	d.memories, d.held, d.known = append(d.memories, &behavior.Memory{Identity: "m"}), append(d.held, nil), append(d.known, nil)
	web.Initial = []core.Request{"first"}
	mine, flying, first, other := m.Item(web, "r"), m.Item(web, "s"), m.Item(web, "first"), m.Item(db, "r")
	node := &behavior.Node{}
	at := m.park(flying, node, nil, moment{})
	c := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
	one := m.Vocabulary.Intern(c, content("1"))
	w.fit()
	w.Set(mine.Cell, state.Queued|state.Timed)
	w.Set(other.Cell, state.Queued|state.Timed)
	w.Set(flying.Cell, state.Value(0).ParkedAt(at))
	w.Set(cell, 1)
	w.Set(c, one)
	w.Set(v.Cell(), v.Commit(0, view.Change{Cell: c, To: one}))
	w.Forget()
	before := slices.Clone(w.Vector)
	listener := &refreshed{}
	w.Listener = listener
	w.Learn = nil
	if err := w.restart(web.Process, []int{1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a walker that may not learn restarts what nobody knows: %v", err)
	}
	if w.undo(); !slices.Equal(w.Vector, before) {
		t.Error("it is not taken back")
	}
	w.Learn = l
	if err := w.restart(web.Process, []int{1}); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][2]state.Value{
		"what was queued": {w.Value(mine.Cell), 0}, "what was in flight": {w.Value(flying.Cell), 0}, "what is there at the start": {w.Value(first.Cell), state.Queued},
		"what somebody else does": {w.Value(other.Cell), state.Queued | state.Timed}, "what it remembers": {w.Value(cell), 0}, "crashes": {w.Value(m.Crashes), 1}, "the object": {w.Value(c), one},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d, want %d", name, got[0], got[1])
		}
	}
	if v.Waiting(w.Value(v.Cell())) != 1 || len(listener.views) != 1 || len(w.released) != 1 || w.released[0].Node != node {
		t.Errorf("the view waits for %d changes, %d views are refreshed, and %d runs lost", v.Waiting(w.Value(v.Cell())), len(listener.views), len(w.released))
	}
	w.undo()
	if err := w.restart(web.Process, []int{0}); err != nil || v.Waiting(w.Value(v.Cell())) != 0 {
		t.Errorf("at the newest position the view waits for %d changes, %v", v.Waiting(w.Value(v.Cell())), err)
	}
}

// TestStartUnderway has processes that are at work be where they were, and the others start.
func TestStartUnderway(t *testing.T) {
	m, w, views := viewing("Pod")
	l, v := learning(t, m), views[0]
	w.Learn = l
	web, db := m.Actors[0], m.Actors[1]
	web.Initial, db.Initial = []core.Request{"first"}, []core.Request{"first"}
	key, gone := core.Key{Kind: "Pod", Name: "a"}, core.Key{Kind: "Pod", Name: "gone"}
	objects := []core.Object{{Key: key, Content: content("2")}}
	item := func(request core.Request) core.Item { return core.Item{Strategy: "web", Request: request} }
	work := core.AtWork{Process: "web", Queued: []core.Item{item("q"), item("both")}, Timed: []core.Item{item("t"), item("both")}, Behind: []core.Missing{
		{Key: key, From: content("1"), To: content("2")}, {Key: gone, From: content("1")},
	}}
	marks := func() (all []string) {
		for _, it := range m.Items {
			if value := w.Value(it.Cell); value != 0 {
				all = append(all, fmt.Sprint(it, value))
			}
		}
		return all
	}
	if err := w.Start(core.Initial{Objects: objects}); err != nil || !slices.Equal(marks(), []string{"web(first) 1", "db(first) 1"}) {
		t.Errorf("where all start, this is to be done: %v, %v", marks(), err)
	}
	if err := w.Start(core.Initial{Objects: objects, Underway: &core.Underway{Processes: []core.AtWork{work}}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"web(both) 3", "web(q) 1", "web(t) 2", "db(first) 1"}; !slices.Equal(marks(), want) {
		t.Errorf("where one is at work, this is to be done: %v, want %v", marks(), want)
	}
	waiting := v.Backlog(w.Value(v.Cell())).Waiting
	var texts []string
	for _, change := range waiting {
		key, _ := m.Vocabulary.Key(change.Cell)
		texts = append(texts, fmt.Sprint(key, m.Vocabulary.Content(change.Cell, change.From), m.Vocabulary.Content(change.Cell, change.To)))
	}
	if !slices.Equal(texts, []string{"Pod a12", "Pod gone1<nil>"}) {
		t.Errorf("the view waits for %q", texts)
	}
	if c, _ := m.Vocabulary.Lookup(key); m.Vocabulary.Content(c, w.Value(c)) != content("2") || m.Vocabulary.Content(c, w.clients[web.Index].Value(c)) != content("1") {
		t.Error("what is there is not what it was, or its client shows something else than it has received")
	}
	unknown := work
	unknown.Queued = []core.Item{{Strategy: "nobody"}}
	if err := w.Start(core.Initial{Underway: &core.Underway{Processes: []core.AtWork{unknown}}}); err == nil {
		t.Error("somebody works who is not there")
	}
	// What it had in memory nobody knows, so it starts, and that is said.
	keep(m, web.domain)
	if err := w.Start(core.Initial{Objects: objects, Underway: &core.Underway{Processes: []core.AtWork{work}}}); err != nil || !slices.Equal(marks(), []string{"web(first) 1", "db(first) 1"}) || len(m.Doubts) != 1 {
		t.Errorf("where one has memory, this is to be done: %v, and it is said %q, %v", marks(), m.Doubts, err)
	}
}

// TestStartNamesVersions has the versions at the start be named together: the one that is there, and those that views
// show of it, also if it is gone by now. Where nothing is under way, those who start get the one that is there by its
// canonical name.
func TestStartNamesVersions(t *testing.T) {
	key := core.Key{Kind: "note", Name: "a"}
	at := func(objects []core.Object, behind ...core.Missing) core.Initial {
		return core.Initial{Objects: objects, Underway: &core.Underway{Processes: []core.AtWork{{Process: "c", Behind: behind}}}}
	}
	now := []core.Object{{Key: key, Content: content("x@5")}}
	for _, test := range []struct {
		name         string
		initial      core.Initial
		there, shown core.Content
	}{
		{"nothing is under way", core.Initial{Objects: now}, content("x@1"), content("x@1")},
		{"nothing waits", at(now), content("x@1"), content("x@1")},
		{"a change waits", at(now, core.Missing{Key: key, From: content("w@3"), To: content("x@5")}), content("x@2"), content("w@1")},
		{"that it is gone waits", at(nil, core.Missing{Key: key, From: content("w@3")}), nil, content("w@1")},
		{"that it was made waits", at(now, core.Missing{Key: key, To: content("x@5")}), content("x@1"), nil},
	} {
		var heard []core.Content
		c := sequential(controller("c", func() core.Instance {
			return hand{nil, func(_ world, e core.Event) []core.Request { heard = append(heard, e.New); return nil }}
		}))
		c.Watches, c.Initial = []core.Kind{"note"}, nil
		system := alone(c)
		system.Store, system.Initial[0] = editions{}, test.initial
		w := begin(t, system, Conditions{Staleness: []Staleness{{Rule: view.Lag(2)}}})
		cell := w.Machine.Vocabulary.Object(key)
		there, shown := w.Machine.Vocabulary.Content(cell, w.Value(cell)), w.Machine.Vocabulary.Content(cell, w.clients[0].Value(cell))
		if there != test.there || shown != test.shown {
			t.Errorf("%s: %v is there, and %v is shown", test.name, there, shown)
		}
		if starts := test.initial.Underway == nil; starts != (len(heard) > 0) || starts && heard[0] != test.shown {
			t.Errorf("%s: it gets %v", test.name, heard)
		}
	}
}

// TestStartFails has it be an error at the start what event handlers do that is not modelled, of those who start and of
// those who start again as nobody knows what they had in memory.
func TestStartFails(t *testing.T) {
	for name, initial := range map[string]core.Initial{"it starts": {}, "it was at work": {Underway: &core.Underway{Processes: []core.AtWork{{Process: "c"}}}}} {
		c := sequential(controller("c", func() core.Instance {
			return mind{hand{nil, func(w world, _ core.Event) []core.Request { w.ask(errand{verb: "watch", name: "a"}); return nil }}, func() map[string]string { return map[string]string{} }}
		}))
		c.Watches, c.Initial = []core.Kind{"note"}, nil
		system := alone(c, "a 1")
		initial.Objects = system.Initial[0].Objects
		system.Initial[0] = initial
		_, err := roam(t.Context(), system, Conditions{Remembering: []string{"c"}})
		var unsupported *core.Unsupported
		if !errors.As(err, &unsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStartBehindUnwatched has a process have a view of what it was behind in, also if it does not watch it.
func TestStartBehindUnwatched(t *testing.T) {
	key := core.Key{Kind: "note", Name: "a"}
	system := alone(simple("c", func(w world, _ core.Request) core.Result { w.put("n", w.look("a")); return core.Result{} }), "a 2")
	system.Initial[0].Underway = &core.Underway{Processes: []core.AtWork{{Process: "c", Queued: []core.Item{{Strategy: "c", Request: "go"}}, Behind: []core.Missing{{Key: key, From: content("1"), To: content("2")}}}}}
	if f := explored(t, system, Conditions{}); !slices.Equal(f.rests, []string{"a 2, n 1", "a 2, n 2"}) {
		t.Errorf("it comes to %q", f.rests)
	}
}

// TestTies has a step be tied to the objects of which versions are held that it comes to show, lets go of, or brings to
// their canonical forms.
func TestTies(t *testing.T) {
	m, w, views := viewing("Pod")
	v := views[0]
	key := func(name string) core.Key { return core.Key{Kind: "Pod", Name: name} }
	var cells []state.Cell
	for _, name := range []string{"written", "waiting", "released", "remembered", "forgotten", "own"} {
		c := m.Vocabulary.Object(key(name))
		m.Vocabulary.Intern(c, content("1"))
		m.Vocabulary.Intern(c, content("2"))
		cells = append(cells, c)
	}
	written, waiting, released, remembered, forgotten, own := cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]
	it := m.Item(m.Actors[0], "r")
	it.parked = append(it.parked, point{item: it, held: []version{{own, 1}, {written, 1}}})
	m.Vocabulary.Park(it.Cell, "point")
	memory := m.Vocabulary.Note("memory")
	m.Vocabulary.Extend(memory, "one")
	m.Vocabulary.Extend(memory, "two")
	m.parts = []*part{naming(memory, nil, []version{{forgotten, 1}}, []version{{remembered, 1}, {remembered, 2}})}
	w.fit()
	w.Set(v.Cell(), v.Commit(0, view.Change{Cell: waiting, To: 1}))
	w.Set(memory, 1)
	w.Forget()
	w.Set(v.Cell(), 0)
	w.Set(written, 1)
	w.Set(memory, 2)
	w.Set(it.Cell, state.Queued)
	w.released = append(w.released, &point{held: []version{{released, 1}}})
	if got, want := w.concerned(), []state.Cell{written, waiting, released, forgotten}; !slices.Equal(got, want) {
		t.Errorf("the step may have changed what is seen of %v, want %v", got, want)
	}
	step := &Taken{Kind: core.Reconcile, Actor: m.Actors[0], Item: it}
	if got := w.Ties(step); !slices.Equal(got.Held, []state.Cell{released, remembered, forgotten}) || !slices.Equal(got.Normalized, []state.Cell{written, waiting, released, forgotten}) {
		t.Errorf("the ties are %+v", got)
	}
	w.Set(it.Cell, state.Value(0).ParkedAt(1))
	if got := w.Ties(step); !slices.Equal(got.Held, []state.Cell{written, released, remembered, forgotten, own}) || !slices.Equal(got.Normalized, []state.Cell{waiting, released, forgotten}) {
		t.Errorf("in flight the ties are %+v", got)
	}
	if got := w.Ties(&Taken{Kind: core.Deliver, Actor: m.Actors[0], View: v}); !slices.Equal(got.Held, []state.Cell{released, remembered, forgotten}) {
		t.Errorf("those of a delivery are %+v", got)
	}
	w.Forget()
	w.Set(waiting, 1)
	if got := w.Ties(&Taken{Kind: core.Deliver, Actor: m.Actors[0], View: v}); len(got.Held) > 0 {
		t.Errorf("a step that leaves memory as it is has the ties %+v", got)
	}
	if m.Holds = false; len(w.Ties(step).Held) > 0 || len(w.Ties(step).Normalized) > 0 {
		t.Error("where nobody holds anything there are ties")
	}
	node := &behavior.Node{}
	w.released = []*point{{Node: node}}
	for kind, want := range map[core.StepKind]Stage{core.Begin: {Begun: it}, core.Ask: {Node: node}, core.Return: {Node: node}} {
		if got, is := w.Stage(&Taken{Kind: kind, Item: it, node: node}); !is || got != want {
			t.Errorf("the stage of a step %s is %+v, %t", kind.Name(), got, is)
		}
	}
	for _, kind := range []core.StepKind{core.Reconcile, core.Deliver, core.Restart, core.Fire} {
		if _, is := w.Stage(&Taken{Kind: kind, Item: it}); is {
			t.Errorf("a step %s is a stage", kind.Name())
		}
	}
}

// naming is a memory in a cell, of which each value names versions.
func naming(cell state.Cell, held ...[]version) *part {
	return &part{cell: cell, domain: &domain{memory: memory{held: held, known: held}}}
}
