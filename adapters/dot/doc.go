// Package dot draws what a check found as graphs in the DOT language, for
// Graphviz and the many tools that read its files: the story of a finding, the
// ways in which a system can end, and the whole graph of a small system.
//
// Drawings are made with github.com/dominikbraun/graph. Equal inputs give equal
// bytes.
package dot
