// Package kube is a Kubernetes API server as a pure function: a snapshot of the
// store and a [Request] in, a [Response] and the writes out. It implements
// [core.Store] and keeps no state, so that every state of a system can be explored
// with one [Server].
//
// # What clients see
//
// The values that a real server counts up for ever, or takes from a clock or at
// random, are functions of the state here, so that a system which comes back to a
// state is seen to:
//
//   - resourceVersion names the content of a version. It says which versions are the
//     same and not which one is newer.
//   - uid names the key of the object and, if owner references to earlier objects of
//     that key are left, how many uids are taken by those.
//   - generation and observedGeneration are, at the end of a step, the smallest
//     numbers that keep their order.
//   - Times are 2000-01-01T00:00:00Z.
//   - Generated names end in two letters for the owners of the object and the smallest
//     free number.
//
// Within one run, second and later writes are marked ([Request.Ordinal]), so that a
// content which is written again within the run is another version.
//
// A namespace without a Namespace object is taken to exist, unless the server is made
// with [StrictNamespaces].
//
// # What is modelled
//
// The verbs in this package, the status subresource, conflicts, preconditions,
// finalizers, graceful deletion of Pods, the metadata rules and their messages, and
// for custom resources with a definition their defaults, pruning, validation and CEL
// rules. [GarbageCollector] plays the garbage collector.
//
// # What is not modelled
//
// A request that needs one of these is answered with a [core.Unsupported] error:
// server-side apply; subresources other than status; conversion between versions,
// other than of custom resources with the conversion strategy None; the rest of a
// paged list that has changed; field selectors over fields with unknown defaults;
// kinds that are not stored, such as reviews.
//
// These are not modelled, and a request does not show it: defaults and validation of
// the specs of Kubernetes' own kinds, other than of immutable fields; admission plugins
// and webhooks, other than for namespaces that are going away; managedFields; the
// ratcheting of validation, and the validation of objects embedded in custom resources;
// authorization. The controllers of Kubernetes itself do not
// run: nobody empties a namespace that is being deleted, no kubelet stops a Pod.
// Kinds of a scheme that have no custom resource definition are taken to be
// namespaced if they are not Kubernetes' own, and to have a status subresource if
// their Go type has a field Status.
package kube
