// Package companions has the controllers of Kubernetes that operators build upon, small and ready to be switched on: a
// [Companion] is a [core.Strategy] for a system whose store is a [kube.Server].
//
// A companion writes what the controller of that name in kube-controller-manager writes, as far as other controllers
// look at it: Pods and other objects with their names, labels, annotations, owners and finalizers, and the fields and
// conditions of a status. What it leaves out is said with each.
//
// Companions are made for small searches. They keep no memory and look at no clock: time passes between any two steps,
// so a Pod that is ready has been so for long enough, and a back-off is over. What a real controller writes in several
// requests of one sync that nobody waits for, a companion writes in one. It has nothing to do where nothing has
// changed.
//
// A companion is told of changes as any controller is, and may lag behind. When it looks, it looks with live reads:
// where a real controller relies on its expectations, which keep it from acting on a cache that does not show its own
// writes, a companion needs none.
package companions
