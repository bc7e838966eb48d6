// Package builtin holds the companions against what they stand in for: the controllers of kube-controller-manager, from k8s.io/kubernetes. Its tests run
// both in the same random scenarios, each on a simulated API server of its own, and compare what they come to.
//
// The real controllers run unmodified, with informers that are told of each write at once, and in virtual time.
package builtin
