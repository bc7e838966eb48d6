// Package cluster carries out requests of controllers against a real Kubernetes API
// server, in place of the simulated one, to confirm there what was found here.
package cluster
