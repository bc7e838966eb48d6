package reduction

import (
	"errors"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// learning is a reducer that keeps what it is told, and makes choosers that ask about ways.
type learning struct {
	footprints []Footprint
	visible    []Place
	chooser    Chooser
}

func (l *learning) Learn(footprints []Footprint, visible []Place) func() Chooser {
	l.footprints, l.visible = footprints, visible
	return func() Chooser { return l.chooser }
}

// TestLasting has a run that finds nothing to do be judged by what others may write, once for all states in which it
// looks at the same; one that may not learn knows what another one found out.
func TestLasting(t *testing.T) {
	for _, test := range []struct {
		name string
		// writes is what somebody may write, and goesOn what the run does not take for nothing.
		writes, goesOn text
		want           bool
	}{
		{"nobody writes", "", "zz", true},
		{"somebody writes what the run does not care for", "ab", "zz", true},
		{"somebody writes what makes it go on", "ab", "ab", false},
	} {
		gets := get(thingA, core.Live)
		looks := &script{
			Description: core.Description{Name: "looks", Initial: []core.Request{"r", "s"}, Sequential: true},
			reconcile: func(a *actor, _ core.Request) core.Result {
				return core.Result{Requeue: a.Do(gets).String() == string(test.goesOn)}
			},
		}
		call := put()
		if test.writes != "" {
			call = put(core.Write{Key: thingA, Content: test.writes})
		}
		chooser := &asked{alone: func(Way) bool { return true }}
		w := exploring(t, scripted(looks, reader(call)), transition.Conditions{}, chooser)
		f := w.Footprints
		start := w.AppendRow(nil)
		rows, seen := [][]byte{start}, map[string]bool{}
		for i := 0; i < len(rows); i++ {
			w.Load(rows[i])
			if _, err := w.Steps(visiting(func(*transition.Taken) error {
				if row := w.AppendRow(nil); !seen[string(row)] {
					seen[string(row)] = true
					rows = append(rows, row)
				}
				return nil
			}), nil); err != nil {
				t.Fatal(err)
			}
		}
		reducer := &learning{chooser: chooser}
		w.Choosers = func() Chooser { return nil }
		f.judged.runs = make([]idleRun, 1)
		w.MakeChoosers(w.Machine, reducer)
		it, other := item(t, w, "looks", "r"), item(t, w, "looks", "s")
		if f.searches != 1 || len(f.judged.runs) > 0 || w.Choosers == nil || w.Choosers() != Chooser(chooser) || len(reducer.footprints) != w.Machine.Agents || w.Outdated(w.Machine) {
			t.Errorf("%s: %d footprints are told, and what is known is outdated: %t", test.name, len(reducer.footprints), w.Outdated(w.Machine))
		}
		if missed := len(reducer.footprints[it.Agent].Missed) > 0; missed != (test.writes != "") || len(reducer.footprints[it.Agent].MissedInViews) > 0 {
			t.Errorf("%s: it is told that %v is missed", test.name, reducer.footprints[it.Agent].Missed)
		}
		way := func(w *Explorer, it *transition.Item) (bool, error) {
			chooser.ways = nil
			w.Load(start)
			if err := w.StepsOf(fitting{w}, it); err != nil {
				return false, err
			}
			return chooser.ways[0].Lasting, nil
		}
		reader := NewExplorer(w.Machine, nil, w.Reductions)
		changes := test.writes != ""
		if got, err := way(reader, it); err != nil || got == changes {
			t.Errorf("%s: one that may not learn finds before anybody else that the run lasts: %t, %v", test.name, got, err)
		}
		reader.Ahead = true
		if _, err := way(reader, it); errors.Is(err, transition.ErrUnknown) != changes {
			t.Errorf("%s: one that is ahead finds before anybody else: %v", test.name, err)
		}
		for range 2 {
			if got, err := way(w, it); err != nil || got != test.want || changes != (len(f.judged.runs) == 1) {
				t.Errorf("%s: it lasts: %t, and %d runs are judged: %v", test.name, got, len(f.judged.runs), err)
			}
			if got, err := way(reader, it); err != nil || got != test.want {
				t.Errorf("%s: for one that is ahead it lasts: %t, %v", test.name, got, err)
			}
		}
		if w.Outdated(w.Machine) {
			t.Errorf("%s: what is known is outdated, although nothing was learned", test.name)
		}
		if w.Machine.Heeded++; !w.Outdated(w.Machine) {
			t.Errorf("%s: event handlers heed more than was known, and that is not outdated", test.name)
		}
		w.Machine.Heeded--
		if got, err := way(w, other); err != nil || got != test.want || changes != (len(f.judged.runs) == 2) {
			t.Errorf("%s: the other run lasts: %t, and %d are judged: %v", test.name, got, len(f.judged.runs), err)
		}
		if !changes {
			continue
		}
		// The end of a search asks again. What was not known when it began is known then, and may be something else.
		for leaf := range f.ended {
			f.ended[leaf] = f.searches + 1
		}
		if got := w.Outdated(w.Machine); got != test.want {
			t.Errorf("%s: what was judged is outdated where an end was learned meanwhile: %t", test.name, got)
		}
		for leaf := range f.ended {
			f.ended[leaf] = 0
		}
		f.judged.runs[0].lasting = !f.judged.runs[0].lasting
		if !w.Outdated(w.Machine) {
			t.Errorf("%s: what was judged would be judged otherwise, and is not outdated", test.name)
		}
		f.judged.runs[0].lasting = !f.judged.runs[0].lasting
		f.agents[it.Agent].wakes[other.Agent] = true
		if !w.Outdated(w.Machine) {
			t.Errorf("%s: more is known, and that is not outdated", test.name)
		}
	}
}

// TestWhereAllIsVisible has no choosers be made where what is checked looks at everything.
func TestWhereAllIsVisible(t *testing.T) {
	w := exploring(t, scripted(reader(put())), transition.Conditions{}, &asked{})
	w.Footprints.seeAll()
	reducer := &learning{}
	if w.MakeChoosers(w.Machine, reducer); w.Choosers != nil || reducer.footprints != nil {
		t.Error("steps are left out although all of them are seen")
	}
	some, all := w.Footprints.settled, w.Footprints.settled
	some.allVisible = false
	if some.comesTo(&all) || all.comesTo(&some) || !all.comesTo(&all) || !some.comesTo(&some) {
		t.Error("to see all comes to the same as to see some")
	}
}

// TestLearnedInThisSearch has what a search learns not count for what is found out in it, so that each state is judged
// alike; it counts at its end.
func TestLearnedInThisSearch(t *testing.T) {
	p := newPlot(t)
	c := p.objects("x")[0]
	sees := p.sees(c, 1)
	m := p.it.Actor
	for v := range state.Value(2) {
		p.ends(p.learns(t, p.root, []behavior.Read{{Cell: c, Value: v + 1}}, p.sees(c, v+1)), &behavior.Leaf{})
	}
	p.woke(change{sight{cell: c}, 1, 2}, transition.Remembered{})
	p.woke(change{sight{cell: c}, 2, 1}, transition.Remembered{})
	p.agents[p.it.Agent].looks[sees], p.agents[p.it.Agent].looks[p.sees(c, 2)] = true, true
	r := &Reductions{Footprints: p.footprints}
	p.searches = 0
	r.MakeChoosers(p.machine, &learning{}) // the search in which all of this is learned
	w := &Explorer{Walker: transition.NewWalker(p.machine, nil), Reductions: r}
	w.Learn = &transition.Learner{}
	if lasting, err := p.lasts(w, p.it, []Place{sees}); err != nil || lasting || len(p.judged.runs) != 1 {
		t.Errorf("by what is only learned in the search, the run of %s lasts: %t, %v", m.Name, lasting, err)
	}
	if now := p.known(p.machine); p.judgesAlike(&now) || !r.Outdated(p.machine) {
		t.Error("at the end of the search, the run is judged as before")
	}
	r.MakeChoosers(p.machine, &learning{})
	if lasting, err := p.lasts(w, p.it, []Place{sees}); err != nil || !lasting || r.Outdated(p.machine) {
		t.Errorf("in the next search, the run lasts: %t, %v", lasting, err)
	}
	if lasting, err := p.lasts(w, p.it, []Place{p.sees(c, 2)}); err != nil || !lasting || len(p.judged.runs) != 2 {
		t.Errorf("where it sees something else, it lasts: %t, and %d runs are judged: %v", lasting, len(p.judged.runs), err)
	}
	// An agent that is new may see whatever there is.
	newcomer := &transition.Item{Actor: p.it.Actor, Agent: len(p.settled.missed)}
	if lasting, err := p.lasts(w, newcomer, []Place{sees}); err != nil || !lasting {
		t.Errorf("of what nobody was seen to change, the run of a new agent lasts: %t, %v", lasting, err)
	}
}

// TestMemoryIsLookedAt has what a controller remembers be read by its steps, be a place where they look, and be seen to
// change.
func TestMemoryIsLookedAt(t *testing.T) {
	gets := get(thingA, core.Live)
	minds := &script{
		Description: core.Description{Name: "minds", Initial: []core.Request{"r"}, Sequential: true},
		reconcile: func(a *actor, _ core.Request) core.Result {
			a.Do(gets)
			a.keeps["seen"] = "1"
			return core.Result{}
		},
	}
	chooser := &asked{alone: func(Way) bool { return true }}
	conditions := transition.Conditions{Remembering: []string{"minds"}, Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	watches := &script{Description: core.Description{Name: "watches", Watches: []core.Kind{"thing"}, Sequential: true}}
	w := exploring(t, scripted(minds, watches), conditions, chooser)
	f := w.Footprints
	it := item(t, w, "minds", "r")
	memory := w.Machine.MemoryCells()[0]
	mine := f.agents[it.Agent]
	row := w.AppendRow(nil)
	for run := range 2 {
		chooser.ways = nil
		var then []byte
		if err := w.StepsOf(visiting(func(s *transition.Taken) error {
			then = w.AppendRow(nil)
			return fitting{w}.Took(s)
		}), it); err != nil {
			t.Fatal(err)
		}
		way := chooser.ways[0]
		at, placed := f.places[placeName{sight: sight{cell: memory}, value: state.Value(run), valued: true}]
		read := f.places[placeName{sight: sight{cell: memory}}]
		if !placed || !mine.looks[at] || !mine.reads[read] || !slices.Contains(way.Looks, at) || way.Changes != (run == 0) || len(way.Looks) != 2 {
			t.Errorf("run %d goes %+v, and it looks at %v", run, way, mine.looks)
		}
		begun := f.begunOf(way.Looks)
		if begun.Value != state.Value(run) || begun.Memory != memory || f.begunOf([]Place{at}) != (transition.Begun{}) {
			t.Errorf("run %d began with %+v", run, begun)
		}
		change := change{sight{cell: memory}, 0, 1}
		if (f.wakingOf(change, begun.Remembered) != nil) != (run == 0) || len(f.woken[sight{cell: memory}]) == 0 {
			t.Errorf("in run %d these changes of the memory are seen: %v", run, f.woken[sight{cell: memory}])
		}
		if w.Load(then); run == 0 {
			w.Set(it.Cell, state.Queued)
			w.Load(w.AppendRow(nil))
		}
	}
	c, _ := w.Machine.Vocabulary.Lookup(thingA)
	want := []Place{f.place(placeName{sight: sight{cell: c}, held: true}), f.place(placeName{sight: sight{cell: w.Machine.Processes[1].Views[0].Cell()}})} // memory that comes to name versions is a tie of the step
	if got := f.heldPlaces(w.Machine, c); !slices.Equal(got, want) {
		t.Errorf("who holds versions is seen at %v, want %v", got, want)
	}
	// Without what is known of the memory, the step is not covered.
	w.Load(row)
	for at := range mine.looks {
		if f.names[at].sight.cell == memory {
			delete(mine.looks, at)
		}
	}
	reader := NewExplorer(w.Machine, nil, w.Reductions)
	reader.Load(row)
	if err := reader.StepsOf(&stepping{}, it); !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("a step is covered of which it is not known what it recalls: %v", err)
	}
}
