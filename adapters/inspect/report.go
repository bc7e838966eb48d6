package inspect

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// reportView is the view of the report.
type reportView struct {
	app   *app
	list  pane
	panes board
}

func newReportView(a *app) *reportView {
	v := &reportView{app: a}
	v.list.chooses, v.panes.focus = true, &v.list
	v.refresh()
	v.list.cursor = max(0, slices.IndexFunc(v.list.rows, func(r row) bool { return r.open != nil }))
	return v
}

func (v *reportView) title() string { return "report" }

func (v *reportView) board() *board { return &v.panes }

func (v *reportView) keys() []key.Binding {
	return []key.Binding{bind("the chosen finding, outcome or graph", "Enter", "enter"), v.app.keys.graph}
}

func (v *reportView) hints() string { return "Enter open  s states  / find" }

func (v *reportView) press(tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (v *reportView) draw(width, height int) []string {
	v.panes.place(placed{&v.list, 0, 0, width, height})
	return v.panes.drawPane(v.panes.shown[0])
}

// bullet is how far the second line of an item of a list is moved to the right.
const bullet = 4

func (v *reportView) refresh() {
	report := &v.app.record.Report
	rows := []row{{line: verdict(report.Verdict).and(strong, "  "+story.SystemName(report)+": ").and(plain, story.Headline(report)), indent: 2}}
	text := func(s string) { rows = append(rows, row{line: say(plain, s), indent: bullet}) }
	lead, reasons, others := story.Doubts(report)
	if lead != "" {
		text(lead)
	}
	for _, reason := range reasons {
		text("  - " + reason)
	}
	for _, other := range others {
		text(other)
	}
	if len(report.Findings) > 0 {
		rows = append(rows, gap(), heading(story.Counted(len(report.Findings), "Finding", "Findings")))
	}
	for _, f := range report.Findings {
		rows = append(rows, v.finding(f)...)
	}
	rows = append(rows, v.outcomes(report.OutcomeList, report.Outcomes)...)
	rows = append(rows, gap(), heading("State graph"), v.graph())
	if note := v.app.record.Extent.Note; note != "" {
		text("  " + note)
	}
	if len(report.Properties) > 0 {
		rows = append(rows, gap(), heading("Checked"))
	}
	for _, p := range report.Properties {
		rows = append(rows, sayProperty(p))
	}
	if len(report.Rungs) > 0 {
		rows = append(rows, gap(), heading("What may go wrong"))
	}
	for line, reasons := range story.Rungs(report.Rungs) {
		text("  " + line)
		for _, reason := range reasons {
			text("    - " + reason)
		}
	}
	rows = append(rows, gap(), heading("Searched"))
	for _, s := range story.Searched(report) {
		text("  " + s)
	}
	if len(report.Assumptions) > 0 {
		rows = append(rows, gap(), heading("Assumptions"))
	}
	for _, s := range report.Assumptions {
		text("  - " + s)
	}
	rows = append(rows, gap(), row{line: say(faint, story.Cost(report)), indent: 2})
	v.list.set(rows)
}

// finding says what was found.
func (v *reportView) finding(f core.Finding) []row {
	show := func() tea.Cmd {
		v.app.push(newStoryView(v.app, fmt.Sprintf("finding %d of %d", f.ID, len(v.app.record.Report.Findings)), f))
		return nil
	}
	word := "violates: "
	if f.Warning {
		word = "warns of: "
	}
	rows := []row{
		{line: say(strong, fmt.Sprintf("  %d. ", f.ID)).and(plain, f.Summary), indent: 5, open: show},
		{line: say(faint, "     "+word).and(plain, f.Property), indent: 7, still: true},
	}
	if len(f.Controllers) > 0 {
		rows = append(rows, row{line: say(faint, "     controllers: ").and(plain, strings.Join(f.Controllers, ", ")), indent: 7, still: true})
	}
	return rows
}

// outcomes says where the system can end.
func (v *reportView) outcomes(outcomes []core.OutcomeReport, all int) []row {
	if len(outcomes) == 0 {
		return nil
	}
	rows := []row{gap(), heading(story.Counted(max(all, len(outcomes)), "Outcome", "Outcomes"))}
	distinct := story.Distinct(outcomes)
	for i, o := range outcomes {
		name := fmt.Sprintf("outcome %d of %d", i+1, max(all, len(outcomes)))
		finding := core.Finding{
			Summary: fmt.Sprintf("A shortest run to %s: %s in the end, of which state %d was found first", name, story.Counted(o.States, "state is like that", "states are like that"), o.State),
			Trace:   o.Trace,
		}
		rows = append(rows, row{
			line:   say(strong, fmt.Sprintf("  %d. ", i+1)).and(plain, fmt.Sprintf("%s; a shortest run takes %s", story.Counted(o.States, "state", "states"), story.Counted(len(o.Trace.Steps), "step", "steps"))),
			indent: 5,
			open: func() tea.Cmd {
				v.app.push(newStoryView(v.app, name, finding))
				return nil
			},
		})
		if len(outcomes) == 1 {
			continue
		}
		for _, object := range distinct[i] {
			for _, f := range object.Fields[:min(len(object.Fields), fewFields)] {
				at := object.Key.String()
				if f.Path != "" {
					at += ": " + f.Path
				}
				rows = append(rows, row{line: say(faint, "     "+at+" = ").and(plain, value(f.Value, false)), indent: 7, still: true})
			}
			if rest := len(object.Fields) - fewFields; rest > 0 {
				rows = append(rows, row{line: say(faint, "     "+mark+" and "+story.Counted(rest, "more field", "more fields")+" that differ"), still: true})
			}
		}
	}
	if rest := all - len(outcomes); rest > 0 {
		rows = append(rows, row{line: say(faint, "  "+mark+" and "+story.Counted(rest, "more outcome", "more outcomes")+", which the record does not list"), still: true})
	}
	return rows
}

// graph says how many states there are to look at.
func (v *reportView) graph() row {
	n := v.app.record.States.Len()
	if n == 0 {
		return row{line: say(plain, "  The record has no states."), indent: bullet}
	}
	said := "  " + story.Counted(n, "state", "states") + " to go through, from the initial one on"
	if v.app.graphFailed != nil {
		said += " (" + v.app.graphFailed.Error() + ")"
	}
	return row{line: say(plain, said), indent: bullet, open: func() tea.Cmd {
		v.app.visit(v.app.initial())
		return nil
	}}
}

// sayProperty says what the verdict on a property is.
func sayProperty(p core.PropertyReport) row {
	look := open
	switch p.Verdict {
	case core.Holds:
		look = good
	case core.Violated:
		look = bad
	}
	said := say(look, fmt.Sprintf("  %-14s", p.Verdict)).and(plain, p.Name)
	if p.Warning {
		said = said.and(faint, " (a warning)")
	}
	return row{line: said, indent: 16}
}
