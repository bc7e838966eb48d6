package controllerruntime

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// strategy is one of the controllers that a set-up registers.
type strategy struct {
	blueprint *blueprint
	// index is the position of the controller among those of the set-up.
	index       int
	description core.Description
}

var _ core.Strategy = (*strategy)(nil)

// strategies returns the controllers that a survey has found.
func (b *blueprint) strategies(found *assembly) []core.Strategy {
	all := make([]core.Strategy, len(found.controllers))
	for i, c := range found.controllers {
		all[i] = &strategy{blueprint: b, index: i, description: c.describe()}
	}
	return all
}

func (c *registered) describe() core.Description {
	var kinds []core.Kind
	for _, w := range c.watches.handlers {
		kinds = append(kinds, w.kind())
	}
	slices.Sort(kinds)
	return core.Description{
		Name:    c.name,
		Watches: slices.Compact(kinds),
		Initial: c.queue.take(),
		Workers: c.workers,
	}
}

// kind is the watched kind in the words of the store.
func (w watch) kind() core.Kind { return kube.KindOf(w.form.kind.GroupKind()) }

// Describe implements [core.Strategy].
func (s *strategy) Describe() core.Description { return s.description }

// New implements [core.Strategy]. It runs the set-up on a fresh manager.
func (s *strategy) New() (core.Instance, error) {
	a, err := s.blueprint.assemble()
	if err != nil {
		return nil, fmt.Errorf("controller %s cannot be set up again: %w", s.description.Name, err)
	}
	if s.index >= len(a.controllers) || a.controllers[s.index].name != s.description.Name {
		return nil, fmt.Errorf("controller %s cannot be set up again: the set-up registers other controllers than the first time; it must do the same each time it runs", s.description.Name)
	}
	c := a.controllers[s.index]
	if err := a.startSources(c); err != nil {
		return nil, err
	}
	return &instance{assembly: a, registered: c, blueprint: s.blueprint}, nil
}
