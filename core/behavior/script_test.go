package behavior_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// ask is a call that is told apart by its text, and answered by the same text.
type ask string

func (a ask) Identity() string    { return string(a) }
func (a ask) String() string      { return "ask " + string(a) }
func (a ask) Source() core.Source { return core.Live }

type reply string

func (r reply) Identity() string { return string(r) }
func (r reply) String() string   { return string(r) }

// instance is controller code as a function.
type instance func(core.EffectRecorder) core.Result

func (i instance) Handle(r core.EffectRecorder, _ core.Event) []core.Request {
	i(r)
	return []core.Request{"handled"}
}

func (i instance) Reconcile(r core.EffectRecorder, _ core.Request) core.Result { return i(r) }

func limits() behavior.Limits { return behavior.Limits{Deadline: 20 * time.Second, Calls: 100} }

func start(sequential bool, code instance) *behavior.Session {
	return behavior.Start(code, sequential, behavior.Activation{Request: "r"}, limits())
}

// play answers every call of a session with its own text, and returns the calls and how it ended.
func play(t *testing.T, s *behavior.Session) ([]string, *behavior.Leaf) {
	t.Helper()
	var calls []string
	for {
		call, leaf, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if leaf != nil {
			return calls, leaf
		}
		calls = append(calls, call.Identity())
		s.Answer(reply(call.Identity()))
	}
}

func wantCalls(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("it called %q, want %q", got, want)
	}
}

func forms(t *testing.T, test func(t *testing.T, sequential bool)) {
	t.Helper()
	t.Run("sequential", func(t *testing.T) { test(t, true) })
	t.Run("bubbled", func(t *testing.T) { test(t, false) })
}
