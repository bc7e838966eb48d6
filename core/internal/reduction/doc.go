// Package reduction is what lets a search leave out steps and merge states.
//
// An [Explorer] is a walker (package core/internal/transition) that knows which of its steps need not be taken, and
// which state stands for the one that it is in. It is the monitor of its walker: it sees each step before and after it
// is taken.
//
// # Orders left out
//
// What steps read and write is recorded while a search goes on, in [NewFootprints] (footprint.go): for each agent, and
// for each call where calls are steps of their own. A [Reducer] chooses from that, in each state, a stubborn set of
// agents that has to be followed (stubborn.go; the algorithm is in the package reduction at the top of the house).
// Agents that are followed, but whose steps another order takes anyhow, sleep (sleep.go). Footprints only grow: the
// search is run again until what it learns makes no difference to any choice (export.go), so that every choice of the
// last search was made with all there is to know. The provisos that keep a search from putting something off for ever
// are its own (core/explore/cycles.go).
//
// Before that it is asked whether an agent may be followed alone, as its step only looks and whatever changes what it
// looked at wakes it (level.go), or leaves it with nothing to do (lasting.go). Which changes wake whom is recorded with
// the footprints (waking.go), and so is which parts of objects somebody looks at (parts.go) and what agents list and
// disregard (disregard.go).
//
// What properties look at is recorded as well (recording.go): a step that nobody sees can be left out where one that is
// seen cannot.
//
// # States merged
//
// With interchangeable names, a state stands for all that are equal to it up to an exchange of names. canonical.go
// finds the one that is stored; symmetry.go checks, for every step that is taken, that the system treats the names
// alike, and says where it does not.
package reduction
