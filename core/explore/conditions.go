package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
)

// Granularity is how much of a reconcile is one step.
type Granularity int

const (
	// PerReconcile takes a reconcile from its begin to its end as one step.
	PerReconcile Granularity = iota
	// PerCall takes each call of a reconcile as a step of its own, with whatever else happens in between.
	PerCall
)

// Conditions are what the world may do to controllers. With the zero value it does nothing
// to them: caches are fresh, nothing fails, and reconciles are atomic.
type Conditions struct {
	Granularity Granularity
	// Staleness says which views may lag behind. Of several that concern a view, the last counts.
	Staleness []Staleness
	// Crashes and Failures are how often, in one run, a controller may crash and a call may fail.
	Crashes, Failures int
	// FaultsIn names the controllers that may crash and whose calls may fail; empty means all of them.
	FaultsIn []string
	// Doubles names controllers of which two instances are active at once, as after a lost lease.
	Doubles []string
}

// Staleness says how far views may lag behind.
type Staleness struct {
	// Controller and Kind say whose view of what; empty means all of them.
	Controller string
	Kind       core.Kind
	Rule       view.Rule
}

// Validate returns an error that names what there is if the conditions speak of something that there is not.
func (c Conditions) Validate(strategies []core.Strategy) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Crashes < 0 || c.Failures < 0 {
		fail("a number of crashes or failures must not be negative: use 0 for none")
	}
	watches := map[string][]core.Kind{}
	var names []string
	for _, strategy := range strategies {
		d := strategy.Describe()
		names = append(names, d.Name)
		watches[d.Name] = d.Watches
	}
	slices.Sort(names)
	for _, s := range c.Staleness {
		kinds, known := watches[s.Controller]
		switch {
		case s.Controller != "" && !known:
			fail("there is no controller %q whose view could be stale: there is %s", s.Controller, strings.Join(names, ", "))
		case s.Controller != "" && len(kinds) == 0:
			fail("controller %q watches nothing, so it has no view that could be stale", s.Controller)
		case s.Controller != "" && s.Kind != "" && !slices.Contains(kinds, s.Kind):
			fail("controller %q does not watch %q: it watches %s", s.Controller, s.Kind, listed(kinds))
		case s.Controller == "" && s.Kind != "" && !watchedBySome(watches, s.Kind):
			var all []core.Kind
			for _, kinds := range watches {
				all = append(all, kinds...)
			}
			fail("no controller watches %q: watched are %s", s.Kind, listed(all))
		}
	}
	errs = append(errs, c.validateFaults(strategies))
	for _, name := range c.Doubles {
		if _, known := watches[name]; !known {
			fail("there is no controller %q that could be active twice: there is %s", name, strings.Join(names, ", "))
		}
	}
	return errors.Join(errs...)
}

// validateFaults returns an error if faults are confined to controllers that there are not or that cannot fail, or if
// there are no faults to confine.
func (c Conditions) validateFaults(strategies []core.Strategy) error {
	if len(c.FaultsIn) == 0 {
		return nil
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Crashes == 0 && c.Failures == 0 {
		fail("faults are confined to %s, but none is allowed: allow crashes or failed calls, or do not confine them", strings.Join(c.FaultsIn, ", "))
	}
	known := map[string]bool{}
	var fallible []string
	for _, strategy := range strategies {
		d := strategy.Describe()
		known[d.Name] = true
		if !indivisible(d) {
			fallible = append(fallible, d.Name)
		}
	}
	slices.Sort(fallible)
	for _, name := range c.FaultsIn {
		switch {
		case slices.Contains(fallible, name):
		case known[name]:
			fail("%q has messages or standing requests, so that it neither crashes nor has calls that fail", name)
		case len(fallible) == 0:
			fail("there is no controller %q that could fail: there is none at all", name)
		default:
			fail("there is no controller %q that could fail: there is %s", name, strings.Join(fallible, ", "))
		}
	}
	return errors.Join(errs...)
}

// faultsIn reports whether a controller may crash and its calls may fail.
func (c Conditions) faultsIn(controller string) bool {
	return len(c.FaultsIn) == 0 || slices.Contains(c.FaultsIn, controller)
}

func watchedBySome(watches map[string][]core.Kind, kind core.Kind) bool {
	for _, kinds := range watches {
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

func listed(kinds []core.Kind) string {
	var names []string
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// rule returns the rule of a controller's view of a kind.
func (c Conditions) rule(controller string, kind core.Kind) view.Rule {
	rule := view.Fresh()
	for _, s := range c.Staleness {
		if (s.Controller == "" || s.Controller == controller) && (s.Kind == "" || s.Kind == kind) {
			rule = s.Rule
		}
	}
	return rule
}
