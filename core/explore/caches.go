package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// CachedKind is a kind that a controller reads through its cache without watching it. A cached read starts an informer for
// the kind, so that the controller has a view of it, which may lag behind like those of the kinds it watches.
//
// Real informers start with the first read, and their first list may be an old one. So the view of such a kind is there from the
// start of a run, whenever the kind is read first.
type CachedKind struct {
	Controller string
	Kind       core.Kind
}

// caches returns the kinds that a strategy reads through its cache without watching them, as far as it is known.
func (c Conditions) caches(d core.Description) []core.Kind {
	kinds := slices.Clone(d.Caches)
	for _, cached := range c.Caches {
		if cached.Controller == d.Name {
			kinds = append(kinds, cached.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.DeleteFunc(slices.Compact(kinds), func(kind core.Kind) bool { return slices.Contains(d.Watches, kind) })
}

// unexpectedViews ends a search in which controllers have read kinds through their caches of which they were not known to
// have views that may lag behind.
type unexpectedViews struct{ caches []CachedKind }

// Error implements error.
func (u *unexpectedViews) Error() string {
	var texts []string
	for _, c := range u.caches {
		texts = append(texts, fmt.Sprintf("%s reads %s", c.Controller, c.Kind))
	}
	return "kinds are read through caches without being watched: " + strings.Join(texts, ", ")
}

// cached takes note of what an actor read through its cache. It ends a search that did not let the views of these kinds lag behind
// as the conditions allow: it has to be begun again. Once a search is over, code runs only in states in which no change is
// waiting for anybody, so that a view more would show the same.
func (l *learner) cached(a *actor, reads []behavior.Read) error {
	if a.user {
		return nil
	}
	controller := a.strategy.Describe().Name
	var found []CachedKind
	for _, r := range reads {
		kind := r.Kind
		if !r.Listed {
			key, _ := l.machine.vocabulary.Key(r.Cell)
			kind = key.Kind
		}
		if slices.Contains(a.Watches, kind) || slices.Contains(a.Caches, kind) || slices.Contains(a.cached, kind) {
			continue
		}
		a.cached = append(a.cached, kind)
		if l.machine.conditions.rule(controller, kind) != view.Fresh() {
			found = append(found, CachedKind{Controller: controller, Kind: kind})
		}
	}
	if len(found) == 0 || !l.searching {
		return nil
	}
	return &unexpectedViews{found}
}

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
