// Package controllerruntime runs unmodified controller-runtime controllers in a
// checked system, from the set-up code of their main.go.
//
// Controllers get a real manager that is connected to nothing. Their clients are
// controller-runtime's own; only what is below them is simulated: live requests
// leave through an HTTP transport that hands them to the simulated API server of
// [github.com/orrery-dev/orrery/adapters/kube], cached reads come from the
// controller's own view of the cluster. What a controller watches, with its
// predicates, mapping functions, field indexes and concurrency, is learned from
// what its set-up registers. Nothing is declared twice, and a watch that was
// forgotten is missing here as well. Kinds that are read through the manager's cache without being
// watched are found out as they are read; their views may be stale like all others.
//
// Every run of a controller is made on a fresh instance: the set-up is run again
// on a fresh manager. It must therefore register the same controllers each time
// and keep its state out of package variables.
//
// What users do meanwhile is a [Scenario]. Where a check lets calls fail, it is in the ways of
// [github.com/orrery-dev/orrery/adapters/kube.Failure]; clients do not try again by
// themselves, since an answer stands for the last of their tries.
//
// # Not modelled
//
// What follows is named among the assumptions of the system where a set-up makes
// use of it, and a call that the simulated API server does not know makes the
// check inconclusive:
//
//   - conversion webhooks are registered but not run; of admission webhooks those are
//     run that [WebhookConfigurations] are about, or without these the defaulters and
//     validators of kinds. They may only read, and are not asked about subresources;
//   - runnables other than controllers are not run;
//   - sources other than kinds and informers (channels, functions, own types)
//     deliver nothing, except what a function source enqueues while it starts;
//   - event handlers that are added to an informer by hand are not run;
//   - events that controllers record are dropped;
//   - controllers whose work items are not reconcile.Request are refused;
//   - leader election, rate limits, priorities and resyncs do not happen.
package controllerruntime
