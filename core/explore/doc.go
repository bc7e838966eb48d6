// Package explore visits the states of a system.
//
// A machine is a system as a transition relation over state vectors; a walker takes
// its steps. The search keeps the states that it found, encoded as rows, in a store (package
// core/internal/store), and takes the next ones from a frontier. One goroutine
// learns: everything that runs controller code or adds to the vocabulary happens in
// it, in a fixed order. The others expand states over what is already known, and
// only read. So the result does not depend on how many there are.
package explore
