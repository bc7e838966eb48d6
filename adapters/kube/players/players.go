// Package players has the controllers of Kubernetes itself that others rely on, as strategies for a system whose store
// is a [kube.Server]: the garbage collector, the namespace controller, and those that protect volumes.
//
// A player is told of changes as any controller is, and so may lag behind: it keeps no memory, queues a request for
// each object that an event may matter to, and looks at the object with live reads when the request is reconciled. What
// it then does are requests to the API server. A player works on one request at a time, and on any of those that are
// queued.
//
// Players look after the kinds that they are given. The server has to be told which these are of the garbage collector
// ([kube.Server.Collecting]), as a deletion may wait for it for ever otherwise.
package players

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// resource is a kind as a server serves it.
type resource struct {
	name core.Kind
	// kind is in the version that is preferred for requests.
	kind       schema.GroupVersionKind
	plural     string
	namespaced bool
}

// named returns the resource of a kind, nil if the server does not serve it.
func named(server *kube.Server, kind core.Kind) *resource {
	mapping, err := server.RESTMapper().RESTMapping(schema.ParseGroupKind(string(kind)))
	if err != nil || server.Serves(mapping.GroupVersionKind) != nil {
		return nil
	}
	return &resource{
		name: kube.KindOf(mapping.GroupVersionKind.GroupKind()), kind: mapping.GroupVersionKind,
		plural: mapping.Resource.Resource, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}
}

// served returns the resource of a kind, nil if the server does not serve it in that version.
func served(server *kube.Server, kind schema.GroupVersionKind) *resource {
	if server.Serves(kind) != nil {
		return nil
	}
	return named(server, kube.KindOf(kind.GroupKind()))
}

// perform makes a request.
func perform(world core.EffectRecorder, request *kube.Request) *kube.Response {
	response, ok := world.Do(request).(*kube.Response)
	if !ok {
		panic("players: the request of a player was not answered by an API server")
	}
	return response
}

// requestFor is the request to look at an object: "kind/namespace/name".
func requestFor(key core.Key) core.Request {
	return core.Request(string(key.Kind) + "/" + key.Namespace + "/" + key.Name)
}

func parseRequest(request core.Request) (core.Key, bool) {
	parts := strings.Split(string(request), "/")
	if len(parts) != 3 {
		return core.Key{}, false
	}
	return core.Key{Kind: core.Kind(parts[0]), Namespace: parts[1], Name: parts[2]}, true
}
