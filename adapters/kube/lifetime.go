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
	tree := storage.Of(o.Content).Tree
	from, _ := tree["metadata"].(map[string]any)
	metadata := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "ownerReferences", "finalizers", "deletionTimestamp"} {
		if value, set := from[field]; set {
			metadata[field] = value
		}
	}
	return lifetimeOf{jsontree.Canonical(map[string]any{"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": metadata})}
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
