package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/state"
)

// twins is a model of two names that are interchangeable, with a variable each.
func twins(do func(w *plain.World, own plain.Var[int], name string)) plain.Model {
	model := plain.Model{Name: "twins", Interchangeable: [][]string{{"a", "b"}}}
	var start []core.Object
	for _, name := range []string{"a", "b"} {
		v := plain.NewVar[int](name)
		start = append(start, v.Is(0))
		model.Processes = append(model.Processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { do(w, v, name) }}}})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}

// first is a model of two processes of which one is the first.
func first() plain.Model {
	holder := plain.NewVar[string]("holder")
	model := twins(func(w *plain.World, _ plain.Var[int], name string) {
		w.Require(holder.Get(w) == "")
		holder.Set(w, name)
	})
	model.Initial[0].Objects = append(model.Initial[0].Objects, holder.Is(""))
	return model
}

// held are the names that hold something in the quiescent states of a space.
func held(space *Space) []string {
	var names []string
	for _, id := range space.Quiescent() {
		names = append(names, plain.NewVar[string]("holder").Get(space.State(id)))
	}
	slices.Sort(names)
	return names
}

// TestEndsAreArranged stores all arrangements of ends, wherever states are kept, and has each lead on from an initial
// state.
func TestEndsAreArranged(t *testing.T) {
	for _, compact := range []bool{false, true} {
		space := searchModel(t, first(), Options{Merge: true, Compact: compact})
		if merged, why := space.Merged(); !merged || !slices.Equal(held(space), []string{"a", "b"}) || space.States() != 3 || len(space.Initial()) != 1 {
			t.Errorf("compact: %t: merged: %t, %s; %v hold it in %d states", compact, merged, why, held(space), space.States())
		}
	}
	// Each of two starts is the other one with names exchanged, and nothing happens.
	starts := first()
	holder := plain.NewVar[string]("holder")
	starts.Initial = nil
	for _, name := range []string{"a", "b"} {
		starts.Initial = append(starts.Initial, plain.Start(plain.NewVar[int]("a").Is(0), plain.NewVar[int]("b").Is(0), holder.Is(name)))
	}
	space := searchModel(t, starts, Options{Merge: true})
	if merged, why := space.Merged(); !merged || !slices.Equal(held(space), []string{"a", "b"}) || len(space.Initial()) != 2 {
		t.Errorf("merged: %t, %s; %v hold it, in the starts %v", merged, why, held(space), space.Initial())
	}
	// Where there is no room for the arrangements, the search is not complete, and its log says so.
	log := &list{}
	space = searchModel(t, first(), Options{Merge: true, Bounds: Bounds{States: 2}, Checkpoint: NewCheckpoint(log)})
	if len(space.Reasons()) != 1 || space.States() != 2 || log.ends[0] {
		t.Errorf("%d states are stored, the reasons are %v, and the log ends with %v", space.States(), space.Reasons(), log.ends)
	}
}

// TestInvariantsOfArrangedStates breaks an invariant in one arrangement of a state that is no end: it is broken,
// whichever of them is stored.
func TestInvariantsOfArrangedStates(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		model := first()
		holder := plain.NewVar[string]("holder")
		for i, p := range model.Processes {
			model.Processes[i].Actions = append(p.Actions, plain.Action{Name: "give back", Do: func(w *plain.World) { w.Require(holder.Get(w) == p.Name); holder.Set(w, "nobody") }})
		}
		model.Properties = []core.Property{{Name: "invariant", Invariant: func(s core.State) error {
			if holder.Get(s) == name {
				return errors.New("it is held")
			}
			return nil
		}}}
		space := searchModel(t, model, Options{Merge: true})
		_, err := space.Broken("invariant")
		if merged, why := space.Merged(); merged || !strings.Contains(why, "is violated") || err == nil {
			t.Errorf("that %s may not hold it is broken: %v; merged: %t, %s", name, err, merged, why)
		}
	}
}

// refusing is a store that loses the name of what has the value 7 when it renames it, so that it does not become what
// it was when the names are exchanged back.
type refusing struct{ core.Renamer }

// Rename implements [core.Renamer].
func (r refusing) Rename(o core.Object, renaming core.Renaming) core.Object {
	if o = r.Renamer.Rename(o, renaming); o.Content != nil && fmt.Sprint(o.Content.Fields()) == "7" {
		o.Key.Name = "lost"
	}
	return o
}

// unnamed is a store that cannot rename.
type unnamed struct{ core.Store }

// TestStatesThatCannotBeRenamed does not merge states where the store cannot rename, or not all there is, and finds
// all.
func TestStatesThatCannotBeRenamed(t *testing.T) {
	model := func(starts ...int) plain.Model {
		m := twins(func(w *plain.World, v plain.Var[int], _ string) {
			w.Require(v.Get(w) != 7)
			v.Set(w, 7)
		})
		m.Initial = nil
		for _, start := range starts {
			m.Initial = append(m.Initial, plain.Start(plain.NewVar[int]("a").Is(start), plain.NewVar[int]("b").Is(start)))
		}
		return m
	}
	for _, test := range []struct {
		model  plain.Model
		store  func(core.Store) core.Store
		states int
		why    string
	}{
		{model(0), func(s core.Store) core.Store { return refusing{s.(core.Renamer)} }, 4, "lost"},
		{model(7), func(s core.Store) core.Store { return refusing{s.(core.Renamer)} }, 1, "lost"},
		{model(7, 0), func(s core.Store) core.Store { return refusing{s.(core.Renamer)} }, 4, "lost"},
		{model(0), func(s core.Store) core.Store { return unnamed{s} }, 4, "the store of the system cannot rename objects"},
	} {
		system, err := test.model.System()
		if err != nil {
			t.Fatal(err)
		}
		system.Store = test.store(system.Store)
		space, err := Search(t.Context(), system, Options{Workers: 1, Merge: true, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
		if err != nil {
			t.Fatal(err)
		}
		if merged, why := space.Merged(); merged || !strings.Contains(why, test.why) || space.States() != test.states || len(space.Reasons()) > 0 {
			t.Errorf("merged: %t, as %q; %d states, and the reasons are %v", merged, why, space.States(), space.Reasons())
		}
	}
}

// TestTimersInEndsAreNotMerged does not merge states where timers are set in what may be an end.
func TestTimersInEndsAreNotMerged(t *testing.T) {
	model := twins(nil)
	model.Processes = nil
	for _, name := range []string{"a", "b"} {
		model.Controllers = append(model.Controllers, plain.Controller{Name: name, Requests: []core.Request{"go"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			plain.NewVar[int](name).Set(w, 1)
			return core.Result{RequeueAfter: time.Hour}
		}})
	}
	space := searchModel(t, model, Options{Merge: true})
	if merged, why := space.Merged(); merged || why != "timers are set in a quiescent state" {
		t.Errorf("merged: %t, %s", merged, why)
	}
}

// TestMergedSearchesAreInterrupted ends a search with merged states while it is found out whether it is enough: that is
// a reason.
func TestMergedSearchesAreInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	model := twins(nil)
	model.Processes = nil
	for _, name := range []string{"a", "b"} {
		v := plain.NewVar[int](name)
		model.Controllers = append(model.Controllers, plain.Controller{Name: name, Requests: []core.Request{"go"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			if v.Get(w) == 1 {
				end() // nobody asks for it but who tries it in the end
			}
			v.Set(w, 1)
			return core.Result{}
		}})
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := Search(ctx, system, Options{Workers: 1, Merge: true, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
	if err != nil || !slices.Contains(space.Reasons(), "the search was interrupted") || ctx.Err() == nil {
		t.Errorf("the reasons are %v: %v", space.Reasons(), err)
	}
}

// TestMergedSearchesMayFail has a search with merged states not begin, and tell what it has met where it is begun
// again.
func TestMergedSearchesMayFail(t *testing.T) {
	o := Options{Workers: 1, Merge: true, Run: behavior.Limits{Deadline: time.Second, Calls: 100}}
	system, err := twins(func(w *plain.World, v plain.Var[int], _ string) {
		w.Require(v.Get(w) == 0)
		if v.Set(w, 1); v.Get(w) == 1 {
			panic("it fails")
		}
	}).System()
	if err != nil {
		t.Fatal(err)
	}
	wrong := o
	wrong.Conditions.FaultsIn = []string{"nobody"}
	wrong.Conditions.Crashes = 1
	if space, err := Search(t.Context(), system, wrong); err == nil {
		t.Errorf("a search under wrong conditions finds %d states", space.States())
	}
	o.Logger, o.Memo = searchModel(t, grid(1), Options{}).learner.Logger, NewMemo()
	o.growth = &growth{context: t.Context(), system: system, options: o}
	o.earlier = &earlier{}
	if _, why, err := merged(t.Context(), system, o, time.Now()); err != nil || why == "" || len(o.earlier.sightings) == 0 {
		t.Errorf("states are not merged as %q, and these incidents were met: %v; %v", why, o.earlier.sightings, err)
	}
}

// TestArrangementsMayFail has whoever looks at the arrangements of a state get the error of an arrangement that makes
// one name of two, or of the visit.
func TestArrangementsMayFail(t *testing.T) {
	model := grid(1, 1)
	model.Interchangeable = [][]string{{"x", "y"}}
	space := searchModel(t, model, Options{Merge: true})
	row := slices.Clone(space.row(1))
	fails := errors.New("it fails")
	visited := 0
	if err := space.eachArranged(row, func(state.Vector, state.Arrangement) error { visited++; return fails }); !errors.Is(err, fails) || visited != 1 {
		t.Errorf("%d arrangements are visited: %v", visited, err)
	}
	space.checker.Arrangements = []state.Arrangement{{0, 0}}
	var apart reduction.Apart
	if err := space.eachArranged(row, func(state.Vector, state.Arrangement) error { return nil }); !errors.As(err, &apart) {
		t.Errorf("two names become one: %v", err)
	}
}

// tight is a store that has no room, or gets longer with each state.
type tight struct {
	store.Store
	growth int64
}

func (s tight) Growth() int64 { return s.growth }

func (s tight) Insert(uint64, []byte, core.StateID) (store.Ref, bool) { return 0, false }

// TestStoresMayBeFull has no room for a state: that ends the search, with a reason.
func TestStoresMayBeFull(t *testing.T) {
	for _, test := range []struct {
		growth, limit int64
		want          string
	}{
		{0, 1, "there are more states than can be stored: make the system smaller"},
		{1 << 40, 0, "there are more states than can be stored: make the system smaller"},
		{1 << 40, 1 << 30, "the search reached the memory limit (1024 MiB): raise --max-memory (Options.MaxMemory), or make the system smaller"},
	} {
		s := &search{Space: &Space{store: tight{store.NewFull(), test.growth}}, frontier: &queue{}, batch: newBatch(0), meter: meter{limit: test.limit}}
		if _, err := s.insert(1, []byte{1}, store.NoParent, 0, nil); !errors.Is(err, errFull) || !slices.Equal(s.reasons, []string{test.want}) {
			t.Errorf("%+v: the error is %v, and the reasons are %q", test, err, s.reasons)
		}
	}
}

// TestStatesAreStored notes each state that gets a number in the log, and how deep it is; a state that is found less
// deep is expanded again.
func TestStatesAreStored(t *testing.T) {
	s := restored(searchModel(t, grid(1, 1), Options{}))
	s.options.Checkpoint = NewCheckpoint(&list{})
	s.frontier.push(waiting{})
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	c, e := s.batch.at(0)
	digests := []uint64{0}
	for _, l := range c.successors[e.begin:e.end] {
		if id, err := s.revisit(l.Ref, l.Hash, 0, 1, nil); err != nil || int(id) != len(digests) {
			t.Errorf("state %d is stored with the number %d: %v", len(digests), id, err)
		}
		digests = append(digests, s.options.Checkpoint.digest)
	}
	if id, err := s.insert(12345, []byte{1, 2, 3}, 1, 2, nil); err != nil || id != 3 {
		t.Errorf("another one has the number %d: %v", id, err)
	}
	digests = append(digests, s.options.Checkpoint.digest)
	if slices.Sort(digests); len(slices.Compact(digests)) != 4 || s.Stats.Depth != 2 || !slices.Equal(s.levels.widths, []int{0, 2, 1}) || s.frontier.len() != 3 {
		t.Errorf("the digests are %x, the depth is %d, and the levels have the widths %v", digests, s.Stats.Depth, s.levels.widths)
	}
	deep := &search{Space: searchModel(t, grid(1, 1), Options{}), frontier: &queue{}}
	deep.order, deep.depths.needed = DepthFirst, true
	for range 4 {
		deep.depths.add(5)
	}
	deep.cut.Add(1)
	deep.deep.Add(1)
	deep.cut.Add(2)
	deep.deep.Add(2)
	deep.reach(store.Ref(2), 1, 5, nil)
	deep.reach(store.Ref(1), 0, 4, nil)
	if deep.cut.Has(1) || deep.deep.Has(1) || !deep.cut.Has(2) || !deep.deep.Has(2) || !slices.Equal(deep.frontier.(*queue).waiting, []waiting{{1, 4}}) || !deep.acyclic {
		t.Errorf("these are expanded again: %v", deep.frontier)
	}
	if deep.reach(store.Ref(1), 1, 9, nil); deep.acyclic {
		t.Error("a step to the same state is on no cycle")
	}
	deep.acyclic = true
	if deep.reach(store.Ref(1), store.NoParent, 9, nil); !deep.acyclic {
		t.Error("a start that is found again is on a cycle")
	}
	// Who is not asleep on another way to a state is awake there.
	deep.depths.needed, deep.sleeps.needed = false, true
	for range 4 {
		deep.sleeps.add([]int{0, 1})
	}
	if deep.reach(store.Ref(1), 0, 1, []int{1}); !slices.Equal(deep.sleeps.at(1), []int{1}) {
		t.Errorf("%v are asleep", deep.sleeps.at(1))
	}
}
