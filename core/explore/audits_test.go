package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// feeding is a controller that writes what its event handlers got last, which it keeps where that cannot be seen. Each
// step is one of a fresh instance, so that only one which lives through a whole run shows it.
func feeding(name string) hand {
	return hand{core.Description{Name: name, Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		last := "nothing"
		return hired{
			handle: func(_ asks, e core.Event) []core.Request {
				if e.Key.Name == "a" && e.New != nil {
					last = e.New.Canonical()
				}
				return []core.Request{"go"}
			},
			reconcile: func(do asks, _ core.Request) core.Result {
				do("put b %s", last)
				return core.Result{}
			},
		}
	}}
}

// settles is a controller that writes a word once.
func settles(name, note, text string) hand {
	return goes(name, always(func(do asks, _ core.Request) core.Result {
		do("put %s %s", note, text)
		return core.Result{}
	}))
}

// TestHiddenMemoryIsFound searches a system of which only whole runs show that a controller keeps something: that is
// found if the search is complete, whatever its order, and whoever else there is.
func TestHiddenMemoryIsFound(t *testing.T) {
	for _, test := range []struct {
		name    string
		hands   []hand
		options Options
		want    bool
	}{
		{"nothing is kept", []hand{settles("sets", "a", "1")}, Options{}, false},
		{"it is kept", []hand{feeding("feeds")}, Options{}, true},
		{"others come before", []hand{settles("sets", "c", "1"), feeding("feeds")}, Options{}, true},
		{"others come behind", []hand{feeding("feeds"), settles("sets", "c", "1")}, Options{}, true},
		{"depth-first", []hand{feeding("feeds")}, Options{Order: DepthFirst}, true},
		{"by walks that come everywhere", []hand{feeding("feeds")}, Options{Order: RandomWalks}, true},
		{"not complete", []hand{feeding("feeds"), settles("sets", "c", "1")}, Options{Bounds: Bounds{States: 3}}, false},
	} {
		space := searchSlate(t, slateWith([]string{"a 0"}, test.hands...), test.options)
		all := space.Incidents()
		if found := len(all) > 0; found != test.want || found && (len(all) > 1 || all[0].Kind != core.Nondeterministic || all[0].Cause != core.Memory || all[0].Strategy != "feeds") {
			t.Errorf("%s: the incidents are %+v; the reasons are %v", test.name, all, space.Reasons())
		}
	}
}

// TestAuditsAreCounted goes through histories that lead on from sixteen starts, by eight steps each. Of a hundred and
// forty-four states the half is looked at, and thirty-two more: the steps from thirteen starts.
func TestAuditsAreCounted(t *testing.T) {
	const starts, length = 16, 8
	runs := 0
	at := plain.NewVar[[2]int]("at")
	model := plain.Model{Name: "comb", Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "go on", Do: func(w *plain.World) {
		runs++
		now := at.Get(w)
		w.Require(now[1] < length)
		at.Set(w, [2]int{now[0], now[1] + 1})
	}}}}}}
	for start := range starts {
		model.Initial = append(model.Initial, plain.Start(at.Is([2]int{start})))
	}
	_, l, o := begun(t, model, Options{})
	space, err := explore(t.Context(), l.Machine, l, &reduction.Reductions{}, o, time.Now(), 0)
	if err != nil || space.States() != starts*(length+1) {
		t.Fatal(space, err)
	}
	runs, space.learner.Where = 0, transition.Provenance{}
	if err := space.reliveSome(3); err != nil || runs != 13*length {
		t.Errorf("code is run %d times, want %d: %v", runs, 13*length, err)
	}
	if got, want := space.learner.Where.State, space.someEnds(3)[12]; got != want {
		t.Errorf("what is found in the last history is put down to state %d, want %d", got, want)
	}
}

// TestAuditsBelongToSearches has an audit be a part of the search: what it finds out may have that be begun again, and
// it ends with its context, which is a reason.
func TestAuditsBelongToSearches(t *testing.T) {
	var space *Space
	var searching []bool
	model := turning(3, func(*plain.World) {
		if space != nil {
			searching = append(searching, space.learner.Searching)
		}
	})
	found := firstSearch(t, t.Context(), model, Options{})
	found.learner.Searching = false
	ended, end := context.WithCancel(t.Context())
	end()
	space = found
	if err := space.audit(ended, Options{}); err != nil || len(searching) > 0 || fmt.Sprint(space.Reasons()) != "[the search was interrupted]" {
		t.Errorf("behind the end, code is run %d times, and the reasons are %v: %v", len(searching), space.Reasons(), err)
	}
	space.reasons = nil
	if err := space.audit(t.Context(), Options{}); err != nil || len(searching) == 0 || slices.Contains(searching, false) || space.learner.Searching || len(space.Reasons()) > 0 {
		t.Errorf("code is run in a search: %v; the reasons are %v: %v", searching, space.Reasons(), err)
	}
}

// TestShorterWaysOfWalks has a walk come to a state on a way of three steps, and another one on a way of two: that is
// the run to it.
func TestShorterWaysOfWalks(t *testing.T) {
	for seed := range int64(8) {
		space, state, _ := ways{0: {1, 4}, 1: {2}, 2: {3}, 3: {}, 4: {3}}.search(t, Options{Order: RandomWalks, Seed: seed, Bounds: Bounds{Walks: 60}}, 0)
		if run := space.ancestry(state[3]); len(run) != 2 {
			t.Errorf("seed %d: the run has %d steps: %v", seed, len(run), run)
		}
	}
}

// TestEndsAreSpread takes states from which no other one was first reached: all if there are few, and else one of each
// stretch, which the seed chooses.
func TestEndsAreSpread(t *testing.T) {
	star := func(ends int) *Space {
		full := store.NewFull()
		for n := range ends + 1 {
			parent := core.StateID(0)
			if n == 0 {
				parent = store.NoParent
			}
			full.Insert(uint64(n)*0x9e3779b97f4a7c15, []byte{byte(n), byte(n >> 8), 1}, parent)
		}
		return &Space{store: full}
	}
	for _, ends := range []int{1, 5, mostHistories, mostHistories + 1, 3*mostHistories + 7} {
		var all [][]core.StateID
		for _, seed := range []uint64{0, 1, 2} {
			got := star(ends).someEnds(seed)
			if len(got) != min(ends, mostHistories) {
				t.Fatalf("of %d ends %d are taken", ends, len(got))
			}
			for i, id := range got {
				from, to := i*ends/len(got), (i+1)*ends/len(got) // the first end is state 1
				if int(id) <= from || int(id) > to {
					t.Errorf("of %d ends number %d is state %d, want one of the states from %d to %d", ends, i, id, from+1, to)
				}
			}
			all = append(all, got)
		}
		if same := slices.Equal(all[0], all[1]); same != (ends <= mostHistories) || ends > 2*mostHistories && slices.Equal(all[1], all[2]) {
			t.Errorf("of %d ends, the same are taken with another seed: %t", ends, same)
		}
	}
	if got := (&Space{store: store.NewFull()}).someEnds(0); len(got) > 0 {
		t.Errorf("where there are no states, %v are taken", got)
	}
	// States on the way to others are no ends.
	space, state, _ := ways{0: {1, 2}, 1: {3}, 2: {3}, 3: {}}.search(t, Options{}, 0)
	if got := space.someEnds(0); !slices.Equal(got, []core.StateID{state[2], state[3]}) {
		t.Errorf("the ends are %v", got)
	}
}

// TestLongHistoriesAreCut looks at the first five hundred steps of a run that is longer.
func TestLongHistoriesAreCut(t *testing.T) {
	full := store.NewFull()
	for n := range 600 {
		parent := core.StateID(n) - 1
		if n == 0 {
			parent = store.NoParent
		}
		full.Insert(uint64(n)*0x9e3779b97f4a7c15, []byte{byte(n), byte(n >> 8), 1}, parent)
	}
	space := &Space{store: full}
	for id, want := range map[core.StateID]core.StateID{0: 0, 10: 10, 500: 500, 501: 500, 599: 500} {
		if got := space.within(id); got != want {
			t.Errorf("on the way to state %d, the last is %d, want %d", id, got, want)
		}
	}
}

// ranOn counts the runs of each process along a run of the system.
func ranOn(t *testing.T, space *Space, steps []concreteStep, start []byte, after *core.Step) (string, error) {
	t.Helper()
	histories, err := space.history(steps, start, after)
	text := ""
	for _, p := range space.machine.Processes {
		text += fmt.Sprint(p.Name, " ", len(histories[p]), " ")
	}
	return text, err
}

// TestHistoriesEndWhereRunsDo lists what processes did on runs that do not go on as they should: a step that is not
// possible ends them, and so does one that cannot be taken to its end. A step behind the run is one of any kind; one
// that starts a process anew leaves it what it does then.
func TestHistoriesEndWhereRunsDo(t *testing.T) {
	space := searchModel(t, mirroring(), Options{Conditions: Conditions{Crashes: 1, Staleness: []Staleness{{Rule: view.Lag(1)}}}})
	space.starts = nil // nobody has asked yet
	copies := stepOf(t, space, 0, "mirror")
	source := stepOf(t, space, 0, "source")
	concrete := func(run ...core.Edge) []concreteStep {
		steps, err := space.concretize(0, run)
		if err != nil {
			t.Fatal(err)
		}
		return steps
	}
	impossible := concrete(source)[0]
	impossible.step = core.Step{Item: core.Item{Strategy: "source", Request: "nothing"}}
	var restarts, delivers *core.Step
	for _, e := range slices.Clone(space.Edges(source.To)) {
		switch {
		case e.Step.Kind == core.Restart && e.Step.Item.Strategy == "mirror":
			restarts = &e.Step
		case e.Step.Kind == core.Deliver && e.Step.Item.Strategy == "mirror":
			delivers = &e.Step
		}
	}
	if restarts == nil || delivers == nil {
		t.Fatalf("the steps are %v", space.Edges(source.To))
	}
	for _, test := range []struct {
		name  string
		steps []concreteStep
		after *core.Step
		want  string
	}{
		{"nothing", nil, nil, "source 0 log 0 mirror 2 "},
		{"a step", concrete(copies), nil, "source 0 log 0 mirror 3 "},
		{"a step that is not possible", []concreteStep{impossible, concrete(source)[0]}, nil, "source 0 log 0 mirror 2 "},
		{"a delivery behind a run", concrete(source), delivers, "source 1 log 0 mirror 3 "},
		{"a restart behind a run", concrete(source), restarts, "source 1 log 0 mirror 2 "},
		{"a step that is blocked behind a run", concrete(source), &source.Step, "source 1 log 0 mirror 2 "},
	} {
		if got, err := ranOn(t, space, test.steps, space.row(0), test.after); err != nil || got != test.want {
			t.Errorf("%s: the processes did %s, want %s: %v", test.name, got, test.want, err)
		}
	}
	breaks := searchSlate(t, slateWith([]string{"a 0"}, settles("sets", "b", "1"), goes("breaks", always(func(do asks, _ core.Request) core.Result {
		do("break")
		return core.Result{}
	}))), Options{})
	sets := stepOf(t, breaks, 0, "sets")
	broken := concreteStep{row: slices.Clone(breaks.row(0)), step: core.Step{Item: core.Item{Strategy: "breaks", Request: "go"}}}
	good := concreteStep{row: slices.Clone(breaks.row(0)), step: sets.Step, to: slices.Clone(breaks.row(sets.To))}
	if got, err := ranOn(t, breaks, []concreteStep{broken, good}, breaks.row(0), nil); err == nil || got != "sets 0 breaks 0 " {
		t.Errorf("where a step cannot be taken to its end, the processes did %s: %v", got, err)
	}
	if got, err := ranOn(t, breaks, []concreteStep{good}, breaks.row(0), &broken.step); err != nil || got != "sets 1 breaks 0 " {
		t.Errorf("where the step behind a run cannot be taken to its end, the processes did %s: %v", got, err)
	}
}

// TestStartsThatWereStored tells what the system starts with in a state, if that could be stored.
func TestStartsThatWereStored(t *testing.T) {
	system := slateWith([]string{"a 0"}, hand{core.Description{Name: "watches", Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		return hired{
			handle: func(do asks, e core.Event) []core.Request {
				if e.New.Canonical() == "0" {
					do("break")
				}
				return []core.Request{"go"}
			},
			reconcile: func(do asks, _ core.Request) core.Result { return core.Result{} },
		}
	}})
	for _, text := range []string{"1", "2", "1"} {
		system.Initial = append(system.Initial, core.Initial{Objects: []core.Object{{Key: wordKey("a"), Content: word(text)}}})
	}
	space := searchSlate(t, system, Options{})
	if got := fmt.Sprint(space.Reasons()); len(space.Initial()) != 2 || !strings.Contains(got, "an event handler failed on the initial objects") && !strings.Contains(got, "unsupported call: break") {
		t.Fatalf("it starts in %v, and the reasons are %s", space.Initial(), got)
	}
	for i, id := range space.Initial() {
		if got := space.starting(space.row(id)); got != &system.Initial[i+1] {
			t.Errorf("state %d is the start with %v", id, got)
		}
	}
	if got := space.starting(space.row(space.Quiescent()[0])); got != nil || len(space.starts) != 2 {
		t.Errorf("a state that is no start is the one with %v, of %d", got, len(space.starts))
	}
}
