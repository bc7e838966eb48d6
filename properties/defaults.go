package properties

import "github.com/orrery-dev/orrery/core"

// Conduct returns the properties that hold of any controller code that behaves: they
// are always checked.
func Conduct() []core.Property {
	return []core.Property{NoPanic(), NoStuckReconcile(), NoRunaway(), Deterministic()}
}

// Convergent returns the properties that systems of controllers should have: they
// settle, always in the same way, and stay as they are.
func Convergent() []core.Property {
	return []core.Property{StableConvergence(), SameOutcome(), Fixpoint()}
}
