package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/state"
)

// wide is a system with so many starts that workers expand a batch while another one is stored: 53·53, from each of
// which z and u come to 1. Where x is 30 and z is 1, a step that was not known before sets x to 99.
func wide(t *testing.T, invariant func(x, y, z int) error) *core.System {
	t.Helper()
	x, y, z, u := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewVar[int]("z"), plain.NewVar[int]("u")
	model := plain.Model{
		Name: "wide",
		Processes: []plain.Process{
			{Name: "z", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) { w.Require(z.Get(w) == 0); z.Set(w, 1) }}}},
			{Name: "u", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) { w.Require(u.Get(w) == 0); u.Set(w, 1) }}}},
			{Name: "x", Actions: []plain.Action{{Name: "leave", Do: func(w *plain.World) { w.Require(x.Get(w) == 30 && z.Get(w) == 1); x.Set(w, 99) }}}},
		},
		Properties: []core.Property{{Name: "invariant", Invariant: func(s core.State) error { return invariant(x.Get(s), y.Get(s), z.Get(s)) }}},
	}
	for i := range 53 {
		for j := range 53 {
			model.Initial = append(model.Initial, plain.Start(x.Is(i), y.Is(j), z.Is(0), u.Is(0)))
		}
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// told is what a search of the system found, with the number of the first state that breaks the invariant.
func told(space *Space) string {
	var b bytes.Buffer
	at, err := space.Broken("invariant")
	fmt.Fprintf(&b, "%d states, %+v, %v, broken in %d: %v\n", space.States(), space.Stats, space.Reasons(), at, err)
	for id := range core.StateID(space.States()) {
		b.WriteString(space.Fingerprint(id).String())
	}
	return b.String()
}

// TestBatchesAreExpandedAhead has two workers expand batches ahead of what is stored: all is as with one worker, also
// in a search that goes on from what was noted. The counts are derived by hand: four states for each start, with four
// steps; of those with x=30, two have one more step, to two states with x=99, and one step between these.
func TestBatchesAreExpandedAhead(t *testing.T) {
	system := wide(t, func(x, y, z int) error {
		if x == 99 && y == 7 && z == 1 {
			return errors.New("it is there")
		}
		return nil
	})
	search := func(workers int, log *list) *Space {
		t.Helper()
		o := Options{Workers: workers, Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Checkpoint: NewCheckpoint(log)}
		space, err := Search(t.Context(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		return space
	}
	one, whole := &list{}, &list{}
	space := search(1, one)
	if got := space.Stats; space.States() != 4*53*53+2*53 || got.Transitions != 4*53*53+3*53 || got.Terminal != 53*53 || got.Depth != 3 || len(space.Reasons()) > 0 {
		t.Errorf("%d states, and %+v; %v", space.States(), got, space.Reasons())
	}
	want := told(space)
	if told(search(2, whole)) != want {
		t.Error("two workers find something else than one")
	}
	overlapping := func(entries [][]byte) (n int) {
		for _, entry := range entries {
			if entry[0] == batchEntry && entry[1] == 1 {
				n++
			}
		}
		return n
	}
	if overlapping(one.added) > 0 || overlapping(whole.added) < 2 {
		t.Errorf("of %d and %d batches, %d and %d were stored while others were expanded", len(one.added)-1, len(whole.added)-1, overlapping(one.added), overlapping(whole.added))
	}
	for _, workers := range []int{1, 2} {
		for cut := 2; cut <= len(whole.added); cut++ {
			if testing.Short() && cut != 3+workers && cut < len(whole.added) {
				continue
			}
			log := &list{given: slices.Clone(whole.added[:cut])}
			if got := told(search(workers, log)); got != want || len(log.given) > 0 || !slices.EqualFunc(log.added[:cut], whole.added[:cut], bytes.Equal) {
				t.Errorf("%d workers go on from %d of %d batches, and find something else: %.200s", workers, cut, len(whole.added), got)
			}
		}
	}
}

// TestNothingIsJudgedBehindTheEnd ends a search while an invariant is judged behind a batch: no other state is judged,
// and the batch is not noted.
func TestNothingIsJudgedBehindTheEnd(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ctx, end := context.WithCancel(t.Context())
		judged := 0
		system := wide(t, func(_, _, z int) error {
			if ctx.Err() != nil {
				judged++
			}
			if z == 1 {
				end()
			}
			return nil
		})
		log := &list{}
		space, err := Search(ctx, system, Options{Workers: workers, Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Checkpoint: NewCheckpoint(log)})
		if err != nil || fmt.Sprint(space.Reasons()) != "[the search was interrupted]" || judged > 0 || len(log.added) != 1 || !slices.Equal(log.ends, []bool{false}) {
			t.Errorf("%d workers: %d states are judged behind the end, there are %d entries and the ends %v, and the reasons are %v: %v", workers, judged, len(log.added), log.ends, space.Reasons(), err)
		}
	}
}

// TestMergingCallsWorkers merges a batch without states while another one waits: workers expand that one meanwhile, all
// of it, unless a log has what comes of it.
func TestMergingCallsWorkers(t *testing.T) {
	for _, replayed := range []bool{false, true} {
		space := searchModel(t, grid(30, 30), Options{})
		s := &search{Space: space, context: t.Context(), batch: newBatch(0), ahead: newBatch(0), frontier: &spans{}, pool: newPool(t.Context(), space, 2)}
		for id := range core.StateID(batchLen / 4) {
			s.frontier.push(waiting{id: id})
		}
		s.batch.replayed, s.overlapping = replayed, replayed
		if err := s.merge(); err != nil || !s.overlapping || len(s.ahead.states) != batchLen/4 || s.frontier.len() > 0 {
			t.Errorf("%d states are ahead: %v", len(s.ahead.states), err)
		}
		if begin, _ := s.ahead.takeChunks(1); (begin == s.ahead.chunksLen()) == replayed || (s.pool.calls == 0) != replayed || s.pool.done.signals.Load() != s.pool.calls {
			t.Errorf("where a log has the next batch: %t, %d of %d chunks are expanded, and %d of %d calls are done", replayed, begin, s.ahead.chunksLen(), s.pool.done.signals.Load(), s.pool.calls)
		}
		s.pool.dismiss()
	}
}

// TestBatchesAreMergedAsFarAsTheyAreKnown merges the states of a batch up to the first of which something is not known,
// or up to the end of the search.
func TestBatchesAreMergedAsFarAsTheyAreKnown(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		ctx     context.Context
		unknown int
		done    int
	}{{t.Context(), 4, 4}, {t.Context(), 2, 2}, {t.Context(), 0, 0}, {ended, 4, 0}, {&ending{Context: t.Context(), looks: 3}, 4, 3}} {
		space := searchModel(t, grid(1, 1), Options{})
		s := &search{Space: space, context: test.ctx, batch: newBatch(0), frontier: &queue{}}
		for id := range core.StateID(4) {
			s.expanded.Remove(id)
			s.batch.states = append(s.batch.states, waiting{id: id})
		}
		newPool(t.Context(), space, 1).finish(s.batch)
		if test.unknown < 4 {
			_, e := s.batch.at(test.unknown)
			e.complete = false
		}
		done, err := s.mergeComplete()
		if expanded := len(slices.Collect(s.expanded.All())); done != test.done || expanded != test.done || (err != nil) != (test.unknown == 4 && test.done < 4) {
			t.Errorf("of four states of which number %d is not known, %d are merged, and %d are expanded: %v", test.unknown, done, expanded, err)
		}
	}
}

// TestBoundsEndBatches ends a search in the midst of a batch as there are too many states: neither that state nor those
// behind it are expanded, also such as lead nowhere else.
func TestBoundsEndBatches(t *testing.T) {
	for _, workers := range []int{1, 2} {
		space, state, _ := ways{0: {1, 2, 3}, 1: {0}, 2: {4}, 3: {0}, 4: {}}.search(t, Options{Workers: workers, Bounds: Bounds{States: 4}}, 0)
		var cut []int
		for n := range 4 {
			if space.Cut(state[n]) {
				cut = append(cut, n)
			}
		}
		if !slices.Equal(cut, []int{2, 3}) || space.Stats.Transitions != 4 || len(space.Reasons()) != 1 {
			t.Errorf("%d workers: %v are cut, and there are %d steps; %v", workers, cut, space.Stats.Transitions, space.Reasons())
		}
	}
}

// TestCyclesAreNotForgotten has x go around as long as y is 0. The states behind that are on no cycle, and of some of
// them all is known when they are expanded.
func TestCyclesAreNotForgotten(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	space := searchModel(t, plain.Model{Name: "around", Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0)), plain.Start(x.Is(2), y.Is(0))}, Processes: []plain.Process{
		{Name: "x", Actions: []plain.Action{{Name: "turn", Do: func(w *plain.World) { w.Require(y.Get(w) == 0); x.Set(w, (x.Get(w)+1)%3) }}}},
		{Name: "y", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) { w.Require(y.Get(w) < 3); y.Set(w, y.Get(w)+1) }}}},
	}}, Options{})
	if space.States() != 12 || space.Acyclic() {
		t.Errorf("of %d states it is said that there is no cycle: %t", space.States(), space.Acyclic())
	}
}

// TestSearchesInDepthGoOn goes on with a search in depth to a bound from every entry of its log. A state is found less
// deep before it is expanded, and again after that.
func TestSearchesInDepthGoOn(t *testing.T) {
	g := ways{0: {3, 1, 4}, 1: {2}, 2: {3}, 3: {4, 1}, 4: {5, 2}, 5: {6}, 6: {7}, 7: {0}}
	search := func(given [][]byte) (string, [][]byte) {
		t.Helper()
		log := &list{given: given}
		space, _, _ := g.search(t, Options{Order: DepthFirst, Bounds: Bounds{Depth: 4}, Checkpoint: NewCheckpoint(log)}, 0)
		if len(log.given) > 0 {
			t.Errorf("%d entries are not read", len(log.given))
		}
		return fmt.Sprint(told(space), slices.Collect(space.cut.All()), space.Quiescent()), log.added
	}
	want, whole := search(nil)
	for cut := range len(whole) + 1 {
		if got, added := search(slices.Clone(whole[:cut])); got != want || !slices.EqualFunc(added, whole, bytes.Equal) {
			t.Errorf("from entry %d of %d on, the search finds %s, want %s", cut, len(whole), got, want)
		}
	}
}

// restored has a space know its first state alone, so that what follows is found anew.
func restored(space *Space) *search {
	first := bytes.Clone(space.row(0))
	full := store.NewFull()
	full.Insert(space.Fingerprint(0).Lo, first, store.NoParent)
	space.store, space.table = full, full
	space.expanded.Clear()
	return &search{Space: space, context: context.Background(), frontier: &spans{}, batch: newBatch(0), ahead: newBatch(0), pool: newPool(context.Background(), space, 1)}
}

// TestWorkersStoreStates has a worker find two states: it enters both in the table, which has room for two less then.
func TestWorkersStoreStates(t *testing.T) {
	s := restored(searchModel(t, grid(1, 1), Options{}))
	room := func() int {
		return sort.Search(1<<20, func(states int) bool { return s.table.GrowthFor(states) > 0 })
	}
	before := room()
	s.frontier.push(waiting{})
	if err := s.prepare(); err != nil || s.batch.unresolved() || room() != before-2 {
		t.Errorf("there are states that are not entered: %t, and there was room for %d states and is for %d: %v", s.batch.unresolved(), before, room(), err)
	}
}

// TestJudgingBehindABatchMayFail has states be judged that cannot be judged, as two names become one, behind a batch
// while which the next one is expanded.
func TestJudgingBehindABatchMayFail(t *testing.T) {
	model := grid(1, 1)
	model.Interchangeable = [][]string{{"x", "y"}}
	model.Properties = []core.Property{{Name: "invariant", Invariant: func(core.State) error { return nil }}}
	s := restored(searchModel(t, model, Options{Merge: true}))
	s.checker = reduction.NewChecker(s.explorer(s.learner), s.stops)
	s.checker.Arrangements = []state.Arrangement{{0, 0}}
	s.pool = newPool(t.Context(), s.Space, 2)
	defer s.pool.dismiss()
	s.batch.states = []waiting{{}}
	s.begin(s.batch)
	s.collect(s.batch)
	for range batchLen / 4 {
		s.frontier.push(waiting{})
	}
	var apart reduction.Apart
	if err := s.merge(); !errors.As(err, &apart) || !s.overlapping {
		t.Errorf("batches overlap: %t, and the error is %v", s.overlapping, err)
	}
	s.overlapping = false
	if _, err := s.enqueue(1, nil); !errors.As(err, &apart) {
		t.Errorf("where batches do not overlap, the error is %v", err)
	}
}

// TestOutdatedStatesAreSkipped has a state of a batch be found less deep since: it is not expanded, which a log says.
func TestOutdatedStatesAreSkipped(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	s := &search{Space: space, context: t.Context(), batch: newBatch(0), frontier: &queue{}}
	s.depths.needed = true
	for range s.States() {
		s.depths.add(2)
	}
	s.options.Checkpoint = NewCheckpoint(&list{})
	s.batch.states = []waiting{{id: 1, depth: 3}, {id: 1, depth: 2}}
	newPool(t.Context(), space, 1).finish(s.batch)
	for i, noted := range []int{1, 4} {
		s.options.Checkpoint.entry = nil
		if err := s.mergeState(i); err != nil || len(s.options.Checkpoint.entry) != noted {
			t.Errorf("of the state at the depth %d, %v is noted: %v", s.batch.states[i].depth, s.options.Checkpoint.entry, err)
		}
	}
}

// TestReasonsSayWhatIsToCome adds what the levels of a search by breadth tell to the reason why it ended, if they tell
// anything.
func TestReasonsSayWhatIsToCome(t *testing.T) {
	for _, test := range []struct {
		order  Order
		states []waiting
		want   string
	}{
		{BreadthFirst, []waiting{{depth: 3}, {depth: 4}}, "full; no estimate: levels are still growing, each by a factor of about 2; the next level alone adds about 3200 states"},
		{BreadthFirst, []waiting{{depth: 3}}, "full"},
		{BreadthFirst, nil, "full"},
		{DepthFirst, []waiting{{depth: 3}, {depth: 4}}, "full"},
	} {
		s := &search{Space: &Space{order: test.order}, batch: &batch{states: test.states}, levels: levels{widths: []int{100, 100, 100, 100, 1600}}}
		if s.fellShort("full"); !slices.Equal(s.reasons, []string{test.want}) {
			t.Errorf("%+v: the reasons are %q", test, s.reasons)
		}
	}
}

// TestChunksAreTakenOnce has workers take chunks: many at first and one at a time in the end, until all are taken.
func TestChunksAreTakenOnce(t *testing.T) {
	for _, test := range []struct{ states, workers, first int }{
		{0, 1, 0}, {1, 1, 1}, {16, 3, 1}, {17, 1, 1}, {batchLen, 1, 64}, {batchLen, 4, 16}, {batchLen - 16, 4, 15}, {batchLen, 100, 1},
	} {
		b := newBatch(0)
		b.states = make([]waiting, test.states)
		next := 0
		for {
			begin, end := b.takeChunks(test.workers)
			if begin != next || next == 0 && end != test.first || next > 0 && end-begin > max(1, (b.chunksLen()-next)/2) {
				t.Fatalf("%+v: behind %d chunks of %d, those from %d to %d are taken", test, next, b.chunksLen(), begin, end)
			}
			if begin == end {
				break
			}
			next = end
		}
		if next != (test.states+15)/16 {
			t.Errorf("%+v: %d chunks are taken", test, next)
		}
	}
}

// TestBatchesOverlap says when workers may expand the next batch while one is stored: several of them, in a search by
// breadth that notes nothing of what properties look at, if the next batch is worth it and all states of this one are
// found.
func TestBatchesOverlap(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*search)
		overlap bool
	}{
		{"as it can be", func(*search) {}, true},
		{"one worker", func(s *search) { s.pool.workers = s.pool.workers[:1] }, false},
		{"few states", func(s *search) { s.frontier.take(make([]waiting, 0, 1)) }, false},
		{"in depth", func(s *search) { s.order = DepthFirst }, false},
		{"the search stores alone", func(s *search) { s.table = nil }, false},
		{"what properties look at is noted", func(s *search) {
			s.Reductions = &reduction.Reductions{Footprints: reduction.NewFootprints()}
			s.Footprints.Record(searchModel(t, grid(1), Options{}).machine)
		}, false},
		{"a state is not found", func(s *search) { s.batch.states = make([]waiting, 40); s.batch.chunks[2].unresolved = true }, false},
		{"of another batch", func(s *search) { s.batch.states = make([]waiting, 32); s.batch.chunks[2].unresolved = true }, true},
	} {
		s := &search{
			Space: &Space{table: store.NewFull(), Reductions: &reduction.Reductions{}}, pool: &pool{workers: make([]worker, 2)},
			frontier: &queue{waiting: make([]waiting, batchLen/4)}, batch: newBatch(0),
		}
		if test.change(s); s.overlaps() != test.overlap {
			t.Errorf("%s: batches overlap: %t, want %t", test.name, !test.overlap, test.overlap)
		}
	}
}
