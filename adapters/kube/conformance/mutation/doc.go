// Package mutation changes Kubernetes objects one field at a time. From the Go type of a
// kind it derives the paths of all fields, and for each of them values that should be right
// and some that should be wrong: the constants of the type, addresses, paths, quantities,
// names, lists that are empty or have duplicates, two members of a union at once.
//
// What a struct needs so that a single field in it can be right is in scaffolds.yaml.
// Nothing here knows whether a value is right in the end: that is for a real API server to
// say.
package mutation
