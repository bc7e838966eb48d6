package players

import (
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// GarbageCollector returns the strategy that plays Kubernetes' garbage collector
// for objects of the given kinds. It deletes objects all of whose owners are gone,
// takes references to owners that are gone from objects with another one, and
// finishes foreground and orphaning deletions. A search has it look after other kinds as well where an object of
// one belongs to another one ([core.Adopting]). An object with
// an owner of a kind that the server does not serve is kept.
//
// It returns an error that says what to change if the server does not serve a kind.
func GarbageCollector(server *kube.Server, given ...core.Kind) (core.Strategy, error) {
	watched := map[core.Kind]*resource{}
	for _, kind := range given {
		r := named(server, kind)
		if r == nil {
			return nil, fmt.Errorf("the garbage collector cannot watch %s: add its Go type to the scheme, or its custom resource definition with CRDs", kind)
		}
		watched[kind] = r
	}
	return collecting(server, watched), nil
}

func collecting(server *kube.Server, watched map[core.Kind]*resource) *garbageCollector {
	return &garbageCollector{server: server, kinds: slices.Sorted(maps.Keys(watched)), watched: watched}
}

// garbageCollector is both the strategy and, having no memory, its instance.
type garbageCollector struct {
	server  *kube.Server
	kinds   []core.Kind
	watched map[core.Kind]*resource
}

var (
	_ core.Strategy  = (*garbageCollector)(nil)
	_ core.Instance  = (*garbageCollector)(nil)
	_ core.Adopting  = (*garbageCollector)(nil)
	_ kube.Collector = (*garbageCollector)(nil)
)

// Collects implements [kube.Collector].
func (g *garbageCollector) Collects(kind core.Kind) bool { return g.watched[kind] != nil }

// Adopts implements [kube.Collector].
func (g *garbageCollector) Adopts(kind core.Kind) bool { return named(g.server, kind) != nil }

// Adopted implements [core.Adopting].
func (g *garbageCollector) Adopted(kinds []core.Kind) any {
	watched := maps.Clone(g.watched)
	for _, kind := range kinds {
		if r := named(g.server, kind); r != nil {
			watched[kind] = r
		}
	}
	return collecting(g.server, watched)
}

// Describe implements [core.Strategy].
func (g *garbageCollector) Describe() core.Description {
	return core.Description{Name: kube.GarbageCollectorName, Watches: slices.Clone(g.kinds), Sequential: true}
}

// New implements [core.Strategy].
func (g *garbageCollector) New() (core.Instance, error) { return g, nil }

// Handle implements [core.Instance]. An object is looked at when it changes, when
// an owner of it goes away or waits for it, and when what it waits for goes away.
func (g *garbageCollector) Handle(world core.EffectRecorder, event core.Event) []core.Request {
	var requests []core.Request
	if event.New != nil {
		object := storage.Of(event.New).Meta()
		foreground := storage.Waits(object, metav1.FinalizerDeleteDependents)
		if foreground || storage.Waits(object, metav1.FinalizerOrphanDependents) || len(object.GetOwnerReferences()) > 0 {
			requests = append(requests, requestFor(event.Key))
		}
		if foreground && (event.Old == nil || !storage.Waits(storage.Of(event.Old).Meta(), metav1.FinalizerDeleteDependents)) {
			requests = append(requests, g.dependentRequests(world, event.Key, object.GetUID())...)
		}
	}
	if event.Old != nil {
		old := storage.Of(event.Old).Meta()
		if event.New == nil {
			requests = append(requests, g.dependentRequests(world, event.Key, old.GetUID())...)
		}
		for _, reference := range old.GetOwnerReferences() {
			if key, ok := g.ownerKey(reference, event.Key.Namespace); ok && g.Collects(key.Kind) {
				requests = append(requests, requestFor(key))
			}
		}
	}
	slices.Sort(requests)
	return slices.Compact(requests)
}

// Reconcile implements [core.Instance]: it looks at one object, with live reads.
func (g *garbageCollector) Reconcile(world core.EffectRecorder, request core.Request) core.Result {
	key, ok := parseRequest(request)
	if !ok || !g.Collects(key.Kind) {
		return core.Result{Err: fmt.Errorf("%q does not name an object of a watched kind", request)}
	}
	c := &collection{collector: g, world: world, key: key}
	return core.Result{Err: c.run()}
}

// dependentRequests are the requests to look at the objects that refer to a uid, as
// the collector's cache shows them. A cache refuses no list.
func (g *garbageCollector) dependentRequests(world core.EffectRecorder, owner core.Key, uid types.UID) []core.Request {
	found, err := g.dependents(world, true, owner, uid)
	if err != nil {
		panic("players: a cache refuses to list: " + err.Error())
	}
	requests := make([]core.Request, len(found))
	for i, d := range found {
		requests[i] = requestFor(d.key)
	}
	return requests
}

// dependent is an object that refers to an owner.
type dependent struct {
	key    core.Key
	object *unstructured.Unstructured
}

// dependents returns the watched objects that refer to a uid. Those of a namespaced
// owner are in its namespace.
func (g *garbageCollector) dependents(world core.EffectRecorder, fromCache bool, owner core.Key, uid types.UID) ([]dependent, error) {
	var found []dependent
	for _, kind := range g.kinds {
		r := g.watched[kind]
		if !r.namespaced && owner.Namespace != "" {
			continue
		}
		response := perform(world, &kube.Request{Verb: kube.List, Kind: r.kind, Namespace: owner.Namespace, FromCache: fromCache})
		if err := response.Err(); err != nil {
			return nil, err
		}
		var list struct {
			Items []map[string]any `json:"items"`
		}
		if err := jsontree.Decode(response.Object, &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			object := &unstructured.Unstructured{Object: item}
			if refersTo(object, uid) {
				key := core.Key{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
				found = append(found, dependent{key: key, object: object})
			}
		}
	}
	return found, nil
}

func refersTo(object *unstructured.Unstructured, uid types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// ownerKey is the key of an owner of an object in a namespace. There is none if the
// server does not serve the owner's kind, or if a cluster-scoped object names an
// owner with a namespace.
func (g *garbageCollector) ownerKey(reference metav1.OwnerReference, namespace string) (core.Key, bool) {
	r := served(g.server, schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
	if r == nil || r.namespaced && namespace == "" {
		return core.Key{}, false
	}
	key := core.Key{Kind: r.name, Name: reference.Name}
	if r.namespaced {
		key.Namespace = namespace
	}
	return key, true
}

// collection is the garbage collector at work on one object.
type collection struct {
	collector *garbageCollector
	world     core.EffectRecorder
	key       core.Key
}

// run looks first at what decides how long objects live, and at the rest only if there is something to do: so whatever
// else changes in them makes no difference to most runs.
func (c *collection) run() error {
	if due, err := c.due(c.lifetime); due == nil || err != nil {
		return err
	}
	due, err := c.due(c.read)
	if due == nil || err != nil {
		return err
	}
	return due()
}

// due returns what is to be done for the object, nil if nothing is, as far as a way to read objects shows.
func (c *collection) due(read func(core.Key) (*unstructured.Unstructured, error)) (func() error, error) {
	object, err := read(c.key)
	switch {
	case err != nil || object == nil:
		return nil, err
	case storage.Waits(object, metav1.FinalizerDeleteDependents):
		return func() error { return c.finishForeground(object) }, nil
	case storage.Waits(object, metav1.FinalizerOrphanDependents):
		return func() error { return c.orphanDependents(object) }, nil
	case object.GetDeletionTimestamp() != nil:
		return nil, nil
	}
	owners, err := c.owners(object, read)
	if err != nil || owners.unknown || len(owners.gone) == 0 {
		return nil, err
	}
	return func() error { return c.collect(object, owners) }, nil
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

// blocks reports whether a dependent keeps an owner from being deleted in the foreground.
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
func (c *collection) collect(object *unstructured.Unstructured, owners ownership) error {
	if owners.solid {
		return c.removeOwners(c.key, object, func(r metav1.OwnerReference) bool { return owners.gone[r.UID] })
	}
	if owners.waiting {
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

// ownership is how the owners of an object are.
type ownership struct {
	// unknown tells that an owner is of a kind that is not served, solid that one is there to stay, and waiting that
	// one waits for its dependents to be deleted.
	unknown, solid, waiting bool
	// gone are those that are not there to stay.
	gone map[types.UID]bool
}

// owners looks at the owners of an object.
func (c *collection) owners(object *unstructured.Unstructured, read func(core.Key) (*unstructured.Unstructured, error)) (ownership, error) {
	o := ownership{gone: map[types.UID]bool{}}
	for _, reference := range object.GetOwnerReferences() {
		key, ok := c.collector.ownerKey(reference, c.key.Namespace)
		if !ok {
			return ownership{unknown: true}, nil
		}
		owner, err := read(key)
		switch {
		case err != nil:
			return ownership{}, err
		case owner == nil || owner.GetUID() != reference.UID:
			o.gone[reference.UID] = true
		case storage.Waits(owner, metav1.FinalizerDeleteDependents):
			o.waiting = true
			o.gone[reference.UID] = true
		default:
			o.solid = true
		}
	}
	return o, nil
}

// collectWaitedFor deletes an object with dependents for which an owner waits. If a
// dependent waits too, they may wait for each other in a circle: the object then
// blocks its owners no longer.
func (c *collection) collectWaitedFor(object *unstructured.Unstructured, dependents []dependent) error {
	circle := slices.ContainsFunc(dependents, func(d dependent) bool { return storage.Waits(d.object, metav1.FinalizerDeleteDependents) })
	if circle && slices.ContainsFunc(object.GetOwnerReferences(), blocking) {
		// The deletion follows in another run: it is of the version that this makes.
		return c.unblock(object)
	}
	return c.remove(object, metav1.DeletePropagationForeground)
}

// unblock says of an object that it blocks no owner. A strategic merge patch says so of those that it has blocked;
// where there are none, for custom resources, a merge patch says so of all.
func (c *collection) unblock(object *unstructured.Unstructured) error {
	references, blocked := object.GetOwnerReferences(), []metav1.OwnerReference{}
	for i, reference := range references {
		references[i].BlockOwnerDeletion = ptr.To(false)
		if blocking(reference) {
			blocked = append(blocked, references[i])
		}
	}
	err := c.patch(types.StrategicMergePatchType, c.key, object, "ownerReferences", blocked)
	if apierrors.IsUnsupportedMediaType(err) {
		return c.patch(types.MergePatchType, c.key, object, "ownerReferences", references)
	}
	return err
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
	return c.get(&kube.Request{Verb: kube.Get, Kind: c.kind(key), Namespace: key.Namespace, Name: key.Name})
}

// lifetime gets what decides how long an object lives, nil if there is none.
func (c *collection) lifetime(key core.Key) (*unstructured.Unstructured, error) {
	return c.get(&kube.Request{Verb: kube.Get, Kind: c.kind(key), Namespace: key.Namespace, Name: key.Name, LifetimeOnly: true})
}

func (c *collection) get(request *kube.Request) (*unstructured.Unstructured, error) {
	response := perform(c.world, request)
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
	return named(c.collector.server, key.Kind).kind
}

func (c *collection) removeFinalizer(object *unstructured.Unstructured, finalizer string) error {
	finalizers := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer })
	return c.patch(types.MergePatchType, c.key, object, "finalizers", finalizers)
}

func (c *collection) removeOwners(key core.Key, object *unstructured.Unstructured, gone func(metav1.OwnerReference) bool) error {
	return c.patch(types.MergePatchType, key, object, "ownerReferences", slices.DeleteFunc(object.GetOwnerReferences(), gone))
}

// patch patches a list in the metadata, if the object has not changed since. A merge patch replaces it.
func (c *collection) patch(of types.PatchType, key core.Key, object *unstructured.Unstructured, name string, list any) error {
	return c.write(&kube.Request{
		Verb:      kube.Patch,
		Kind:      c.kind(key),
		Namespace: key.Namespace,
		Name:      key.Name,
		PatchType: of,
		Body:      jsontree.Canonical(map[string]any{"metadata": map[string]any{name: list, "resourceVersion": object.GetResourceVersion()}}),
	})
}

func (c *collection) remove(object *unstructured.Unstructured, propagation metav1.DeletionPropagation) error {
	return c.write(&kube.Request{
		Verb:                        kube.Delete,
		Kind:                        c.kind(c.key),
		Namespace:                   c.key.Namespace,
		Name:                        c.key.Name,
		Propagation:                 string(propagation),
		PreconditionUID:             string(object.GetUID()),
		PreconditionResourceVersion: object.GetResourceVersion(),
	})
}

// write makes a request that changes something. That its object is gone is fine.
func (c *collection) write(request *kube.Request) error {
	err := perform(c.world, request).Err()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
