package controllerruntime

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

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
