// Package explore visits the states of a system.
//
// The search is the one of every explicit-state model checker:
//
//	take states from the frontier           frontier.go, batch.go
//	enumerate their successors              core/internal/transition, workers.go
//	look them up, insert those that are new insert.go, core/internal/store
//	check invariants, go on                 search.go
//
// Its loop, [Search] and what comes of it are in search.go. Workers expand states over what is already known, and only
// read. One goroutine learns: everything that runs controller code or adds to the vocabulary happens in it, in a fixed
// order. It merges what workers found in the order of the states, so the result does not depend on how many there are.
//
// A search notes what its workers found, batch by batch, so that another one can go on where it ended (checkpoint.go).
//
// # What is left out
//
// Package core/internal/reduction says which steps can be left out in a state, by a [Reducer], and which state stands
// for another one. The search is run again until what that rests on grows no more (reducing.go). The cycle proviso is
// in cycles.go, the sleep sets of stored states in sleep.go. A search that merges states that are equal up to renaming
// is in merging.go.
//
// # What comes of it
//
// A [Space] is the graph of what was found: states are kept, steps are taken again when they are asked for (graph.go).
// Runs of it are told with real code (trace.go), replayed (replay.go), and held against controllers that remember
// (history.go). A search that hits a bound is looked at for growth without end (growth.go). Walks visit some of the
// states, at random (walk.go).
package explore
