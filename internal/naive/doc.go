// Package naive explores a system in the simplest way that can be right. It is
// the test twin of the real engine: it knows nothing of behaviour trees,
// fingerprints, workers or reductions, runs every reconcile for real each time,
// and compares states by their full text. It is slow, and short enough to be
// believed by reading.
//
// It follows the default semantics: a reconcile is one step, and every view is
// fresh. Strategies must be sequential, and panics of theirs pass through.
package naive
