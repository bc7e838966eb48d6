package controllerruntime

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/system"
	"github.com/orrery-dev/orrery/core"
)

// List returns the objects of the Go type T among those of an outcome or of a
// state of a trace, in their order. T is the pointer type of a kind in the scheme,
// for example *appsv1.Deployment.
func List[T client.Object](scheme *runtime.Scheme, objects []core.TraceObject) ([]T, error) {
	return system.List[T](scheme, objects)
}

// Get returns the object of the Go type T with the name, written as
// "namespace/name", or "name" for a cluster-scoped kind. See [List].
func Get[T client.Object](scheme *runtime.Scheme, objects []core.TraceObject, name string) (T, error) {
	return system.Get[T](scheme, objects, name)
}
