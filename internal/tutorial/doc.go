// Package tutorial follows docs/tutorial.md as a reader does: it writes the files that the page shows into a project as
// kubebuilder leaves it, runs its commands, and holds what they print against what the page shows of it.
package tutorial
