// Package controllerruntime runs unmodified controller-runtime controllers in a
// checked system, from the set-up code of their main.go.
//
// Controllers get a real manager that is connected to nothing. Their clients are
// controller-runtime's own; only what is below them is simulated: live requests
// leave through an HTTP transport ([github.com/orrery-dev/orrery/adapters/kube/transport]) that hands
// them to the simulated API server of [github.com/orrery-dev/orrery/adapters/kube], cached reads come from the
// controller's own view of the cluster. What a controller watches, with its
// predicates, mapping functions, field indexes and concurrency, is learned from
// what its set-up registers. Nothing is declared twice, and a watch that was
// forgotten is missing here as well. Kinds that are read through the manager's cache without being
// watched are found out as they are read; their views may be stale like all others.
//
// Every run of a controller is made on a fresh instance: the set-up is run again
// on a fresh manager. It must therefore register the same controllers each time
// and keep its state out of package variables. Clients may be there: what a client is asked
// belongs to the instance whose code asks, whichever made it.
//
// What users do meanwhile is a [Scenario]. Where a check lets calls fail, it is in the ways of
// [github.com/orrery-dev/orrery/adapters/kube.Failure]; clients do not try again by
// themselves, since an answer stands for the last of their tries.
//
// # Controllers of other libraries
//
// Controllers on client-go's informers and work queues are set up by package clientgo, and are part of the same system
// by [With]:
//
//	controllerruntime.New(scheme,
//		controllerruntime.Setup(setUpOperator),
//		controllerruntime.With(clientgo.Setup(setUpAutoscaler)))
//
// There is one API server, and its webhooks are asked about what either writes. Each set-up is a process of its own. In
// one search, controllers come in the order of the libraries, then of the options; those of the package whose New is
// called come first.
//
// # Not modelled
//
// Where what is found may depend on it, a set-up that makes use of what follows has no conclusive check: the report
// names it as a reason, with what to do. A finding stays a finding.
//
//   - servers and certificate watchers are not run, which does no harm. Other runnables, and sources of any kind, work in
//     the background of the process of their set-up, unless [WithoutRunnables] or [WithoutSources] says that they do not
//     matter;
//   - event handlers that are added to an informer by hand are not run: see [WithoutHandlers];
//   - watches, event handlers, runnables, controllers and indexes that are added while controllers run, and
//     informers that are removed then;
//   - foreground and orphaning deletions of objects that no garbage collector looks after: see [GarbageCollection];
//   - informers of client-go in a manager's program. The controllers on them can be a set-up of package clientgo. They are another process then: one that
//     crashes without the manager, and shares no memory with it;
//   - requests that a set-up makes, but for discovery and for what it may do itself: the API server answers only once controllers run;
//   - webhooks of which it is not known what asks them, and those of a configuration that no set-up registers. Webhooks may
//     only read, and are not asked about subresources. A request that needs a conversion webhook is refused.
//
// Other parts of the world, such as a cloud, are added with [External], see package external. A second cluster is one
// of them; its caches are not modelled.
//
// Clusters and caches of one's own, and controllers whose work items are not reconcile.Request, are refused. What
// manager options keep out of the cache, or change in it, is so where they are given to [ManagerOptions]: a check
// without these options is one of a cache that holds everything.
//
// Events that controllers record are dropped. Leader election, rate limits, priorities and resyncs do not happen: every
// order of the work is searched, and whoever needs no lease may be active twice on request. Timeouts of caches and
// recovered panics do not matter: caches are synced when controllers start, and a panic is a finding.
package controllerruntime
