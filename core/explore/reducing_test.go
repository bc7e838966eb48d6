package explore

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// taught counts how often it is told what is known.
type taught struct {
	oneAtATime
	times *int
}

// Learn implements [reduction.Reducer].
func (r taught) Learn(f []Footprint, p []Place) func() Chooser {
	*r.times++
	return r.oneAtATime.Learn(f, p)
}

// begun returns what a search of a model begins with.
func begun(t *testing.T, model plain.Model, o Options) (*core.System, *transition.Learner, Options) {
	t.Helper()
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	o.Workers, o.Run, o.Memo = 1, behavior.Limits{Deadline: time.Second, Calls: 100}, NewMemo()
	o.Logger = searchModel(t, grid(1), Options{}).learner.Logger
	o.earlier = &earlier{}
	o.growth = &growth{context: t.Context(), system: system, options: o}
	l, err := o.learner(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	return system, l, o
}

// TestSearchesBeginAgain has a search choose by what is known of footprints: when that is more than before it is begun
// again, in the midst of it if it has stored some states since.
func TestSearchesBeginAgain(t *testing.T) {
	times := 0
	if space := searchModel(t, grid(1), Options{Reducer: taught{times: &times}}); times < 2 || space.States() != 2 || space.givenUp {
		t.Errorf("what is known was told %d times", times)
	}
	_, l, o := begun(t, grid(3, 3), Options{Reducer: oneAtATime{}})
	r := &reduction.Reductions{Footprints: reduction.NewFootprints()}
	r.Footprints.Record(l.Machine)
	for _, test := range []struct {
		patience int
		givenUp  bool
	}{{1000, false}, {1, false}, {1, true}} {
		if test.givenUp {
			r = &reduction.Reductions{Footprints: reduction.NewFootprints()}
			_, l, _ = begun(t, grid(3, 3), o)
			r.Footprints.Record(l.Machine)
		}
		r.MakeChoosers(l.Machine, o.Reducer)
		if space, err := explore(t.Context(), l.Machine, l, r, o, time.Now(), test.patience); err != nil || space.givenUp != test.givenUp || !test.givenUp && space.States() != 7 {
			t.Errorf("with the patience for %d states, a search is given up: %t, with %d states: %v", test.patience, space.givenUp, space.States(), err)
		}
	}
	s := &search{Space: &Space{Reductions: &reduction.Reductions{}}, grown: -1}
	if s.givesUp() {
		t.Error("a search is given up that leaves out nothing")
	}
}

// TestNondeterministicReductions has a process do something else each time: steps are left out as far as is known what
// it touches, and it is told.
func TestNondeterministicReductions(t *testing.T) {
	tosses := 0
	model := grid(2, 2)
	model.Processes[0].Actions[0].Do = func(w *plain.World) {
		v := plain.NewVar[int]("x")
		w.Require(v.Get(w) < 2)
		if tosses++; tosses%2 == 0 {
			v.Set(w, 2)
		} else {
			v.Set(w, v.Get(w)+1)
		}
	}
	space := searchModel(t, model, Options{Reducer: oneAtATime{}})
	if incidents := space.Incidents(); len(incidents) == 0 || incidents[0].Kind != core.Nondeterministic || space.Choosers == nil || space.States() >= 9 {
		t.Errorf("steps are left out: %t, of %d states, and the incidents are %+v", space.Choosers != nil, space.States(), incidents)
	}
	if searchModel(t, grid(2, 2), Options{Reducer: oneAtATime{}}).Choosers == nil {
		t.Error("no steps are left out of a grid")
	}
	// Walks leave out none.
	if space := searchModel(t, grid(2, 2), Options{Order: RandomWalks, Bounds: Bounds{Walks: 50}, Reducer: oneAtATime{}}); space.Choosers != nil || space.States() != 9 {
		t.Errorf("walks come to %d states", space.States())
	}
}

// TestIncidentsOfEarlierSearches collects what each search has met, also if it is begun again.
func TestIncidentsOfEarlierSearches(t *testing.T) {
	model := grid(1, 1)
	model.Processes[0].Actions[0].Do = func(*plain.World) { panic("it fails") }
	for name, reducer := range map[string]Reducer{"reduced": oneAtATime{}, "in full": nil} {
		system, _, o := begun(t, model, Options{Reducer: reducer})
		if _, err := unmerged(t.Context(), system, o, time.Now()); err != nil || len(o.earlier.sightings) != 1 || !strings.Contains(o.earlier.sightings[0].incident.Message, "it fails") {
			t.Errorf("%s: these are met: %+v; %v", name, o.earlier.sightings, err)
		}
	}
}

// TestUnexpectedGrowthEndsSearches begins a search again with what was met while growth was looked for: it does not
// pass for one that has found all.
func TestUnexpectedGrowthEndsSearches(t *testing.T) {
	_, l, o := begun(t, grid(40, 40), Options{})
	again := errors.New("begin again")
	o.growth = &growth{looked: true, unexpected: again}
	if _, err := explore(t.Context(), l.Machine, l, &reduction.Reductions{}, o, time.Now(), 0); !errors.Is(err, again) {
		t.Errorf("the search ends with %v", err)
	}
}

// TestStartsAreStoredOnce has two starts be the same, and a search without memory not come to its end, which its log
// says.
func TestStartsAreStoredOnce(t *testing.T) {
	space, _, _ := ways{0: {1}, 1: {}}.search(t, Options{}, 0, 1, 0)
	if !slices.Equal(space.Initial(), []core.StateID{0, 1}) {
		t.Errorf("the starts are %v", space.Initial())
	}
	log := &list{}
	space, _, _ = ways{0: {1}, 1: {}}.search(t, Options{Bounds: Bounds{Memory: 1 << 20}, Checkpoint: NewCheckpoint(log)}, 0)
	if !slices.Equal(log.ends, []bool{false}) || space.States() != 1 || !space.Cut(0) {
		t.Errorf("the log ends with %v, and %d states are stored", log.ends, space.States())
	}
}

// TestBoundsOfWideSearches ends a search of which workers have found more states than may be stored: these are none of
// it. Two states follow each start, of which those of 95 starts, and one more, are stored; all others are cut.
func TestBoundsOfWideSearches(t *testing.T) {
	var want []byte
	for _, workers := range []int{1, 2} {
		space, err := Search(t.Context(), wide(t, func(_, _, _ int) error { return nil }), Options{Workers: workers, Bounds: Bounds{States: 3_000}, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
		if err != nil {
			t.Fatal(err)
		}
		var found []byte
		cut := 0
		for id := range core.StateID(space.States()) {
			found = append(append(found, space.row(id)...), flag(space.Cut(id)))
			cut += int(flag(space.Cut(id)))
			for _, e := range space.Edges(id) {
				if int(e.To) >= space.States() {
					t.Fatalf("%d workers: a step leads to state %d of %d", workers, e.To, space.States())
				}
			}
		}
		if space.States() != 3_000 || len(space.Reasons()) != 1 || cut != 3_000-95 || space.Stats.Transitions != 2*95 || workers == 2 && !bytes.Equal(found, want) {
			t.Errorf("%d workers: %d states, %d of them cut, %d steps, and the reasons are %v", workers, space.States(), cut, space.Stats.Transitions, space.Reasons())
		}
		want = found
	}
}

// TestShorterThanBefore has a search end before it has come to what those had come to that were begun again: it says
// so, and why they were.
func TestShorterThanBefore(t *testing.T) {
	_, l, o := begun(t, grid(3, 3), Options{Bounds: Bounds{States: 3}})
	for largest, want := range map[int]bool{2: false, 7: true} {
		o.earlier = &earlier{}
		o.earlier.collect(l, searchModel(t, grid(largest-1), Options{}))
		o.earlier.givenUp("p keeps memory from one run to the next")
		o.earlier.givenUp("this was not known of a smaller one")
		o.earlier.collect(l, searchModel(t, grid(1), Options{}))
		space, err := explore(t.Context(), l.Machine, l, &reduction.Reductions{}, o, time.Now(), 0)
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(space.Reasons()[0], "it was begun again as p keeps memory from one run to the next, after 7 states")
		if told != want || strings.Contains(space.Reasons()[0], "begun again") != want {
			t.Errorf("behind a search of %d states it says %q", largest, space.Reasons())
		}
	}
}
