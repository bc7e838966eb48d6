// Package iotrace tells what code does with files, the network and other processes.
//
// A model checker takes a run of a controller for a function of the answers to its calls. Code that asks a service over
// the network, or reads a file, is none, and nothing else shows it: it gets its answers in real time, behind the back
// of whoever runs it.
//
// [Now] counts what the process has read, written and sent. That costs some microseconds and says nothing about who did
// it, so it only tells where it is worth a closer look. [Trace] takes that look: it runs a function under the execution
// tracer of the Go runtime, which notes each system call and each wait for the network with its stack, and returns what
// the goroutines did that the function started.
package iotrace
