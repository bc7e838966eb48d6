// Package controlplane builds, finds and runs a real Kubernetes control plane: a
// kube-apiserver with the etcd below it, and nothing else. No controllers run on it.
package controlplane
