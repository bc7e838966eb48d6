package controllerruntime

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// addGarbageCollector adds a player that looks after the kinds that the system is
// about.
func (d *definition) addGarbageCollector(system *core.System, server *kube.Server) error {
	var kinds []core.Kind
	for _, s := range system.Strategies {
		kinds = append(kinds, s.Describe().Watches...)
	}
	for _, object := range system.Initial[0].Objects {
		kinds = append(kinds, object.Key.Kind)
	}
	for _, object := range d.garbageKinds {
		of, err := formOf(object, server.Scheme())
		if err != nil {
			return fmt.Errorf("garbage collection: %w", err)
		}
		kinds = append(kinds, kube.KindOf(of.kind.GroupKind()))
	}
	slices.Sort(kinds)
	collector, err := kube.GarbageCollector(server, slices.Compact(kinds)...)
	if err != nil {
		return fmt.Errorf("garbage collection: %w", err)
	}
	system.Strategies = append(system.Strategies, collector)
	return nil
}
