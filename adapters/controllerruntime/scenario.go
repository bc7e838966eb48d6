package controllerruntime

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
)

// Action is something that a user does, as one step, see [Scenario].
type Action = scenario.Action

// Scenario lets users do something while the controllers work: each action once, at any
// moment, or never. An action that is to wait until the system has settled says so:
//
//	controllerruntime.Scenario(controllerruntime.Change("update the image", web, update).OnceSettled())
func Scenario(actions ...Action) Option { return common(system.Scenario(actions...)) }

// InOrder is a [Scenario] whose actions can be taken only one after the other. This then
// goes for all actions of the system.
func InOrder(actions ...Action) Option { return common(system.InOrder(actions...)) }

// Create is the action of creating an object.
func Create(object client.Object) Action { return scenario.Create(object) }

// Delete is the action of deleting an object. Only the name of the object matters.
func Delete(object client.Object) Action { return scenario.Delete(object) }

// Scale is the action of changing how many replicas an object is to have, as with
// kubectl scale. Only the name of the object matters.
func Scale(object client.Object, replicas int32) Action { return scenario.Scale(object, replicas) }

// Change is the action of reading an object, changing it, and writing it back, as with
// kubectl edit. Of the object given, only the name matters.
func Change[T client.Object](name string, object T, change func(T)) Action {
	return scenario.Change(name, object, change)
}
