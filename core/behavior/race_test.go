package behavior_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// pair makes two calls at once, and a third one behind both, which says what the first two were answered. If it heeds
// their order, it says that, too.
func pair(heeds bool) instance {
	return func(r core.EffectRecorder) core.Result {
		var (
			both sync.WaitGroup
			mu   sync.Mutex
			last string
		)
		answers := map[string]string{}
		for _, call := range []string{"a", "b"} {
			both.Go(func() {
				answer := r.Do(ask(call)).String()
				mu.Lock()
				defer mu.Unlock()
				answers[call], last = answer, call
			})
		}
		both.Wait()
		said := "a is " + answers["a"] + ", b is " + answers["b"]
		if heeds {
			said += ", last is " + last
		}
		r.Do(ask(said))
		return core.Result{}
	}
}

// TestPostpone answers one of the calls of a recorded run as late as possible.
func TestPostpone(t *testing.T) {
	for _, test := range []struct {
		name  string
		heeds bool
		call  int
		// want are the calls that are answered before, and whether the code goes another way then.
		want string
	}{
		{"the first", false, 0, "{[1] false}"},
		{"the second, which nothing can overtake", false, 1, "{[] false}"},
		{"the last", false, 2, "{[] false}"},
		{"the first, by code that heeds it", true, 0, "{[1] true}"},
		{"the second, by code that would heed it", true, 1, "{[] false}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, leaf := learn(t, pair(test.heeds))
			session := opened(t, pair(test.heeds))
			got, err := session.Postpone(context.Background(), runOf(path, leaf), test.call)
			if err != nil || fmt.Sprint(got) != test.want {
				t.Errorf("%v, %v, want %s", got, err, test.want)
			}
		})
	}
}

// TestTurns has each of two pending calls be answered next, whatever was chosen before.
func TestTurns(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns []ask
		want  string
	}{
		{"nobody's", nil, "a is first, b is second"},
		{"the second's", []ask{"b"}, "a is second, b is first"},
		{"the second's and then the first's", []ask{"b", "a"}, "a is first, b is second"},
		{"nobody's, as there is no such call", []ask{"c"}, "a is first, b is second"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := behavior.Start(pair(false), false, behavior.Activation{Request: "r"}, limits())
			defer s.Abort()
			answer := func(with reply) {
				if call, _, err := s.Next(context.Background()); call == nil || err != nil {
					t.Fatalf("%v, %v", call, err)
				}
				for _, turn := range test.turns {
					s.TurnTo(turn)
				}
				s.Answer(with)
			}
			answer("first")
			test.turns = nil
			answer("second")
			if call, _, err := s.Next(context.Background()); err != nil || call == nil || call.Identity() != test.want {
				t.Errorf("%v, %v, want %q", call, err, test.want)
			}
		})
	}
}

// TestNextAs has the one of concurrent calls be answered that was made before, or else one that is about the same.
func TestNextAs(t *testing.T) {
	for asked, want := range map[ask]ask{"a": "a", "b": "b", "c": "a"} {
		s := behavior.Start(pair(false), false, behavior.Activation{Request: "r"}, limits())
		if call, leaf, err := s.NextAs(t.Context(), asked); call != want || leaf != nil || err != nil || len(s.Pending()) != 2 {
			t.Errorf("asked for %s it is %v, %v, %v; want %s", asked, call, leaf, err, want)
		}
		s.Abort()
	}
	s := behavior.Start(instance(func(r core.EffectRecorder) core.Result {
		go r.Do(ask("a"))
		r.Do(written{ask("b"), "now"})
		return core.Result{}
	}), false, behavior.Activation{Request: "r"}, limits())
	defer s.Abort()
	if call, leaf, err := s.NextAs(t.Context(), written{ask("b"), "before"}); call != core.Call(written{ask("b"), "now"}) || leaf != nil || err != nil {
		t.Errorf("asked for what was written before, it is %v, %v, %v", call, leaf, err)
	}
}

// TestTurnsOfANode has a turn for each of the calls that wait, but for those that are the same, and counts those before
// that read the same.
func TestTurnsOfANode(t *testing.T) {
	ids := func(calls []core.Call) []string {
		var all []string
		for _, call := range calls {
			all = append(all, call.Identity())
		}
		return all
	}
	for _, test := range []struct {
		pending          []core.Call
		turns, namesakes []int // the calls of the turns, and how many before them read the same
	}{
		{[]core.Call{ask("a")}, nil, nil},
		{[]core.Call{ask("a"), ask("b")}, []int{0, 1}, []int{0, 0}},
		{[]core.Call{ask("a"), ask("a")}, nil, nil},
		{[]core.Call{ask("a"), ask("a"), ask("b"), ask("b")}, []int{0, 2}, []int{0, 0}},
		{[]core.Call{alike("a"), alike("b"), ask("c"), alike("d")}, []int{0, 1, 2, 3}, []int{0, 1, 0, 2}},
	} {
		node := &behavior.Node{Drawn: true, Draw: 3}
		node.Ask(test.pending)
		if node.Call != test.pending[0] || node.Point() != node || len(node.Turns) != len(test.turns) || node.Turn() != 0 {
			t.Errorf("of %v the node asks %v, with %d turns", test.pending, node.Call, len(node.Turns))
			continue
		}
		if want := ids(test.pending[1:]); !slices.Equal(ids(node.Parked), want) {
			t.Errorf("of %v, %v wait meanwhile", test.pending, node.Parked)
		}
		for i, turn := range node.Turns {
			at := test.turns[i]
			if turn.Call != test.pending[at] || turn.Turn() != i || turn.Point() != node || !turn.Drawn || turn.Draw != 3 || turn.Namesakes() != test.namesakes[i] {
				t.Errorf("of %v, turn %d is %+v, the %d. of those that read the same", test.pending, i, turn, turn.Namesakes())
			}
			if want := ids(slices.Concat(test.pending[:at], test.pending[at+1:])); !slices.Equal(ids(turn.Parked), want) {
				t.Errorf("of %v, %v wait in turn %d", test.pending, turn.Parked, i)
			}
		}
	}
}

// TestPostponeFindsOtherWays has code be known to heed the order of its calls when it makes other calls, fewer or more
// of them, or ends in another way.
func TestPostponeFindsOtherWays(t *testing.T) {
	does := func(result core.Result, calls ...ask) instance {
		return func(r core.EffectRecorder) core.Result {
			for _, call := range calls {
				r.Do(call)
			}
			return result
		}
	}
	path, leaf := learn(t, does(core.Result{}, "a", "b"))
	for _, test := range []struct {
		name string
		code instance
		want string
	}{
		{"the same", does(core.Result{}, "a", "b"), "{[] false}"},
		{"another call", does(core.Result{}, "a", "c"), "{[] true}"},
		{"fewer calls", does(core.Result{}, "a"), "{[] true}"},
		{"more calls", does(core.Result{}, "a", "b", "c"), "{[] true}"},
		{"another end", does(core.Result{Requeue: true}, "a", "b"), "{[] true}"},
	} {
		s := opened(t, test.code)
		if got, err := s.Postpone(t.Context(), runOf(path, leaf), 0); err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, %v, want %s", test.name, got, err, test.want)
		}
		s.Abort()
	}
	// Of two equal calls, it is not the one that is put last that is answered as long as only one waits.
	twice := func() instance {
		return func(r core.EffectRecorder) core.Result {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { r.Do(ask("a")) })
			}
			both.Wait()
			r.Do(ask("a"))
			return core.Result{}
		}
	}
	path, leaf = learn(t, twice())
	for call, want := range []string{"{[1] false}", "{[] false}", "{[] false}"} {
		s := opened(t, twice())
		if got, err := s.Postpone(t.Context(), runOf(path, leaf), call); err != nil || fmt.Sprint(got) != want {
			t.Errorf("of three equal calls, number %d last: %v, %v, want %s", call, got, err, want)
		}
		s.Abort()
	}
}
