package orrery

import (
	"context"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// boundedGrowth is the name under which growth is told. A search that is complete shows that there is none, so it is in no report otherwise.
const boundedGrowth = "no endless growth"

// judgeGrowth tells of a run on which there are more and more objects. Where controllers may stop some time, it is a
// warning.
func (v *verdict) judgeGrowth(ctx context.Context) {
	g := v.space.Growth()
	if g == nil {
		return
	}
	p := core.Property{Name: boundedGrowth, Warning: g.Shown}
	last := g.Run[len(g.Run)-1]
	report := core.PropertyReport{Name: p.Name, Verdict: core.Inconclusive, Warning: p.Warning}
	v.tellViolations(ctx, g.Space, p, []core.Violation{{
		Summary:     grows(g),
		Details:     []string{goesOn(g), adviceAgainst(g)},
		Controllers: g.Controllers(),
		Fields:      properties.ChangedFields(g.Space.Effect(last)),
		Stem:        g.Run,
		State:       last.To,
	}}, &report)
	if report.Verdict == core.Violated {
		v.reports = append(v.reports, report)
	}
}

// grows says in a sentence how a system grows.
func grows(g *explore.Growth) string {
	var more []string
	for _, a := range g.Adds {
		switch {
		case a.Objects > 0:
			more = append(more, fmt.Sprintf("%d more %s", a.Objects, a.Kind))
		case a.Values == 1:
			more = append(more, fmt.Sprintf("1 more value in %s", a.Kind))
		default:
			more = append(more, fmt.Sprintf("%d more values in %s", a.Values, a.Kind))
		}
	}
	what := "the system grows without end"
	if g.Shown {
		what = "the system grows, and no end is in sight"
	}
	return fmt.Sprintf("%s: each time around there is %s, such as by %s", what, strings.Join(more, " and "), g.Last)
}

// adviceAgainst says how code can do without.
func adviceAgainst(g *explore.Growth) string {
	if g.Adds[0].Objects > 0 {
		return "Give an object that is to be made once a name that follows from what it is for, or look for the one of the last time before another is created."
	}
	return "Replace what was written the last time, or keep no more than so many of it."
}

// goesOn says what is known of how it goes on.
func goesOn(g *explore.Growth) string {
	lap := fmt.Sprintf("The last %d steps are like the %d before", g.Lap, g.Lap)
	if g.Lap == 1 {
		lap = "The last step is like the one before"
	}
	if g.Shown {
		return fmt.Sprintf("%s, for %d times in a row. The controllers are shown more each time, so that they may stop some time; the run was followed no further.", lap, g.Laps)
	}
	return lap + ": the controllers get the same responses and do the same, so that this goes on for ever."
}
