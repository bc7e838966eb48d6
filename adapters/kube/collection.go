package kube

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// collection is the garbage collector at work on one object.
type collection struct {
	collector *garbageCollector
	world     core.EffectRecorder
	key       core.Key
}

func (c *collection) run() error {
	object, err := c.read(c.key)
	if err != nil || object == nil {
		return err
	}
	switch {
	case waits(object, metav1.FinalizerDeleteDependents):
		return c.finishForeground(object)
	case waits(object, metav1.FinalizerOrphanDependents):
		return c.orphanDependents(object)
	case object.GetDeletionTimestamp() != nil || len(object.GetOwnerReferences()) == 0:
		return nil
	}
	return c.collect(object)
}

// finishForeground lets an object go when no dependent blocks its deletion any more.
func (c *collection) finishForeground(object *unstructured.Unstructured) error {
	found, err := c.dependents(object)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(d dependent) bool { return blocks(d.object, object.GetUID()) }) {
		return nil
	}
	return c.removeFinalizer(object, metav1.FinalizerDeleteDependents)
}

// dependents are the objects that refer to the object, read live.
func (c *collection) dependents(object *unstructured.Unstructured) ([]dependent, error) {
	return c.collector.dependents(c.world, false, c.key, object.GetUID())
}

// blocks tells whether a dependent keeps an owner from being deleted in the foreground.
func blocks(dependent *unstructured.Unstructured, owner types.UID) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner && blocking(r) })
}

func blocking(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// orphanDependents takes the owner from its dependents, and then lets it go.
func (c *collection) orphanDependents(object *unstructured.Unstructured) error {
	found, err := c.dependents(object)
	if err != nil {
		return err
	}
	for _, d := range found {
		gone := func(r metav1.OwnerReference) bool { return r.UID == object.GetUID() }
		if err := c.removeOwners(d.key, d.object, gone); err != nil {
			return err
		}
	}
	return c.removeFinalizer(object, metav1.FinalizerOrphanDependents)
}

// collect deletes an object none of whose owners is there to stay, and takes the
// references to other owners from one that has such an owner.
func (c *collection) collect(object *unstructured.Unstructured) error {
	solid, waiting := false, false
	gone := map[types.UID]bool{}
	for _, reference := range object.GetOwnerReferences() {
		key, ok := c.collector.ownerKey(reference, c.key.Namespace)
		if !ok {
			return nil
		}
		owner, err := c.read(key)
		switch {
		case err != nil:
			return err
		case owner == nil || owner.GetUID() != reference.UID:
			gone[reference.UID] = true
		case waits(owner, metav1.FinalizerDeleteDependents):
			waiting = true
			gone[reference.UID] = true
		default:
			solid = true
		}
	}
	switch {
	case solid && len(gone) > 0:
		return c.removeOwners(c.key, object, func(r metav1.OwnerReference) bool { return gone[r.UID] })
	case solid:
		return nil
	}
	if waiting {
		found, err := c.dependents(object)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return c.collectWaitedFor(object, found)
		}
	}
	return c.remove(object, propagation(object))
}

// collectWaitedFor deletes an object with dependents for which an owner waits. If a
// dependent waits too, they may wait for each other in a circle: the object then
// blocks its owners no longer.
func (c *collection) collectWaitedFor(object *unstructured.Unstructured, dependents []dependent) error {
	circle := slices.ContainsFunc(dependents, func(d dependent) bool { return waits(d.object, metav1.FinalizerDeleteDependents) })
	if circle && slices.ContainsFunc(object.GetOwnerReferences(), blocking) {
		references := object.GetOwnerReferences()
		for i := range references {
			references[i].BlockOwnerDeletion = nil
		}
		// The deletion follows in another run: it is of the version that this makes.
		return c.patch(c.key, object, "ownerReferences", references)
	}
	return c.remove(object, metav1.DeletePropagationForeground)
}

// propagation is the policy with which an object is collected that nobody waits for:
// that of its own finalizer.
func propagation(object *unstructured.Unstructured) metav1.DeletionPropagation {
	switch finalizers := object.GetFinalizers(); {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// read gets an object, nil if there is none.
func (c *collection) read(key core.Key) (*unstructured.Unstructured, error) {
	response := perform(c.world, &Request{Verb: Get, Kind: c.kind(key), Namespace: key.Namespace, Name: key.Name})
	if err := response.Err(); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := jsontree.Decode(response.Object, &object.Object); err != nil {
		return nil, err
	}
	return object, nil
}

// kind is the kind of an object, in a version that is served.
func (c *collection) kind(key core.Key) schema.GroupVersionKind {
	return c.collector.server.registry.Named(key.Kind).PreferredKind()
}

func (c *collection) removeFinalizer(object *unstructured.Unstructured, finalizer string) error {
	finalizers := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer })
	return c.patch(c.key, object, "finalizers", finalizers)
}

func (c *collection) removeOwners(key core.Key, object *unstructured.Unstructured, gone func(metav1.OwnerReference) bool) error {
	return c.patch(key, object, "ownerReferences", slices.DeleteFunc(object.GetOwnerReferences(), gone))
}

// patch replaces a list in the metadata, if the object has not changed since.
func (c *collection) patch(key core.Key, object *unstructured.Unstructured, name string, list any) error {
	return c.write(&Request{
		Verb:      Patch,
		Kind:      c.kind(key),
		Namespace: key.Namespace,
		Name:      key.Name,
		PatchType: types.MergePatchType,
		Body:      jsontree.Canonical(map[string]any{"metadata": map[string]any{name: list, "resourceVersion": object.GetResourceVersion()}}),
	})
}

func (c *collection) remove(object *unstructured.Unstructured, propagation metav1.DeletionPropagation) error {
	return c.write(&Request{
		Verb:                        Delete,
		Kind:                        c.kind(c.key),
		Namespace:                   c.key.Namespace,
		Name:                        c.key.Name,
		Propagation:                 string(propagation),
		PreconditionUID:             string(object.GetUID()),
		PreconditionResourceVersion: object.GetResourceVersion(),
	})
}

// write makes a request that changes something. That its object is gone is fine.
func (c *collection) write(request *Request) error {
	err := perform(c.world, request).Err()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
