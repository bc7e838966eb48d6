// Package store keeps the states that a search has visited, as encoded vectors.
//
// A [Store] is a set of states. Find looks an encoded state up by its hash; Insert adds one, which gets the next number
// and the state that it was reached from as its parent. What a lookup returns is a [Ref], from which the number, the
// encoding and the parent follow at once. There are two kinds of store:
//
//   - [Full] keeps every encoding, as a tree of parts that encodings share: what a state has of its own is the root, 8 bytes. An
//     open-addressing table of 64-bit entries, each half hash, half reference, leads to it. Equal hashes are told apart by comparing
//     encodings, so no state is taken for another. Parents take about a byte each where they come in order.
//   - [Compact] is hash compaction: it keeps a 64-bit hash of each state, its parent in about a byte, and the encodings only of
//     those that are still to be expanded, as a queue. It may take a state for another; [Odds] says how likely that is.
//
// # Concurrent inserts
//
// The workers of a search insert into a Full store at once. Numbers must not depend on who is faster, so inserting is
// split in two. A worker calls FindOrInsert: whoever comes to a state first writes a claim, into a [Buffer] of its own,
// and enters it in the table by compare-and-swap; all others find it there. It has no number yet. Later one goroutine
// assigns numbers in the order in which a sequential search would have come to the states. Publish tells the buffers
// which claims have theirs, and Settle, which each worker calls for its own buffer, puts the numbers in the place of
// the claims. A claim stays readable until nobody can have seen it in the table.
//
// Between the two the tables have to be large enough: Reserve divides what room there is among the buffers, Count
// counts what they entered, and Grow makes the tables longer while everybody rests. DropUnassigned forgets what was
// entered and never got a number, when a search ends early.
package store
