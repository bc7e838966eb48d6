package orrery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Objects are created at one time, as those are that are created within a second. If controllers compare the ages of objects, what comes of it is searched by itself, with objects of different ages, once nothing was
// found with objects of one age: both happen.

// underAllAges searches with objects of one age, and with objects of different ages where controllers compare them: with those first that come first, and turned. It ends with the first search that finds something, and otherwise with the last.
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
	look := "looks"
	if len(controllers) > 1 {
		look = "look"
	}
	return fmt.Sprintf("%s %s at which objects of kind %s were created first", strings.Join(controllers, " and "), look, kindsIn(groups))
}

// over reports whether there is no time for another search.
func (c *check) over(ctx context.Context) bool {
	return ctx.Err() != nil || c.options.MaxTime > 0 && time.Since(c.began) >= c.options.MaxTime
}

// withAges searches with objects of different ages.
func (c *check) withAges(ctx context.Context, system *core.System, ages [][]core.Kind, turned bool) (*verdict, error) {
	c.options.ages, c.options.turned, c.system = ages, turned, system.Aged(ages, turned)
	return c.settle(ctx)
}

// violated reports whether something was found that the verdict depends on.
func (v *verdict) violated() bool {
	return slices.ContainsFunc(v.findings, func(f core.Finding) bool { return !f.Warning })
}

// follow adds what an earlier search has not searched and assumed.
func (v *verdict) follow(before *verdict) {
	for _, reason := range before.reasons {
		v.because(reason)
	}
	v.assumed = append(before.assumed, v.assumed...)
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
