// Package analysis says what happened in recordings of running controllers (package record/live).
//
// [Read] goes through the files of one or several processes, entry by entry, and keeps what is small: which object each
// number means, and the reconciles that have begun and not ended. On top of it, each question is a pass of its own:
// [Show] tells all reconciles, [Why] what led to a version of an object, [Stale] which reads were behind, [Fights]
// which fields go back and forth, [Idle] which reconciles changed nothing, and [Slow] how long objects take to
// converge. Memory grows with the number of objects, and in [Why] with some bytes for each reconcile, event and write;
// never with what the objects hold.
//
// Clocks of different processes are never compared. Within a process, its own clock orders what happens; between
// processes, resource versions do, and only those of one kind, since kinds can be stored in different places.
//
// What an answer cannot know is in its notes: gaps, files that were cut off, sampled objects, controllers that are not
// recorded.
package analysis
