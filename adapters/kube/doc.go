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
//   - uid names the key of the object and, if somebody has noted the uids of earlier objects of
//     that key, how many uids are taken by those.
//   - generation and observedGeneration are, at the end of a step, the smallest
//     numbers that keep their order.
//   - Times are 2000-01-01T00:00:00Z.
//   - Generated names end in two letters for the owners of the object and the smallest
//     free number.
//   - The address and the ports of a Service are the first free ones from where the
//     hash of its name points, in 10.0.0.0/24 and in 30000 to 32767.
//   - The token of a service account names its uid, and nobody checks it.
//
// A content that is written again while somebody may still refer to an equal version is
// another version, with another resourceVersion.
//
// A namespace without a Namespace object is taken to exist, unless it had one at the
// start, somebody makes it, or the server is made with [StrictNamespaces]. That of a
// namespace with objects in it at the start, and default, kube-system, kube-public and
// kube-node-lease, can be read; to be changed or listed it must be given.
//
// # What is modelled
//
//	verbs            get, list (namespaces, labels, fields, limit and continue, metadata
//	                 only), create, update, delete, deletecollection, dry runs
//	patches          JSON, merge, strategic merge, server-side apply
//	managers         conflicts, force, removal of what is left out, apply to the status
//	                 and to the scale. The record starts with the first apply to an object,
//	                 or, with [ManagedFields], with the object
//	subresources     status; scale; finalize of Namespaces; eviction, binding and
//	                 ephemeralcontainers of Pods; token of ServiceAccounts; approval of
//	                 CertificateSigningRequests
//	metadata         conflicts, preconditions, finalizers, grace periods of Pods,
//	                 generations, immutable fields, rules for names and labels
//	custom resources defaults, pruning, validation and CEL rules of a definition, with
//	                 the ratcheting of updates; embedded objects; versions that look the
//	                 same; scale. A definition that a real server refuses is refused
//	built-in kinds   defaults; addresses and ports of Services; selectors of Jobs;
//	                 tolerations, priority and quality of service of Pods; the generations
//	                 of the templates of DaemonSets; fields dropped whose feature gates are
//	                 off; what a real server wants of their fields (package fieldrules). A
//	                 field that is set and not checked is named by [Object.Unchecked]
//	admission        namespaces that are going away, taints of new Nodes, claims that are to
//	                 grow, [Webhook]s in process and, with [VolumeProtection], the
//	                 finalizers of claims and volumes
//	players          the garbage collector, the namespace controller and those that protect
//	                 volumes, in package players
//
// # What is not modelled
//
// A request that needs one of these is answered with a [core.Unsupported] error:
// other subresources of Pods, Services and Nodes (log, exec, proxy, resize and the
// like); conversion between versions, other than of custom resources with the conversion
// strategy None; the rest of a paged list that has changed; kinds that are not stored,
// such as reviews; without [VolumeProtection], the deletion of a claim or a volume that is in
// use.
//
// These are not modelled, and a request does not show it: whether the RuntimeClass of a Pod is there; defaults of the
// resources of a whole Pod; admission plugins other than those listed above, and so the service account of a Pod and
// its token, and the class of a claim that names none; who asked for a certificate; IPv6 addresses; authorization, and
// quotas. The other controllers of Kubernetes do not run: no kubelet stops a Pod, nobody makes the Pods of a Job. In
// the record of managers every entry that has a time has that of the clock.
//
// Kinds of a scheme that have no custom resource definition are taken to be
// namespaced if they are not Kubernetes' own, to have a status subresource if
// their Go type has a field Status, and to have no lists that merge.
package kube
