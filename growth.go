package orrery

import (
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// boundedGrowth is the name under which growth is told. A search that is complete shows that there is none, so it is in
// no report otherwise.
const boundedGrowth = "no endless growth"

// judgeGrowth tells of a run on which there are more and more objects. Where controllers may stop some time, it is a
// warning.
func (v *verdict) judgeGrowth() {
	g := v.space.Growth()
	if g == nil {
		return
	}
	p := core.Property{Name: boundedGrowth, Warning: g.Shown}
	last := g.Run[len(g.Run)-1]
	report := core.PropertyReport{Name: p.Name, Verdict: core.Inconclusive, Warning: p.Warning}
	var fields []string
	err := g.Space.Within(v.telling, func() error {
		fields = properties.ChangedFields(g.Space.Effect(last))
		return nil
	})
	if err != nil {
		v.because(undecided(p, err))
		return
	}
	v.tellViolations(g.Space, p, []core.Violation{{
		Summary:     grows(g),
		Details:     []string{goesOn(g), adviceAgainst(g)},
		Controllers: g.Controllers(),
		Fields:      fields,
		Stem:        g.Run,
		State:       last.To,
	}}, &report)
	if report.Verdict == core.Violated {
		v.reports = append(v.reports, report)
	}
}

// grows says in a sentence how a system grows.
func grows(g *explore.Growth) string {
	if len(g.Adds) == 0 {
		return fmt.Sprintf("the system never settles: in each round, %s writes random values that it has drawn anew", strings.Join(g.Drawing, " and "))
	}
	if g.Renews() {
		what := "the system never settles"
		if g.Shown {
			what = "the system keeps changing"
		}
		return fmt.Sprintf("%s: each round gives %s of %s a value that it never had before", what, g.Adds[0].Field, g.Last)
	}
	var more []string
	for _, a := range g.Adds {
		switch {
		case a.Field != "":
			more = append(more, fmt.Sprintf("%d to %s of %s", a.By, a.Field, a.Kind))
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
		what = "the system keeps growing"
	}
	return fmt.Sprintf("%s: each round adds %s, for example by %s", what, strings.Join(more, " and "), g.Last)
}

// adviceAgainst says how code can do without.
func adviceAgainst(g *explore.Growth) string {
	if len(g.Adds) == 0 {
		return "Look for the value that was written last time before drawing another one."
	}
	if g.Renews() {
		return "Do not write what changes with each write, such as the resourceVersion of the object or a hash of all of it: use metadata.generation, or a hash of the spec."
	}
	if g.Adds[0].Field != "" {
		return "Do not count what the controller does where that makes it run again, or filter out the events of it."
	}
	if g.Adds[0].Objects > 0 {
		return "Give an object that must exist once a deterministic name, or look for an existing one before creating another."
	}
	return "Replace the value that was written last time, or limit how many are kept."
}

// goesOn says what is known of how it goes on.
func goesOn(g *explore.Growth) string {
	lap := fmt.Sprintf("The last %d steps repeat the %d before them", g.Lap, g.Lap)
	if g.Lap == 1 {
		lap = "The last step repeats the one before it"
	}
	if g.Shown {
		return fmt.Sprintf("%s, %d times in a row. The controllers read more each time, so they may stop at some point; the trace ends here.", lap, g.Laps)
	}
	return lap + ": the controllers get the same responses and do the same, so this continues forever."
}
