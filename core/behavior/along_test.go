package behavior_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// dice is a source of random values that notes what it is told. Code draws by a function.
type dice struct {
	unknowing
	seeds  []uint64
	before []int
	ended  int
	// released tells that what is drawn is what nobody knows.
	released bool
	open     bool
	drawn    bool
	clumsy   error
}

// throw is a stretch in which values are drawn.
type throw struct {
	of    *dice
	seed  uint64
	drawn bool
}

func (d *dice) Release() { d.released = true }

func (d *dice) Set(seed uint64, before int) core.Draw {
	if d.open {
		d.clumsy = errors.New("values are drawn while others are")
	}
	d.seeds, d.before, d.open, d.drawn, d.released = append(d.seeds, seed), append(d.before, before), true, false, false
	return &throw{of: d, seed: seed}
}

func (t *throw) End() bool {
	t.of.ended++
	t.of.open, t.drawn = false, t.of.drawn
	return t.drawn
}

func (t *throw) Words(texts []string) []string {
	return []string{fmt.Sprintf("%d in %s", t.seed%1000, strings.Join(texts, "|"))}
}

// TestDrawsOfARun has each stretch of a run draw values of its own, which is over before the next begins, and the words
// of those in which something is drawn be known.
func TestDrawsOfARun(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		source := new(dice)
		code := instance(func(r core.EffectRecorder) core.Result {
			source.drawn = true
			r.Do(ask("a"))
			r.Do(ask("b"))
			source.drawn = true
			return core.Result{}
		})
		for _, seed := range []uint64{0, 5} {
			*source = dice{}
			l := limits()
			l.Randomness = source
			s, _, err := behavior.OpenFresh(t.Context(), setUp(func() (core.Instance, error) { return code, nil }), behavior.Manner{Sequential: sequential}, l)
			if err != nil {
				t.Fatal(err)
			}
			a := behavior.Activation{Request: "r", Seed: seed}
			s.Begin(a)
			calls, leaf := play(t, s)
			if seed == 0 {
				if len(source.seeds) > 0 || s.Drew() {
					t.Errorf("a run that is left to chance draws from %v", source.seeds)
				}
				s.Close(leaf)
				continue
			}
			// The second stretch draws nothing, so that the third one has the same seed.
			want := []uint64{a.SeedOf(0), a.SeedOf(1), a.SeedOf(1)}
			if !slices.Equal(source.seeds, want) || !slices.Equal(source.before, []int{0, 0, 1}) || source.ended != 3 || source.open || source.clumsy != nil || !s.Drew() || len(calls) != 2 {
				t.Errorf("it draws from %v, want %v, and %d are over: %v", source.seeds, want, source.ended, source.clumsy)
			}
			words := []string{fmt.Sprint(want[0]%1000, " in ask a|a|ask b|b|kept"), fmt.Sprint(want[2]%1000, " in kept")}
			if got := s.Drawn([]core.Call{ask("a"), ask("b")}, []string{"kept"}); !slices.Equal(got.Words, words) || !slices.Equal(got.Texts, []string{"ask a", "a", "ask b", "b", "kept"}) {
				t.Errorf("the words are %q, want %q, of %q", got.Words, words, got.Texts)
			}
			// A run that is given up draws no more.
			s.Begin(a)
			if _, _, err := s.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.Abort(); source.open || !source.released || source.clumsy != nil {
				t.Errorf("after the end something is drawn: %v", source.clumsy)
			}
		}
	})
}

// drawing is a source of random values that knows whether a stretch of a run draws them.
type drawing struct {
	unknowing
	open atomic.Bool
}

func (d *drawing) Set(uint64, int) core.Draw { d.open.Store(true); return d }
func (d *drawing) End() bool                 { d.open.Store(false); return false }
func (*drawing) Release()                    {}

func (*drawing) Words([]string) []string { return nil }

// unknowing knows nothing of what others draw.
type unknowing struct{}

func (unknowing) Compare([]core.Drawn, bool) (int, int)                           { return 0, -1 }
func (unknowing) Echo(answer core.Response, _, _ []string) core.Response          { return answer }
func (unknowing) Other(a core.Response, _ int, _ ...string) (core.Response, bool) { return a, true }
func (unknowing) Texts(core.Response) []string                                    { return nil }
func (unknowing) Derived(_, _ core.Drawn, _ [][]string) []string                  { return nil }
func (unknowing) Exchanged(_, _ core.Drawn, _ [][]string) bool                    { return false }
func (unknowing) Follow(map[string][]string)                                      {}
func (unknowing) Renamed(text string, _ int) (string, bool)                       { return text, true }
func (unknowing) Has(string) bool                                                 { return false }

// TestNobodyDrawsBehindARun has what a run leaves behind not draw what follows from the seed of the run.
func TestNobodyDrawsBehindARun(t *testing.T) {
	source := new(drawing)
	var later, draws atomic.Bool
	l := limits()
	l.Randomness = source
	s := behavior.Start(instance(func(core.EffectRecorder) core.Result {
		go func() {
			time.Sleep(time.Hour)
			later.Store(true)
			draws.Store(source.open.Load())
		}()
		return core.Result{}
	}), false, behavior.Activation{Request: "r", Seed: 5}, l)
	if _, leaf := play(t, s); leaf.Failure != behavior.None || !later.Load() || draws.Load() {
		t.Errorf("it ends as %v, and draws an hour later: %t", leaf, draws.Load())
	}
	s = behavior.Start(pair(false), false, behavior.Activation{Request: "r", Seed: 5}, l)
	if s.Abort(); source.open.Load() {
		t.Error("a run that was aborted still draws")
	}
}

// TestAlong takes runs along a recorded one whose calls write something else, or are others altogether.
func TestAlong(t *testing.T) {
	writes := func(texts ...string) instance {
		return func(r core.EffectRecorder) core.Result {
			for _, text := range texts {
				aim, content, _ := strings.Cut(text, "=")
				r.Do(written{ask(aim), content})
			}
			return core.Result{Requeue: len(texts) == 0}
		}
	}
	path, leaf := learn(t, writes("a=1", "b=1"))
	_, again := learn(t, writes())
	for _, test := range []struct {
		name         string
		code         instance
		leaf         *behavior.Leaf
		follow, vary string // where the run parts, empty if it does not
		calls        int    // how many are the same for one who follows
	}{
		{"the same", writes("a=1", "b=1"), leaf, "", "", 2},
		{"other contents", writes("a=2", "b=3"), leaf, "", "", 2},
		{"another call", writes("a=1", "c=1"), leaf, "ask b, ask c after 1", "", 1},
		{"fewer calls", writes("a=1"), leaf, "ask b, returns after 1", "ask b, returns after 1", 1},
		{"more calls", writes("a=1", "b=1", "c=1"), leaf, "returns, ask c after 2", "returns, ask c after 2", 2},
		{"more calls than those behind which it was given up", writes("a=1", "b=1", "c=1"), nil, "", "", 2},
		{"another end", writes("a=1", "b=1"), again, "asks to be run again, returns after 2", "asks to be run again, returns after 2", 2},
	} {
		run := behavior.Run{Activation: behavior.Activation{Request: "r"}, Path: path, Leaf: test.leaf}
		for _, form := range []struct {
			does func(*behavior.Session, context.Context, behavior.Run) ([]core.Call, *behavior.Divergence, error)
			want string
		}{{(*behavior.Session).Follow, test.follow}, {(*behavior.Session).Vary, test.vary}} {
			l := limits()
			l.Randomness = new(dice)
			s, _, err := behavior.OpenFresh(t.Context(), setUp(func() (core.Instance, error) { return test.code, nil }), behavior.Manner{}, l)
			if err != nil {
				t.Fatal(err)
			}
			calls, parting, err := form.does(s, t.Context(), run)
			got := ""
			if parting != nil {
				got = fmt.Sprintf("%s, %s after %d", parting.Recorded, parting.Observed, parting.After)
				if (parting.Call == nil) == (parting.Ended == nil) {
					t.Errorf("%s: it parts with %v and %v", test.name, parting.Call, parting.Ended)
				}
			}
			if wantCalls := test.calls; err != nil || got != form.want || form.want == test.follow && len(calls) != wantCalls {
				t.Errorf("%s: after %d calls it parts as %q, want %q: %v", test.name, len(calls), got, form.want, err)
			}
			s.Abort()
		}
	}
	// Once the context has ended, nothing goes on, wherever the run stands.
	for _, run := range []behavior.Run{runOf(path, leaf), runOf(nil, leaf)} {
		over, end := context.WithCancel(t.Context())
		end()
		for _, does := range []func(s *behavior.Session) error{
			func(s *behavior.Session) error { _, _, err := s.Follow(over, run); return err },
			func(s *behavior.Session) error { _, err := s.Audit(over, run, 2); return err },
			func(s *behavior.Session) error { _, err := s.Postpone(over, run, 0); return err },
			func(s *behavior.Session) error { _, err := s.Repeat(over, run); return err },
		} {
			// It is at work until the error is there.
			ready := make(chan struct{})
			s := opened(t, instance(func(core.EffectRecorder) core.Result { <-ready; return core.Result{} }))
			timer := time.AfterFunc(20*time.Millisecond, func() { close(ready) })
			t.Cleanup(func() { timer.Stop() })
			if err := does(s); !errors.Is(err, context.Canceled) {
				t.Errorf("behind %d calls, the error is %v", len(run.Path), err)
			}
		}
	}
}

// watchdog is a guard that keeps account of whether code runs.
type watchdog struct {
	running bool
	points  int
	last    core.Point
	words   []string
	fatal   map[core.Point]string
}

func (w *watchdog) Runs(at core.Point, words string) {
	w.running, w.points, w.last, w.words = true, w.points+1, at, append(w.words, words)
}
func (w *watchdog) Rests() { w.running = false }
func (w *watchdog) Ended(at core.Point) (string, bool) {
	how, known := w.fatal[at]
	return how, known
}

// TestGuardsAreTold has a guard be told that code runs wherever it may end the process, and that it rests again before
// the session returns.
func TestGuardsAreTold(t *testing.T) {
	for _, active := range []bool{false, true} {
		guard := &watchdog{fatal: map[core.Point]string{}}
		l := limits()
		l.Guard = guard
		open := func() *behavior.Session {
			var strategy core.Strategy = &worker{}
			if !active {
				strategy = setUp(func() (core.Instance, error) { return pair(false), nil })
			}
			s, _, err := behavior.OpenFresh(t.Context(), strategy, behavior.Manner{Active: active}, l)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		told := func(what string, running bool, do func()) {
			t.Helper()
			before := guard.points
			do()
			if guard.points == before || guard.running != running {
				t.Errorf("active %t, %s: the guard is told of %d points, and code runs: %t", active, what, guard.points-before, guard.running)
			}
		}
		var s *behavior.Session
		told("set up", false, func() { s = open() })
		told("begin", true, func() { s.Begin(behavior.Activation{Request: "r"}) })
		for {
			call, leaf, err := s.Next(t.Context())
			if err != nil || guard.running {
				t.Fatalf("active %t: where code waits for an answer, it runs: %v", active, err)
			}
			if leaf != nil {
				break
			}
			told("answer", true, func() { s.Answer(reply(call.Identity())) })
		}
		told("look at the clock", false, func() { s.Elapsed() })
		if active {
			told("rest", false, func() { s.Rest() })
		}
		told("close", false, func() { s.Close(&behavior.Leaf{}) })
		s = open()
		s.Begin(behavior.Activation{Request: "r"})
		told("abort", false, s.Abort)
		// Code is not let run on to where it is known to end the process.
		s = open()
		s.Begin(behavior.Activation{Request: "r"})
		call, _, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Answer(reply(call.Identity()))
		guard.fatal[guard.last] = "it exits"
		s.Abort()
		s = open()
		s.Begin(behavior.Activation{Request: "r"})
		if call, _, err = s.Next(t.Context()); err != nil || call == nil {
			t.Fatal(err)
		}
		s.Answer(reply(call.Identity()))
		if call, leaf, err := s.Next(t.Context()); call != nil || err != nil || leaf == nil || leaf.Failure != behavior.Fatal || leaf.Message != "it exits" || guard.running {
			t.Errorf("active %t: it ends as %v: %v", active, leaf, err)
		}
		// Nor is it set up, if that is what ends it.
		guard.fatal = map[core.Point]string{}
		guard.points = 0
		open().Abort()
		var strategy core.Strategy = &worker{}
		if !active {
			strategy = setUp(func() (core.Instance, error) { return pair(false), nil })
		}
		first := &watchdog{fatal: map[core.Point]string{}}
		l.Guard = first
		s, _, err = behavior.OpenFresh(t.Context(), strategy, behavior.Manner{Active: active}, l)
		if err != nil {
			t.Fatal(err)
		}
		first.fatal[first.last] = "it exits while it is set up"
		s.Abort()
		if _, _, err := behavior.OpenFresh(t.Context(), strategy, behavior.Manner{Active: active}, l); err == nil || !strings.Contains(err.Error(), "it exits while it is set up") || !strings.Contains(err.Error(), "setting up controller") {
			t.Errorf("active %t: it is set up: %v", active, err)
		}
	}
}

// TestLocate finds where in the code of a controller a call is made, once it is asked to.
func TestLocate(t *testing.T) {
	code := instance(func(r core.EffectRecorder) core.Result {
		r.Do(ask("a"))
		r.Do(ask("b"))
		return core.Result{}
	})
	path, leaf := learn(t, code)
	sites := behavior.NewSites(nil)
	s := opened(t, code)
	defer s.Abort()
	if _, err := s.Repeat(t.Context(), runOf(path, leaf)); err != nil || sites.Of(path[0].From) != nil {
		t.Errorf("it is known where a call is made that nobody asked for: %v", err)
	}
	s.Locate(sites)
	if _, err := s.Repeat(t.Context(), runOf(path, leaf)); err != nil {
		t.Fatal(err)
	}
	a, b := sites.Of(path[0].From), sites.Of(path[1].From)
	if a == nil || b == nil || a.File != "core/behavior/along_test.go" || b.Line != a.Line+1 || !strings.Contains(a.Function, "TestLocate") {
		t.Errorf("the calls are made at %+v and %+v", a, b)
	}
}
