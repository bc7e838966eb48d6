package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Cluster is a real API server. It is a [core.World].
type Cluster struct {
	client *http.Client
	host   *url.URL
	server *kube.Server
	mapper meta.RESTMapper
	// uids are translated on the way to the server and back.
	uids *uids
	// populated are the objects that were created for the run to start with.
	populated map[core.Key]bool
	// holders are the namespaces that were created for objects to be in, though the run
	// does not start with them.
	holders map[string]bool
	// start is the revision of the server's store at which the run starts, and histories are what changed since.
	start     int64
	histories map[schema.GroupVersionKind]*history
}

var _ core.World = (*Cluster)(nil)

// New returns the API server that the configuration reaches, which has to serve the
// kinds that the simulated one does.
func New(config *rest.Config, server *kube.Server) (*Cluster, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("the API server at %s cannot be reached: %w", config.Host, err)
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the API server at %s cannot be reached: %w", config.Host, err)
	}
	return &Cluster{
		client:    client,
		host:      host,
		server:    server,
		mapper:    server.RESTMapper(),
		uids:      newUIDs(),
		populated: map[core.Key]bool{},
		holders:   map[string]bool{},
		histories: map[schema.GroupVersionKind]*history{},
	}, nil
}

// Do implements [core.World] for calls of type [*kube.Request] and [*kube.Enqueue]. If the simulated server has objects
// of different ages, each is created in a second of its own. Cached reads are read from the server itself, as it was
// before the changes that the cache had not been told of; of what is not there they say what the cache of
// controller-runtime says, which names the kind and not the resource.
func (c *Cluster) Do(ctx context.Context, call core.Call, recorded core.RecordedCall) (core.Response, error) {
	if _, queues := call.(*kube.Enqueue); queues {
		return kube.Done(nil), nil // which item is next, the run says
	}
	request, ok := call.(*kube.Request)
	if !ok {
		return nil, fmt.Errorf("a Kubernetes API server cannot answer a %T", call)
	}
	if request.Verb == kube.Create && c.tellsAges() {
		if err := nextSecond(ctx); err != nil {
			return nil, err
		}
	}
	response, err := c.carryOut(ctx, request, recorded)
	if err != nil {
		return nil, err
	}
	if request.FromCache && apierrors.IsNotFound(response.Err()) {
		return uncached(request), nil
	}
	return response, nil
}

// uncached is what a cache says of an object that it does not have.
func uncached(request *kube.Request) *kube.Response {
	named := schema.GroupResource{Group: request.Kind.Group, Resource: request.Kind.Kind}
	status := apierrors.NewNotFound(named, request.Name).Status()
	return kube.Refused(&status)
}

// carryOut carries out a request in the way that it was recorded.
func (c *Cluster) carryOut(ctx context.Context, request *kube.Request, recorded core.RecordedCall) (*kube.Response, error) {
	kind := kube.KindOf(request.Kind.GroupKind())
	for _, lag := range recorded.Behind {
		if request.FromCache && lag.Kind == kind {
			return c.recall(ctx, request, lag)
		}
	}
	for _, key := range recorded.Creates {
		if key.Kind == kind {
			return c.make(ctx, request, key, recorded.Changes)
		}
	}
	return c.send(ctx, request)
}

// Version returns the release of Kubernetes that the server is of, such as "v1.36.1".
func (c *Cluster) Version(ctx context.Context) (string, error) {
	response, err := c.exchange(ctx, http.MethodGet, "/version", nil, nil, "")
	if err == nil {
		err = response.Err()
	}
	if err != nil {
		return "", fmt.Errorf("asking for the version of the server: %w", err)
	}
	var info version.Info
	if err := json.Unmarshal(response.Object, &info); err != nil {
		return "", fmt.Errorf("the version of the server cannot be read: %w", err)
	}
	return info.GitVersion, nil
}

// get returns an object as the server has it, nil if there is none.
func (c *Cluster) get(ctx context.Context, key core.Key) (map[string]any, error) {
	kind, err := c.kindOf(key.Kind)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, &kube.Request{Verb: kube.Get, Kind: kind, Namespace: key.Namespace, Name: key.Name})
	if err != nil {
		return nil, err
	}
	if err := response.Err(); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	return tree(response.Object)
}

// Objects returns the objects of these keys as the server has them, in the order of
// the keys, without those that are not there.
func (c *Cluster) Objects(ctx context.Context, keys []core.Key) ([]core.TraceObject, error) {
	var objects []core.TraceObject
	var errs []error
	for _, key := range keys {
		fields, err := c.get(ctx, key)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
			continue
		}
		if fields != nil {
			objects = append(objects, core.TraceObject{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: fields})
		}
	}
	return objects, errors.Join(errs...)
}
