// Package memories compares what instances show of their memory: values, by the ways that lead to them, such as
// "Reconciler.seen[default/a]".
package memories
