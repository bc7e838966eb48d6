package behavior_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

func TestUser(t *testing.T) {
	actions := []core.Action{{Name: "on"}, {Name: "off"}, {Name: "on again"}}
	for _, test := range []struct {
		name    string
		inOrder bool
		// first is what may be done at once, after what each action lets follow.
		first []core.Request
		after map[core.Request]core.Request
	}{
		{"in any order", false, []core.Request{"on", "off", "on again"}, nil},
		{"in order", true, []core.Request{"on"}, map[core.Request]core.Request{"on": "off", "off": "on again"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			user := behavior.User{Scenario: core.Scenario{Actions: actions, InOrder: test.inOrder}}
			if got := user.Describe().Initial; !slices.Equal(got, test.first) {
				t.Errorf("at first there is %q, want %q", got, test.first)
			}
			for _, action := range actions {
				request := core.Request(action.Name)
				next, waits := user.After(request)
				if want, waiting := test.after[request]; next != want || waits != waiting {
					t.Errorf("after %q there is %q, %t, want %q", request, next, waits, want)
				}
			}
		})
	}
}

// TestActionThatIsNotEnabled checks that it is no step, and that other errors are those of a user who was refused.
func TestActionThatIsNotEnabled(t *testing.T) {
	refused := errors.New("refused")
	for err, want := range map[error]core.Result{
		nil: {}, refused: {Err: refused}, core.ErrNotEnabled: {Blocked: true}, fmt.Errorf("no Pod: %w", core.ErrNotEnabled): {Blocked: true},
	} {
		u := behavior.User{Scenario: core.Scenario{Actions: []core.Action{{Name: "act", Do: func(core.EffectRecorder) error { return err }}}}}
		if got := u.Reconcile(nil, "act"); got != want {
			t.Errorf("with %v: %v, want %v", err, got, want)
		}
	}
}
