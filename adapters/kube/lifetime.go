package kube

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// lifetime is what decides how long an object lives. Most changes of an object leave it as it is.
type lifetime struct{}

var _ core.Projection = lifetime{}

// Identity implements [core.Projection].
func (lifetime) Identity() string { return "lifetime" }

// Project implements [core.Projection].
func (lifetime) Project(o core.Object) core.Content {
	return lifetimeOf{jsontree.Canonical(lifetimeIn(storage.Of(o.Content).Tree))}
}

// lifetimeIn is what an object says of its lifetime.
func lifetimeIn(tree map[string]any) map[string]any {
	from, _ := tree["metadata"].(map[string]any)
	metadata := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "ownerReferences", "finalizers", "deletionTimestamp"} {
		if value, set := from[field]; set {
			metadata[field] = value
		}
	}
	return map[string]any{"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": metadata}
}

// DoneLifetime is the response to a request with LifetimeOnly set, by the whole object as a real server sends it. The
// error is that of reading it.
func DoneLifetime(object json.RawMessage) (*Response, error) {
	var tree map[string]any
	if err := jsontree.Decode(object, &tree); err != nil {
		return nil, err
	}
	return done(jsontree.Canonical(lifetimeIn(tree))), nil
}

// lifetimeOf is the lifetime of an object, as JSON.
type lifetimeOf struct{ text json.RawMessage }

var _ core.Content = lifetimeOf{}

// Canonical implements [core.Content].
func (l lifetimeOf) Canonical() string { return string(l.text) }

// Fields implements [core.Content].
func (l lifetimeOf) Fields() any { return l.text }

// lifetime answers with what decides how long one object lives.
func (op *operation) lifetime() (*Response, error) {
	key := op.key(op.request.Name)
	content := core.Project(op.state, key, lifetime{})
	switch {
	case content == nil && !op.implied(key):
		return nil, op.notFound()
	case content == nil:
		object, err := op.server.impliedNamespace(key.Name)
		if err != nil {
			return nil, err
		}
		content = lifetime{}.Project(core.Object{Key: key, Content: object})
	}
	return done(content.(lifetimeOf).text), nil
}

// GarbageCollectorName is the name of the strategy that plays the garbage collector.
const GarbageCollectorName = "garbage-collector"

// Collector says which kinds the garbage collector looks after.
type Collector interface {
	// Collects reports whether it looks after a kind.
	Collects(core.Kind) bool
	// Adopts reports whether it could look after a kind as well.
	Adopts(core.Kind) bool
}

// Collected are the kinds that a garbage collector looks after, and no other. It is a [Collector].
type Collected []core.Kind

// Collects implements [Collector].
func (c Collected) Collects(kind core.Kind) bool { return slices.Contains(c, kind) }

// Adopts implements [Collector].
func (Collected) Adopts(core.Kind) bool { return false }

// Collecting returns the server as part of a system in which the garbage collector looks after some kinds. An object of
// another kind that belongs to one has it look after both kinds, if it can. A request after which an object of a kind
// that it does not look after waits for the collector is not modelled there: nobody would ever let it go.
func (s *Server) Collecting(c Collector) *Server {
	with := *s
	with.collector = c
	return &with
}

var _ core.Adopting = (*Server)(nil)

// Adopted implements [core.Adopting]: the garbage collector looks after the kinds.
func (s *Server) Adopted(kinds []core.Kind) any {
	if of, adopts := s.collector.(core.Adopting); adopts {
		return s.Collecting(of.Adopted(kinds).(Collector))
	}
	return s
}

// orphaned returns the error after which the collector looks after the kinds of objects that belong to others and of
// their owners, nil if it does, or cannot.
func (s *Server) orphaned(writes []core.Write) error {
	var afresh core.Afresh
	for _, w := range writes {
		object, ok := w.Content.(*storage.Object)
		if !ok || s.collector == nil {
			continue
		}
		for _, reference := range object.Meta().GetOwnerReferences() {
			kinds := []core.Kind{w.Key.Kind}
			if owner := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind); s.Serves(owner) == nil {
				kinds = append(kinds, KindOf(owner.GroupKind()))
			}
			for _, kind := range kinds {
				if !s.collector.Collects(kind) && s.collector.Adopts(kind) {
					afresh.Kinds, afresh.Reason = append(afresh.Kinds, kind), fmt.Sprintf("the garbage collector looks after %s, as %s belongs to others", kind, w.Key)
				}
			}
		}
	}
	if len(afresh.Kinds) == 0 {
		return nil
	}
	return &afresh
}

// Uncollected returns an error that says what to change if an object waits for the garbage collector, as after a
// foreground or an orphaning deletion, and the collector does not look after its kind. A server that was not told what
// the collector looks after knows of no such object.
func (s *Server) Uncollected(key core.Key, content core.Content) error {
	object, ok := content.(*storage.Object)
	if !ok || s.collector == nil || s.collector.Collects(key.Kind) {
		return nil
	}
	for _, finalizer := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		if storage.Waits(object.Meta(), finalizer) {
			return fmt.Errorf("%s waits for the garbage collector (finalizer %s), which does not look after %s: add the option GarbageCollection with an object of that kind, "+
				"or a stand-in called %s that watches it", key, finalizer, key.Kind, GarbageCollectorName)
		}
	}
	return nil
}
