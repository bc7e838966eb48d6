package system

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/core"
)

// List returns the objects of the Go type T among those of an outcome or of a
// state of a trace, in their order. T is the pointer type of a kind in the scheme,
// for example *appsv1.Deployment.
func List[T client.Object](scheme *runtime.Scheme, objects []core.TraceObject) ([]T, error) {
	kind, err := kindOf[T](scheme)
	if err != nil {
		return nil, err
	}
	var found []T
	for _, object := range objects {
		if object.Kind != kind {
			continue
		}
		fields, ok := object.Fields.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s has no fields", object.Key())
		}
		into := newObject[T]()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into); err != nil {
			return nil, fmt.Errorf("%s cannot be read into a %T: %w", object.Key(), into, err)
		}
		found = append(found, into)
	}
	return found, nil
}

// Get returns the object of the Go type T with the name, written as
// "namespace/name", or "name" for a cluster-scoped kind. See [List].
func Get[T client.Object](scheme *runtime.Scheme, objects []core.TraceObject, name string) (T, error) {
	var none T
	all, err := List[T](scheme, objects)
	if err != nil {
		return none, err
	}
	key := client.ObjectKey{Name: name}
	if namespace, rest, found := strings.Cut(name, "/"); found {
		key = client.ObjectKey{Namespace: namespace, Name: rest}
	}
	for _, object := range all {
		if client.ObjectKeyFromObject(object) == key {
			return object, nil
		}
	}
	return none, fmt.Errorf("there is no %T %s", none, name)
}

func kindOf[T client.Object](scheme *runtime.Scheme) (core.Kind, error) {
	if reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return "", fmt.Errorf("%s is no pointer type: use the pointer type of a kind in the scheme", reflect.TypeFor[T]())
	}
	of, err := informer.Of(newObject[T](), scheme)
	if err != nil {
		return "", err
	}
	return of.Name(), nil
}

func newObject[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}
