// Package plain makes controllers and textbook models out of plain Go functions.
//
// A [Model] needs at most three things: the variables at start, the processes or
// controllers that act on them, and the properties to check. Everything else has
// a default.
//
//   - A [Var] is a typed variable; a [Family] is an array of them.
//   - A [Process] takes guarded actions, receives messages, or both. An action
//     that runs to its end is one atomic step, even if it changes nothing; where
//     [World.Require] finds its condition false there is no step.
//   - A [Controller] is a control loop: what it watches fills its work queue, and
//     it reconciles one request at a time.
//   - A [Scenario] is what users may do meanwhile.
//
// The world is a store of variables. It has no versions, no defaulting and no
// garbage collection: a write stores the value, and writing the value that is
// there already is not a write.
//
// What the functions do must depend on nothing but what they read through their
// [World]. Goroutines, clocks, random numbers and variables of the enclosing
// function that change are out.
package plain
