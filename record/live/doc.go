// Package live keeps what controllers of a running process did, in a file that is written while they run: a recording,
// ".ort".
//
// A recording starts with one line of text that names the format and its version. After it come blocks of entries, as
// in run records, each behind its lengths and a checksum (package block). A block is written when it is full, and when
// its writer says so. If the process ends in the middle, or the disk is full, the recording can be read up to its last
// whole block; [Reader.Complete] then reports that the end is missing.
//
// The entries are JSON, in the order in which things happened in the process:
//
//   - [Header], once, at the start: which process this is, and when the recording began;
//   - [Object]: one version of an object. It is written once, before the first entry that refers to it by its number;
//   - [Event]: a controller's event handler was told of a change;
//   - [Queued]: an event handler, or other code, added a request to a controller's queue;
//   - [Begin], [Call], [Done]: a reconcile, what it asked and got, and how it ended;
//   - [Gap]: entries are missing here, and why;
//   - [Unseen]: something of the process that is not recorded at all;
//   - [End], once, if the recording was ended and not cut off.
//
// Times are durations since [Header.Started] on the monotonic clock of the process. Clocks of several processes are not
// comparable; resource versions are.
//
// The package knows no Kubernetes: an object is a key, a resource version, and JSON.
package live
