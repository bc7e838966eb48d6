// Package recorded holds recordings of running controllers against the model: is what was recorded a run of the
// simulated API server, seen through caches that lag?
//
// It first collects what became of each object, from all recordings together: its versions in the order of their
// resource versions, and its deletions. Then it goes through the calls.
//
// A write that was done is made again on the simulated server, in the state before: on the version that it named, or
// else on the last one that is known. What the server makes of it is held against the answer, up to uids, times and
// versions. A write that was refused, and a live read that found nothing, is made again in each state that the object
// may have been in: one of them has to explain the refusal. A read from a cache has to be explained by a lag: it shows
// what was there at some moment, and not at one before what this cache has shown of the kind.
//
// What is not explained is a [Finding]: the simulated server is another one than the real one, which a [Case] shows
// that can become a golden case of package kube; or somebody acted who was not recorded; or a cache has shown what no
// lagging cache shows. Versions that no recorded call has written are the work of an [Actor], named by the field
// manager that is in the object. What cannot be held against the model is counted, with the reason.
//
// [Begin] makes a moment of recordings the start of a search.
package recorded
