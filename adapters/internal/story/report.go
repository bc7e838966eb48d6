package story

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/orrery-dev/orrery/core"
)

// Clean returns a user's text on one line and without codes that a terminal
// would obey.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
}

// SystemName returns the name of the checked system with its parameters.
func SystemName(report *core.Report) string {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(report.Params)) {
		params = append(params, name+"="+report.Params[name])
	}
	if len(params) == 0 {
		return Clean(report.System)
	}
	return Clean(report.System + " (" + strings.Join(params, ", ") + ")")
}

// Headline says in a sentence what the verdict comes to. With a colon at its end, the reasons follow.
func Headline(report *core.Report) string {
	switch report.Verdict {
	case core.Holds:
		return "everything was searched, and nothing wrong was found" + besides(report) + unfinished(report) + "."
	case core.Violated:
		found := Counted(len(report.Findings), "finding", "findings")
		if n := report.Warnings(); n > 0 {
			found += ", of which " + Counted(n, "is a warning", "are warnings")
		}
		return found + "."
	}
	return "nothing wrong was found" + besides(report) + ", but not everything was searched:"
}

// unfinished tells of conditions under which not everything was searched, where the verdict is that of the first of
// them.
func unfinished(report *core.Report) string {
	n := 0
	for _, r := range report.Rungs {
		if r.Verdict != core.Holds {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" while nothing goes wrong; of what may go wrong, %d of %d were not searched to the end", n, len(report.Rungs)-1)
}

// besides tells of warnings where nothing else was found.
func besides(report *core.Report) string {
	if report.Warnings() == 0 {
		return ""
	}
	return " except " + Counted(report.Warnings(), "warning", "warnings")
}

// Doubts says in sentences what is behind the headline: how sure it is, why it is not more, and what was not validated.
func Doubts(report *core.Report) (lead string, reasons, others []string) {
	if report.Verdict == core.Holds && report.Compact {
		lead = fmt.Sprintf("The search stored hashes instead of states (--compact): the probability that it missed a state is about %.1g.", report.MissedStateOdds)
	}
	if report.Verdict == core.Violated && len(report.Reasons) > 0 {
		lead = "There may be more findings, because not everything was searched:"
	}
	for _, reason := range report.Reasons {
		reasons = append(reasons, Clean(reason))
	}
	if report.ConductOnly {
		others = append(others, "No property of the system was checked, only how the code of its controllers behaves. To check that it settles, give it properties.Convergent().")
	}
	for _, u := range report.Unchecked {
		others = append(others, Clean(fmt.Sprintf("Not validated: %s %s. To validate, %s.", u.Kind, strings.Join(u.Fields, ", "), u.Remedy)))
	}
	return lead, reasons, others
}

// Rungs tells in a line each what came of the conditions under which a system was checked, and why it is not more. A
// reason that is one of an earlier condition, too, is said there.
func Rungs(all []core.RungReport) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		said := map[string]bool{}
		for _, r := range all {
			line := fmt.Sprintf("%-14s%s", cmp.Or(string(r.Verdict), "not searched"), r.Name)
			if r.Verdict != "" {
				line += ": " + Counted(r.States, "state", "states")
			}
			var reasons []string
			for _, reason := range r.Reasons {
				if !said[reason] {
					reasons = append(reasons, Clean(reason))
				}
				said[reason] = true
			}
			switch {
			case len(reasons) == len(r.Reasons):
			case len(reasons) == 0:
				reasons = []string{"as above"}
			default:
				reasons = append(reasons, "and as above")
			}
			if !yield(Clean(line), reasons) {
				return
			}
		}
	}
}

// Searched tells what was searched, a line for each part.
func Searched(report *core.Report) []string {
	lines := []string{
		Counted(report.States, "state", "states") + ", " + Counted(report.Transitions, "step", "steps") + "; depth " + Count(report.Depth),
		Counted(report.TerminalStates, "terminal state", "terminal states") + "; " + Counted(report.Outcomes, "outcome", "outcomes"),
		"controller code: " + Counted(report.Behaviours, "distinct behavior", "distinct behaviors") + "; " +
			Counted(report.StepsFromTree, "step", "steps") + " reused one without running code",
	}
	for _, m := range report.Memory {
		if len(m.Fields) > 0 {
			lines = append(lines, Clean("memory: "+m.Controller+" keeps "+strings.Join(together(m.Fields), ", "))+", "+Counted(m.Contents, "content", "contents")+" so far; it is part of each state")
		}
		if m.Background {
			lines = append(lines, Clean("background: "+m.Controller)+" works between its activations, too; where that waits is part of each state")
		}
	}
	lines = append(lines, Clean("granularity: "+report.Granularity+"; reduction: "+report.Reduction)+reductionNote(report.Reduction))
	if report.StatesIdleFirst > 0 {
		lines = append(lines, Counted(report.StatesIdleFirst, "state", "states")+" in which a controller that found nothing to do went first")
	}
	if len(report.StateParts) > 0 {
		var parts []string
		for _, part := range report.StateParts {
			parts = append(parts, Clean(part.Name)+" (without, there would be "+Count(part.Without)+")")
		}
		lines = append(lines, "most states come of "+strings.Join(parts, ", "))
	}
	return lines
}

// together returns fields in memory. If there are many, those that begin alike are one, by all that they have in
// common, with how many there are: it says what to leave out to leave them all out.
func together(fields []string) []string {
	const many, fewest = 12, 2
	if len(fields) <= many {
		return fields
	}
	for parts := slices.Max(lengths(fields)); ; parts-- {
		var begun []string
		of := map[string][]string{}
		for _, field := range fields {
			begins := beginning(field, parts)
			if of[begins] = append(of[begins], field); len(of[begins]) == 1 {
				begun = append(begun, begins)
			}
		}
		if len(begun) > many && parts > fewest {
			continue
		}
		for i, begins := range begun {
			if alike := of[begins]; len(alike) > 1 {
				begun[i] = shared(alike, parts) + " (" + Count(len(alike)) + " fields)"
			}
		}
		return begun
	}
}

// shared returns the longest beginning that fields which begin with the same parts have in common.
func shared(fields []string, parts int) string {
	for {
		next := beginning(fields[0], parts+1)
		if next == fields[0] || slices.ContainsFunc(fields, func(field string) bool { return beginning(field, parts+1) != next }) {
			return beginning(fields[0], parts)
		}
		parts++
	}
}

// lengths returns of how many parts fields in memory consist.
func lengths(fields []string) []int {
	var all []int
	for _, field := range fields {
		parts := 1
		for beginning(field, parts) != field {
			parts++
		}
		all = append(all, parts)
	}
	return all
}

// beginning returns the first parts of a field in memory, all if there are no more. A dot in the key of an entry does
// not divide any.
func beginning(field string, parts int) string {
	inside := 0
	for i, r := range field {
		switch r {
		case '[':
			inside++
		case ']':
			inside--
		case '.':
			if inside > 0 {
				continue
			}
			if parts--; parts == 0 {
				return field[:i]
			}
		}
	}
	return field
}

// reductionNote says what a reduction means.
func reductionNote(name string) string {
	switch name {
	case "none":
		return " (no order was skipped)"
	case "symmetry":
		return " (states that are equal up to renaming were merged)"
	}
	return " (orders that cannot matter were skipped)"
}

// Cost says what the check has cost. It is all that may differ between two
// checks of the same system.
func Cost(report *core.Report) string {
	parts := []string{"Took " + duration(report.Elapsed), Counted(report.Workers, "worker", "workers")}
	if report.StatesPerSecond > 0 {
		parts = append(parts, Count(int(report.StatesPerSecond))+" states per second")
	}
	if report.PeakRSSBytes > 0 {
		parts = append(parts, size(report.PeakRSSBytes)+" of memory at peak")
	}
	cost := strings.Join(parts, ", ")
	if len(report.LeftBehind) == 0 {
		return cost
	}
	var places []string
	for _, left := range report.LeftBehind {
		places = append(places, Counted(left.Goroutines, "goroutine", "goroutines")+" in "+Clean(left.At))
	}
	return cost + ". Each instance of a controller leaves goroutines behind, which makes a check slower and slower: " + strings.Join(places, ", ") +
		". Have them end: with the context that the runnable is given, or with one that is over when the set-up returns"
}
