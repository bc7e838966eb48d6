package text

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// logLimit is how many lines are shown that controllers log in a step.
const logLimit = 12

// logs shows the lines that controllers log in a step, each before the call that followed it.
type logs struct {
	page  *page
	step  core.TraceStep
	shown int
}

func (p *page) newLogs(step core.TraceStep) *logs { return &logs{page: p, step: step} }

// before shows the lines that were logged before a call.
func (l *logs) before(call int) {
	calls := 0
	for _, c := range l.step.Calls[:call] {
		if c.Handler == "" {
			calls++
		}
	}
	for l.shown < len(l.step.Logs) && l.step.Logs[l.shown].Handler == "" && l.step.Logs[l.shown].Calls <= calls && l.step.Calls[call].Handler == "" {
		l.next()
	}
}

// rest shows the lines that are left, and says which are left out.
func (l *logs) rest() {
	for l.shown < len(l.step.Logs) {
		l.next()
	}
	if rest := len(l.step.Logs) - logLimit; l.page.elide && rest > 0 {
		l.page.line(2, l.page.faint(fmt.Sprintf("… and %s", story.Counted(rest, "more line is logged", "more lines are logged"))))
	}
	if l.step.MissingLogs != "" {
		l.page.line(2, l.page.faint("logs:    left out: "+clean(l.step.MissingLogs)))
	}
}

// next shows a line, unless there are too many.
func (l *logs) next() {
	line := l.step.Logs[l.shown]
	if l.shown++; l.page.elide && l.shown > logLimit {
		return
	}
	by := ""
	if who := line.By(); who != "" {
		by = " (" + clean(who) + ")"
	}
	said := []rune(clean(line.String()))
	if l.page.elide && len(said) > textWidth {
		said = append(said[:textWidth:textWidth], '…')
	}
	l.page.line(2, l.page.faint("logs:    "), string(said), l.page.faint(by))
}
