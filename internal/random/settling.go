package random

import "github.com/orrery-dev/orrery/core"

// Settling returns the family of systems that are as those of another one in which users do something, but that they take most of their actions only where
// controllers do nothing but wait for timers.
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
