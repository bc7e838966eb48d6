package properties

import "github.com/orrery-dev/orrery/core"

// Conduct returns the properties that hold of any controller code that behaves: they
// are always checked.
func Conduct() []core.Property {
	return []core.Property{NoPanic(), NoStuckReconcile(), NoRunaway(), Deterministic()}
}

// Convergent returns the properties that systems of controllers should have: they
// settle, always in the same way, and stay as they are. Comparisons are rules for comparing objects, such as [Without].
func Convergent(comparisons ...core.Comparison) []core.Property {
	return []core.Property{StableConvergence(comparisons...), SameOutcome(comparisons...), Fixpoint(comparisons...)}
}
