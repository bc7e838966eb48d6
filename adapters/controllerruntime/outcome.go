package controllerruntime

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/orrery-dev/orrery/adapters/kube"
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
	key := decode(core.Request(name)).NamespacedName
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
	of, err := formOf(newObject[T](), scheme)
	if err != nil {
		return "", err
	}
	return kube.KindOf(of.kind.GroupKind()), nil
}

func newObject[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

// representation is how objects are handed to a controller.
type representation uint8

const (
	typed representation = iota
	untyped
	metadataOnly
)

// form is a kind in one representation. A manager's cache keeps the forms of a
// kind apart: each has its own informer and its own indexes.
type form struct {
	kind schema.GroupVersionKind
	as   representation
}

// formOf returns the form of an object, or of the items of a list.
func formOf(object runtime.Object, scheme *runtime.Scheme) (form, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return form{}, err
	}
	if meta.IsListType(object) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	switch object.(type) {
	case runtime.Unstructured:
		return form{kind, untyped}, nil
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return form{kind, metadataOnly}, nil
	}
	return form{kind, typed}, nil
}

// decode reads an object into fresh memory. Its kind is set.
func (f form) decode(raw []byte, scheme *runtime.Scheme) (client.Object, error) {
	object, err := f.empty(scheme)
	if err != nil {
		return nil, err
	}
	into := any(object)
	if u, ok := object.(*unstructured.Unstructured); ok {
		into = &u.Object
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("a %s cannot be read into a %T: %w", f.kind.Kind, object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(f.kind)
	return object, nil
}

// empty returns a new object of the form.
func (f form) empty(scheme *runtime.Scheme) (client.Object, error) {
	switch f.as {
	case untyped:
		return &unstructured.Unstructured{}, nil
	case metadataOnly:
		return &metav1.PartialObjectMetadata{}, nil
	}
	fresh, err := scheme.New(f.kind)
	if err != nil {
		return nil, err
	}
	object, ok := fresh.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object: it has no metadata", fresh)
	}
	return object, nil
}

// groupResource is how the cache names a kind in its errors: by the kind itself.
func (f form) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: f.kind.Group, Resource: f.kind.Kind}
}

// shown prepares a version of an object to be shown to event handlers.
func shown(b *blueprint, key core.Key, content core.Content) *shownObject {
	return &shownObject{blueprint: b, key: key, content: content, objects: map[form]client.Object{}}
}

// shownObject is one version of an object in the forms in which handlers see it.
type shownObject struct {
	blueprint *blueprint
	key       core.Key
	content   core.Content
	objects   map[form]client.Object
}

// as returns the object in a form. A typed object has no kind, as when it comes
// from a watch.
func (o *shownObject) as(of form) client.Object {
	if object, known := o.objects[of]; known {
		return object
	}
	object, err := o.read(of)
	if err != nil {
		panic(fmt.Sprintf("controllerruntime: %s cannot be shown to event handlers: %v", o.key, err))
	}
	if of.as == typed {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	o.objects[of] = object
	return object
}

// read asks the server for the object as a client would, of a world in which there
// is only this version of this object.
func (o *shownObject) read(of form) (client.Object, error) {
	answer, err := o.blueprint.server.Answer(lone{o.key, o.content}, &kube.Request{
		Verb:      kube.Get,
		Kind:      of.kind,
		Namespace: o.key.Namespace,
		Name:      o.key.Name,
	})
	if err != nil {
		return nil, err
	}
	response, ok := answer.Response.(*kube.Response)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", answer.Response)
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	return of.decode(response.Object, o.blueprint.scheme)
}

// lone is a store with a single object.
type lone core.Object

var _ core.Snapshot = lone{}

// Get implements [core.Snapshot].
func (l lone) Get(key core.Key) core.Content {
	if key != l.Key {
		return nil
	}
	return l.Content
}

// Held implements [core.Snapshot].
func (l lone) Held(core.Key) []core.Content { return nil }

// List implements [core.Snapshot].
func (l lone) List(kind core.Kind, namespace string) []core.Object {
	if kind != l.Key.Kind || (namespace != "" && namespace != l.Key.Namespace) {
		return nil
	}
	return []core.Object{core.Object(l)}
}
