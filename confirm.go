package orrery

import (
	"context"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// Confirm runs a recorded run of a system in a real world, such as a real Kubernetes API server with the objects that
// the run starts with: the same controllers work on the same requests in the same order, users act and things go wrong
// where they did. It returns where that world answered differently, nil if it did not: then the finding does not come
// from the simulation.
func Confirm(ctx context.Context, system *core.System, trace core.Trace, world core.World, options Options) (*core.Deviation, error) {
	options, err := options.toRun(system)
	if err != nil {
		return nil, err
	}
	return behavior.Enact(ctx, played(system, trace), trace, world, options.limits())
}
