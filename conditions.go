package orrery

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
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
	c := explore.Conditions{
		Crashes: o.Crashes, Failures: o.Failures, FaultsIn: o.FaultsIn, Doubles: o.Doubles, IgnoredMemory: o.IgnoreMemory, Orders: o.Orders,
		Caches: o.caches, Remembering: o.remembering, Whole: o.whole, Active: o.active, Awaiting: o.awaiting, Spans: o.spans, Ordered: o.ordered, Apart: o.apart, Counted: o.counted, Adopted: o.adopted, Deadlines: max(0, o.Deadlines),
	}
	switch o.Granularity {
	case PerReconcile:
	case PerCall:
		c.Granularity = explore.PerCall
	default:
		return c, fmt.Errorf("there is no granularity %q: use %q or %q", o.Granularity, PerReconcile, PerCall)
	}
	for _, s := range o.Stale {
		stale, err := s.explored()
		if err != nil {
			return c, err
		}
		c.Staleness = append(c.Staleness, stale)
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

// staleness returns how stale caches may be, as text.
func (o Options) staleness() []string {
	var texts []string
	for _, s := range o.Stale {
		texts = append(texts, s.String())
	}
	return texts
}

// suggested adds to an error which controllers were probably meant by names that no controller has.
func suggested(err error, c explore.Conditions, system *core.System) error {
	var known []string
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		known = append(known, d.Name, d.ProcessName())
	}
	given := slices.Concat(c.FaultsIn, c.Doubles)
	for _, s := range c.Staleness {
		if s.Controller != "" {
			given = append(given, s.Controller)
		}
	}
	slices.Sort(given)
	for _, name := range slices.Compact(given) {
		if slices.Contains(known, name) {
			continue
		}
		if nearest := typo.Nearest(name, known); name == "all" {
			err = fmt.Errorf("%w; to mean all of them, name none", err)
		} else if nearest != "" {
			err = fmt.Errorf("%w; did you mean %q instead of %q?", err, nearest, name)
		}
	}
	return err
}

// ignoredMemory returns what of the memory of controllers does not count, by the options or by the system, in order.
func (o Options) ignoredMemory(system *core.System) []string {
	ignored := slices.Concat(system.IgnoredMemory, o.IgnoreMemory)
	slices.Sort(ignored)
	return slices.Compact(ignored)
}

// disturbs reports whether the options let anything go wrong or be late.
func (o Options) disturbs() bool { return o.Crashes > 0 || o.Failures > 0 || len(o.Stale) > 0 }

// Again returns the options with the conditions under which a report was made: what it takes to run its findings
// again. The error is for a report that does not say them.
func (o Options) Again(report *core.Report) (Options, error) {
	o.Granularity = Granularity(report.Granularity)
	o.Crashes, o.Failures, o.Doubles = report.Crashes, report.Failures, report.Doubles
	o.FaultsIn, o.Orders, o.IgnoreMemory = report.FaultsIn, report.Orders, report.IgnoredMemory
	var err error
	if o.Stale, err = ParseStaleness(report.Stale...); err != nil {
		return o, fmt.Errorf("the report: %w", err)
	}
	if o.Deadlines = report.Deadlines; o.Deadlines == 0 {
		o.Deadlines = NoDeadlines
	}
	o.caches, o.remembering, o.whole, o.active, o.awaiting, o.ordered = nil, nil, nil, nil, slices.Clone(report.Awaiting), report.Ordered
	o.spans, o.counted, o.adopted = report.Spans, report.Counted, report.Adopted
	o.ages, o.turned, o.apart = report.Ages, report.AgesTurned, report.Apart
	for _, v := range report.Views {
		o.caches = append(o.caches, explore.CachedKind{Controller: v.Controller, Kind: v.Kind})
	}
	for _, m := range report.Memory {
		o.remembering = append(o.remembering, m.Controller)
		if !m.ByRequest {
			o.whole = append(o.whole, m.Controller)
		}
		if m.Background {
			o.active = append(o.active, m.Controller)
		}
	}
	return o, nil
}

// late reports whether a cache is behind where the search of a system begins.
func late(system *core.System) bool {
	return slices.ContainsFunc(system.Initial, func(initial core.Initial) bool {
		return initial.Underway != nil && slices.ContainsFunc(initial.Underway.Processes, func(p core.AtWork) bool { return len(p.Behind) > 0 })
	})
}
