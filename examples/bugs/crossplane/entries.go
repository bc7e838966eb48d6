package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured/claim"
)

// entries returns the systems for the command.
func entries() []catalog.Entry {
	number := catalog.Param{Name: "claims", Doc: "claims, each with a composite of its own", Default: 1, Min: 1, Max: 3}
	return []catalog.Entry{
		{
			Name:   "claims",
			Doc:    "Claims, a composition, and nobody who changes anything: they settle.",
			Params: []catalog.Param{number},
			Build: func(v catalog.Values) (*core.System, error) {
				return newSystem("claims", setting{claims: v["claims"], properties: properties.Convergent()})
			},
		},
		{
			Name:   "deleted-claim",
			Doc:    "A user deletes a claim at any moment: its composite goes too.",
			Params: []catalog.Param{number},
			Build: func(v catalog.Values) (*core.System, error) {
				return newSystem("deleted-claim", setting{
					claims: v["claims"], collect: true,
					actions:    []controllerruntime.Action{controllerruntime.Delete(newClaim(claimName(0), alpha, xpv1.UpdateAutomatic))},
					properties: append(properties.Convergent(), claimed()),
				})
			},
		},
		{
			Name: "shared-name",
			Doc:  "Two composites want one ConfigMap: it stays with the one that made it.",
			Build: func(catalog.Values) (*core.System, error) {
				settles := []core.Property{properties.StableConvergence(), properties.Fixpoint()}
				return newSystem("shared-name", setting{
					claims: 2, configMap: "shared",
					properties: slices.Concat(settles, properties.Conduct(), []core.Property{loyal()}),
				})
			},
		},
		{
			Name: "deleted-composition",
			Doc:  "A user deletes a composition that is in use: its composite fails for ever.",
			Build: func(catalog.Values) (*core.System, error) {
				return newSystem("deleted-composition", setting{
					claims: 1, collect: true,
					actions:    []controllerruntime.Action{controllerruntime.Delete(newComposition(alpha, ""))},
					properties: properties.Convergent(),
				})
			},
		},
		{
			Name: "switched-composition",
			Doc:  "A user has a claim use another composition: with manual updates, it is ready with what the first one makes.",
			Params: []catalog.Param{
				{Name: "manual", Doc: "1 for a claim with the update policy Manual, 0 for Automatic", Default: 1, Min: 0, Max: 1},
			},
			Build: func(v catalog.Values) (*core.System, error) {
				return newSystem("switched-composition", setting{
					claims: 1, manual: v["manual"] == 1, second: true,
					actions:    []controllerruntime.Action{switchTo(beta)},
					properties: append(properties.Convergent(), faithful()),
				})
			},
		},
	}
}

// switchTo is the action of having the first claim use another composition.
func switchTo(composition string) controllerruntime.Action {
	first := newClaim(claimName(0), alpha, xpv1.UpdateAutomatic)
	return controllerruntime.Change("use composition "+composition+" for Database "+claimName(0), first, func(edited *unstructured.Unstructured) {
		(&claim.Unstructured{Unstructured: *edited}).SetCompositionReference(&corev1.ObjectReference{Name: composition})
	})
}
