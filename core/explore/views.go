package explore

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
)

// Views returns the views that may lag behind, in the order of controllers. Both instances of a controller that is active
// twice have those of the controller.
func (s *Space) Views() []core.ViewReport {
	var views []core.ViewReport
	for _, a := range s.machine.actors {
		if a.Name != a.strategy.Describe().Name {
			continue
		}
		for _, v := range a.views {
			views = append(views, core.ViewReport{Controller: a.Name, Kind: v.Kind(), Rule: v.Rule().String()})
		}
	}
	return views
}

// idle returns an error that says what there is if some view was to lag behind and no controller has it: a check must not seem to
// have been under conditions that could not act. If the search is not complete, that is one more reason.
func (s *Space) idle() error {
	if c := s.machine.conditions; c.Failures > 0 && !s.machine.fails {
		s.because("calls were to fail, and no call that was made can: the store says of none of them how it may (core.Store.Faults); " +
			"allow no failed calls, or confine them to controllers that make calls which can fail")
	}
	kinds := map[string][]core.Kind{}
	var all []core.Kind
	for _, a := range s.machine.actors {
		if !a.user {
			has := slices.Concat(a.Watches, a.Caches, a.cached)
			name := a.strategy.Describe().Name
			kinds[name] = append(kinds[name], has...)
			all = append(all, has...)
		}
	}
	for _, stale := range s.machine.conditions.Staleness {
		has := all
		if stale.Controller != "" {
			has = kinds[stale.Controller]
		}
		if stale.Rule == view.Fresh() || len(has) > 0 && stale.Kind == "" || slices.Contains(has, stale.Kind) {
			continue
		}
		err := idleRule(stale, has)
		if len(s.reasons) == 0 {
			return err
		}
		s.because(err.Error())
	}
	return nil
}

// idleRule says that a rule concerns no view, and which views there are.
func idleRule(stale Staleness, has []core.Kind) error {
	switch {
	case stale.Controller == "" && len(has) == 0:
		return fmt.Errorf("no view can be stale: no controller watches anything or reads anything through a cache")
	case stale.Controller == "":
		return fmt.Errorf("no controller watches %q or reads it through a cache: there are views of %s", stale.Kind, listed(has))
	case len(has) == 0:
		return fmt.Errorf("controller %q has no view that could be stale: it neither watches anything nor reads anything through its cache", stale.Controller)
	}
	return fmt.Errorf("controller %q does not watch %q or read it through its cache: it has views of %s", stale.Controller, stale.Kind, listed(has))
}
