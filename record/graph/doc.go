// Package graph answers questions about the graph of states in a record: what leads to a state, where it can still end,
// and which states are like somebody wants them.
//
// It keeps a few numbers for each state and each step, so that a graph of a million states takes about a hundred
// megabytes.
package graph
