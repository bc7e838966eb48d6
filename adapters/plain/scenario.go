package plain

import (
	"errors"

	"github.com/orrery-dev/orrery/core"
)

// Scenario is what users may do while processes and controllers work. Each action may be
// taken once, at any moment, or never. Where a requirement does not hold, the user is
// refused and gives up; what the action wrote before stays, so require first.
type Scenario struct {
	Actions []Action
	// InOrder lets an action be taken only after those before it.
	InOrder bool
	// Settled lets actions be taken only where controllers do nothing but wait for timers, and processes can do
	// nothing.
	Settled bool
}

// scenario returns the scenario as the engine takes it.
func (s Scenario) scenario() core.Scenario {
	scenario := core.Scenario{InOrder: s.InOrder}
	for _, action := range s.Actions {
		taken := core.Action{Name: action.Name, Settled: s.Settled}
		if do := action.Do; do != nil {
			taken.Do = func(recorder core.EffectRecorder) error {
				w := &World{recorder: recorder}
				result := w.run(func() core.Result {
					do(w)
					return core.Result{}
				})
				if result.Blocked {
					return errors.New("what the action requires does not hold")
				}
				return nil
			}
		}
		scenario.Actions = append(scenario.Actions, taken)
	}
	return scenario
}
