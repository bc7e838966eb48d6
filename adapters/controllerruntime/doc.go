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
// forgotten is missing here as well.
//
// Every run of a controller is made on a fresh instance: the set-up is run again
// on a fresh manager. It must therefore register the same controllers each time
// and keep its state out of package variables.
//
// # Not modelled
//
// What follows is named among the assumptions of the system where a set-up makes
// use of it, and a call that the simulated API server does not know makes the
// check inconclusive:
//
//   - conversion webhooks are registered but not run, and of admission webhooks only
//     those are run that are at the paths which controller-runtime gives to the
//     defaulter and the validator of a kind; they are asked about creations and
//     updates, and may only read;
//   - runnables other than controllers are not run;
//   - sources other than kinds and informers (channels, functions, own types)
//     deliver nothing, except what a function source enqueues while it starts;
//   - event handlers that are added to an informer by hand are not run;
//   - events that controllers record are dropped;
//   - controllers whose work items are not reconcile.Request are refused;
//   - leader election, rate limits, priorities and resyncs do not happen.
package controllerruntime
