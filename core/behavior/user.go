package behavior

import (
	"errors"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// User is the user of a scenario as a strategy: its requests are the names of the actions.
type User struct{ Scenario core.Scenario }

var (
	_ core.Strategy = User{}
	_ core.Instance = User{}
)

// Describe implements [core.Strategy].
func (u User) Describe() core.Description {
	d := core.Description{Name: core.User, Messages: true, Unfair: true}
	for i, action := range u.Scenario.Actions {
		if i == 0 || !u.Scenario.InOrder {
			d.Initial = append(d.Initial, core.Request(action.Name))
		}
	}
	return d
}

// New implements [core.Strategy].
func (u User) New() (core.Instance, error) { return u, nil }

// Handle implements [core.Instance]: users watch nothing.
func (u User) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

// Reconcile implements [core.Instance]. The request must be an action of the scenario.
func (u User) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	err := u.Scenario.Actions[u.index(request)].Do(recorder)
	if errors.Is(err, core.ErrNotEnabled) {
		return core.Result{Blocked: true}
	}
	return core.Result{Err: err}
}

// knows reports whether a request is an action of the scenario.
func (u User) knows(request core.Request) bool { return u.index(request) >= 0 }

// Settled reports whether an action may be taken only where controllers do nothing but wait for timers.
func (u User) Settled(request core.Request) bool {
	return u.Scenario.Actions[u.index(request)].Settled
}

// After returns the action that may be taken once another one was, and false if there is none
// that waits for it.
func (u User) After(request core.Request) (core.Request, bool) {
	next := u.index(request) + 1
	if !u.Scenario.InOrder || next == len(u.Scenario.Actions) {
		return "", false
	}
	return core.Request(u.Scenario.Actions[next].Name), true
}

func (u User) index(request core.Request) int {
	return slices.IndexFunc(u.Scenario.Actions, func(a core.Action) bool { return core.Request(a.Name) == request })
}
