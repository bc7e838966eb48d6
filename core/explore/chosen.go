package explore

import (
	"errors"

	"github.com/orrery-dev/orrery/core"
)

// errChosen ends the visit of a chooser.
var errChosen = errors.New("the step is chosen")

// chooser takes one step out of all.
type chooser struct {
	want   core.Step
	chosen *taken
	err    error
}

// took implements [visitor].
func (c *chooser) took(t *taken) error {
	if t.step() != c.want {
		return nil
	}
	chosen := *t
	c.chosen = &chosen
	return errChosen
}

// stopped implements [visitor].
func (c *chooser) stopped(t *taken, err error) error {
	if t.step() != c.want {
		return nil
	}
	c.err = err
	return errChosen
}

// choose takes the step of that name, and returns nil if there is none. The error is why it cannot be taken to its end.
func (w *walker) choose(step core.Step) (*taken, error) {
	c := &chooser{want: step}
	if _, err := w.steps(c, nil); err != nil && !errors.Is(err, errChosen) {
		return nil, err
	}
	return c.chosen, c.err
}

// probe runs a request that nothing asks for, and returns nil if it is not possible.
func (w *walker) probe(step core.Step) (*taken, error) {
	if step.Kind != core.Reconcile || step.Detail != "" {
		return nil, nil
	}
	a, err := w.machine.actor(step.Item.Strategy)
	if err != nil {
		return nil, err
	}
	var chosen *taken
	err = w.eachOrder(w.machine.item(a, step.Item.Request), func(t *taken) bool {
		if t.step().Order == step.Order {
			chosen = t
		}
		return chosen == nil
	})
	return chosen, err
}
