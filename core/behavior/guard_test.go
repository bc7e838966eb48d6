package behavior

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// sentry is a guard that notes what it is told, and knows how code has ended from some points.
type sentry struct {
	at     []core.Point
	words  []string
	rested int
	ended  map[core.Point]string
}

func (s *sentry) Runs(from core.Point, words string) {
	s.at, s.words = append(s.at, from), append(s.words, words)
}
func (s *sentry) Rests() { s.rested++ }
func (s *sentry) Ended(from core.Point) (string, bool) {
	how, known := s.ended[from]
	return how, known
}

type textOf string

func (t textOf) Canonical() string { return string(t) }
func (t textOf) Fields() any       { return string(t) }

// TestGuardedPoints has all that a run depends on lead to another point, and the same to the same one.
func TestGuardedPoints(t *testing.T) {
	event := func(change func(*core.Event)) *core.Event {
		e := &core.Event{Key: core.Key{Kind: "K", Name: "n"}}
		change(e)
		return e
	}
	all := []Activation{
		{Request: "r"}, {Request: "s"}, {Of: "r"}, {Request: "r", Own: Works}, {Request: "r", Turn: 1}, {Request: "r", Clock: 1}, {Request: "r", Passed: 1}, {Request: "r", Now: 1},
		{Request: "r", Seed: 1}, {Request: "r", Since: &Memory{}}, {Request: "r", Since: &Memory{Identity: "m"}},
		{Event: event(func(*core.Event) {})}, {Event: event(func(e *core.Event) { e.Key.Name = "m" })}, {Event: event(func(e *core.Event) { e.Missed = true })},
		{Event: event(func(e *core.Event) { e.Initial = true })}, {Event: event(func(e *core.Event) { e.Old = textOf("x") })}, {Event: event(func(e *core.Event) { e.New = textOf("x") })},
		{Event: event(func(e *core.Event) { e.New = textOf("y") })},
	}
	points := map[core.Point]Activation{}
	for _, active := range []bool{false, true} {
		for _, a := range all {
			s := new(sentry)
			g := guarded{guard: s, name: "web", active: active}
			if !g.begins(a) || !g.runs("call", "answer") || !g.runs("close") {
				t.Fatalf("%+v may not run", a)
			}
			again := new(sentry)
			other := guarded{guard: again, name: "web", active: active, at: 77}
			other.begins(a)
			other.runs("call", "other answer")
			if want := []string{"web, " + a.String(), "web, " + a.String(), "web, " + a.String()}; !slices.Equal(s.words, want) {
				t.Errorf("the words are %q", s.words)
			}
			if len(again.at) != 2 || again.at[0] != s.at[0] || again.at[1] == s.at[1] {
				t.Errorf("%+v leads to %v, and when it is answered something else to %v", a, s.at, again.at)
			}
			for _, at := range s.at {
				if before, known := points[at]; known {
					t.Errorf("%+v and %+v lead to the same point", before, a)
				}
				points[at] = a
			}
		}
	}
	if behind(0, "a", "b") == behind(0, "ab") || behind(0, "a") == behind(1, "a") {
		t.Error("points do not tell apart how code got there")
	}
}

// TestGuardsKnowWho has a guard be told who runs, and code that it lets go no further be unwound.
func TestGuardsKnowWho(t *testing.T) {
	for _, manner := range []Manner{{Sequential: true}, {}, {Active: true}} {
		testGuardKnowsWho(t, manner)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func testGuardKnowsWho(t *testing.T, manner Manner) {
	t.Helper()
	g := &sentry{ended: map[core.Point]string{}}
	open := func() *Session {
		s, _, err := OpenFresh(t.Context(), doing(func(r core.EffectRecorder) { r.Do(named("a")) }), manner, Limits{Deadline: time.Minute, Calls: 9, Guard: g})
		if err != nil {
			t.Fatal(err)
		}
		s.Begin(Activation{Request: "r"})
		if call, _, err := s.Next(t.Context()); err != nil || call == nil {
			t.Fatal(call, err)
		}
		s.Answer(named("yes"))
		return s
	}
	s := open()
	if got := g.words[0]; got != "setting up doing" {
		t.Errorf("%+v: what is set up is told to be %q", manner, got)
	}
	if got := g.words[len(g.words)-1]; got != "doing, reconciling r" || s.guarded.active != manner.Active {
		t.Errorf("%+v: what runs is told to be %q", manner, got)
	}
	g.ended[g.at[len(g.at)-1]] = "it exits"
	s.Abort()
	s = open()
	if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != Fatal || !s.over {
		t.Errorf("%+v: it ends as %v, and is over: %t, %v", manner, leaf, s.over, err)
	}
	// The end of a session is where code may end the process, too.
	clear(g.ended)
	for _, want := range []Failure{None, Fatal} {
		s = open()
		_, leaf, err := s.Next(t.Context())
		if err != nil || leaf == nil {
			t.Fatal(leaf, err)
		}
		if leaf = s.Close(leaf); leaf == nil || leaf.Failure != want || !s.over {
			t.Errorf("%+v: it is closed with %v, and is over: %t", manner, leaf, s.over)
		}
		g.ended[g.at[len(g.at)-1]] = "it exits"
	}
	// Code that would end the process where it is unwound is left where it is.
	clear(g.ended)
	for _, want := range []bool{true, false} {
		s = open()
		if s.Abort(); !s.over || !s.aborted.Load() || isClosed(s.quit) != want {
			t.Errorf("%+v: it is unwound: %t, want %t; it is over: %t", manner, isClosed(s.quit), want, s.over)
		}
		g.ended[g.at[len(g.at)-1]] = "it exits"
	}
}

// TestGuardedEnds has code not run on from where it is known to end the process, and nothing else after that.
func TestGuardedEnds(t *testing.T) {
	s := new(sentry)
	g := guarded{guard: s, name: "web"}
	g.begins(Activation{Request: "r"})
	g.runs("a", "b")
	if leaf := g.leaf(); leaf != nil {
		t.Errorf("it ends as %v", leaf)
	}
	s.ended = map[core.Point]string{s.at[1]: "it exits"}
	told := len(s.at)
	if !g.begins(Activation{Request: "r"}) || g.runs("a", "b") || g.runs("c") {
		t.Error("it runs on from where it ended the process")
	}
	if len(s.at) != told+1 {
		t.Errorf("the guard was told of %d more points", len(s.at)-told)
	}
	if leaf := g.leaf(); leaf == nil || leaf.Failure != Fatal || leaf.Message != "it exits" {
		t.Errorf("it ends as %v", leaf)
	}
	if g.rests(); s.rested != 1 {
		t.Errorf("it rested %d times", s.rested)
	}
	var none guarded
	if none.rests(); !none.begins(Activation{}) || !none.runs("a") || none.leaf() != nil || none.at != 0 {
		t.Errorf("without a guard: %+v", none)
	}
}
