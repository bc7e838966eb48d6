// Package filelock tells whether a process is at work on a file. A lock ends with the process that holds it, however
// that ends, so that what is left behind is told apart from what is in use.
//
// Locks are those of flock(2). Where there are none, as on Windows, nothing is locked: then nobody is taken to be at
// work, and nothing to be left behind.
package filelock
