package explore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestLoopsBeginAnywhere looks for loops from every state, also the last one.
func TestLoopsBeginAnywhere(t *testing.T) {
	for _, test := range []struct {
		g      ways
		starts []int
		cyclic bool
	}{{ways{0: {0}}, []int{0}, true}, {ways{0: {}, 1: {1}}, []int{0, 1}, true}, {ways{0: {1}, 1: {}}, []int{0}, false}} {
		if space, _, _ := test.g.search(t, Options{}, test.starts...); space.cyclic() != test.cyclic {
			t.Errorf("%v from %v has a cycle: %t", test.g, test.starts, !test.cyclic)
		}
	}
}

// TestFairSteps is fair to what controllers do by themselves, and to time, but not to faults, users and whoever is
// declared unfair.
func TestFairSteps(t *testing.T) {
	model := mirroring()
	model.Processes[0].Unfair = true
	space := searchModel(t, model, Options{})
	item := core.Item{Strategy: "mirror", Request: "copy"}
	for kind := core.Reconcile; kind <= core.Expire; kind++ {
		step := core.Step{Kind: kind, Item: item}
		if kind == core.Pass {
			step.Item = core.Everything()
		}
		if fair := space.Fair(step); fair != (kind != core.Restart && kind != core.Intervene) {
			t.Errorf("it is fair to %s: %t", kind.Name(), fair)
		}
		if step.Detail = "lost"; space.Fair(step) != kind.Timed() {
			t.Errorf("it is fair to a fault in %s: %t", kind.Name(), space.Fair(step))
		}
	}
	if space.Fair(core.Step{Kind: core.Act, Item: core.Item{Strategy: "source", Request: "change"}}) {
		t.Error("it is fair to whoever is unfair")
	}
}

// TestRunsThatAreShortest has the runs by which a search by breadth found its states be the shortest where nothing
// disturbs it. Elsewhere they are looked for.
func TestRunsThatAreShortest(t *testing.T) {
	g := ways{0: {1, 3}, 1: {2}, 2: {3}, 3: {4}, 4: {}}
	for name, o := range map[string]Options{"breadth-first": {}, "depth-first": {Order: DepthFirst}, "walks": {Order: RandomWalks, Bounds: Bounds{Walks: 50}}} {
		space, state, _ := g.search(t, o, 0)
		// As if the states had been found by detours.
		if o.Order != BreadthFirst {
			space.store.SetParent(space.store.At(state[3]), state[2])
		}
		for n, steps := range []int{0, 1, 2, 1, 2} {
			if run, found := space.Shortest(func(id core.StateID) bool { return id == state[n] }); !found || len(run) != steps || run.End(0) != state[n] {
				t.Errorf("%s: to %d a run has %d steps, want %d", name, n, len(run), steps)
			}
		}
		if run, found := space.Shortest(func(core.StateID) bool { return false }); found || run != nil {
			t.Errorf("%s: to no state leads %v", name, run)
		}
		if space.Minimal() != (o.Order == BreadthFirst) {
			t.Errorf("%s: the runs to states are the shortest: %t", name, space.Minimal())
		}
	}
	if searchModel(t, mirroring(), Options{Conditions: Conditions{Crashes: 1}}).Minimal() {
		t.Error("runs with crashes are said to take the least")
	}
}

// TestReadersAreEnded ends who asks for nothing of any state, and who could not try something as the time was over.
// What else cannot be tried is a reason.
func TestReadersAreEnded(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	fails := errors.New("it fails")
	for _, order := range []Order{BreadthFirst, DepthFirst} {
		space := searchModel(t, grid(1, 1), Options{Order: order})
		if err := space.Within(ended, func() error { space.Shortest(func(core.StateID) bool { return false }); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a search for a run ends with %v", err)
		}
		if err := space.Within(ended, func() error { space.untried(fails); return nil }); !errors.Is(err, context.Canceled) || len(space.Reasons()) > 0 {
			t.Errorf("what was tried ends with %v, and the reasons are %v", err, space.Reasons())
		}
		space.untried(transition.ErrStopped)
		space.untried(fails)
		space.untried(&core.Unsupported{Call: "patch", Reason: "do not"})
		if want := []string{"it fails", (&core.Unsupported{Call: "patch", Reason: "do not"}).Error()}; !slices.Equal(space.Reasons(), want) {
			t.Errorf("the reasons are %q, want %q", space.Reasons(), want)
		}
	}
}

// TestRestartsAreTried has a variable be deleted. Who was to look at it is not asked to again by a restart, as it is
// not there, wherever was looked before. Where handlers fail, it is known in which state, and they enqueue nothing.
func TestRestartsAreTried(t *testing.T) {
	x := plain.NewFamily[int]("x")
	fails := false
	space := searchModel(t, plain.Model{
		Name: "gone", Initial: []core.Initial{plain.Start(x.Named("a").Is(0), x.Named("b").Is(0))},
		Controllers: []plain.Controller{{
			Name: "looks", Watches: []plain.Watch{{Kind: x.Named("a").Key().Kind, Map: func(key core.Key) []core.Request {
				if fails {
					panic("it fails")
				}
				return []core.Request{core.Request(key.Name)}
			}}},
			Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} },
		}},
		Processes: []plain.Process{{Name: "deletes", Actions: []plain.Action{
			{Name: "a", Do: func(w *plain.World) { _, there := x.Named("a").Lookup(w); w.Require(there); x.Named("a").Delete(w) }},
			{Name: "b", Do: func(w *plain.World) {
				now, there := x.Named("b").Lookup(w)
				w.Require(there && now == 0)
				x.Named("b").Set(w, 1)
			}},
		}}},
	}, Options{})
	var gone, changed core.StateID
	for _, e := range space.Edges(0) {
		switch e.Step.Item.String() {
		case "deletes(a)":
			gone = e.To
		case "deletes(b)":
			changed = e.To
		}
	}
	for range 2 {
		for id, want := range map[core.StateID]string{0: "[looks(a) looks(b)]", gone: "[looks(b)]"} {
			if got := fmt.Sprint(space.Relisted(id)); got != want {
				t.Errorf("in state %d, a restart enqueues %s, want %s", id, got, want)
			}
		}
	}
	fails = true
	if got := fmt.Sprint(space.Relisted(changed)); got != "[looks(a)]" || len(space.Reasons()) > 0 {
		t.Errorf("where the handlers of b fail, a restart enqueues %s, and the reasons are %v", got, space.Reasons())
	}
	if incidents := space.Incidents(); len(incidents) != 1 || incidents[0].Kind != core.Panicked || incidents[0].State != changed {
		t.Errorf("in state %d handlers fail, and these are the incidents: %+v", changed, incidents)
	}
}

// TestTryingMeetsFailures has a controller fail at a request that nobody makes, when it is tried: it is known where.
func TestTryingMeetsFailures(t *testing.T) {
	x := plain.NewVar[int]("x")
	space := searchModel(t, plain.Model{
		Name: "fails", Initial: []core.Initial{plain.Start(x.Is(0))},
		Controllers: []plain.Controller{{Name: "c", Requests: []core.Request{"go"}, Reconcile: func(_ *plain.World, request core.Request) core.Result {
			if request == "fail" {
				panic("it fails")
			}
			return core.Result{}
		}}},
	}, Options{})
	if effects := space.Try(1, core.Item{Strategy: "c", Request: "fail"}); len(effects) != 1 || space.States() != 2 {
		t.Errorf("there are %d effects in %d states", len(effects), space.States())
	}
	if incidents := space.Incidents(); len(incidents) != 1 || incidents[0].State != 1 {
		t.Errorf("these are the incidents: %+v", incidents)
	}
}

// TestOutcomesAreRead tells what the fields of a state come to, and the canonical form of that.
func TestOutcomesAreRead(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	outcome := space.Outcome(0)
	if len(outcome) != 2 || !reflect.DeepEqual(space.CanonicalOutcome(0, outcome), outcome) {
		t.Errorf("the outcome is %v, and in its canonical form %v", outcome, space.CanonicalOutcome(0, outcome))
	}
}

// TestManyStatesOfWalks looks for the shortest run among all that is stored, but for walks where that is much.
func TestManyStatesOfWalks(t *testing.T) {
	full := store.NewFull()
	for n := range manyStates + 1 {
		full.Insert(uint64(n)*0x9e3779b97f4a7c15, []byte{byte(n), byte(n >> 8), byte(n >> 16), 1}, store.NoParent)
	}
	for _, order := range []Order{DepthFirst, RandomWalks} {
		space := searchModel(t, grid(1), Options{})
		space.order, space.store = order, full
		for range full.Len() {
			space.depths.of.Add(1)
		}
		space.depths.of.Put(7, 0)
		id := core.StateID(0)
		run, found := space.Shortest(func(at core.StateID) bool { id = max(id, at); return at == 0 || at == 7 })
		if !found || len(run) > 0 || (id == 0) != (order == DepthFirst) {
			t.Errorf("in order %d, states up to %d are looked at", order, id)
		}
	}
}

// TestRowsAtHand has a row that was made again be at hand as long as that of no other state is in its place.
func TestRowsAtHand(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{Compact: true})
	storeOnly(space, 4, store.NewCompact())
	space.store.Expanded(4)
	r := space.rebuilder
	r.slots = make([]rebuilt, rebuiltRows)
	r.slots[2], r.slots[3] = rebuilt{id: 2, row: []byte{7}}, rebuilt{id: 3 + rebuiltRows, row: []byte{8}}
	for id, want := range map[core.StateID][]byte{1: nil, 2: {7}, 3: nil} {
		if got := r.known(id); !slices.Equal(got, want) {
			t.Errorf("of state %d, %v is at hand, want %v", id, got, want)
		}
	}
}
