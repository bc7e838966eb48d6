package reduction

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// observing returns an explorer of the machine of [watching] that records what steps touch, and does not run code.
func observing(t *testing.T) (*Explorer, *footprints, *transition.Actor, state.Cell) {
	t.Helper()
	m, c := watching(t)
	for _, content := range []text{"aa", "ab", "ba"} {
		m.Vocabulary.Intern(c, content)
	}
	f := NewFootprints()
	f.Record(m)
	w := &Explorer{Walker: transition.NewWalker(m, nil), Reductions: &Reductions{Footprints: f}}
	listen(w)
	web, err := m.Actor("web")
	if err != nil {
		t.Fatal(err)
	}
	return w, f, web, c
}

// TestCovers has a step be covered once it was noted, and no longer when it touches anything else.
func TestCovers(t *testing.T) {
	w, f, web, c := observing(t)
	m := w.Machine
	one, other := m.Item(web, "1"), m.Item(web, "2")
	key, _ := m.Vocabulary.Key(c)
	unseen := m.Vocabulary.Object(core.Key{Kind: "unseen", Name: "a"})
	m.Vocabulary.Intern(unseen, text("x"))
	memory := m.Vocabulary.Note("memory")
	m.Vocabulary.Projection(key.Kind, first{})
	step := &transition.Taken{Kind: core.Reconcile, Actor: web, Item: one}
	w.Load(nil)
	w.Set(c, 1)
	w.Set(one.Cell, state.Queued)
	w.Forget()
	base := func() {
		w.Load(nil)
		w.Set(c, 1)
		w.Set(one.Cell, state.Queued)
		w.Forget()
		w.wakes.Began()
		w.Set(one.Cell, 0)
	}
	if base(); f.covers(w, step) {
		t.Error("a step is covered of which nothing is known")
	}
	grown := f.growth
	if f.note(w, step); f.growth == grown || !f.covers(w, step) || !f.agents[one.Agent].known || !f.agents[one.Agent].takes {
		t.Error("a step that was noted is not covered")
	}
	for _, test := range []struct {
		name string
		more func()
	}{
		{"another object", func() { w.Set(unseen, 1) }},
		{"a part of an object", func() { w.Set(c, 2) }},
		{"another part of it", func() { w.Set(c, 3) }},
		{"what is remembered", func() { w.Recalled = append(w.Recalled, memory) }},
		{"somebody else's work", func() { w.wakes.woken = append(w.wakes.woken, other.Cell) }},
		{"somebody else's timer", func() { w.wakes.timed = append(w.wakes.timed, other.Cell) }},
	} {
		if base(); !f.covers(w, step) {
			t.Fatalf("%s: the step is not covered without it", test.name)
		}
		if test.more(); f.covers(w, step) {
			t.Errorf("%s: it is touched, and the step is covered", test.name)
		}
		grown := f.growth
		if f.note(w, step); f.growth == grown || !f.covers(w, step) {
			t.Errorf("%s: it is noted, and the step is not covered", test.name)
		}
		grown = f.growth
		if f.note(w, step); f.growth != grown {
			t.Errorf("%s: it is learned twice", test.name)
		}
	}
	known := f.agents[one.Agent]
	view := web.Process.Views[0].Cell()
	for name, has := range map[string]bool{
		"writes the object":       known.writes[f.place(placeName{sight: sight{cell: c}})],
		"alters its kind":         known.alters[f.place(placeName{listed: true, kind: key.Kind})],
		"alters its part":         known.alters[f.place(placeName{sight: sight{cell: c, projection: m.Vocabulary.Projections(key.Kind)[0]}})],
		"reads what it remembers": known.reads[f.place(placeName{sight: sight{cell: memory}})],
		"depends on its view":     known.reads[f.place(placeName{sight: sight{cell: view}})],
		"wakes the other":         known.wakes[other.Agent] && !known.wakes[one.Agent],
	} {
		if !has {
			t.Errorf("it is not known that the step %s", name)
		}
	}
	if known.writes[f.place(placeName{sight: sight{cell: one.Cell}})] || known.writes[f.place(placeName{sight: sight{cell: other.Cell}})] {
		t.Error("work in queues counts as something that is written")
	}
	// Where it may crash, nothing is left out for what steps touch, so that restarts need not be noted.
	if base(); !f.covers(w, &transition.Taken{Kind: core.Restart, Actor: web}) {
		t.Error("a restart is not covered")
	}
	deliver := &transition.Taken{Kind: core.Deliver, Actor: web, View: web.Process.Views[0]}
	base()
	f.note(w, deliver)
	delivery := f.agents[deliver.Agent()]
	if gate := f.place(placeName{sight: sight{cell: view}}); !delivery.gates[gate] || len(delivery.reads) > 0 || !delivery.delivers[key.Kind] || delivery.takes {
		t.Errorf("a delivery touches %+v", delivery)
	}
}

// TestTimers has a timer that a step sets for somebody else count as something that it puts into a queue, but not as
// what wakes that one.
func TestTimers(t *testing.T) {
	w, f, web, _ := observing(t)
	one, other := w.Machine.Item(web, "1"), w.Machine.Item(web, "2")
	step := &transition.Taken{Kind: core.Reconcile, Actor: web, Item: one}
	w.Load(nil)
	w.Forget()
	w.wakes.Began()
	w.wakes.Called(web, behavior.Activation{}, transition.CallEvent{Timed: []state.Cell{one.Cell, other.Cell}})
	f.note(w, step)
	known := f.agents[one.Agent]
	mine, others := f.place(placeName{sight: sight{cell: one.Cell}}), f.place(placeName{sight: sight{cell: other.Cell}})
	if !known.wakes[other.Agent] || known.wakes[one.Agent] || !known.alters[others] || known.alters[mine] {
		t.Errorf("it wakes %v and alters %v", known.wakes, known.alters)
	}
	if awake := w.wakeful(step); awake.Has(other.Agent) || !awake.Has(one.Agent) {
		t.Error("a timer wakes at once")
	}
	if w.wakes.Began(); len(w.wakes.timed) > 0 {
		t.Error("the next step sets the timers of the last one")
	}
}

// TestBegins has what every step of a kind touches be noted with its first one.
func TestBegins(t *testing.T) {
	for kind, want := range map[core.StepKind]struct{ takes, workers, views bool }{
		core.Reconcile: {true, false, true}, core.Act: {true, false, true}, core.Intervene: {true, false, true},
		core.Begin: {true, true, true}, core.Return: {false, true, true}, core.Ask: {false, false, true}, core.Work: {false, false, true},
	} {
		w, f, web, _ := observing(t)
		known := newFootprint()
		f.begin(&transition.Taken{Kind: kind, Actor: web, Item: w.Machine.Item(web, "1")}, known)
		timer := f.place(placeName{sight: sight{cell: w.Machine.Item(web, "1").Cell}})
		workers, view := f.place(placeName{workers: "web"}), f.place(placeName{sight: sight{cell: web.Process.Views[0].Cell()}})
		if known.takes != want.takes || known.writes[workers] != want.workers || known.reads[view] != want.views || known.reads[timer] != (kind == core.Return) || len(known.reads) > 2 || len(known.writes) > 1 {
			t.Errorf("a step %s takes work: %t, writes %v, reads %v", kind.Name(), known.takes, known.writes, known.reads)
		}
	}
}

// TestKnown has what is known be told to reducers in order, with what handlers and the gates of the blocked read, and
// without what nobody changes.
func TestKnown(t *testing.T) {
	w, f, web, c := observing(t)
	m := w.Machine
	it := m.Item(web, "1")
	key, _ := m.Vocabulary.Key(c)
	object, held := f.place(placeName{sight: sight{cell: c}}), f.place(placeName{sight: sight{cell: c}, held: true})
	list, note := f.place(placeName{listed: true, kind: key.Kind}), f.place(placeName{sight: sight{cell: 77}})
	mine := f.agents[it.Agent]
	mine.known, mine.takes = true, true
	mine.reads = map[Place]bool{note: true, held: true}
	mine.alters = map[Place]bool{list: true, held: true}
	mine.wakes = map[int]bool{3: true, 1: true}
	mine.touched.Add(c)
	f.handler(key).reads[list] = true
	f.handler(core.Key{Kind: key.Kind, Name: "another"}).reads[object] = true
	export := func() Footprint { return f.known(m).agents[it.Agent] }
	got := export()
	if !got.Known || !got.Takes || got.Everything || !slices.Equal(got.Reads, []Place{list, note}) || len(got.Writes) > 0 || !slices.Equal(got.Alters, []Place{list}) || !slices.Equal(got.Wakes, []int{1, 3}) || len(got.Gates) > 0 {
		t.Errorf("it is told that it touches %+v", got)
	}
	mine.writes = map[Place]bool{object: true}
	if got := export(); !slices.Equal(got.Reads, []Place{held, list, note}) || !slices.Equal(got.Alters, []Place{held, list}) || !slices.Equal(got.Writes, []Place{object}) {
		t.Errorf("of an object that is changed, it is told that it touches %+v", got)
	}
	f.Block(it.Agent)
	grown := f.growth
	if f.Block(it.Agent); f.growth != grown {
		t.Error("that it is blocked is learned twice")
	}
	if got := export(); !slices.Equal(got.Gates, []Place{held, list, note}) {
		t.Errorf("where it may be blocked, %v may keep it from taking a step", got.Gates)
	}
	if f.blocks(it.Agent) {
		t.Error("that it is blocked was known before the search")
	}
	f.settled = f.known(m)
	if !f.blocks(it.Agent) || f.blocks(it.Agent+1000) {
		t.Error("it is not known who is blocked")
	}
	// The same is chosen from the same, and from all of it if nothing is left out.
	known, settled := f.known(m), f.settled
	if !known.comesTo(&settled) {
		t.Error("the same comes to something else")
	}
	for name, change := range map[string]func(){
		"reads": func() { mine.reads[f.place(placeName{sight: sight{cell: 78}})] = true }, "wakes": func() { mine.wakes[9] = true }, "blocked": func() { f.agents[0].blocks = true },
		"put off": func() { mine.putOff = true }, "visible": func() { f.visible.reads[list] = true }, "another agent": func() { f.Added() }, "a stage": func() { f.stage(transition.Stage{Begun: it}) },
	} {
		f.settled = f.known(m)
		if known := f.known(m); !known.comesTo(&f.settled) {
			t.Errorf("before %s: the same comes to something else", name)
		}
		change()
		if known := f.known(m); known.comesTo(&f.settled) {
			t.Errorf("%s: the same would be chosen", name)
		}
	}
	f.settled = f.known(m)
	f.seeAll()
	all := f.known(m)
	if all.comesTo(&f.settled) {
		t.Error("where all is visible, as much is left out")
	}
	f.settled = all
	mine.wakes[11] = true
	if known := f.known(m); !known.comesTo(&f.settled) {
		t.Error("where nothing is left out, something else is chosen")
	}
	r := w.Reductions
	if r.Outdated(m) || r.Growth() != f.growth+m.Vocabulary.Normalizations() || (&Reductions{}).Growth() != 0 {
		t.Error("what is known is outdated, or is another amount than was learned")
	}
	if !r.Recording() || (&Reductions{}).Recording() {
		t.Error("it is not recorded, or where nothing is known")
	}
	(&Reductions{}).FinishRecording()
	if r.FinishRecording(); r.Recording() {
		t.Error("it is recorded after the end")
	}
}

// TestSelectsAndGates has steps alter the lists of what they may come to select, and wait for workers where each call
// is a step.
func TestSelectsAndGates(t *testing.T) {
	w, f, web, c := observing(t)
	m := w.Machine
	it := m.Item(web, "1")
	key, _ := m.Vocabulary.Key(c)
	some, none := m.Vocabulary.Selection(key.Kind, "", starting('a')), m.Vocabulary.Selection(key.Kind, "", starting('z'))
	mine, stage := f.agents[it.Agent], f.stage(transition.Stage{Begun: it})
	call := f.stage(transition.Stage{Node: &behavior.Node{}}) // which reads nothing else, whoever may be blocked
	call.reads[f.place(placeName{sight: sight{cell: c}})] = true
	for _, known := range []*footprint{mine, stage} {
		known.touched.Add(c)
		known.touched.Add(it.Cell)
	}
	f.known(m)
	place := func(s *state.Selection) Place { return f.place(placeName{listed: true, kind: key.Kind, selection: s}) }
	for _, known := range []*footprint{mine, stage} {
		if !known.alters[place(some)] || known.alters[place(none)] {
			t.Errorf("these lists are altered: %v", known.alters)
		}
	}
	workers := f.place(placeName{workers: "web"})
	if mine.gates[workers] {
		t.Error("it waits for workers where a reconcile is one step")
	}
	m.Conditions.Granularity = transition.PerCall
	if f.known(m); !mine.gates[workers] {
		t.Error("it does not wait for workers where each call is a step")
	}
	other := m.Item(web, "2")
	web.Atomic = true
	if f.known(m); f.agents[other.Agent].gates[workers] {
		t.Error("what is one step waits for workers")
	}
	// Whether a run that was blocked can begin anew depends on all that it reads.
	web.Atomic = false
	mine.reads[place(some)] = true
	if got := f.known(m).stages[transition.Stage{Begun: it}]; slices.Contains(got.Reads, place(some)) {
		t.Errorf("to begin depends on %v", got.Reads)
	}
	mine.blocks = true
	if got := f.known(m).stages[transition.Stage{Begun: it}]; !slices.Contains(got.Reads, place(some)) {
		t.Errorf("to begin again depends on %v", got.Reads)
	}
	for stage, got := range f.known(m).stages {
		if stage.Node != nil && !slices.Equal(got.Reads, []Place{f.place(placeName{sight: sight{cell: c}})}) {
			t.Errorf("a call reads %v", got.Reads)
		}
	}
}

// TestReadPlaces has what a client reads be the object or the list, with the view through which it is seen, or who
// holds what.
func TestReadPlaces(t *testing.T) {
	w, f, web, c := observing(t)
	m := w.Machine
	key, _ := m.Vocabulary.Key(c)
	other := m.Vocabulary.Object(core.Key{Kind: "unseen", Name: "a"})
	viewed := f.place(placeName{sight: sight{cell: web.Process.Views[0].Cell()}})
	part := m.Vocabulary.Projection(key.Kind, first{})
	client, live := &transition.ClientView{Walker: w.Walker, Actor: web}, &transition.ClientView{Walker: w.Walker}
	of := func(name placeName) Place { return f.place(name) }
	for name, test := range map[string]struct {
		s    *transition.ClientView
		r    behavior.Read
		want []Place
	}{
		"an object through a view":   {client, behavior.Read{Cell: c}, []Place{of(placeName{sight: sight{cell: c}}), viewed}},
		"a part through a view":      {client, behavior.Read{Cell: c, Projection: part}, []Place{of(placeName{sight: sight{cell: c, projection: part}}), viewed}},
		"an object as it is":         {live, behavior.Read{Cell: c}, []Place{of(placeName{sight: sight{cell: c}})}},
		"an object without a view":   {client, behavior.Read{Cell: other}, []Place{of(placeName{sight: sight{cell: other}})}},
		"a list through a view":      {client, behavior.Read{Listed: true, Kind: key.Kind}, []Place{of(placeName{listed: true, kind: key.Kind}), viewed}},
		"a list of a namespace":      {live, behavior.Read{Listed: true, Kind: key.Kind, Namespace: "n"}, []Place{of(placeName{listed: true, kind: key.Kind, namespace: "n"})}},
		"who holds an object viewed": {live, behavior.Read{Held: true, Cell: c}, []Place{of(placeName{sight: sight{cell: c}, held: true}), viewed}},
		"who holds another":          {client, behavior.Read{Held: true, Cell: other}, []Place{of(placeName{sight: sight{cell: other}, held: true})}},
	} {
		if got := f.readPlaces(test.s, test.r); !slices.Equal(got, test.want) {
			t.Errorf("%s: it looks at %v, want %v", name, got, test.want)
		}
	}
	if got := seenBy(client, key.Kind, c); got != (sight{cell: c, view: web.Process.Views[0].Cell(), viewed: true}) {
		t.Errorf("through a view it is seen as %+v", got)
	}
	if got := seenBy(live, key.Kind, c); got != (sight{cell: c}) {
		t.Errorf("as it is it is seen as %+v", got)
	}
}

// dreaming is a chooser that says who is followed, put off, and commutes.
type dreaming struct {
	choice  Choice
	commute func(agent, other int) bool
	groups  map[int]int
}

func (d dreaming) Choose([]Enabled) Choice       { return d.choice }
func (dreaming) Alone(*Way) bool                 { return false }
func (d dreaming) Commute(agent, other int) bool { return d.commute(agent, other) }
func (d dreaming) Group(agent int) int           { return d.groups[agent] }

// TestFollow has agents be followed, asleep and woken by what is chosen in a state, and sleep on behind steps that
// commute with theirs.
func TestFollow(t *testing.T) {
	x := plain.NewFamily[int]("x")
	var processes []plain.Process
	for i := range 4 {
		processes = append(processes, plain.Process{Name: fmt.Sprint("p", i), Actions: []plain.Action{{Name: "up", Do: func(w *plain.World) {
			w.Require(i < 3)
			x.At(i).Set(w, x.At(i).Get(w)+1)
		}}}})
	}
	system, err := plain.Model{Name: "four", Initial: []core.Initial{plain.Start(x.At(0).Is(0), x.At(1).Is(0), x.At(2).Is(0), x.At(3).Is(0))}, Processes: processes}.System()
	if err != nil {
		t.Fatal(err)
	}
	l, err := transition.NewLearner(t.Context(), system, transition.Conditions{}, behavior.Limits{Deadline: time.Second, Calls: 10}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Seen = map[transition.Wrong]bool{}
	m := l.Machine
	var agents []int
	for _, it := range m.Items {
		agents = append(agents, it.Agent)
	}
	a, b, c := agents[0], agents[1], agents[2]
	for _, test := range []struct {
		name           string
		extent         Extent
		choice         []int
		asleep, woken  []int
		reduced        bool
		only, sleeping []int // who is followed, nil for all, and who is asleep
		wakeful        bool
	}{
		{"all", Chosen, nil, nil, nil, false, nil, nil, false},
		{"in full", Full, []int{a}, []int{b}, nil, false, nil, nil, true},
		{"their group", Grouped, []int{a}, []int{b}, nil, true, []int{a, c}, nil, true},
		{"a group that is followed already", Grouped, []int{a, c}, nil, []int{a}, true, []int{a, c}, nil, true},
		{"the group of all who were chosen", Grouped, nil, []int{b}, nil, false, nil, nil, true},
		{"a group of which too little is known", Grouped, []int{b}, nil, nil, false, nil, nil, true},
		{"some", Chosen, []int{a, c}, nil, nil, true, []int{a, c}, nil, false},
		{"some, and one is asleep", Chosen, []int{a, c}, []int{b, c}, nil, true, []int{a}, []int{c}, false},
		{"one is asleep", Chosen, nil, []int{b}, nil, false, []int{a, c}, []int{b}, false},
		{"one is woken", Chosen, nil, nil, []int{c}, false, []int{c}, nil, false},
		{"one of those who are asleep is woken", Chosen, nil, []int{a, b}, []int{c}, false, []int{c}, []int{a, b}, false},
		{"one is woken who is not followed", Chosen, []int{a}, nil, []int{c}, true, []int{}, nil, false},
	} {
		f := NewFootprints()
		f.Record(m)
		w := NewExplorer(m, l, &Reductions{Footprints: f, Choosers: func() Chooser {
			return dreaming{choice: Choice{Follow: test.choice}, groups: map[int]int{b: -1, agents[3]: 1}}
		}})
		if err := w.Start(system.Initial[0]); err != nil {
			t.Fatal(err)
		}
		w.Forget()
		reduced, only, err := w.Follow(test.extent, test.asleep, test.woken)
		if err != nil {
			t.Fatal(err)
		}
		var followed []int
		for agent, follows := range only {
			if follows {
				followed = append(followed, agent)
			}
		}
		if reduced != test.reduced || (only == nil) != (test.only == nil) || !slices.Equal(followed, test.only) || !slices.Equal(w.Asleep, test.sleeping) || w.Wakeful != test.wakeful {
			t.Errorf("%s: reduced %t, followed %v, asleep %v, wakeful %t", test.name, reduced, followed, w.Asleep, w.Wakeful)
		}
	}
	f := NewFootprints()
	f.Record(m)
	w := NewExplorer(m, l, &Reductions{Footprints: f, Choosers: func() Chooser {
		return dreaming{commute: func(agent, other int) bool { return agent != b }}
	}})
	w.Asleep = []int{a, b}
	step := &transition.Taken{Kind: core.Act, Actor: m.Items[2].Actor, Item: m.Items[2]}
	if got := w.SleepersBehind(step); !slices.Equal(got, []int{a}) || !slices.Equal(w.Asleep, []int{a, b, c}) {
		t.Errorf("behind the step %v sleep, and here %v", got, w.Asleep)
	}
	if got := w.SleepersBehind(step); !slices.Equal(got, []int{a}) || !slices.Equal(w.Asleep, []int{a, b, c}) {
		t.Errorf("behind another way of the step %v sleep, and here %v", got, w.Asleep)
	}
	if f.agents[c].putOff = true; len(w.SleepersBehind(step)) > 0 {
		t.Error("somebody sleeps behind one that is put off")
	}
	if f.agents[c].putOff, w.Wakeful = false, true; len(w.SleepersBehind(step)) > 0 {
		t.Error("somebody sleeps where nobody can")
	}
	// Who is put off is found out by who may learn.
	if err := w.putOff([]int{a}); err != nil || !f.agents[a].putOff || !w.Disturbs {
		t.Errorf("it is put off: %t, %v", f.agents[a].putOff, err)
	}
	reader := NewExplorer(m, nil, w.Reductions)
	if err := reader.putOff([]int{a, b}); err != nil || f.agents[b].putOff || reader.Disturbs {
		t.Errorf("a reader puts off: %v", err)
	}
	if reader.Ahead = true; reader.putOff([]int{a}) != nil || reader.putOff([]int{b}) == nil {
		t.Error("one that is ahead goes on where somebody is put off that was not known to be, or stops where it was")
	}
	if got := Only([]int{1, 2, 3}, func(n int) bool { return n != 2 }); !slices.Equal(got, []int{1, 3}) || Contains([]int{1, 3}, 2) || !Contains([]int{1, 3}, 3) {
		t.Errorf("these are left: %v", got)
	}
}

// TestTiesAreCovered has the ties of a step be known once they were noted, with what they touch: who holds which
// versions.
func TestTiesAreCovered(t *testing.T) {
	w, f, _, c := observing(t)
	other := w.Machine.Vocabulary.Object(core.Key{Kind: "unseen", Name: "a"})
	known := newFootprint()
	for _, ties := range []transition.Ties{{}, {Held: []state.Cell{c}}, {Held: []state.Cell{c, other}}, {Normalized: []state.Cell{other}}, {Held: []state.Cell{other}, Normalized: []state.Cell{other, c}}} {
		if got := known.covers(ties); got != (len(ties.Held)+len(ties.Normalized) == 0) {
			t.Errorf("%+v are known before they are noted: %t", ties, got)
		}
		grown := f.growth
		f.tie(w, known, ties)
		if !known.covers(ties) || (f.growth > grown) != (len(ties.Held)+len(ties.Normalized) > 0) {
			t.Errorf("%+v are not known after they are noted", ties)
		}
	}
	place := func(c state.Cell, held bool) Place { return f.place(placeName{sight: sight{cell: c}, held: held}) }
	for _, cell := range []state.Cell{c, other} {
		if !known.alters[place(cell, true)] || !known.reads[place(cell, false)] || !known.reads[place(cell, true)] {
			t.Errorf("who holds versions of cell %d is not touched: %+v", cell, known)
		}
	}
}
