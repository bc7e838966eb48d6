// Package checkpoint keeps what a search has found in a file while it goes on, so that another process can go on where
// it ended, however it ended.
//
// # The file
//
// A checkpoint is a log: a first line of text, and blocks (package record/internal/block) of entries. The first entry
// is the [Identity] of the check, as JSON. All others are what package core/explore notes of itself, in order; here
// they are bytes. Every start of a log is a log. So a file whose last block was cut off, or whose end never came to the
// disk, is a shorter one.
//
// A log is begun in a temporary file, which gets the name of the checkpoint at once by being renamed, and grows at its
// end from then on. A checkpoint that is there already is replaced once there is something to replace it with: when the
// first interval is over, when the search ends, or when a search that goes on has come to where the old one ended. At
// each interval, and when a search ends, the file is synced to the disk.
//
// Checkpoints hold what objects hold, Secrets as well: only the owner may read them.
package checkpoint
