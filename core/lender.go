package core

// Lender is an [Instance] that hands out what its caches hold without copying it, as informers do. Who changes that changes the cache for everybody.
type Lender interface {
	Instance

	// Mutated returns which object of a cache was changed in the last run, and where: "Widget default/a: spec.parts: 1 → 2". It is empty if
	// none was. It is called between runs.
	Mutated() string
}
