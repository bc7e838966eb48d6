package plain

import (
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// Model is a system of plain Go functions.
type Model struct {
	// Name is what reports call the system.
	Name string

	// Initial are the possible states at start. [Start] makes one.
	Initial []core.Initial

	// Processes and Controllers act on the variables.
	Processes   []Process
	Controllers []Controller

	// Scenario is what users may do meanwhile.
	Scenario Scenario

	// Properties are what should be true. An invariant reads variables with
	// [Var.Get] and [Family.All].
	Properties []core.Property

	// Interchangeable are groups of names of processes, controllers, variables and values of which it does not matter
	// which is which, see [core.System].
	Interchangeable [][]string

	// Assumptions are sentences for the report: what the model takes for granted.
	Assumptions []string

	// Unmodelled are reasons why no check of the model is conclusive, see [core.System].
	Unmodelled []string
}

// Start is a state at start: the given variables and no others.
func Start(variables ...core.Object) core.Initial {
	return core.Initial{Objects: variables}
}

// System returns the model as a system that can be checked. The error says what
// to change.
func (m Model) System() (*core.System, error) {
	var errs []error
	processes := map[string]*process{}
	system := &core.System{
		Name:        m.Name,
		Store:       &store{processes},
		Initial:     m.Initial,
		Scenario:    m.Scenario.scenario(),
		Properties:  m.Properties,
		Assumptions: m.Assumptions,
		Unmodelled:  m.Unmodelled,

		Interchangeable: m.Interchangeable,
	}
	for i, initial := range m.Initial {
		for _, variable := range initial.Objects {
			if err := validate(variable); err != nil {
				errs = append(errs, fmt.Errorf("initial state %d: %w", i+1, err))
			}
		}
	}
	for _, p := range m.Processes {
		errs = append(errs, p.validate())
		strategy := p.strategy()
		processes[p.Name] = strategy
		system.Strategies = append(system.Strategies, strategy)
	}
	for _, c := range m.Controllers {
		errs = append(errs, c.validate())
		system.Strategies = append(system.Strategies, c.strategy())
	}
	errs = append(errs, system.Validate())
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("model %q cannot be checked: %w", m.Name, err)
	}
	return system, nil
}
