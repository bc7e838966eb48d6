package behavior_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// pair makes two calls at once, and a third one behind both, which says what the first two were answered. If it heeds their order, it says that, too.
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
