package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Event implements [core.World]: the versions are those that the server had after as many changes of the kind.
func (c *Cluster) Event(ctx context.Context, told core.TraceEvent) (core.Event, error) {
	event := core.Event{Key: told.Key(), Missed: told.Missed, Initial: told.Initial}
	kind, err := c.kindOf(told.Kind)
	if err != nil {
		return event, err
	}
	h, err := c.history(ctx, kind)
	if err != nil {
		return event, err
	}
	if !told.Initial {
		if event.Old, err = c.version(ctx, kind, h, told, told.From); err != nil {
			return event, err
		}
	}
	event.New, err = c.version(ctx, kind, h, told, told.To)
	if err == nil && event.Old == nil && event.New == nil {
		err = core.DeviationError(fmt.Sprintf("%s is not there, where an event handler of %s was told of it", told.Key(), told.Controller))
	}
	return event, err
}

// version returns the version of an object after so many changes of the kind, nil if there is none.
func (c *Cluster) version(ctx context.Context, kind schema.GroupVersionKind, h *history, told core.TraceEvent, changes int) (core.Content, error) {
	revision, err := h.before(core.TraceLag{Kind: told.Kind, Changes: told.Of - changes, Of: told.Of})
	if err != nil {
		return nil, err
	}
	response, err := c.recallAt(ctx, &kube.Request{Verb: kube.Get, Kind: kind, Namespace: told.Namespace, Name: told.Name}, revision)
	if err != nil || response.Status != nil {
		return nil, err
	}
	return contentOf(response.Object)
}

// contentOf returns an object that the server sent as the simulated one stores its own: under the version that the
// server gave it.
func contentOf(text json.RawMessage) (core.Content, error) {
	var fields map[string]any
	if err := utiljson.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("the server's answer is no object: %w", err)
	}
	version, _ := metadata(fields)["resourceVersion"].(string)
	delete(metadata(fields), "resourceVersion")
	object := storage.New(fields, 0)
	object.Version = version
	return object, nil
}
