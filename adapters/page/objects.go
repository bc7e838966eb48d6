package page

import (
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// stateBefore returns the objects as they are after steps from a start, in the order of their names. The script of the
// page goes on from there.
func stateBefore(initial []core.TraceObject, steps []core.TraceStep) []object {
	all := []object{}
	for _, o := range story.After(initial, steps) {
		all = append(all, object{Name: story.Clean(o.Key.String()), Fields: append([]field{}, values(o.Fields)...)})
	}
	return all
}

// outcome is one of the ends in which a system can settle.
type outcome struct {
	Number, States int
	// Fields are those that are not the same in all outcomes, by object.
	Objects []object
	// Steps is how many steps lead there.
	Steps int
}

// outcomes returns the ends, with what is not the same in all of them. There are none if there is only one end.
func outcomes(report *core.Report) []outcome {
	if len(report.OutcomeList) < 2 {
		return nil
	}
	var all []outcome
	for i, objects := range story.Distinct(report.OutcomeList) {
		o := report.OutcomeList[i]
		v := outcome{Number: i + 1, States: o.States, Steps: len(o.Trace.Steps)}
		for _, distinct := range objects {
			v.Objects = append(v.Objects, object{Name: story.Clean(distinct.Key.String()), Fields: values(distinct.Fields)})
		}
		all = append(all, v)
	}
	return all
}

// ending is the only outcome, by what became of all objects.
type ending struct {
	Title   string
	Objects []became
}

// became is what became of an object, and what it says of itself.
type became struct{ Name, How, Says string }

// settled returns what the system comes to. It is nil if there are several outcomes, of which [outcomes] shows what
// differs.
func settled(report *core.Report) *ending {
	title, objects, found := story.Outcome(report)
	if !found || len(report.OutcomeList) > 1 {
		return nil
	}
	e := &ending{Title: title}
	for _, o := range objects {
		e.Objects = append(e.Objects, became{story.Clean(o.Key.String()), o.How, story.Clean(strings.Join(o.Says, ", "))})
	}
	return e
}
