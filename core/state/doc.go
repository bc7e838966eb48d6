// Package state represents the states of a system: vectors of small numbers over a
// vocabulary of cells.
//
// A [Cell] is a place that can differ between states: one object of the store, one
// item of a work queue, one lagging view. Each cell has its own domain of values,
// numbered from 0 in the order in which they were first seen; 0 always means
// nothing (no such object, not queued, nothing undelivered). A state is the
// [Vector] of its values, and equal states have equal vectors.
package state
