package orrery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// comparisonsOfOutcomes returns the rules by which [properties.SameOutcome] compares outcomes, where it is checked.
// Outcomes with faults and stale caches are compared, and all are counted, by the same rules.
func comparisonsOfOutcomes(given []core.Property) []core.Comparison {
	own := properties.SameOutcome()
	i := slices.IndexFunc(given, func(p core.Property) bool { return p.Name == own.Name && p.Doc == own.Doc })
	if i < 0 {
		return nil
	}
	return given[i].Comparisons
}

// graphFor returns the graph of a space as a property sees it.
func (v *verdict) graphFor(space *explore.Space, p core.Property) (core.Graph, error) {
	if !p.Compares {
		return space, nil
	}
	return properties.Compared(space, v.comparisons)
}

// differentOutcomes returns the different outcomes, compared as the same outcome is.
func (v *verdict) differentOutcomes(ctx context.Context) ([]properties.Outcome, error) {
	g, err := properties.Compared(v.space, slices.Concat(v.comparisons, comparisonsOfOutcomes(v.properties)))
	if err != nil {
		return nil, err
	}
	return properties.Outcomes(ctx, g)
}

// matchKinds notes the properties that are about kinds which the world does not have: nothing could break them.
func (v *verdict) matchKinds() {
	store, says := v.store.(core.Knowing)
	if !says {
		return
	}
	for _, p := range v.properties {
		for _, kind := range p.Kinds {
			if !store.Knows(kind) {
				v.because(fmt.Sprintf("the property %q is about %s, and there is no such kind: name it as reports do, such as \"Pod\" and \"Deployment.apps\"", p.Name, kind))
			}
		}
	}
}

// matchComparisons notes the rules that are about nothing: a path that is misspelt must not decide a verdict. Where not
// everything was searched, nobody knows whether they are.
func (v *verdict) matchComparisons(ctx context.Context) {
	if len(v.space.Reasons()) > 0 {
		return
	}
	all := slices.Clone(v.comparisons)
	for _, p := range v.properties {
		all = append(all, p.Comparisons...)
	}
	var unmatched []core.Comparison
	err := v.space.Within(v.telling, func() (err error) {
		unmatched, err = properties.Unmatched(ctx, v.space, all)
		return err
	})
	if err != nil {
		v.because("the search ended before it was known whether every comparison rule matches an object")
	}
	for _, c := range unmatched {
		v.because(fmt.Sprintf("the comparison rule \"%s\" matches no object in any state: correct its kind or path, or remove the rule", c))
	}
}

// comparing says what does not count when objects are compared.
func (v *verdict) comparing() []string {
	type group struct {
		rules string
		names []string
	}
	var groups []group
	for _, p := range v.properties {
		if !p.Compares {
			continue
		}
		var texts []string
		for _, c := range slices.Concat(v.comparisons, p.Comparisons) {
			if text := c.String(); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		rules := strings.Join(texts, "; ")
		i := slices.IndexFunc(groups, func(g group) bool { return g.rules == rules })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{rules: rules})
		}
		groups[i].names = append(groups[i].names, fmt.Sprintf("%q", p.Name))
	}
	var given []string
	for _, g := range groups {
		if g.rules != "" {
			given = append(given, fmt.Sprintf("Objects are compared for %s by these rules: %s.", strings.Join(g.names, ", "), g.rules))
		}
	}
	return given
}
