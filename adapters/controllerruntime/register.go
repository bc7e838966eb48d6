package controllerruntime

import (
	"fmt"
	"reflect"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// registered is a controller on its manager.
type registered struct {
	controller controller.Controller
	name       string
	workers    int
	// sources are what the controller was told to watch so far, in that order.
	sources *[]source.Source

	queue   queue
	watches watches
}

// register learns what a controller is. The type of controllers is internal to
// controller-runtime, so their fields are looked up by name. The list of sources is
// not exported; a controller would start them all at once, so that their handlers
// came in any order.
func register(c controller.Controller) (*registered, error) {
	r := &registered{controller: c}
	if v := reflect.ValueOf(c); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		name, hasName := fieldOf[string](v.Elem(), "Name")
		workers, hasWorkers := fieldOf[int](v.Elem(), "MaxConcurrentReconciles")
		recovers, hasRecovers := fieldOf[*bool](v.Elem(), "RecoverPanic")
		sources, hasSources := fieldOf[[]source.Source](v.Elem(), "startWatches")
		if hasName && hasWorkers && hasRecovers && hasSources {
			*recovers = ptr.To(false) // panics are for the engine
			r.name, r.workers, r.sources = *name, *workers, sources
			return r, nil
		}
	}
	return nil, fmt.Errorf("a %T is not a controller as this version of the adapter knows them: add the controller itself to the manager, not a wrapper around it, and use a supported version of controller-runtime", c)
}

// fieldOf returns the address of a field, exported or not, and false if there is no
// such field of that type.
func fieldOf[T any](structure reflect.Value, name string) (*T, bool) {
	field := structure.FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil, false
	}
	return (*T)(field.Addr().UnsafePointer()), true
}
