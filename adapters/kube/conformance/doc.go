// Package conformance measures the simulated API server against a real one. Random
// sequences of requests go through the same client to a simulated kube-apiserver and
// to a real one with its etcd, and the answers and all that is stored are compared
// after each request. Controller-runtime's fake client is measured with the same
// sequences.
//
//	go test -run TestAgainstRealAPIServer -requests 2000 -seed 7
//
// builds the real server on first use (package controlplane). Sequences on which the
// sides differ are cut down to what is needed to show it. With -golden they are
// written, with the real answers, to the folder of the simulated server's own golden
// test. With -fidelity FILE the numbers are written as a page.
//
//	go test -run TestFields -fields .
//
// changes small objects of the built-in kinds one field at a time (package mutation), and
// compares what both servers accept and store of that.
package conformance
