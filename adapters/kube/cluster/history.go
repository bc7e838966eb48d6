package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// history is which revisions of the server's store changed an object of a kind, from the start of a run on. Each
// revision is one change of one object, of whatever kind.
type history struct {
	changes []int64
	// revision is the last that was looked at, and versions are those of the objects then.
	revision int64
	versions []string
}

// before returns the last revision before the latest changes, and a [core.DeviationError] if there were not as many
// changes in all as were recorded.
func (h *history) before(lag core.TraceLag) (int64, error) {
	if len(h.changes) != lag.Of || lag.Changes > lag.Of {
		return 0, core.DeviationError(fmt.Sprintf("the real server has made %d changes of %s, where %d were recorded", len(h.changes), lag.Kind, lag.Of))
	}
	if lag.Changes == 0 {
		return h.revision, nil
	}
	return h.changes[lag.Of-lag.Changes] - 1, nil
}

// history returns the history of a kind up to now.
func (c *Cluster) history(ctx context.Context, kind schema.GroupVersionKind) (*history, error) {
	now, err := c.revision(ctx)
	if err != nil {
		return nil, err
	}
	h, known := c.histories[kind]
	if !known {
		h = &history{revision: c.start}
		if h.versions, err = c.versionsAt(ctx, kind, c.start); err != nil {
			return nil, err
		}
		c.histories[kind] = h
	}
	for h.revision < now {
		versions, err := c.versionsAt(ctx, kind, h.revision+1)
		if err != nil {
			return nil, err
		}
		h.revision++
		if slices.Contains(versions, strconv.FormatInt(h.revision, 10)) || len(versions) < len(h.versions) {
			h.changes = append(h.changes, h.revision)
		}
		h.versions = versions
	}
	return h, nil
}

// revision returns the newest revision of the server's store: any list names it, and every server has namespaces.
func (c *Cluster) revision(ctx context.Context) (int64, error) {
	list, err := c.exchange(ctx, http.MethodGet, "/api/v1/namespaces", url.Values{"limit": {"1"}}, nil, "")
	if err == nil {
		err = list.Err()
	}
	if err != nil {
		return 0, err
	}
	var read metav1.PartialObjectMetadataList
	if err := json.Unmarshal(list.Object, &read); err != nil {
		return 0, err
	}
	return strconv.ParseInt(read.ResourceVersion, 10, 64)
}

// versionsAt returns the versions of the objects of a kind at a revision.
func (c *Cluster) versionsAt(ctx context.Context, kind schema.GroupVersionKind, revision int64) ([]string, error) {
	list, err := c.listAt(ctx, &kube.Request{Verb: kube.List, Kind: kind}, revision)
	if err == nil {
		err = list.Err()
	}
	if err != nil {
		return nil, err
	}
	var read metav1.PartialObjectMetadataList
	if err := json.Unmarshal(list.Object, &read); err != nil {
		return nil, err
	}
	var versions []string
	for _, item := range read.Items {
		versions = append(versions, item.ResourceVersion)
	}
	return versions, nil
}
