package text

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Options say how a report is written.
type Options struct {
	// Color writes the codes by which terminals colour text.
	Color bool
	// Full tells long stories and long values to the end.
	Full bool
}

// Report writes a report for people. The last line, and no other, holds times
// and what else may differ between two checks of the same system.
func Report(w io.Writer, report *core.Report, options Options) error {
	p := newPage(w, options)
	p.verdict(report)
	for _, finding := range report.Findings {
		p.finding(finding, len(report.Findings))
	}
	p.properties(report.Properties)
	p.rungs(report.Rungs)
	p.searched(report)
	p.assumptions(report.Assumptions)
	p.cost(report)
	return p.out.Flush()
}

// Story writes the story of a finding.
func Story(w io.Writer, finding core.Finding, options Options) error {
	p := newPage(w, options)
	p.finding(finding, max(1, finding.ID))
	return p.out.Flush()
}

func (p *page) verdict(report *core.Report) {
	name := SystemName(report)
	switch report.Verdict {
	case core.Holds:
		p.line(0, p.good("HOLDS"), "  ", name, ": everything was searched, and nothing wrong was found", warned(report))
		if report.Compact {
			p.line(0, fmt.Sprintf("The search stored hashes instead of states (--compact): the probability that it missed a state is about %.1g.", report.MissedStateOdds))
		}
	case core.Violated:
		p.line(0, p.bad("VIOLATED"), "  ", name, ": ", counted(len(report.Findings), "finding", "findings"), warned(report))
		if len(report.Reasons) > 0 {
			p.line(0, "There may be more findings, because not everything was searched:")
		}
	default:
		p.line(0, p.open("INCONCLUSIVE"), "  ", name, ": nothing wrong was found", besides(report), ", but not everything was searched:")
	}
	for _, reason := range report.Reasons {
		p.line(0, "  - ", clean(reason))
	}
	for _, u := range report.Unchecked {
		p.line(0, "Not validated: ", clean(string(u.Kind)), " ", clean(strings.Join(u.Fields, ", ")), ". To validate, ", clean(u.Remedy), ".")
	}
}

// warned ends the sentence about what was found, with the warnings among that if there are any.
func warned(report *core.Report) string {
	if report.Verdict == core.Violated && report.Warnings() > 0 {
		return ", of which " + counted(report.Warnings(), "is a warning.", "are warnings.")
	}
	return besides(report) + "."
}

// besides tells of warnings where nothing else was found.
func besides(report *core.Report) string {
	if report.Verdict == core.Violated || report.Warnings() == 0 {
		return ""
	}
	return " except " + counted(report.Warnings(), "warning", "warnings")
}

// SystemName returns the name of the checked system with its parameters.
func SystemName(report *core.Report) string {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(report.Params)) {
		params = append(params, name+"="+report.Params[name])
	}
	if len(params) == 0 {
		return clean(report.System)
	}
	return clean(report.System + " (" + strings.Join(params, ", ") + ")")
}

func (p *page) finding(finding core.Finding, of int) {
	p.gap()
	heading := fmt.Sprintf("Finding %d of %d", finding.ID, of)
	p.line(0, p.strong(heading), ": ", clean(finding.Summary))
	word := "violates:    "
	if finding.Warning {
		word = "warns of:    "
	}
	p.line(1, word, clean(finding.Property))
	if len(finding.Controllers) > 0 {
		p.line(1, "controllers: ", clean(strings.Join(finding.Controllers, ", ")))
	}
	for i, field := range finding.Fields {
		title := "fields:      "
		if i > 0 {
			title = strings.Repeat(" ", len(title))
		}
		p.line(1, title, clean(field))
	}
	if len(finding.Details) > 0 {
		p.gap()
	}
	for _, detail := range finding.Details {
		p.line(1, clean(detail))
	}
	p.story(finding)
	if finding.Replay != "" {
		p.gap()
		p.line(1, "Replay it: ", clean(finding.Replay))
	}
}

func (p *page) properties(properties []core.PropertyReport) {
	if len(properties) == 0 {
		return
	}
	p.heading(0, "Checked")
	for _, property := range properties {
		word := fmt.Sprintf("%-14s", property.Verdict)
		switch property.Verdict {
		case core.Holds:
			word = p.good(word)
		case core.Violated:
			word = p.bad(word)
		default:
			word = p.open(word)
		}
		note := ""
		if property.Warning {
			note = " (a warning)"
		}
		p.line(1, word, clean(property.Name), note)
	}
}

// rungs tells of the other conditions under which the system was checked.
func (p *page) rungs(rungs []core.RungReport) {
	if len(rungs) == 0 {
		return
	}
	p.heading(0, "What may go wrong")
	for _, r := range rungs {
		p.line(1, clean(Rung(r)))
	}
}

// Rung tells in one line what came of one of the conditions under which a system was checked.
func Rung(r core.RungReport) string {
	line := fmt.Sprintf("%-14s%s", cmp.Or(string(r.Verdict), "not searched"), r.Name)
	if r.Verdict != "" {
		line += ": " + counted(r.States, "state", "states")
	}
	if len(r.Reasons) == 0 {
		return line
	}
	// What a reason says before it explains itself.
	reason := r.Reasons[0]
	if end := strings.IndexAny(reason, ":;("); end > 0 {
		reason = strings.TrimSpace(reason[:end])
	}
	line += "; " + reason
	if more := len(r.Reasons) - 1; more > 0 {
		line += fmt.Sprintf(" (and %s)", counted(more, "more reason", "more reasons"))
	}
	return line
}

func (p *page) searched(report *core.Report) {
	p.heading(0, "Searched")
	p.line(1, counted(report.States, "state", "states"), ", ", counted(report.Transitions, "step", "steps"),
		"; depth ", count(report.Depth))
	p.line(1, counted(report.TerminalStates, "terminal state", "terminal states"), "; ",
		counted(report.Outcomes, "outcome", "outcomes"))
	p.line(1, "controller code: ", counted(report.Behaviours, "distinct behavior", "distinct behaviors"), "; ",
		counted(report.StepsFromTree, "step", "steps"), " reused one without running code")
	for _, m := range report.Memory {
		if len(m.Fields) > 0 {
			p.line(1, "memory: ", clean(m.Controller), " keeps ", clean(strings.Join(m.Fields, ", ")), ", ", counted(m.Contents, "content", "contents"), " so far; it is part of each state")
		}
		if m.Background {
			p.line(1, "background: ", clean(m.Controller), " works between its activations, too; where that waits is part of each state")
		}
	}
	p.line(1, "granularity: ", clean(report.Granularity), "; reduction: ", clean(report.Reduction), reductionNote(report.Reduction))
	if report.StatesIdleFirst > 0 {
		p.line(1, counted(report.StatesIdleFirst, "state", "states"), " in which a controller that found nothing to do went first")
	}
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

func (p *page) assumptions(assumptions []string) {
	if len(assumptions) == 0 {
		return
	}
	p.heading(0, "Assumptions")
	for _, assumption := range assumptions {
		p.line(1, "- ", clean(assumption))
	}
}

// cost writes what the check has cost. It is all that may differ between two
// checks of the same system.
func (p *page) cost(report *core.Report) {
	p.gap()
	parts := []string{"Took " + duration(report.Elapsed), counted(report.Workers, "worker", "workers")}
	if report.StatesPerSecond > 0 {
		parts = append(parts, count(int(report.StatesPerSecond))+" states per second")
	}
	if report.PeakRSSBytes > 0 {
		parts = append(parts, size(report.PeakRSSBytes)+" of memory at peak")
	}
	p.line(0, p.faint(strings.Join(parts, ", ")))
}
