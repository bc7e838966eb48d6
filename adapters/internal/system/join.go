package system

import (
	"errors"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// join adds the controllers of another system, which another adapter has made for the same API server, with what is noted about them. It returns the server as it
// answers to all of them.
func join(system *core.System, server *kube.Server, other *core.System) (*kube.Server, error) {
	its, ok := other.Store.(*kube.Server)
	switch {
	case !ok:
		return nil, errors.New("its controllers do not act on an API server: controllers of other worlds cannot be added")
	case len(other.Initial) != 1 || len(other.Initial[0].Objects) > 0:
		return nil, errors.New("it has objects of its own: give them to the system that its controllers are added to")
	case len(other.Scenario.Actions) > 0:
		return nil, errors.New("its users have a scenario: give it to the system that its controllers are added to")
	}
	joined, err := server.With(its)
	if err != nil {
		return nil, err
	}
	system.Store = joined
	system.Strategies = append(system.Strategies, other.Strategies...)
	system.Surroundings = append(system.Surroundings, other.Surroundings...)
	system.Properties = append(system.Properties, other.Properties...)
	system.IgnoredMemory = append(system.IgnoredMemory, other.IgnoredMemory...)
	system.Assumptions = append(system.Assumptions, other.Assumptions...)
	system.Unmodelled = append(system.Unmodelled, other.Unmodelled...)
	return joined, nil
}
