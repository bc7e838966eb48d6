package reduction

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

var (
	thingA = core.Key{Kind: "thing", Namespace: "n", Name: "a"}
	thingB = core.Key{Kind: "thing", Namespace: "n", Name: "b"}
	thingC = core.Key{Kind: "thing", Namespace: "m", Name: "c"}
)

// scripted returns a system of scripts in which there are things.
func scripted(strategies ...core.Strategy) *core.System {
	return &core.System{
		Name: "scripted", Store: open{}, Strategies: strategies,
		Initial: []core.Initial{{Objects: []core.Object{{Key: thingA, Content: text("aa")}, {Key: thingB, Content: text("ba")}, {Key: thingC, Content: text("ca")}}}},
	}
}

// reader is a script that makes a call, once.
func reader(call *asks, watches ...core.Kind) *script {
	return &script{
		Description: core.Description{Name: "reads", Initial: []core.Request{"r"}, Watches: watches, Sequential: true},
		reconcile:   func(a *actor, _ core.Request) core.Result { a.Do(call); return core.Result{} },
	}
}

// TestReadsAreLearned has what a call reads be touched by its agent from then on, and be where the agent looks, with
// what it saw there.
func TestReadsAreLearned(t *testing.T) {
	lag := transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	for _, test := range []struct {
		name string
		call func(core.Source) *asks
		// reads and looks are the places that are touched and looked at: where w is at its view if seen is set.
		reads, looks func(v *state.Vocabulary, c func(core.Key) state.Cell, at func(core.Key) sight) []placeName
	}{
		{
			"an object", func(s core.Source) *asks { return get(thingA, s) },
			func(_ *state.Vocabulary, c func(core.Key) state.Cell, _ func(core.Key) sight) []placeName {
				return []placeName{{sight: sight{cell: c(thingA)}}}
			},
			func(_ *state.Vocabulary, _ func(core.Key) state.Cell, at func(core.Key) sight) []placeName {
				return []placeName{{sight: at(thingA), value: 1, valued: true}}
			},
		},
		{
			"a part of one", func(s core.Source) *asks { return peek(thingA, first{}, s) },
			func(v *state.Vocabulary, c func(core.Key) state.Cell, _ func(core.Key) sight) []placeName {
				return []placeName{{sight: sight{cell: c(thingA), projection: v.Projection("thing", first{})}}}
			},
			func(v *state.Vocabulary, _ func(core.Key) state.Cell, at func(core.Key) sight) []placeName {
				part := at(thingA)
				part.projection = v.Projection("thing", first{})
				return []placeName{{sight: part, value: v.Project(part.projection, part.cell, 1), valued: true}}
			},
		},
		{
			"a list", func(s core.Source) *asks { return list("thing", "n", nil, s) },
			func(*state.Vocabulary, func(core.Key) state.Cell, func(core.Key) sight) []placeName {
				return []placeName{{listed: true, kind: "thing", namespace: "n"}}
			},
			func(_ *state.Vocabulary, _ func(core.Key) state.Cell, at func(core.Key) sight) []placeName {
				list := at(thingA)
				list.cell = 0
				return []placeName{{sight: list, listed: true, kind: "thing", namespace: "n", entering: true}, {sight: at(thingA), value: 1, valued: true}, {sight: at(thingB), value: 1, valued: true}}
			},
		},
		{
			"what is selected", func(s core.Source) *asks { return list("thing", "", starting('b'), s) },
			func(v *state.Vocabulary, _ func(core.Key) state.Cell, _ func(core.Key) sight) []placeName {
				return []placeName{{listed: true, kind: "thing", selection: v.Selection("thing", "", starting('b'))}}
			},
			func(v *state.Vocabulary, _ func(core.Key) state.Cell, at func(core.Key) sight) []placeName {
				list := at(thingB)
				list.cell = 0
				return []placeName{{sight: list, listed: true, kind: "thing", selection: v.Selection("thing", "", starting('b')), entering: true}, {sight: at(thingB), value: 1, valued: true}}
			},
		},
		{
			"who holds versions", func(core.Source) *asks { return held(thingA) },
			func(_ *state.Vocabulary, c func(core.Key) state.Cell, _ func(core.Key) sight) []placeName {
				return []placeName{{sight: sight{cell: c(thingA)}, held: true}}
			},
			func(_ *state.Vocabulary, c func(core.Key) state.Cell, _ func(core.Key) sight) []placeName {
				return []placeName{{sight: sight{cell: c(thingA)}, held: true}}
			},
		},
	} {
		for _, source := range []core.Source{core.Live, core.Cached} {
			w := exploring(t, scripted(reader(test.call(source), "thing")), lag, &asked{})
			f, m := w.Footprints, w.Machine
			it := item(t, w, "reads", "r")
			f.searches = 7
			mine := f.agents[it.Agent]
			viewCell := it.Actor.Process.Views[0].Cell()
			cell := func(key core.Key) state.Cell { c, _ := m.Vocabulary.Lookup(key); return c }
			at := func(key core.Key) sight {
				if source == core.Cached {
					return sight{cell: cell(key), view: viewCell, viewed: true}
				}
				return sight{cell: cell(key)}
			}
			f.recording = false
			if err := w.StepsOf(&stepping{}, it); err != nil || len(mine.reads)+len(mine.looks)+len(f.looks) > 0 || mine.known {
				t.Fatalf("%s: it is learned that it touches %+v although nothing is recorded: %v", test.name, mine, err)
			}
			w = exploring(t, scripted(reader(test.call(source), "thing")), lag, &asked{})
			f, m = w.Footprints, w.Machine
			it = item(t, w, "reads", "r")
			mine = f.agents[it.Agent]
			f.searches = 7
			viewCell = it.Actor.Process.Views[0].Cell()
			if err := w.StepsOf(&stepping{}, it); err != nil {
				t.Fatal(err)
			}
			var reads, looks []Place
			for _, name := range test.reads(m.Vocabulary, cell, at) {
				reads = append(reads, f.place(name))
			}
			reads = append(reads, f.place(placeName{sight: sight{cell: viewCell}}))
			for _, name := range test.looks(m.Vocabulary, cell, at) {
				looks = append(looks, f.place(name))
			}
			slices.Sort(reads)
			slices.Sort(looks)
			if got := sorted(mine.reads); !slices.Equal(got, reads) || mine.blocks {
				t.Errorf("%s, source %v: it reads %v, want %v", test.name, source, got, reads)
			}
			if got := sorted(mine.looks); !slices.Equal(got, looks) {
				t.Errorf("%s, source %v: it looks at %v, want %v", test.name, source, got, looks)
			}
			for answered, looked := range f.looks {
				got := slices.Sorted(slices.Values(looked.places))
				if answered == nil || looked.search != 7 || !slices.Equal(got, looks) {
					t.Errorf("%s, source %v: the answer was made from %v in search %d", test.name, source, got, looked.search)
				}
			}
			if len(f.looks) != 1 || len(f.handlers) > 0 || len(f.stages) > 0 {
				t.Errorf("%s: %d calls look at something", test.name, len(f.looks))
			}
			// The handlers have come to their ends before the first search, one for each object.
			if got := slices.Sorted(maps.Values(f.ended)); !slices.Equal(got, []int{0, 0, 0, 7}) {
				t.Errorf("%s: the ends of runs were found in the searches %v", test.name, got)
			}
			// It is known now, so that it is not learned again, and one that may not learn can take the step, too.
			grown := f.growth
			row := w.AppendRow(nil)
			other := NewExplorer(m, nil, w.Reductions)
			other.Load(row)
			if err := errors.Join(w.StepsOf(&stepping{}, it), other.StepsOf(&stepping{}, it)); err != nil || f.growth != grown {
				t.Errorf("%s: it is not known after it was learned: %v", test.name, err)
			}
		}
	}
}

// TestReadsOfHandlersAndStages has what event handlers read be kept by the object whose events they handle, and what
// calls read that are steps of their own by the call.
func TestReadsOfHandlersAndStages(t *testing.T) {
	handles := &script{
		Description: core.Description{Name: "handles", Watches: []core.Kind{"thing"}, Sequential: true},
		handle: func(a *actor, e core.Event) []core.Request {
			if e.Old != nil {
				a.Do(get(thingC, core.Live))
			}
			return nil
		},
	}
	writes := reader(put(core.Write{Key: thingA, Content: text("ab")}))
	w := exploring(t, scripted(handles, writes), transition.Conditions{}, &asked{})
	f := w.Footprints
	it := item(t, w, "reads", "r")
	if err := w.StepsOf(&stepping{}, it); err != nil {
		t.Fatal(err)
	}
	c, _ := w.Machine.Vocabulary.Lookup(thingC)
	mine, place := f.agents[it.Agent], f.place(placeName{sight: sight{cell: c}})
	seen := func(at Place) bool { return f.names[at].sight.cell == c }
	if h := f.handlers[thingA]; h == nil || len(f.handlers) != 1 || !h.reads[place] || h.blocks || mine.reads[place] || slices.ContainsFunc(sorted(mine.looks), seen) || mine.blocks {
		t.Errorf("handlers read %+v, and who wakes them reads %+v", h, mine)
	}
	if exported := f.known(w.Machine).agents[it.Agent]; !slices.Contains(exported.Reads, place) {
		t.Errorf("whoever writes the object reads %v", exported.Reads)
	}
	// So does who delivers events of the kind, and not who writes another object.
	another := newFootprint()
	another.touched.Add(c)
	if slices.Contains(f.export(another, nil).Reads, place) {
		t.Error("whoever writes another object reads what handlers of other events read")
	}
	another.delivers["thing"] = true
	if exported := f.export(another, nil); !slices.Contains(exported.Reads, place) {
		t.Errorf("whoever delivers events of the kind reads %v", exported.Reads)
	}
	// Where calls are steps, the call reads, and so does the agent.
	a, b := get(thingA, core.Live), get(thingB, core.Live)
	two := &script{
		Description: core.Description{Name: "reads", Initial: []core.Request{"r"}, Sequential: true},
		reconcile:   func(x *actor, _ core.Request) core.Result { x.Do(a); x.Do(b); return core.Result{} },
	}
	w = exploring(t, scripted(two), transition.Conditions{Granularity: transition.PerCall}, &asked{})
	f = w.Footprints
	it = item(t, w, "reads", "r")
	step(t, w, core.Begin, "reads", "r")
	for i, key := range []core.Key{thingA, thingB} {
		stage := transition.Stage{Node: w.Flight(it).Node}
		c, _ := w.Machine.Vocabulary.Lookup(key)
		other, _ := w.Machine.Vocabulary.Lookup([]core.Key{thingB, thingA}[i])
		var asks stepping
		if err := w.StepsOf(&asks, it); err != nil || len(asks) != 1 {
			t.Fatalf("%q: %v", asks, err)
		}
		known := f.stages[stage]
		place := f.place(placeName{sight: sight{cell: c}})
		if known == nil || !known.reads[place] || known.reads[f.place(placeName{sight: sight{cell: other}})] || !known.known || !f.agents[it.Agent].reads[place] {
			t.Errorf("call %d reads %+v, and its agent %v", i, known, f.agents[it.Agent].reads)
		}
		step(t, w, core.Ask, "reads", "r")
	}
	// Of what is always one step, no calls are noted, and it may be blocked by what it reads.
	guarded := &script{
		Description: core.Description{Name: "guarded", Standing: []core.Request{"r"}, Sequential: true},
		reconcile:   func(x *actor, _ core.Request) core.Result { x.Do(a); return core.Result{} },
	}
	for _, granularity := range []transition.Granularity{transition.PerReconcile, transition.PerCall} {
		w = exploring(t, scripted(guarded), transition.Conditions{Granularity: granularity}, &asked{})
		it = item(t, w, "guarded", "r")
		if err := w.StepsOf(&stepping{}, it); err != nil || len(w.Footprints.stages) > 0 || !w.Footprints.agents[it.Agent].blocks {
			t.Errorf("of an action these stages are known: %v, and that it may be blocked: %t, %v", w.Footprints.stages, w.Footprints.agents[it.Agent].blocks, err)
		}
	}
}

// TestListens has an explorer record its steps exactly where something is to be known of them.
func TestListens(t *testing.T) {
	w, _, _, _ := observing(t)
	m := w.Machine
	f := w.Footprints
	choosers := func() Chooser { return &asked{} }
	x := state.NewInterchange(m.Vocabulary, nil, nil, nil)
	over := NewFootprints()
	for _, test := range []struct {
		name              string
		r                 Reductions
		listens, monitors bool
	}{
		{"nothing is known", Reductions{}, false, false},
		{"footprints are recorded", Reductions{Footprints: f}, true, true},
		{"footprints are not recorded any more", Reductions{Footprints: over}, false, true},
		{"steps are left out", Reductions{Footprints: over, Choosers: choosers}, true, true},
		{"states are merged", Reductions{Symmetry: x}, false, true},
	} {
		w := NewExplorer(m, nil, &test.r)
		if (w.Listener != nil) != test.listens || (w.wakes != nil) != test.listens || (w.Monitor != nil) != test.monitors || (w.chooser != nil) != (test.r.Choosers != nil) {
			t.Errorf("%s: it listens: %t, and looks at steps: %t", test.name, w.Listener != nil, w.Monitor != nil)
		}
	}
}

// TestAccount has a step be noted by who may learn, if it is not known, and stop who may not.
func TestAccount(t *testing.T) {
	l := exploring(t, scripted(reader(put(core.Write{Key: thingA, Content: text("ab")}))), transition.Conditions{}, &asked{})
	row := l.AppendRow(nil)
	f := l.Footprints
	it := item(t, l, "reads", "r")
	known := f.agents[it.Agent]
	// One that may not learn knows the run once it was made, but not what the step touches.
	f.recording = false
	if err := l.StepsOf(&stepping{}, it); err != nil || known.known {
		t.Fatal("a step is noted although nothing is recorded")
	}
	f.recording = true
	reader := NewExplorer(l.Machine, nil, l.Reductions)
	reader.Load(row)
	var stopped stepping
	if err := reader.StepsOf(&stopped, it); !errors.Is(err, transition.ErrUnknown) || known.known {
		t.Errorf("one that may not learn takes a step of which nothing is known: %q, %v", stopped, err)
	}
	l.Load(row)
	if err := l.StepsOf(&stepping{}, it); err != nil || !known.known {
		t.Errorf("a step is not noted: %v", err)
	}
	reader.Load(row)
	if err := reader.StepsOf(&stopped, it); err != nil || len(stopped) != 1 {
		t.Errorf("what was noted is not known: %v", err)
	}
	// That time passes or a timer fires touches nothing that counts.
	for _, kind := range []core.StepKind{core.Fire, core.Elapse, core.Pass} {
		fresh := newFootprint()
		f.agents[it.Agent] = fresh
		if err := l.account(&transition.Taken{Kind: kind, Actor: it.Actor, Item: it}); err != nil || fresh.known {
			t.Errorf("a step %s is noted: %v", kind.Name(), err)
		}
	}
}

// TestAfter has a step that goes first not be late, and states not be merged where the order of concurrent calls
// matters.
func TestAfter(t *testing.T) {
	w := exploring(t, scripted(reader(get(thingA, core.Live))), transition.Conditions{}, &asked{})
	w.FinishRecording()
	it := item(t, w, "reads", "r")
	for _, level := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			w.Level = level
			s := &transition.Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it, Late: late}
			if err := w.After(s); err != nil || s.Late != (late && !level) {
				t.Errorf("a step that is late: %t, and goes first: %t, is late: %t, %v", late, level, s.Late, err)
			}
		}
	}
	x := state.NewInterchange(w.Machine.Vocabulary, nil, nil, nil)
	for _, orders := range []int{0, 1} {
		for _, merges := range []bool{false, true} {
			for _, learns := range []bool{false, true} {
				other := NewExplorer(w.Machine, nil, &Reductions{})
				if merges {
					other.Symmetry = x
				}
				if learns {
					other.Learn = w.Learn
				}
				other.Reversed = slices.Grow(other.Reversed, orders)[:orders]
				err := other.After(&transition.Taken{Kind: core.Reconcile, Actor: it.Actor, Item: it})
				var apart Apart
				if wrong := orders > 0 && merges; (err != nil) != wrong || wrong && errors.As(err, &apart) != learns || wrong && errors.Is(err, transition.ErrUnknown) == learns {
					t.Errorf("%d other orders, merges %t, learns %t: %v", orders, merges, learns, err)
				}
			}
		}
	}
}
