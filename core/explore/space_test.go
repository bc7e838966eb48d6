package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// mirroring is a model of a controller that copies a variable and looks at the copy again later, of a process that
// changes the variable once and sends a message of that, and of a user who may do the same.
func mirroring() plain.Model {
	from, to := plain.NewVar[int]("from"), plain.NewVar[int]("to")
	inbox := plain.NewInbox[string]("log")
	return plain.Model{
		Name:    "mirror",
		Initial: []core.Initial{plain.Start(from.Is(0), to.Is(0))},
		Controllers: []plain.Controller{{
			Name: "mirror", Watches: []plain.Watch{{Kind: from.Key().Kind, Map: func(key core.Key) []core.Request {
				if key.Name == "from" {
					return []core.Request{"copy"}
				}
				return nil
			}}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				to.Set(w, from.Get(w))
				return core.Result{}
			},
		}},
		Processes: []plain.Process{
			{Name: "source", Actions: []plain.Action{{Name: "change", Do: func(w *plain.World) {
				w.Require(from.Get(w) == 0)
				from.Set(w, 1)
				inbox.Send(w, "changed")
			}}}},
			{Name: "log", Receive: inbox.Receive(func(*plain.World, string) {})},
		},
	}
}

// TestReading asks a space about a state. At the start the controller has yet to copy; the process may change the
// variable, and sends a message then.
func TestReading(t *testing.T) {
	space := searchModel(t, mirroring(), Options{})
	asked := func(items []core.Item) string { return fmt.Sprint(items) }
	if got := asked(space.Items()); got != "[mirror(copy)]" {
		t.Errorf("the items are %s", got)
	}
	changed := core.StateID(0)
	for _, e := range space.Edges(0) {
		if e.Step.Item.Strategy == "source" {
			changed = e.To
		}
	}
	for id, name := range map[core.StateID]string{0: "at the start", changed: "behind the change"} {
		if got := asked(space.Relisted(id)); got != "[mirror(copy)]" {
			t.Errorf("%s, a restart enqueues %s", name, got)
		}
	}
	copies := core.Item{Strategy: "mirror", Request: "copy"}
	wrote := func(effects []core.Effect) string {
		text := ""
		for _, e := range effects {
			for _, change := range e.Changes {
				text += change.Key.Name + " "
			}
			text += ";"
		}
		return text
	}
	if got := wrote(space.Try(0, copies)); got != ";" {
		t.Errorf("at the start, to copy changes %s", got)
	}
	if got := wrote(space.Try(changed, copies)); got != "to ;" {
		t.Errorf("behind the change, to copy changes %s", got)
	}
	if got := space.Try(0, core.Item{Strategy: "nobody"}); got != nil {
		t.Errorf("nobody does %v", got)
	}
	for _, e := range slices.Clone(space.Edges(0)) {
		if got, want := wrote([]core.Effect{space.Effect(e)}), map[string]string{"source": "from ;", "mirror": ";"}[e.Step.Item.Strategy]; got != want {
			t.Errorf("%s changes %s, want %s", e.Step, got, want)
		}
	}
	if got := space.Effect(core.Edge{From: 0, Step: core.Step{Item: core.Item{Strategy: "nobody"}}}); len(got.Changes) > 0 {
		t.Errorf("nobody changes %v", got)
	}
	if len(space.Reasons()) > 0 || len(space.Views()) > 0 || space.Odds() != 0 || !space.Minimal() {
		t.Errorf("there are reasons %v, views %v, odds %g, or runs that are not the shortest", space.Reasons(), space.Views(), space.Odds())
	}
	if searchModel(t, mirroring(), Options{Order: DepthFirst}).Minimal() {
		t.Error("runs of a depth-first search are said to be the shortest")
	}
}

// TestViewsAreListed lists the views that may lag behind.
func TestViewsAreListed(t *testing.T) {
	space := searchModel(t, mirroring(), Options{Conditions: Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}})
	if got := fmt.Sprint(space.Views()); got != "[{mirror  lag(1)}]" {
		t.Errorf("the views are %s", got)
	}
}

// TestReadingEnds has what reads a space end with a context, whether or not it recovers, and go on behind that.
func TestReadingEnds(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	ended, end := context.WithCancel(t.Context())
	end()
	fails := errors.New("it fails")
	reads := func() { space.Edges(0) }
	for _, test := range []struct {
		name string
		ctx  context.Context
		read func() error
		want error
	}{
		{"to the end", t.Context(), func() error { reads(); return nil }, nil},
		{"an error", t.Context(), func() error { reads(); return fails }, fails},
		{"the end", ended, func() error { reads(); return nil }, context.Canceled},
		{"the end, and an error", ended, func() error { reads(); return fails }, context.Canceled},
		{"who asks nothing", ended, func() error { return fails }, fails},
		{"who recovers", ended, func() error {
			func() {
				defer func() { _ = recover() }()
				reads()
			}()
			return fails
		}, context.Canceled},
		{"within another one", t.Context(), func() error {
			if err := space.Within(ended, func() error { reads(); return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("within another context, the error is %v", err)
			}
			reads()
			return nil
		}, nil},
		{"another one within", ended, func() error {
			return space.Within(t.Context(), func() error { reads(); return fails })
		}, fails},
	} {
		if err := space.Within(test.ctx, test.read); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: the error is %v, want %v", test.name, err, test.want)
		}
		if reads(); space.reading != nil || space.ended != nil {
			t.Errorf("%s: the end of a reader stays", test.name)
		}
	}
	defer func() {
		if recover() != "a mistake" {
			t.Error("the panic of a reader is lost")
		}
	}()
	_ = space.Within(t.Context(), func() error { panic("a mistake") })
}

// TestRunsOfProcesses collects what processes did since they were started.
func TestRunsOfProcesses(t *testing.T) {
	web, db := &transition.Process{Name: "web"}, &transition.Process{Name: "db"}
	actor := func(p *transition.Process, user bool) *transition.Actor {
		return &transition.Actor{Process: p, User: user}
	}
	h := &historian{runs: map[*transition.Process][]behavior.Run{}}
	run := func(p *transition.Process, request core.Request, how behavior.Failure) {
		h.Ended(actor(p, request == "user"), behavior.Activation{Request: request}, nil, &behavior.Leaf{Failure: how})
	}
	expect := func(when, want string) {
		t.Helper()
		got := ""
		for _, p := range []*transition.Process{web, db} {
			for _, r := range h.runs[p] {
				got += string(r.Activation.Request)
			}
			got += ";"
		}
		if got != want {
			t.Errorf("%s: the runs are %s, want %s", when, got, want)
		}
	}
	run(web, "a", behavior.None)
	run(db, "b", behavior.Panicked)
	run(db, "user", behavior.None)
	h.took(nil)
	expect("at the start", "a;b;")
	h.took(nil)
	expect("behind a step without runs", "a;b;")
	run(web, "c", behavior.None)
	h.Began()
	run(web, "d", behavior.Deadlock)
	run(web, "e", behavior.None)
	h.took(&transition.Taken{Kind: core.Reconcile, Actor: actor(web, false)})
	expect("what was tried before does not count, nor what never came back", "ae;b;")
	run(db, "f", behavior.None)
	h.took(&transition.Taken{Kind: core.Restart, Actor: actor(db, false)})
	expect("behind a restart", "ae;f;")
	run(web, "g", behavior.CutOff)
	run(web, "h", behavior.None)
	h.took(&transition.Taken{Kind: core.Reconcile, Actor: actor(web, false)})
	expect("behind a crash in the midst", "h;f;")
}

// TestSearchesAreInterrupted says what becomes of a search when it cannot go on, and cuts what was not expanded.
func TestSearchesAreInterrupted(t *testing.T) {
	fails := errors.New("it fails")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		err    error
		want   error
		reason string
	}{
		{"no room", t.Context(), errFull, nil, "[]"},
		{"no time", ended, fmt.Errorf("a step: %w", context.Canceled), nil, "[the search was interrupted]"},
		{"something else", t.Context(), fails, fails, "[]"},
		{"something else at the end", ended, fails, fails, "[]"},
		{"the end of another context", t.Context(), context.Canceled, context.Canceled, "[]"},
	} {
		space := searchModel(t, grid(1, 1), Options{})
		s := &search{Space: space, context: test.ctx, frontier: &queue{}, batch: newBatch(0), ahead: newBatch(0)}
		s.batch.states = []waiting{{id: 0}, {id: 1}}
		s.expanded.Remove(1)
		err := s.interrupted(test.err)
		if !errors.Is(err, test.want) || test.want == nil && err != nil || fmt.Sprint(s.reasons) != test.reason || s.cutShort != (test.want == nil) {
			t.Errorf("%s: the error is %v, and the reasons are %v", test.name, err, s.reasons)
		}
		if cut := !s.cut.Empty(); cut != (test.want == nil) || s.cut.Has(0) || s.cut.Has(1) != cut {
			t.Errorf("%s: states are cut: %t", test.name, cut)
		}
	}
	// What waits is cut, and what is ahead, if anything is.
	for _, overlapping := range []bool{true, false} {
		space := searchModel(t, grid(1, 1), Options{})
		s := &search{Space: space, frontier: &queue{}, batch: newBatch(0), ahead: newBatch(0), overlapping: overlapping}
		for id := range core.StateID(3) {
			s.expanded.Remove(id)
		}
		s.ahead.states = []waiting{{id: 2}}
		s.frontier.push(waiting{id: 1})
		s.frontier.push(waiting{id: 3})
		if s.cutRest(); s.cut.Has(0) || !s.cut.Has(1) || s.cut.Has(2) != overlapping || s.cut.Has(3) || s.frontier.len() > 0 {
			t.Errorf("with states ahead: %t, these are cut: %v", overlapping, slices.Collect(s.cut.All()))
		}
	}
}

// TestSleepSetsAreNumbered gives equal sets equal numbers.
func TestSleepSetsAreNumbered(t *testing.T) {
	s := sleeps{needed: true}
	for i, agents := range [][]int{{1, 2}, {1, 2}, nil, {2}, {300}, {2}, {1, 2}} {
		s.add(agents)
		if got := s.at(core.StateID(i)); !slices.Equal(got, agents) {
			t.Errorf("of %v, %v are asleep", agents, got)
		}
	}
	if len(s.sets) != 4 {
		t.Errorf("there are %d sets, want 4", len(s.sets))
	}
}

// TestAllAreWoken wakes agents in states: those that were expanded are expanded once more with who slept there, from
// their depth on.
func TestAllAreWoken(t *testing.T) {
	space := searchModel(t, grid(1, 1), Options{})
	s := &search{Space: space, frontier: &queue{}}
	s.sleeps.needed = true
	for _, asleep := range [][]int{{1}, nil, {0, 1}, {0}} {
		s.sleeps.add(asleep)
	}
	s.expanded.Remove(2)
	s.wakeAll()
	for id := range core.StateID(4) {
		want := map[core.StateID][]int{0: {1}, 3: {0}}[id]
		if woken := s.sleeps.takeWoken(id); len(s.sleeps.at(id)) > 0 || !slices.Equal(woken, want) {
			t.Errorf("in state %d %v sleep, and %v are woken, want %v", id, s.sleeps.at(id), woken, want)
		}
	}
	if got := s.frontier.(*queue).waiting; !slices.Equal(got, []waiting{{id: 0, depth: 0}, {id: 3, depth: 2}}) || !s.sleeps.disturbed {
		t.Errorf("%v are expanded once more", got)
	}
}

// TestPlacesOfSpans has the states of a span follow each other.
func TestPlacesOfSpans(t *testing.T) {
	s := spans{}
	want := []waiting{{id: 5, depth: 2}, {id: 6, depth: 2}, {id: 7, depth: 2}, {id: 9, depth: 2}}
	for _, w := range want {
		s.push(w)
	}
	if len(s.spans) != 2 || s.len() != 4 {
		t.Errorf("%d states are in %d spans", s.len(), len(s.spans))
	}
	if got := s.take(make([]waiting, 0, 9)); !slices.Equal(got, want) || s.len() != 0 {
		t.Errorf("%v are taken, want %v", got, want)
	}
}

// TestSemaphores has two goroutines call each other again and again.
func TestSemaphores(t *testing.T) {
	a, b := newSemaphore(), newSemaphore()
	const times = 200
	go func() {
		for i := range uint64(times) {
			a.wait(i + 1)
			if i%50 == 0 {
				time.Sleep(time.Millisecond) // so that the other one blocks
			}
			b.signal()
		}
	}()
	for i := range uint64(times) {
		a.signal()
		if b.wait(i + 1); b.signals.Load() != i+1 {
			t.Fatalf("behind %d calls there are %d signals", i+1, b.signals.Load())
		}
	}
}
