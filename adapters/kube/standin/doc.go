// Package standin stands in for a cluster: a simulated API server that keeps objects, for programs that run for real.
//
// A [Cluster] is reached with an ordinary rest.Config, without a network. What it answers is what the server of package
// kube answers. On top of that, it does what takes memory: it keeps the objects, counts resource versions as etcd does,
// knows the time, and serves watches. So a manager can be started on it, recorded, and held against the model, in a
// test that needs nothing else. [Cluster.Hold] keeps the changes of a kind from those who watch it: caches are as stale
// as a test wants them.
//
// What is not modelled by package kube is refused here as well, with status 501. Besides, watches select by nothing but
// the namespace, an object that is made again may have the uid of the former one, and nothing is authorized. The past
// is never compacted.
package standin
