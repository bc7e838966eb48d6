package kube

import (
	"encoding/json"

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

// DoneLifetime is the response to a request with LifetimeOnly set, by the whole object as a real server sends it. The error is that of
// reading it.
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
	content := core.Project(op.state, op.key(op.request.Name), lifetime{})
	if content == nil {
		return nil, op.notFound()
	}
	return done(content.(lifetimeOf).text), nil
}
