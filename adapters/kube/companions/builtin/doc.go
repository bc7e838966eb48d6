// Package builtin holds the companions against what they stand in for: the controllers of kube-controller-manager, from
// k8s.io/kubernetes. Its tests run both in the same random scenarios, each on a simulated API server of its own, and
// compare what they come to.
//
// The real controllers run unmodified, with caches that show each write at once, and in virtual time. Of several, the
// first has always done what it has to do before the next one goes on: how they race says nothing about the companions.
package builtin
