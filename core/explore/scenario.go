package explore

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// scenario is the user as a strategy: its requests are the names of the actions.
type scenario struct{ core.Scenario }

var (
	_ core.Strategy = scenario{}
	_ core.Instance = scenario{}
)

func newScenario(s core.Scenario) core.Strategy { return scenario{s} }

// Describe implements [core.Strategy].
func (s scenario) Describe() core.Description {
	d := core.Description{Name: core.User, Messages: true, Unfair: true}
	for i, action := range s.Actions {
		if i == 0 || !s.InOrder {
			d.Initial = append(d.Initial, core.Request(action.Name))
		}
	}
	return d
}

// New implements [core.Strategy].
func (s scenario) New() (core.Instance, error) { return s, nil }

// Handle implements [core.Instance]: users watch nothing.
func (s scenario) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

// Reconcile implements [core.Instance].
func (s scenario) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	return core.Result{Err: s.Actions[s.index(request)].Do(recorder)}
}

func (s scenario) index(request core.Request) int {
	return slices.IndexFunc(s.Actions, func(a core.Action) bool { return core.Request(a.Name) == request })
}

// act takes an action of the scenario, as one step.
func (w *walker) act(it *item) error {
	m := w.machine
	before := w.Value(m.history)
	after, known := m.histories[before].next[it]
	if !known {
		if w.learn == nil {
			return errUnknown
		}
		actions := append(slices.Clip(m.histories[before].actions), it.Request)
		after = m.vocabulary.Extend(m.history, fmt.Sprintf("%q", actions))
		m.histories[before].next[it] = after
		m.histories = append(m.histories, history{actions: actions, next: map[*item]state.Value{}})
	}
	if _, err := w.reconcile(it, nil); err != nil {
		return err
	}
	w.set(it.cell, 0) // a user who was refused gives up
	w.set(m.history, after)
	if s := m.system.Scenario; s.InOrder {
		if next := (scenario{s}).index(it.Request) + 1; next < len(s.Actions) {
			following := m.item(it.actor, core.Request(s.Actions[next].Name))
			w.set(following.cell, state.Queued)
		}
	}
	return nil
}
