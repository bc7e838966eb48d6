package specification

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/cel"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// Terms are what a specification may speak of. The zero value knows Kubernetes' own kinds and the atoms that are built
// in.
type Terms struct {
	// Properties are there already. Nothing else may have their names, and those that are invariants are atoms.
	Properties []core.Property
	// Types are the kinds that expressions may select.
	Types cel.Types
	// Beside, if not nil, reports whether a kind is that of another part of the world than the one whose types are
	// known.
	Beside func(core.Kind) bool
}

// kubernetes is a store that knows the types of its kinds.
type kubernetes interface {
	Scheme() *runtime.Scheme
	Definitions() []*apiextensionsv1.CustomResourceDefinition
}

// Of returns the terms for a system: its properties, and the kinds that its store serves.
func Of(system *core.System) Terms {
	t := Terms{Properties: slices.Clip(system.Properties)}
	if store, ok := system.Store.(kubernetes); ok {
		t.Types = cel.Types{Scheme: store.Scheme(), Definitions: store.Definitions(), Complete: true}
	}
	if store, ok := system.Store.(interface{ Beside(core.Kind) bool }); ok {
		t.Beside = store.Beside
	}
	return t
}

// Named returns the property of the catalogue that has a name (see [properties.Named]), and false if there is none. The
// error says which part of the name is wrong.
func (t Terms) Named(name string) (core.Property, bool, error) {
	return properties.Named(name, func(word string) (core.Kind, error) {
		if !t.Types.Complete || t.Beside != nil && t.Beside(core.Kind(word)) {
			return core.Kind(word), nil // whatever a plain model calls its families
		}
		return t.Types.Kind(word)
	})
}

// atoms returns the atoms that formulas may use besides those of [ltl.BuiltIn] and the given ones. An invariant that is
// called like another atom has none.
func (t Terms) atoms(given []ltl.Atom) []ltl.Atom {
	atoms := []ltl.Atom{{Name: "settled", Graph: properties.Settled}}
	for _, p := range t.Properties {
		called := func(a ltl.Atom) bool { return a.Name == p.Name }
		if p.Invariant != nil && p.Name != "" && !slices.ContainsFunc(slices.Concat(atoms, given, ltl.BuiltIn()), called) {
			atoms = append(atoms, ltl.Atom{Name: p.Name, State: func(s core.State) bool { return holds(p, s) }})
		}
	}
	return atoms
}

// holds reports whether an invariant holds in a state. It does not if it panics.
func holds(p core.Property, s core.State) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return p.Invariant(s) == nil
}
