package text

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
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
	p.outcome(report)
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
	word := p.open("INCONCLUSIVE")
	switch report.Verdict {
	case core.Holds:
		word = p.good("HOLDS")
	case core.Violated:
		word = p.bad("VIOLATED")
	}
	p.line(0, word, "  ", story.SystemName(report), ": ", story.Headline(report))
	lead, reasons, others := story.Doubts(report)
	if lead != "" {
		p.line(0, lead)
	}
	for _, reason := range reasons {
		p.line(0, "  - ", reason)
	}
	for _, other := range others {
		p.line(0, other)
	}
}

// SystemName returns the name of the checked system with its parameters.
func SystemName(report *core.Report) string { return story.SystemName(report) }

// Count returns a number as people read it: with commas between the thousands.
func Count(n int) string { return story.Count(n) }

// Rungs tells in a line each what came of the conditions under which a system was checked, and why it is not more.
func Rungs(all []core.RungReport) iter.Seq2[string, []string] { return story.Rungs(all) }

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

// objectsShown is how many objects of an outcome are shown, unless all are.
const objectsShown = 12

// outcome writes what the system comes to.
func (p *page) outcome(report *core.Report) {
	title, settled, found := story.Outcome(report)
	if !found {
		return
	}
	p.heading(0, title)
	same := len(settled)
	if i := slices.IndexFunc(settled, func(s story.Settled) bool { return s.How == "" }); i >= 0 {
		same = i
	}
	shown := settled[:same]
	if p.elide && len(shown) > objectsShown {
		shown = shown[:objectsShown-1]
	}
	for _, s := range shown {
		p.line(1, s.How, "  ", clean(s.Key.String()), p.says(s.Says))
	}
	if rest := same - len(shown); rest > 0 {
		p.line(1, p.faint(fmt.Sprintf("… and %s", story.Counted(rest, "more object", "more objects"))))
	}
	switch rest := settled[same:]; {
	case len(settled) == 0:
		p.line(1, "no objects")
	case same == 0:
		p.line(1, "all objects are as at the start: nobody has changed any")
	case len(rest) > 0:
		p.line(1, "as at the start: ", p.names(rest))
	}
}

// says writes what an object says of itself behind its name.
func (p *page) says(all []string) string {
	if len(all) == 0 {
		return ""
	}
	text := clean(strings.Join(all, ", "))
	if runes := []rune(text); p.elide && len(runes) > textWidth {
		text = string(runes[:textWidth-1]) + "…"
	}
	return ": " + text
}

// names names objects.
func (p *page) names(all []story.Settled) string {
	shown := all
	if p.elide && len(shown) > objectsShown/2 {
		shown = shown[:objectsShown/2-1]
	}
	var names []string
	for _, s := range shown {
		names = append(names, clean(s.Key.String()))
	}
	text := strings.Join(names, ", ")
	if rest := len(all) - len(shown); rest > 0 {
		text += fmt.Sprintf(", and %s more", story.Count(rest))
	}
	return text
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
	for line, reasons := range Rungs(rungs) {
		p.line(1, line)
		for _, reason := range reasons {
			p.line(2, "- ", reason)
		}
	}
}

// searched tells what was searched.
func (p *page) searched(report *core.Report) {
	p.heading(0, "Searched")
	for _, line := range story.Searched(report) {
		p.line(1, line)
	}
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

// cost writes what the check has cost.
func (p *page) cost(report *core.Report) {
	p.gap()
	p.line(0, p.faint(story.Cost(report)))
}
