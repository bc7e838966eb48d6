// Package store keeps the states that a search has visited, as encoded vectors.
//
// A [Store] is a set of states. Find looks an encoded state up by its hash; Insert adds one, which gets the next number
// and the state that it was reached from as its parent. What a lookup returns is a [Ref], from which the number, the
// encoding and the parent follow at once. There are two kinds of store:
//
//   - [Full] keeps every encoding. Records lie one behind the other in chunks that never move, and an open-addressing table of
//     64-bit entries, each half hash, half reference, leads to them. Equal hashes are told apart by comparing encodings, so
//     no state is taken for another.
//   - [Compact] is hash compaction: it keeps a 64-bit hash of each state, its parent in about a byte, and the encodings only of
//     those that are still to be expanded, as a queue. It may take a state for another; [Odds] says how likely that is.
//
// # Concurrent inserts
//
// The workers of a search insert into a Full store at once. Numbers must not depend on who is faster, so inserting is split in
// two. A worker calls FindOrInsert: whoever comes to a state first writes its record, into a [Buffer] of its own, and enters it in
// the table by compare-and-swap; all others find it there. It has no number yet. Later one goroutine assigns
// numbers in the order in which a sequential search would have come to the states. Publish tells the workers
// which records have theirs.
//
// Between the two the table has to be large enough: Reserve divides what room it has among the buffers, Count counts what they
// entered, and GrowTable makes it larger while nobody inserts. DropUnassigned forgets what was entered and never got a number, when a search ends early.
package store
