package orrery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/typo"
)

// Validate returns an error that says what to change if the options make no sense, or speak of controllers and kinds
// that the system does not have. [Run] refuses such options, too.
func (o Options) Validate(system *core.System) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	_, err = o.conditions(system)
	return err
}

// conditions returns what the world may do to the controllers of a system.
func (o Options) conditions(system *core.System) (explore.Conditions, error) {
	c := explore.Conditions{Crashes: o.Crashes, Failures: o.Failures, FaultsIn: o.FaultsIn, Doubles: o.Doubles, Orders: o.Orders, Caches: o.caches}
	switch o.Granularity {
	case PerReconcile:
	case PerCall:
		c.Granularity = explore.PerCall
	default:
		return c, fmt.Errorf("there is no granularity %q: use %q or %q", o.Granularity, PerReconcile, PerCall)
	}
	for _, text := range o.Stale {
		s, err := parseStaleness(text)
		if err != nil {
			return c, err
		}
		c.Staleness = append(c.Staleness, s)
	}
	c, err := c.Named(system)
	if err == nil {
		err = c.Validate(system)
	}
	if err != nil {
		return c, suggested(err, c, system)
	}
	return c, nil
}

// suggested adds to an error which controllers were probably meant by names that no controller has.
func suggested(err error, c explore.Conditions, system *core.System) error {
	var known []string
	for _, strategy := range system.Strategies {
		known = append(known, strategy.Describe().Name)
	}
	given := slices.Concat(c.FaultsIn, c.Doubles)
	for _, s := range c.Staleness {
		if s.Controller != "" {
			given = append(given, s.Controller)
		}
	}
	slices.Sort(given)
	for _, name := range slices.Compact(given) {
		if nearest := typo.Nearest(name, known); nearest != "" && !slices.Contains(known, name) {
			err = fmt.Errorf("%w; did you mean %q by %q?", err, nearest, name)
		}
	}
	return err
}

// disturbs reports whether the options let anything go wrong or be late.
func (o Options) disturbs() bool { return o.Crashes > 0 || o.Failures > 0 || len(o.Stale) > 0 }

// parseStaleness reads CONTROLLER/KIND=RULE or all=RULE.
func parseStaleness(text string) (explore.Staleness, error) {
	var s explore.Staleness
	stream, name, found := strings.Cut(text, "=")
	slash := strings.LastIndexByte(stream, '/')
	switch {
	case found && stream == "all":
	case found && slash > 0 && slash < len(stream)-1:
		s.Controller, s.Kind = stream[:slash], core.Kind(stream[slash+1:])
	default:
		return s, fmt.Errorf("staleness %q: use CONTROLLER/KIND=RULE, such as web/Pod=lag(1), or all=RULE", text)
	}
	var err error
	if s.Rule, err = view.Parse(name); err != nil {
		return s, fmt.Errorf("staleness %q: %w", text, err)
	}
	return s, nil
}

// Again returns the options with the conditions under which a report was made: what it takes to run its findings
// again.
func (o Options) Again(report *core.Report) Options {
	o.Granularity = Granularity(report.Granularity)
	o.Stale, o.Crashes, o.Failures, o.Doubles = report.Stale, report.Crashes, report.Failures, report.Doubles
	o.FaultsIn, o.Orders, o.caches = report.FaultsIn, report.Orders, nil
	for _, v := range report.Views {
		o.caches = append(o.caches, explore.CachedKind{Controller: v.Controller, Kind: v.Kind})
	}
	return o
}
