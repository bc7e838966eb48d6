package reduction

import (
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// last projects contents to their last letters.
type last struct{}

func (last) Identity() string                   { return "last" }
func (last) Project(o core.Object) core.Content { return text(o.Content.Canonical()[1:]) }

// TestCoversOnlyWhatIsKnown notes a step that touches something of every kind, and then takes away one thing after the
// other of what is known: without it the step must not be covered, as others would be taken not to depend on it.
func TestCoversOnlyWhatIsKnown(t *testing.T) {
	type noted struct {
		f                 *footprints
		known             *footprint
		c                 state.Cell
		one, other, third *transition.Item
		// part is what the step alters, read the memory that it reads, and saw what it finds there.
		part, read, saw Place
	}
	for _, test := range []struct {
		name   string
		forget func(*noted)
		want   bool
	}{
		{"all is known", func(*noted) {}, true},
		{"the object", func(n *noted) { n.known.touched.Remove(n.c) }, false},
		{"the part of the object", func(n *noted) { delete(n.known.alters, n.part) }, false},
		{"the memory", func(n *noted) { delete(n.known.reads, n.read) }, false},
		{"what is in the memory", func(n *noted) { delete(n.f.agents[n.one.Agent].looks, n.saw) }, false},
		{"that somebody is woken", func(n *noted) { delete(n.known.wakes, n.other.Agent) }, false},
		{"that somebody else is woken", func(n *noted) { delete(n.known.wakes, n.third.Agent) }, false},
		{"that the change wakes somebody", func(n *noted) { clear(n.f.woken) }, false},
		{"that more is not woken", func(n *noted) {
			for _, all := range n.f.woken {
				for _, known := range all {
					for _, waking := range known {
						waking.woken.Add(n.third.Agent + 1)
					}
				}
			}
		}, false},
		// What was never met is not the first thing that was met.
		{"that there is such a part", func(n *noted) { delete(n.f.places, n.f.names[n.part]) }, false},
		{"that there is such a memory", func(n *noted) { delete(n.f.places, n.f.names[n.read]) }, false},
		{"that there is such a thing in the memory", func(n *noted) { delete(n.f.places, n.f.names[n.saw]) }, false},
	} {
		w, f, web, c := observing(t)
		m := w.Machine
		zero := f.place(placeName{workers: "nobody"}) // the first thing that was met
		key, _ := m.Vocabulary.Key(c)
		memory := m.Vocabulary.Note("memory")
		part := m.Vocabulary.Projection(key.Kind, first{})
		n := &noted{f: f, c: c, one: m.Item(web, "1"), other: m.Item(web, "2"), third: m.Item(web, "3")}
		n.known = f.agents[n.one.Agent]
		for _, set := range []map[Place]bool{n.known.reads, n.known.alters, n.known.looks} {
			set[zero] = true
		}
		w.Load(nil)
		w.Set(c, 1)
		w.Set(n.one.Cell, state.Queued)
		w.Forget()
		w.wakes.Began()
		w.Set(n.one.Cell, 0)
		w.Set(c, 3)
		w.wakes.seen = append(w.wakes.seen, change{sight{cell: c}, 1, 3})
		w.Recalled = append(w.Recalled, memory)
		w.wakes.woken = append(w.wakes.woken, n.other.Cell, n.third.Cell)
		step := &transition.Taken{Kind: core.Reconcile, Actor: web, Item: n.one}
		f.note(w, step)
		n.part = f.places[placeName{sight: sight{cell: c, projection: part}}]
		n.read, n.saw = f.places[placeName{sight: sight{cell: memory}}], f.places[memoryPlace(w, memory)]
		if memoryPlace(w, memory) != (placeName{sight: sight{cell: memory}, valued: true}) {
			t.Fatal("the memory is looked at in another place")
		}
		test.forget(n)
		if got := f.covers(w, step); got != test.want {
			t.Errorf("%s: it is covered: %t", test.name, got)
		}
	}
}

// TestCoversTies has what a step of a run in flight lets go of and renames be known before the step is covered.
func TestCoversTies(t *testing.T) {
	gets := get(thingA, core.Live)
	reads := &script{
		Description: core.Description{Name: "reads", Initial: []core.Request{"r"}, Sequential: true},
		reconcile: func(a *actor, _ core.Request) core.Result {
			a.Do(gets)
			a.Do(peek(thingB, first{}, core.Live))
			return core.Result{}
		},
	}
	w := exploring(t, scripted(reads), transition.Conditions{Granularity: transition.PerCall}, &asked{})
	f := w.Footprints
	it := item(t, w, "reads", "r")
	c, _ := w.Machine.Vocabulary.Lookup(thingA)
	step(t, w, core.Begin, "reads", "r")
	held := 0
	for range 3 {
		kind := core.Ask
		if w.Flight(it).Node.Leaf != nil {
			kind = core.Return
		}
		if _, err := w.Choose(core.Step{Kind: kind, Item: it.Item}); err != nil {
			t.Fatal(err)
		}
		s := *w.Current()
		if ties := w.Ties(&s); slices.Contains(ties.Held, c) {
			held++
			if !f.covers(w, &s) {
				t.Error("a step is not covered that was noted")
			}
			for _, known := range f.both(w, &s) {
				clear(known.holds)
			}
			if f.covers(w, &s) {
				t.Errorf("a step %s is covered although it is not known that it holds a version", kind.Name())
			}
			// Where nobody holds anything, it is no matter.
			w.Machine.Holds = false
			if !f.covers(w, &s) {
				t.Error("where nobody holds versions, a step depends on who does")
			}
			w.Machine.Holds = true
		}
		w.Load(w.AppendRow(nil))
	}
	if held == 0 {
		t.Error("no step holds a version")
	}
}

// TestCoversParts has a step be covered only if it is known to change each part of an object that it does change, and
// whether it changes them.
func TestCoversParts(t *testing.T) {
	parts := []core.Projection{first{}, last{}}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		for _, test := range []struct {
			name     string
			from, to text
			known    []int // the parts that are known to change
			shown    []text
			want     bool
		}{
			{"no part changes", "aa", "aa", nil, []text{"aa"}, true},
			{"the first one does", "aa", "ba", nil, []text{"aa", "ba"}, false},
			{"the first one does and may", "aa", "ba", []int{0}, []text{"aa", "ba"}, true},
			{"the first one does and the last one may", "aa", "ba", []int{1}, []text{"aa", "ba"}, false},
			{"both do and the first one may", "aa", "bb", []int{0}, []text{"aa", "bb"}, false},
			{"both do and the last one may", "aa", "bb", []int{1}, []text{"aa", "bb"}, false},
			{"both do and may", "aa", "bb", []int{0, 1}, []text{"aa", "bb"}, true},
			{"it is not known what they were", "aa", "bb", []int{0, 1}, []text{"bb"}, false},
			{"it is not known what they become", "aa", "bb", []int{0, 1}, []text{"aa"}, false},
		} {
			w, f, _, c := observing(t)
			v := w.Machine.Vocabulary
			key, _ := v.Key(c)
			known := newFootprint()
			known.alters[f.place(placeName{workers: "nobody"})] = true // the first thing that was met
			for _, p := range order {
				part := v.Projection(key.Kind, parts[p])
				for _, content := range test.shown {
					v.Project(part, c, v.Intern(c, content))
				}
				if slices.Contains(test.known, p) {
					known.alters[f.place(placeName{sight: sight{cell: c, projection: part}})] = true
				}
			}
			w.Load(nil)
			w.Set(c, v.Intern(c, test.to))
			touched := state.Touch{Cell: c, Was: v.Intern(c, test.from)}
			if got := f.coversParts(w, known, touched); got != test.want {
				t.Errorf("%s: it is covered: %t", test.name, got)
			}
			f.noteParts(w, known, touched)
			if !f.coversParts(w, known, touched) {
				t.Errorf("%s: it is not covered after it was noted", test.name)
			}
			// Who changes what is no object changes no part of one.
			if !f.coversParts(w, newFootprint(), state.Touch{Cell: w.Machine.Vocabulary.Note("note"), Was: 1}) {
				t.Errorf("a note has parts")
			}
		}
	}
}

// TestChangesOfParts has changes be told with those of all parts, and with whether all of that is known, whichever of
// several is not.
func TestChangesOfParts(t *testing.T) {
	w, _, _, c := observing(t)
	v := w.Machine.Vocabulary
	key, _ := v.Key(c)
	other := v.Object(core.Key{Kind: key.Kind, Name: "other"})
	part := v.Projection(key.Kind, first{})
	for _, cell := range []state.Cell{c, other} {
		for _, content := range []text{"aa", "ba", "ca"} {
			value := v.Intern(cell, content)
			if content != "ca" {
				v.Project(part, cell, value)
			}
		}
	}
	known, unknown := change{sight{cell: c}, 1, 3}, change{sight{cell: other}, 1, 0}
	unknown.to = v.Intern(other, text("ca"))
	for _, test := range []struct {
		name string
		seen []change
		sure bool
		want int
	}{
		{"nothing", nil, true, 0},
		{"what is known", []change{known}, true, 2},
		{"what is not known", []change{unknown}, false, 1},
		{"what is not known first", []change{unknown, known}, false, 3},
		{"what is not known last", []change{known, unknown}, false, 3},
	} {
		count := 0
		if sure := (&changes{seen: test.seen}).each(v, false, func(change) { count++ }); sure != test.sure || count != test.want {
			t.Errorf("%s: all is known: %t, and %d changes are told", test.name, sure, count)
		}
		// What a step wakes is only known if all is that it changes, and those that are not known are never woken.
		w.wakes.Began()
		w.wakes.seen = append(w.wakes.seen, test.seen...)
		f := NewFootprints()
		f.vocabulary = v
		it := w.Machine.Item(w.Machine.Actors[0], "1")
		s := &transition.Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it}
		(&changes{seen: test.seen}).each(v, false, func(c change) { f.woke(c, transition.Remembered{}) })
		if got := f.coversWakes(w, s); got != test.sure {
			t.Errorf("%s: it is known what that wakes: %t", test.name, got)
		}
	}
	count := 0
	if sure := (&changes{seen: []change{unknown, known}}).each(v, true, func(change) { count++ }); !sure || count != 4 {
		t.Errorf("of what is found out, all is known: %t, and %d changes are told", sure, count)
	}
}

// TestLearningCounts has each thing that is noted of a step count as learned, as the search is run again for it, and
// nothing that is noted again.
func TestLearningCounts(t *testing.T) {
	w := exploring(t, scripted(reader(put())), transition.Conditions{}, &asked{})
	f := w.Footprints
	it := item(t, w, "reads", "r")
	other := w.Machine.Item(it.Actor, "other")
	known := f.agents[it.Agent]
	c, _ := w.Machine.Vocabulary.Lookup(thingA)
	s := &transition.Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it}
	place := func(name placeName) Place { return f.place(name) }
	note := func(what string, want int) {
		t.Helper()
		for _, want := range []int{want, 0} {
			grown := f.growth
			if f.note(w, s); f.growth != grown+want {
				t.Errorf("%s: %d things are learned, want %d", what, f.growth-grown, want)
			}
		}
	}
	w.wakes.Began()
	note("that it takes steps", 1)
	w.Set(it.Cell, 0)
	if note("its own work", 1); len(known.wakes) > 0 {
		t.Error("who takes its work from a queue wakes itself")
	}
	w.Set(other.Cell, state.Queued)
	if note("the work of another one", 2); !maps.Equal(known.wakes, map[int]bool{other.Agent: true}) {
		t.Errorf("who gives work to another one wakes %v", known.wakes)
	}
	w.Set(c, 0)
	note("an object", 4) // the cell, the object, and two lists that it is in
	if !known.alters[place(placeName{listed: true, kind: "thing", namespace: "n"})] || !known.alters[place(placeName{listed: true, kind: "thing"})] || known.alters[place(placeName{listed: true, kind: "thing", namespace: "m"})] {
		t.Errorf("who changes an object alters %v", known.alters)
	}
	grown := f.growth
	if f.Block(it.Agent); f.growth != grown+1 || !known.blocks {
		t.Error("that it was blocked is not learned")
	}
}

// TestRecords has a machine tell what its steps touch from then on, of all agents that there are. Where something may
// crash, nothing is left out for what restarts touch.
func TestRecords(t *testing.T) {
	m, _ := watching(t)
	f := NewFootprints()
	f.Record(m)
	if len(f.agents) != m.Agents || !f.recording || m.Recorder != f || f.machine != m || f.vocabulary != m.Vocabulary {
		t.Errorf("of %d agents %d are known", m.Agents, len(f.agents))
	}
	for _, p := range m.Processes {
		for agent, known := range f.agents {
			if known.known != (agent == p.Restarts) {
				t.Errorf("of agent %d something is known: %t", agent, known.known)
			}
		}
	}
	if f.settled = f.known(m); f.blocks(0) || f.blocks(len(f.agents)) || f.blocks(len(f.agents)+1) {
		t.Error("somebody is blocked although nobody was")
	}
	f.agents[1].blocks = true
	if f.settled = f.known(m); f.blocks(0) || !f.blocks(1) {
		t.Error("it is not known who was blocked")
	}
}

// TestCrashesWakeAll has all work of a process be made anew where it crashes in the midst of a reconcile.
func TestCrashesWakeAll(t *testing.T) {
	writes := &script{
		Description: core.Description{Name: "writes", Initial: []core.Request{"r", "s"}, Sequential: true},
		reconcile: func(a *actor, _ core.Request) core.Result {
			a.Do(put(core.Write{Key: thingA, Content: text("ab")}))
			a.Do(put(core.Write{Key: thingB, Content: text("bb")}))
			return core.Result{}
		},
	}
	chooser := &asked{alone: func(Way) bool { return true }}
	w := exploring(t, scripted(writes), transition.Conditions{Crashes: 1}, chooser)
	it, other := item(t, w, "writes", "r"), item(t, w, "writes", "s")
	crashes := 0
	if err := w.StepsOf(visiting(func(s *transition.Taken) error {
		if awake := w.wakeful(s); awake.Has(other.Agent) != s.Crashes() || !awake.Has(it.Agent) {
			t.Errorf("it crashes: %t, and wakes %v", s.Crashes(), slices.Collect(awake.All()))
		}
		if s.Crashes() {
			crashes++
		}
		return w.describe(s)
	}), it); err != nil || crashes != 1 {
		t.Errorf("it crashes in %d ways: %v", crashes, err)
	}
}

// TestDeliveriesAreSeen has a change be seen where it comes to a view, by those who look through that.
func TestDeliveriesAreSeen(t *testing.T) {
	writes := reader(put(core.Write{Key: thingA, Content: text("ab")}))
	watches := &script{Description: core.Description{Name: "watches", Watches: []core.Kind{"thing"}, Sequential: true}}
	w := exploring(t, scripted(writes, watches), transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}, &asked{})
	f := w.Footprints
	c, _ := w.Machine.Vocabulary.Lookup(thingA)
	v := w.Machine.Processes[1].Views[0]
	live, late := sight{cell: c}, sight{cell: c, view: v.Cell(), viewed: true}
	if step(t, w, core.Reconcile, "reads", "r"); len(f.woken[live]) != 1 || len(f.woken[late]) != 0 {
		t.Errorf("behind the write, changes are seen of %v", slices.Collect(maps.Keys(f.woken)))
	}
	if _, err := w.Steps(&stepping{}, nil); err != nil {
		t.Fatal(err)
	}
	if len(f.woken[late]) != 1 || f.wakingOf(change{late, 1, 2}, transition.Remembered{}) == nil {
		t.Errorf("behind the delivery, changes are seen of %v", slices.Collect(maps.Keys(f.woken)))
	}
}

// numbered is a content of which only the number differs from others that come to the same.
func numbered(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	all := make([]core.Content, len(versions))
	for i, v := range versions {
		all[i] = v.(text)[:1] + text('0'+rune(i))
	}
	return all
}

// TestBecome has a value be seen under all names that it may get without a write; a part of an object has no versions.
func TestBecome(t *testing.T) {
	f := NewFootprints()
	f.vocabulary = state.NewVocabulary(numbered)
	c := f.vocabulary.Object(thingA)
	fresh, old, third := f.vocabulary.Intern(c, text("a1")), f.vocabulary.Intern(c, text("a0")), f.vocabulary.Intern(c, text("b0"))
	f.vocabulary.Normalize(c, []state.Value{fresh}, nil)
	r := &Reductions{Footprints: f}
	f.growth, f.machine = 5, &transition.Machine{Heeded: 2}
	if n := f.vocabulary.Normalizations(); r.Growth() != 7+n || n == 0 {
		t.Errorf("%d things are learned, with %d ways in which versions are named, and 2 that are heeded", r.Growth(), n)
	}
	part := f.vocabulary.Projection("thing", first{})
	for _, test := range []struct {
		at    sight
		value state.Value
		want  []state.Value
	}{
		{sight{cell: c}, fresh, []state.Value{fresh, old}}, {sight{cell: c}, old, []state.Value{old}}, {sight{cell: c}, third, []state.Value{third}},
		{sight{cell: c, projection: part}, fresh, []state.Value{fresh}},
	} {
		if got := f.become(test.at, test.value); !slices.Equal(got, test.want) {
			t.Errorf("%d may become %v, want %v", test.value, got, test.want)
		}
	}
	// What is written is seen as it is met behind the step, unless somebody holds versions.
	m := &transition.Machine{Vocabulary: f.vocabulary}
	w := &transition.Walker{Machine: m}
	w.Set(c, third)
	for _, holds := range []bool{false, true} {
		m.Holds = holds
		var seen changes
		seen.wrote(w, []behavior.Write{{Cell: c, To: fresh}})
		want := change{sight{cell: c}, third, old}
		if holds {
			want.to = fresh
		}
		if !slices.Equal(seen.seen, []change{want}) {
			t.Errorf("where versions are held: %t, the change is %+v", holds, seen.seen)
		}
	}
}
