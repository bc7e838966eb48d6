package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// path returns the namespace, the resource and the name that the path of a request names. The kinds of discovery are
// none.
func path(text string) (namespace string, resource schema.GroupVersionResource, name string) {
	parts := strings.Split(strings.Trim(text, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		resource.Group, resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return "", resource, ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		namespace, parts = parts[1], parts[2:]
	}
	resource.Resource = parts[0]
	if len(parts) > 1 {
		name = parts[1]
	}
	return namespace, resource, name
}

// watcher is somebody who watches a kind.
type watcher struct {
	cluster   *Cluster
	kind      schema.GroupVersionKind
	namespace string
	metadata  bool
	out       *io.PipeWriter
}

// watch begins a watch.
func (c *Cluster) watch(sent *http.Request) (*http.Response, error) {
	namespace, resource, name := path(sent.URL.Path)
	kind, err := c.server.KindFor(resource)
	query := sent.URL.Query()
	if err != nil || name != "" || query.Get("labelSelector") != "" || query.Get("fieldSelector") != "" {
		return refuse(sent, "the stand-in for a cluster serves watches of kinds, without selectors: watch all of the kind")
	}
	in, out := io.Pipe()
	w := &watcher{cluster: c, kind: kind, namespace: namespace, metadata: strings.Contains(sent.Header.Get("Accept"), "as=PartialObjectMetadata"), out: out}
	from, _ := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	ctx := sent.Context()
	stop := context.AfterFunc(ctx, func() {
		_ = out.CloseWithError(ctx.Err())
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	go func() {
		defer stop()
		defer func() { _ = out.Close() }()
		w.tell(ctx, from, query.Get("sendInitialEvents") == "true")
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: in, Request: sent,
	}, nil
}

// tell writes changes, until the watch or the cluster ends.
func (w *watcher) tell(ctx context.Context, from uint64, initial bool) {
	c := w.cluster
	name := kube.KindOf(w.kind.GroupKind())
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	at := c.position(from)
	if initial {
		for _, key := range slices.SortedFunc(maps.Keys(c.objects), core.Key.Compare) {
			if key.Kind == name && w.wants(key) {
				lines = append(lines, w.line("ADDED", c.objects[key], c.versions[key]))
			}
		}
		lines = append(lines, w.bookmark(c.revision))
		at = len(c.past)
	}
	for {
		for ; at < len(c.past); at++ {
			told := c.past[at]
			if told.key.Kind != name {
				continue
			}
			if until, held := c.held[name]; held && told.revision > until {
				break
			}
			if w.wants(told.key) {
				lines = append(lines, w.line(told.event, told.object, told.revision))
			}
		}
		if len(lines) > 0 {
			text := strings.Join(lines, "")
			lines = nil
			c.mu.Unlock()
			_, err := io.WriteString(w.out, text)
			c.mu.Lock()
			if err != nil {
				return
			}
			continue
		}
		if c.closed || ctx.Err() != nil {
			return
		}
		c.changed.Wait()
	}
}

// position returns how many of the changes are over at a revision.
func (c *Cluster) position(revision uint64) int {
	i, _ := slices.BinarySearchFunc(c.past, revision+1, func(past change, wanted uint64) int {
		switch {
		case past.revision < wanted:
			return -1
		case past.revision > wanted:
			return 1
		}
		return 0
	})
	return i
}

func (w *watcher) wants(key core.Key) bool { return w.namespace == "" || key.Namespace == w.namespace }

// line is an event as a watch has it.
func (w *watcher) line(event string, object core.Content, revision uint64) string {
	tree := storage.Of(object).Shown(w.kind.GroupVersion().String(), strconv.FormatUint(revision, 10))
	if w.metadata {
		tree = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": tree["metadata"]}
	}
	return lineOf(event, tree)
}

// bookmark tells that all objects were told of that are there.
func (w *watcher) bookmark(revision uint64) string {
	meta := map[string]any{"resourceVersion": strconv.FormatUint(revision, 10), "annotations": map[string]any{"k8s.io/initial-events-end": "true"}}
	tree := map[string]any{"apiVersion": w.kind.GroupVersion().String(), "kind": w.kind.Kind, "metadata": meta}
	if w.metadata {
		tree["apiVersion"], tree["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return lineOf("BOOKMARK", tree)
}

func lineOf(event string, object map[string]any) string {
	text, err := json.Marshal(map[string]any{"type": event, "object": object})
	if err != nil {
		panic(fmt.Sprintf("standin: an object has no JSON: %v", err))
	}
	return string(text) + "\n"
}
