package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestGrowthIsFound looks at runs of small systems. Objects that are named after each other are made by code that is
// given the same in each lap, up to new names; where a number counts them, or somebody looks at all of them, code is
// shown more each time.
func TestGrowthIsFound(t *testing.T) {
	f, last, total := plain.NewFamily[string]("Pod"), plain.NewVar[string]("last"), plain.NewVar[int]("total")
	inbox := plain.NewInbox[string]("p")
	longer := func(name string) string { return name + "x" }
	receives := func(handle func(*plain.World, string)) plain.Model {
		return plain.Model{Name: "grows", Initial: []core.Initial{plain.Start(last.Is("none"), total.Is(1))}, Processes: []plain.Process{{
			Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(handle),
		}}}
	}
	for _, test := range []struct {
		name  string
		model plain.Model
		want  string
	}{
		{"an object for each message", receives(func(w *plain.World, name string) {
			f.Named(name).Set(w, "here")
			inbox.Send(w, longer(name))
		}), "laps of 1 steps by [p] add [{Pod 1 0  0}], the last Pod axxxx, shown false"},
		{"two objects in turn", receives(func(w *plain.World, name string) {
			if strings.HasSuffix(name, "y") {
				f.Named(name).Set(w, "here")
				inbox.Send(w, strings.TrimSuffix(name, "y")+"x")
				return
			}
			last.Set(w, name)
			inbox.Send(w, name+"y")
		}), "laps of 2 steps by [p] add [{Pod 1 0  0}], the last Pod axxxxy, shown false"},
		{"all are looked at", receives(func(w *plain.World, name string) {
			_ = f.All(w)
			f.Named(name).Set(w, "here")
			inbox.Send(w, longer(name))
		}), "laps of 1 steps by [p] add [{Pod 1 0  0}], the last Pod axxxx, shown true"},
		{"another value each time", receives(func(w *plain.World, name string) {
			last.Set(w, name)
			inbox.Send(w, longer(name))
		}), fmt.Sprintf("laps of 1 steps by [p] add [{%s 0 0 value 0}], the last %s, shown false", last.Key().Kind, last.Key())},
		{"a number that is another one each time", receives(func(w *plain.World, name string) {
			total.Set(w, (total.Get(w)*3+1)%1_000_003)
			inbox.Send(w, name)
		}), fmt.Sprintf("laps of 1 steps by [p] add [{%s 0 0 value 0}], the last %s, shown true", total.Key().Kind, total.Key())},
		{"values that come again", receives(func(w *plain.World, name string) {
			last.Set(w, strconv.Itoa(len(name)%3))
			inbox.Send(w, longer(name))
		}), "nothing"},
	} {
		system, err := test.model.System()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Logger: hclog.NewNullLogger(), Memo: NewMemo()}
		ctx, end := context.WithCancel(t.Context())
		g := &growth{context: ctx, system: system, options: o}
		got := "nothing"
		if found := g.look(); found != nil {
			got = fmt.Sprintf("laps of %d steps by %v add %v, the last %s, shown %t", found.Lap, found.Controllers(), found.Adds, found.Last, found.Shown)
			if longest := found.Space.States() > longestProbe; longest != found.Shown {
				t.Errorf("%s: %d states are looked at", test.name, found.Space.States())
			}
			if found.Laps < alike || found != g.look() || found.Space.executor.Listener != nil {
				t.Errorf("%s: there are %d laps", test.name, found.Laps)
			}
			// It can be told although the search has ended.
			end()
			trace, err := found.Space.Trace(t.Context(), found.Run[0].From, found.Run, nil)
			if err != nil || len(trace.Steps) != len(found.Run) || found.Space.executor.Listener != nil {
				t.Errorf("%s: %d steps of %d are told, and the error is %v", test.name, len(trace.Steps), len(found.Run), err)
			}
		}
		if got != test.want || g.unexpected != nil || !g.looked {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
		end()
	}
}

// TestGrowthIsTold has a search that is not complete tell of growth, and one that is complete, or was interrupted, not
// look for it.
func TestGrowthIsTold(t *testing.T) {
	f, inbox := plain.NewFamily[string]("Pod"), plain.NewInbox[string]("p")
	grows := grid(3, 3) // so that there are many states before there are many objects
	grows.Processes = append(grows.Processes, plain.Process{
		Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(func(w *plain.World, name string) {
			f.Named(name).Set(w, "here")
			inbox.Send(w, name+"x")
		}),
	})
	if g := searchModel(t, grows, Options{Bounds: Bounds{States: 30}}).Growth(); g == nil || g.Lap != 1 {
		t.Errorf("%+v is reported of what grows", g)
	}
	space := searchModel(t, grows, Options{})
	if space.Growth() == nil || space.States() > 2*suspect || len(space.Reasons()) != 1 || !strings.Contains(space.Reasons()[0], "grows without end") {
		t.Errorf("of what grows without a bound, %d states are searched: %v", space.States(), space.Reasons())
	}
	if g := searchModel(t, grid(2, 1), Options{}).Growth(); g != nil {
		t.Errorf("%+v is reported of a grid", g)
	}
	if g := searchModel(t, grid(9, 9), Options{Bounds: Bounds{States: 30}}).Growth(); g != nil {
		t.Errorf("%+v is reported of a part of a grid", g)
	}
}

// TestGrowthOfSeveralKinds has each message make objects of several kinds, which are told in order, or values of one
// object, or add to a number.
func TestGrowthOfSeveralKinds(t *testing.T) {
	inbox := plain.NewInbox[string]("p")
	kinds := []core.Kind{"Cron", "Job", "Node", "Pod"}
	list, total := plain.NewVar[[]string]("list"), plain.NewVar[int]("total")
	for _, test := range []struct {
		name   string
		handle func(*plain.World, string)
		want   string
	}{
		{"objects", func(w *plain.World, name string) {
			for _, kind := range kinds {
				plain.NewFamily[string](kind).Named(name).Set(w, "here")
			}
			inbox.Send(w, name+"x")
		}, "[{Cron 1 0  0} {Job 1 0  0} {Node 1 0  0} {Pod 1 0  0}], the last Cron axxxx"},
		{"values", func(w *plain.World, name string) {
			list.Set(w, append(slices.Clone(list.Get(w)), name))
			inbox.Send(w, name+"x")
		}, fmt.Sprintf("[{%s 0 1  0}], the last %s", list.Key().Kind, list.Key())},
		{"a number", func(w *plain.World, name string) {
			total.Set(w, total.Get(w)+2)
			inbox.Send(w, name)
		}, fmt.Sprintf("[{%s 0 0 value 2}], the last %s", total.Key().Kind, total.Key())},
	} {
		system, err := plain.Model{Name: "grows", Initial: []core.Initial{plain.Start(list.Is(nil), total.Is(0))}, Processes: []plain.Process{{
			Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(test.handle),
		}}}.System()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Logger: hclog.NewNullLogger(), Memo: NewMemo()}
		g := &growth{context: t.Context(), system: system, options: o}
		if found := g.look(); found == nil || fmt.Sprintf("%v, the last %s", found.Adds, found.Last) != test.want {
			t.Errorf("%s: %+v is found, want %s", test.name, found, test.want)
		}
	}
}

// TestGrowthFromAnyStart looks for growth from each of several starts, of which the first goes on to an end.
func TestGrowthFromAnyStart(t *testing.T) {
	f, inbox, ends := plain.NewFamily[string]("Pod"), plain.NewInbox[string]("p"), plain.NewVar[bool]("ends")
	_, l, o := begun(t, plain.Model{Name: "grows", Initial: []core.Initial{plain.Start(ends.Is(true)), plain.Start(ends.Is(false))}, Processes: []plain.Process{{
		Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(func(w *plain.World, name string) {
			if !ends.Get(w) {
				f.Named(name).Set(w, "here")
				inbox.Send(w, name+"x")
			}
		}),
	}}}, Options{})
	o.Order = inTurn
	space, err := explore(t.Context(), l.Machine, l, &reduction.Reductions{}, o, time.Now(), 0)
	if err != nil || space.growing == nil || space.growing.Run[0].From != space.initial[1] {
		t.Errorf("%+v is found: %v", space.growing, err)
	}
}

// TestGrowthWithoutCrashes looks for growth on a run on which nobody crashes, although it may happen.
func TestGrowthWithoutCrashes(t *testing.T) {
	f := plain.NewFamily[string]("Pod")
	system, err := plain.Model{Name: "grows", Initial: []core.Initial{plain.Start()}, Controllers: []plain.Controller{{
		Name: "c", Requests: []core.Request{"go"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			f.At(len(f.All(w))).Set(w, "here")
			return core.Result{Requeue: true}
		},
	}}}.System()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 1000}, Logger: hclog.NewNullLogger(), Memo: NewMemo(), Conditions: Conditions{Crashes: 1}}
	found := (&growth{context: t.Context(), system: system, options: o}).look()
	if found == nil || !found.Shown || slices.ContainsFunc(found.Run, func(e core.Edge) bool { return e.Step.Kind != core.Reconcile }) {
		t.Errorf("%+v is found", found)
	}
}

// TestWhenGrowthIsLookedFor looks for growth from a number of states, or of runs, on. A search has no end if controllers are not
// shown more and more, is given up some time if they are, and has to be begun again if something was met that was not known.
func TestWhenGrowthIsLookedFor(t *testing.T) {
	again := errors.New("begin again")
	for _, test := range []struct {
		states, runs int
		found        *Growth
		err          error
		grows        bool
	}{
		{suspect - 1, suspectRuns - 1, &Growth{}, again, false}, {suspect, 0, &Growth{}, nil, true}, {1, suspectRuns, &Growth{}, nil, true},
		{suspect, 0, &Growth{Shown: true}, nil, false}, {suspect, 0, nil, nil, false}, {suspect, 0, nil, again, false}, {1, suspectRuns, nil, again, false},
	} {
		looks := test.states >= suspect || test.runs >= suspectRuns
		full := store.NewFull()
		for n := range test.states {
			full.Insert(uint64(n)*0x9e3779b97f4a7c15, []byte{byte(n), byte(n >> 8), 1}, store.NoParent)
		}
		s := &search{Space: &Space{store: full, learner: &transition.Learner{Executed: test.runs}}}
		s.options.growth = &growth{looked: true, found: test.found, unexpected: test.err}
		grows, err := s.grows()
		if (grows != "") != test.grows || looks && !errors.Is(err, test.err) || !looks && err != nil {
			t.Errorf("%+v: it grows: %q; %v", test, grows, err)
		}
		// One that is to end some time anyway ends sooner, unless somebody says how many states there may be.
		s.options.growth.since = time.Now().Add(-2 * patience)
		for _, bounds := range []Bounds{{Time: time.Hour}, {}, {Time: time.Hour, States: 1 << 20}} {
			s.options.Bounds = bounds
			shown := looks && test.found != nil && test.found.Shown
			if grows, _ := s.grows(); shown && (grows != "") != (bounds == Bounds{Time: time.Hour}) {
				t.Errorf("%+v, within %+v: it grows: %q", test, bounds, grows)
			}
		}
	}
}

// TestProbesEnd ends a run that is looked at for growth where nothing more can be stored, and where the search has
// ended.
func TestProbesEnd(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		states int
		err    error
		want   string
	}{
		{"no room", t.Context(), 1, errFull, "[the search reached the limit of 1 states: raise --max-states (Options.MaxStates), or make the system smaller]"},
		{"no time", ended, 0, context.Canceled, "[the search was interrupted]"},
		{"to the end", t.Context(), 0, nil, "[]"},
	} {
		from := restored(searchModel(t, ways{0: {1}, 1: {2}, 2: {}}.model(0), Options{}))
		from.initial = []core.StateID{0}
		s := &search{Space: from.Space, context: test.ctx, options: Options{Bounds: Bounds{States: test.states}}, frontier: &spans{}, batch: newBatch(0)}
		p := &probe{search: s, since: map[int]int{}, counts: map[int]map[counted]int{}}
		if err := p.cross(0); !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%s: the steps of a state end with %v", test.name, err)
		}
		if err := p.follow(0); !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%s: a run ends with %v", test.name, err)
		}
		if err := s.probe(); err != nil || fmt.Sprint(s.reasons) != test.want {
			t.Errorf("%s: the reasons are %v: %v", test.name, s.reasons, err)
		}
	}
	// Steps that cannot be taken again tell nothing.
	none := func(int) int { return 0 }
	if lapping(t, "pppp", none, none).same(1) {
		t.Error("steps that cannot be taken do the same in each lap")
	}
}
