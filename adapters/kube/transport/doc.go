// Package transport connects any Kubernetes client to the simulated API server of package kube: it takes the place of
// the network.
//
// A client of Go sends its requests through an [http.RoundTripper]. A [Transport] is one that hands each request to
// whatever runs at the moment. A request passes through three hands:
//
//   - [Transport.RoundTrip] reads the body. What a client asks to discover which kinds there are is answered at once ([kube.Server.Discover]): it
//     is always the same, so that no run depends on it. For all else it asks [Current] for the [Run] that is going on. While nothing runs,
//     the request is refused, and reported as idle.
//   - The path names the kind ([kube.Server.KindFor]), method, headers and parameters the rest of a [kube.Request]. What a real
//     server refuses of them is refused. What is not modelled (watches, tables, schemas, bodies other than JSON) becomes a call of type
//     [kube.Unmodelled], which makes a check inconclusive.
//   - [Run.Do] hands the call to the recorder of the run, and waits for the answer: a learner looks it up or asks the store, see package
//     core/behavior. The answer becomes an HTTP response, with the codes and the JSON of a real server.
//
// Calls to other parts of the world than API servers go the same way, by [Transport.Call], and requests to a second API
// server through a transport that [Transport.Beside] returns.
//
// An adapter gives each instance of a controller a [Current] of its own, calls [Current.Begin] when the engine runs it,
// and makes the clients of the instance from [Transport.Config]. What the instance asks past HTTP, such as a read from
// a cache, belongs to the same run. A run lasts until the next one begins, since a goroutine may outlive the reconcile
// that started it. Where the instances of a system share a client, [Instances] tells to whose run a request belongs.
package transport
