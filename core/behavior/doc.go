// Package behavior remembers what strategies do.
//
// A run of a controller is a function of the responses it gets. So it is learned
// once: a [Node] is the next call that the controller makes, an [Edge] is a response
// it got, a leaf is how it ended. Where a search meets responses it has seen before,
// walking the tree replaces running the code. Where it has not, a [Session] runs the
// real code on a fresh instance, fed with the recorded responses up to that point.
//
// Each call node also remembers from which cells of a state its answer was computed
// and what it was, so that a step over known ground is a few look-ups.
package behavior
