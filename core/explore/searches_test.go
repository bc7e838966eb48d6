package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// firstSearch searches a model once, with a learner that knows nothing and choices by what is learned on the way.
func firstSearch(t *testing.T, ctx context.Context, model plain.Model, o Options) *Space {
	t.Helper()
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	o.Workers, o.Run, o.Memo, o.Logger = 1, slateLimits, NewMemo(), hclog.NewNullLogger()
	o.growth = &growth{context: ctx, system: system, options: o}
	l, err := o.learner(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	r := &reduction.Reductions{}
	if o.Reducer != nil {
		r.Footprints = reduction.NewFootprints()
		r.Footprints.Record(l.Machine)
		r.MakeChoosers(l.Machine, o.Reducer)
	}
	space, err := explore(ctx, l.Machine, l, r, o, time.Now(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// TestInterruptedSearchesCut has a search end anywhere: a state is cut unless all of its steps were taken.
func TestInterruptedSearchesCut(t *testing.T) {
	for looks := range 45 {
		space := firstSearch(t, &ending{Context: t.Context(), looks: looks}, grid(2, 2), Options{})
		for id := range core.StateID(space.States()) {
			if want := stepsOfGrid(space.State(id), 2, 2); !space.Cut(id) && len(space.Edges(id)) != want {
				t.Errorf("behind %d looks: of state %d, which is not cut, there are %d steps, want %d", looks, id, len(space.Edges(id)), want)
			}
		}
	}
}

// TestWhoIsLeftOutIsNoted has the searching goroutine leave out an agent: that is noted of the states where two could
// do something, and of no others. At the bound on depth, and where there is nothing to do, no state is expanded in full
// for that.
func TestWhoIsLeftOutIsNoted(t *testing.T) {
	for depth, want := range map[int][]core.StateID{0: {0, 1}, 1: {0}} {
		space := firstSearch(t, t.Context(), grid(2, 2), Options{Reducer: oneAtATime{}, Bounds: Bounds{Depth: depth}})
		if got := slices.Collect(space.partial.All()); !slices.Equal(got, want) || !space.full.Empty() || !space.level.Empty() {
			t.Errorf("to the depth %d agents are left out in the states %v, want %v; all are followed in %v", depth, got, want, slices.Collect(space.full.All()))
		}
	}
	if space := firstSearch(t, t.Context(), grid(2, 1), Options{}); !space.full.Empty() || !space.partial.Empty() {
		t.Error("where nobody is left out, states are expanded in full")
	}
	space := &Space{}
	space.leftOut(3, false)
	space.leftOut(5, true)
	if got := fmt.Sprint(slices.Collect(space.partial.All()), slices.Collect(space.level.All()), space.IdleFirst()); got != "[3 5] [5] 1" {
		t.Errorf("agents are left out in the states %s", got)
	}
}

// TestWhoSleptIsNoted finishes states in which agents are asleep: those who still are stay so, those who were woken
// meanwhile are taken care of, and a state that is expanded once more counts its steps, but where depths matter. States
// that are cut, or in which somebody sleeps, are not terminal.
func TestWhoSleptIsNoted(t *testing.T) {
	for _, test := range []struct {
		name                     string
		before, asleep           []int
		still, woken             []int
		expanded, depths, cut    bool
		steps                    int
		transitions, terminal, n int
	}{
		{"nobody sleeps", nil, nil, nil, nil, false, false, false, 2, 2, 0, 1},
		{"nothing can be done", nil, nil, nil, nil, false, false, false, 0, 0, 1, 1},
		{"it is cut", nil, nil, nil, nil, false, false, true, 0, 0, 0, 1},
		{"all sleep", []int{0, 1}, []int{0, 1}, []int{0, 1}, nil, false, false, false, 0, 0, 0, 1},
		{"some are not followed", []int{0, 1}, []int{1}, []int{1}, nil, false, false, false, 2, 2, 0, 1},
		{"none is followed", []int{0, 1}, nil, nil, nil, false, false, false, 2, 2, 0, 1},
		{"one was woken", []int{1}, []int{0, 1}, []int{1}, []int{0}, false, false, false, 2, 2, 0, 1},
		{"all were woken", nil, []int{0, 1}, nil, []int{0, 1}, false, false, false, 2, 2, 0, 1},
		{"once more", []int{1}, nil, []int{1}, nil, true, false, false, 2, 2, 0, 0},
		{"once more, less deep", nil, nil, nil, nil, true, true, false, 2, 0, 0, 0},
	} {
		s := &search{Space: &Space{}, frontier: &queue{}}
		s.sleeps.needed, s.depths.needed = true, test.depths
		for range 4 {
			s.sleeps.add(test.before)
		}
		if test.expanded {
			s.expanded.Add(3)
		}
		if test.cut {
			s.markCut(3)
		}
		s.finish(3, 2, counts{steps: test.steps, asleep: test.asleep, quiescent: true})
		if !slices.Equal(s.sleeps.at(3), test.still) || !slices.Equal(s.sleeps.woken[3], test.woken) || (s.frontier.len() > 0) != (test.woken != nil) {
			t.Errorf("%s: %v sleep, and %v are woken", test.name, s.sleeps.at(3), s.sleeps.woken[3])
		}
		if s.Stats.Transitions != test.transitions || s.Stats.Terminal != test.terminal || len(s.quiescent) != test.n || !s.expanded.Has(3) {
			t.Errorf("%s: %+v are counted, and %d quiescent states", test.name, s.Stats, len(s.quiescent))
		}
	}
	// Who wakes up one after the other is taken care of together, in order.
	s := &search{Space: &Space{}, frontier: &queue{}}
	s.sleeps.needed = true
	s.sleeps.add([]int{0, 1, 2, 3})
	s.expanded.Add(0)
	s.wake(0, 7, []int{1, 2, 3})
	s.wake(0, 7, []int{1})
	if got := s.frontier.(*queue).waiting; !slices.Equal(got, []waiting{{id: 0, depth: 7}}) {
		t.Errorf("%v are expanded once more", got)
	}
	if still, woken := s.sleeps.at(0), s.sleeps.takeWoken(0); !slices.Equal(still, []int{1}) || !slices.Equal(woken, []int{0, 2, 3}) || len(s.sleeps.takeWoken(0)) > 0 {
		t.Errorf("%v are woken, and %v sleep", woken, still)
	}
}

// TestBeginningsOfSearches has searches not begin as they should: a condition concerns nothing, or event handlers fail
// on the initial objects, which are then no state.
func TestBeginningsOfSearches(t *testing.T) {
	idle := Options{Workers: 1, Run: slateLimits, Conditions: Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}}
	if space, err := Search(t.Context(), slateWith(nil, settles("sets", "a", "1")), idle); space != nil || err == nil || !strings.Contains(err.Error(), "no cache can be stale") {
		t.Errorf("no cache can be stale: %v", err)
	}
	endless := hand{core.Description{Name: "watches", Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		return hired{handle: func(do asks, e core.Event) []core.Request {
			for do("get a") == "0" {
				continue
			}
			return nil
		}}
	}}
	system := slateWith([]string{"a 0"}, endless)
	system.Initial = append(system.Initial, core.Initial{Objects: []core.Object{{Key: wordKey("a"), Content: word("1")}}})
	space := searchSlate(t, system, Options{})
	if got := fmt.Sprint(space.Reasons()); space.States() != 1 || got != "[an event handler failed on the initial objects, so this initial state was not explored]" {
		t.Errorf("there are %d states, and the reasons are %s", space.States(), got)
	}
	all := space.Incidents()
	if len(all) != 1 || all[0].Kind != core.Runaway || !all[0].AtStart {
		t.Errorf("the incidents are %+v", all)
	}
}

// TestSearchesFindOutAndBeginAgain searches systems of which something is not known: that a controller reads a cache,
// which may be stale, or that one keeps memory. What was wrong before that was found out is told, although the code
// does not do it again.
func TestSearchesFindOutAndBeginAgain(t *testing.T) {
	looks := goes("looks", always(func(do asks, _ core.Request) core.Result {
		do("put b %s", do("look a"))
		return core.Result{}
	}))
	space := searchSlate(t, slateWith([]string{"a 0"}, looks, settles("sets", "a", "1")), Options{Conditions: Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}})
	if got := fmt.Sprint(space.Views()); got != "[{looks word lag(1)}]" {
		t.Errorf("the views are %s", got)
	}
	mended := false
	mends := sticky("mends")
	sticks := mends.hire
	mends.hire = func() hired {
		one := sticks()
		reconcile := one.reconcile
		one.reconcile = func(do asks, r core.Request) core.Result {
			mended = true
			return reconcile(do, r)
		}
		return one
	}
	space = searchSlate(t, slateWith(nil, goes("fails", always(func(do asks, _ core.Request) core.Result {
		if do("put a 1"); !mended {
			panic("it is not mended yet")
		}
		return core.Result{}
	})), mends), Options{})
	all := space.Incidents()
	if len(space.Memory()) != 1 || len(all) != 1 || all[0].Kind != core.Panicked || all[0].Strategy != "fails" {
		t.Errorf("the incidents are %+v", all)
	}
}

// TestRunsAreCounted counts the runs of code in a search and what comes of them: three ways to go on and two not to.
func TestRunsAreCounted(t *testing.T) {
	runs := 0
	model := grid(2, 1)
	for i := range model.Processes {
		act := model.Processes[i].Actions[0].Do
		model.Processes[i].Actions[0].Do = func(w *plain.World) { runs++; act(w) }
	}
	// Runs that are looked at more closely are not counted: how many there are depends on what else the machine does.
	if space := searchModel(t, model, Options{}); space.Stats.Executed == 0 || space.Stats.Executed > runs || space.Stats.Behaviours != 5 {
		t.Errorf("code is run %d times, and these are counted: %+v", runs, space.Stats)
	}
	if got := searchModel(t, grid(1), Options{}).Stats; got.Transitions != 1 || got.FromTree != 0 {
		t.Errorf("of a step that needs code, these are counted: %+v", got)
	}
	memo := NewMemo()
	system, err := grid(1).System()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := (Options{Memo: memo, Run: slateLimits}).learner(t.Context(), system); err != nil || l.Memo != memo {
		t.Errorf("what is known is not used: %v", err)
	}
}

// TestWhatPropertiesSee has note be taken of what properties look at in each state, if somebody may be left out, and
// only then. One that panics sees nothing.
func TestWhatPropertiesSee(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, reducer := range []Reducer{nil, everybody{}} {
		seen := map[int]bool{}
		model := grid(2, 1)
		judge := func(context.Context, core.Graph) ([]core.Violation, error) { return nil, nil }
		model.Properties = []core.Property{
			{Name: "panics", Sees: func(core.State) { panic("it does not see") }, Judge: judge},
			{Name: "blind", Judge: judge},
			{Name: "sees", Sees: func(s core.State) { seen[x.Get(s)] = true }, Judge: judge},
		}
		space := searchModel(t, model, Options{Reducer: reducer})
		if want := map[bool]int{true: 3}[reducer != nil]; space.States() != 6 || len(seen) != want {
			t.Errorf("%d values are seen, want %d", len(seen), want)
		}
	}
	if space := searchModel(t, grid(1, 1), Options{Reducer: oneAtATime{}, Order: DepthFirst, Bounds: Bounds{Depth: 5}}); space.sleeps.needed {
		t.Error("somebody sleeps where depths matter")
	}
}

// doubtful is a content of which a field is not checked.
type doubtful string

func (d doubtful) Canonical() string                      { return string(d) }
func (d doubtful) Fields() any                            { return string(d) }
func (d doubtful) Unchecked() (fields []string, _ string) { return []string{string(d)}, "look" }

// TestWhatIsToldOfSpaces lists files that are read, views of a process once although it is active twice, and unchecked
// fields in the order of their kinds.
func TestWhatIsToldOfSpaces(t *testing.T) {
	space := searchModel(t, mirroring(), Options{Conditions: Conditions{Doubles: []string{"mirror"}, Staleness: []Staleness{{Rule: view.Lag(1)}}}})
	if got := fmt.Sprint(space.Views()); got != "[{mirror  lag(1)}]" {
		t.Errorf("the views are %s", got)
	}
	if space.machine.Files = []string{"a file"}; !slices.Equal(space.Files(), []string{"a file"}) {
		t.Errorf("the files are %q", space.Files())
	}
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	for _, kind := range []core.Kind{"Pod", "Job", "Node", "Cron"} {
		v.Intern(v.Object(core.Key{Kind: kind, Name: "a"}), doubtful("field of "+kind))
	}
	got := (&Space{machine: &transition.Machine{Vocabulary: v}}).Unchecked()
	if want := "[{Cron [field of Cron] look} {Job [field of Job] look} {Node [field of Node] look} {Pod [field of Pod] look}]"; fmt.Sprint(got) != want {
		t.Errorf("these are not checked: %v, want %s", got, want)
	}
}
