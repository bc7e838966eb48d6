package random

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Settling returns the family of systems that are as those of another one in which users do something, but that they
// take most of their actions only where controllers do nothing but wait for timers.
func Settling(compose func(seed uint64) (*core.System, error)) func(seed uint64) (*core.System, error) {
	return func(seed uint64) (*core.System, error) {
		const apart = 1 << 40
		for of := seed; ; of += apart {
			system, err := compose(of)
			if err != nil {
				return nil, err
			}
			actions := system.Scenario.Actions
			for i := range actions {
				actions[i].Settled = (seed+uint64(i))%4 > 0
			}
			if len(actions) > 0 {
				system.Name += ", settling"
				return system, nil
			}
		}
	}
}

// Promising returns the family of systems that are as those of another one, but that users promise to take most of
// their actions, on which some of the requests may not count.
func Promising(compose func(seed uint64) (*core.System, error)) func(seed uint64) (*core.System, error) {
	return func(seed uint64) (*core.System, error) {
		system, err := compose(seed)
		if err != nil {
			return nil, err
		}
		actions := system.Scenario.Actions
		for i := range actions {
			if (seed/3+uint64(i))%4 == 0 {
				continue
			}
			promise := &core.Promise{Excepts: func(it core.Item) bool {
				j := slices.IndexFunc(system.Strategies, func(s core.Strategy) bool { return s.Describe().Name == it.Strategy })
				return j >= 0 && (seed/3+uint64(j))%2 > 0
			}}
			actions[i].Promise = promise
		}
		return system, nil
	}
}
