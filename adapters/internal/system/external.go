package system

import (
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// surround puts the parts of the world that the options have beside the API server.
func (d *Definition) surround(system *core.System) error {
	if len(d.external) == 0 {
		return nil
	}
	server, ok := system.Store.(*kube.Server)
	if !ok {
		panic(fmt.Sprintf("system: the store is a %T already", system.Store))
	}
	store, err := external.Compose(server, d.external...)
	if err != nil {
		return err
	}
	surrounded := &surrounded{World: store, server: server, others: d.external}
	for _, part := range d.external {
		for _, kind := range server.Kinds() {
			if part.Owns(kind) {
				return fmt.Errorf("%s is a kind of the API server and of %s: give one of them another name", kind, part.Name())
			}
		}
		if len(part.Actions()) > 0 && d.inOrder {
			return fmt.Errorf("%s has actions, which may come at any moment, and those of the system come in order: use Scenario in place of InOrder", part.Name())
		}
		objects, err := part.Initial()
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name(), err)
		}
		for i := range system.Initial {
			system.Initial[i].Objects = append(system.Initial[i].Objects, objects...)
		}
		system.Strategies = append(system.Strategies, part.Players()...)
		system.Scenario.Actions = append(system.Scenario.Actions, part.Actions()...)
		system.Kinds = append(slices.Clip(system.Kinds), part.Kinds()...)
		system.Assumptions = append(system.Assumptions, part.Assumptions()...)
	}
	system.Store = surrounded
	return nil
}

// surrounded is an API server with other parts of the world beside it.
type surrounded struct {
	external.World
	server *kube.Server
	others []external.Part
}

// After implements [core.Dated].
func (s *surrounded) After(later time.Duration) core.Store { return s.with(s.World.After(later)) }

// Ordered implements [core.Ordering].
func (s *surrounded) Ordered() core.Store { return s.with(s.World.Ordered()) }

// Aged implements [core.Aging].
func (s *surrounded) Aged(groups [][]core.Kind) core.Store { return s.with(s.World.Aged(groups)) }

// Counted implements [core.Counting].
func (s *surrounded) Counted(kinds []core.Kind) core.Store { return s.with(s.World.Counted(kinds)) }

// Adopted implements [core.Adopting].
func (s *surrounded) Adopted(kinds []core.Kind) any {
	world, _ := s.World.Adopted(kinds).(core.Store)
	return s.with(world)
}

// Making implements [core.Presuming].
func (s *surrounded) Making(keys []core.Key) core.Store { return s.with(s.World.Making(keys)) }

// with returns the same with another world, which is a world as this one is.
func (s *surrounded) with(world core.Store) core.Store {
	other := *s
	other.World = world.(external.World)
	return &other
}

// External returns the names of the parts, which no real API server has.
func (s *surrounded) External() []string {
	names := make([]string, len(s.others))
	for i, part := range s.others {
		names[i] = part.Name()
	}
	return names
}

// Beside reports whether a kind is that of a part, for properties that are asked for by their names.
func (s *surrounded) Beside(kind core.Kind) bool {
	return slices.ContainsFunc(s.others, func(part external.Part) bool { return part.Owns(kind) })
}

// Scheme is that of the API server, for properties.
func (s *surrounded) Scheme() *runtime.Scheme { return s.server.Scheme() }

// Definitions are those of the API server, for properties.
func (s *surrounded) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	return s.server.Definitions()
}
