package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// recall answers a read as a cache does that was not told of the latest changes of the kind: with what the server held
// before them. Its store keeps what it held for some minutes.
func (c *Cluster) recall(ctx context.Context, request *kube.Request, lag core.TraceLag) (*kube.Response, error) {
	h, err := c.history(ctx, request.Kind)
	if err != nil {
		return nil, err
	}
	revision, err := h.before(lag)
	if err != nil {
		return nil, err
	}
	return c.recallAt(ctx, request, revision)
}

// recallAt answers a read with what there was at a revision.
func (c *Cluster) recallAt(ctx context.Context, request *kube.Request, revision int64) (*kube.Response, error) {
	if request.Verb == kube.List {
		return c.listAt(ctx, request, revision)
	}
	list, err := c.listAt(ctx, &kube.Request{
		Verb: kube.List, Kind: request.Kind, Namespace: request.Namespace, FieldSelector: "metadata.name=" + request.Name,
	}, revision)
	if err != nil || list.Status != nil {
		return list, err
	}
	items, err := itemsOf(list)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return uncached(request), nil
	}
	return kube.Done(items[0]), nil
}

// listAt answers a list with what there was at a revision.
func (c *Cluster) listAt(ctx context.Context, request *kube.Request, revision int64) (*kube.Response, error) {
	path, err := c.path(request)
	if err != nil {
		return nil, err
	}
	values := parameters(request)
	values.Set("resourceVersion", strconv.FormatInt(revision, 10))
	values.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	response, err := c.exchange(ctx, http.MethodGet, path, values, nil, "")
	if err != nil || response.Status != nil {
		return response, err
	}
	return c.list(request, response.Object)
}

// itemsOf returns the items of a list.
func itemsOf(list *kube.Response) ([]json.RawMessage, error) {
	var read struct{ Items []json.RawMessage }
	err := json.Unmarshal(list.Object, &read)
	return read.Items, err
}
