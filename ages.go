package orrery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Objects are created at one time, as those are that are created within a second. If controllers compare the ages of
// objects, what comes of it is searched by itself, with objects of different ages, once nothing was found with objects
// of one age: both happen.

// underAllAges searches with objects of one age, and with objects of different ages where controllers compare them:
// with those first that come first, and turned. It ends with the first search that finds something, and otherwise with
// the last.
func (c *check) underAllAges(ctx context.Context) (*verdict, error) {
	system := c.system
	v, err := c.withAges(ctx, system, c.options.ages, c.options.turned)
	for {
		if err != nil || v.violated() {
			return v, err
		}
		groups, controllers := v.space.Compared()
		ages, turned := c.options.ages, false
		for _, group := range groups {
			ages = core.JoinAges(ages, group)
		}
		switch same := slices.EqualFunc(ages, c.options.ages, slices.Equal); {
		case same && len(groups) > 0:
			v.because(compare(controllers, groups) + ", and these are in different parts of the world: what comes of it was not searched")
			return v, nil
		case same && (c.options.turned || !system.Turns(ages)):
			return v, nil
		case same:
			turned = true
		}
		if c.over(ctx) {
			v.because(fmt.Sprintf("controllers look at which objects of kind %s were created first, and there was no time to search with others of them older: raise --max-time (Options.MaxTime)", kindsIn(ages)))
			return v, nil
		}
		c.options.Logger.Debug("the search begins again with objects of other ages", "kinds", kindsIn(ages), "turned", turned)
		before := v
		if !turned {
			before.assumed = append(before.assumed, fmt.Sprintf("%s. It was searched with all of them created within a second, and again with each created a second after the others; of those that are there at the start, the first ones given were older, and then, in one more search, the last ones. That some are created within a second and others are not was not searched.",
				compare(controllers, groups)))
		}
		if v, err = c.withAges(ctx, system, ages, turned); err == nil {
			v.follow(before)
		}
	}
}

// compare says that controllers compare the ages of objects.
func compare(controllers []string, groups [][]core.Kind) string {
	return fmt.Sprintf("%s at which objects of kind %s were created first", do(controllers, "look"), kindsIn(groups))
}

// do says that controllers do something.
func do(controllers []string, verb string) string {
	if len(controllers) == 1 {
		verb += "s"
	}
	return strings.Join(controllers, " and ") + " " + verb
}

// Times that are written into objects are all the same, too, unless a long time passes in between. If controllers
// compare them, what comes of it is searched by itself with each of them seconds after the ones before. What then goes
// on for ever with times that are all the same does so because it waits for the next second.

// underAllTimes searches with all times the same, and with times that are apart where controllers compare them.
func (c *check) underAllTimes(ctx context.Context) (*verdict, error) {
	system, exploring, apart := c.system, c.exploring, c.exploring.Conditions.Apart
	v, err := c.underAllAges(ctx)
	for before := v; err == nil; {
		dated, look := union(apart, c.dated), do(c.dating, "compare")+" times that are written into objects"
		if len(dated) == len(apart) || before.violates(func(f core.Finding) bool { return !endless(f) }) {
			return v, nil
		}
		apart = dated
		switch {
		case c.options.Granularity == PerCall:
			v.withhold(endless, look+", and where each call is a step, all of these are the same unless a long time passes in between: check with --granularity reconcile (Options.Granularity), too")
			return v, nil
		case c.over(ctx):
			v.withhold(endless, look+", and there was no time to search with those seconds apart: raise --max-time (Options.MaxTime)")
			return v, nil
		}
		c.options.Logger.Debug("the search begins again with times apart", "controllers", c.dating, "kinds", apart)
		c.exploring.Conditions.Apart, c.exploring.Reducer = apart, nil // in which order steps write shows in all that comes after them
		if v, err = c.withAges(ctx, system, nil, false); err != nil {
			return nil, err
		}
		if v.violates(func(f core.Finding) bool {
			return before.violates(func(shorter core.Finding) bool { return shorter.Property == f.Property })
		}) {
			c.exploring = exploring
			return before, nil
		}
		if before.violated() && len(v.reasons) > 0 {
			v.because(look + ", and with all of them the same, something goes on for ever. With those seconds apart, not everything was searched")
		}
		v.follow(before)
		v.assumed = append(v.assumed, look+". It was searched with all of them written within a second, and again with each of kind "+kindsIn([][]core.Kind{apart})+" written seconds after those before. That some are written within a second and others are not was not searched.")
	}
	return v, err
}

// endless reports whether something goes on for ever in a finding.
func endless(f core.Finding) bool { return f.Trace.CycleStart >= 0 }

// withhold takes back some findings, of which nobody knows whether they are right, with a reason.
func (v *verdict) withhold(doubtful func(core.Finding) bool, why string) {
	v.because(why)
	for i := range v.reports {
		report := &v.reports[i]
		if report.Verdict == core.Holds || slices.ContainsFunc(v.findings, func(f core.Finding) bool { return f.Property == report.Name && doubtful(f) }) {
			report.Verdict = core.Inconclusive
		}
	}
	v.findings = slices.DeleteFunc(v.findings, doubtful)
}

// over reports whether there is no time for another search: less than a search leaves for judging, when it has come to
// its limit.
func (c *check) over(ctx context.Context) bool {
	const leaves = 4
	return ctx.Err() != nil || c.options.MaxTime > 0 && time.Since(c.began) >= c.options.MaxTime-c.options.MaxTime/leaves
}

// withAges searches with objects of different ages.
func (c *check) withAges(ctx context.Context, system *core.System, ages [][]core.Kind, turned bool) (*verdict, error) {
	c.options.ages, c.options.turned, c.system = ages, turned, system.Aged(ages, turned)
	return c.settle(ctx)
}

// violated reports whether something was found that the verdict depends on.
func (v *verdict) violated() bool { return v.violates(func(core.Finding) bool { return true }) }

// violates is as [verdict.violated] for some findings.
func (v *verdict) violates(some func(core.Finding) bool) bool {
	return slices.ContainsFunc(v.findings, func(f core.Finding) bool { return !f.Warning && some(f) })
}

// follow adds what an earlier search has not searched and assumed.
func (v *verdict) follow(before *verdict) {
	for _, reason := range before.reasons {
		v.because(reason)
	}
	v.assumed = append(before.assumed, v.assumed...)
}

// union returns what is in any of two lists, in order, each once.
func union[T cmp.Ordered](one, other []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(one, other))))
}

// kindsIn lists the kinds of groups.
func kindsIn(groups [][]core.Kind) string {
	var names []string
	for _, kind := range slices.Concat(groups...) {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
