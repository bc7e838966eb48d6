package story

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Settled is what became of an object on the way to an outcome.
type Settled struct {
	Key core.Key
	// How is "changed", "created", "deleted", or empty if the object is as at the start.
	How string
	// Says is what the object says of itself: its phase, and its conditions. If that has not changed, it is what else
	// has, too. For a value that is no object it is the value.
	Says []string
}

// Outcome returns what the system comes to, and what to call that. Of several outcomes it is the one that was found
// first. Nothing is returned if there is none, and if something was found on the way, which matters more.
func Outcome(report *core.Report) (title string, settled []Settled, found bool) {
	if report.Verdict == core.Violated || len(report.OutcomeList) == 0 {
		return "", nil, false
	}
	title = "Outcome"
	if report.Outcomes > 1 {
		title = fmt.Sprintf("The first of %d outcomes", report.Outcomes)
	}
	return title, settles(report.OutcomeList[0]), true
}

// settles returns what became of all objects on the way to an outcome: first those that were there and are other ones
// now, then those that are new, those that are gone, and those that are as they were.
func settles(outcome core.OutcomeReport) []Settled {
	var all [4][]Settled
	before := map[core.Key]core.TraceObject{}
	for _, o := range outcome.Trace.Initial {
		before[o.Key()] = o
	}
	for _, o := range outcome.Objects {
		s, rank := Settled{Key: o.Key(), Says: says(o.Fields)}, 3
		was, known := before[o.Key()]
		switch delete(before, o.Key()); {
		case !known:
			s.How, rank = "created", 1
		case !reflect.DeepEqual(was.Fields, o.Fields):
			s.How, rank = "changed", 0
			if slices.Equal(s.Says, says(was.Fields)) {
				s.Says = append(s.Says, became(was.Fields, o.Fields)...)
			}
		}
		all[rank] = append(all[rank], s)
	}
	for _, key := range slices.SortedFunc(maps.Keys(before), core.Key.Compare) {
		all[2] = append(all[2], Settled{Key: key, How: "deleted"})
	}
	return slices.Concat(all[:]...)
}

// says returns what a tree of fields says of itself.
func says(tree any) []string {
	fields, nested := tree.(map[string]any)
	if !nested {
		return []string{fmt.Sprint(tree)}
	}
	status, _ := fields["status"].(map[string]any)
	var all []string
	if phase, given := status["phase"].(string); given {
		all = append(all, phase)
	}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		kind, named := c["type"].(string)
		if !named {
			continue
		}
		text := fmt.Sprintf("%s=%v", kind, c["status"])
		if reason, _ := c["reason"].(string); reason != "" && reason != kind {
			text += " (" + reason + ")"
		}
		if message, _ := c["message"].(string); message != "" && c["status"] != "True" {
			text += ": " + strings.Join(strings.Fields(message), " ")
		}
		all = append(all, text)
	}
	return all
}

// mostBecame is how many changes are named.
const mostBecame = 3

// became says what has changed, but for what changes with each write.
func became(from, to any) []string {
	changes := slices.DeleteFunc(core.DiffFields(from, to), func(c core.FieldChange) bool { return kept(c.Path) })
	var all []string
	for _, c := range changes[:min(len(changes), mostBecame)] {
		all = append(all, c.String())
	}
	if rest := len(changes) - len(all); rest > 0 {
		all = append(all, fmt.Sprintf("and %s", Counted(rest, "more field", "more fields")))
	}
	return all
}
