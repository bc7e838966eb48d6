package inspect

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

// app is all that is shown of a record.
type app struct {
	context context.Context
	record  *record.Record
	// graph is nil until it is read, and graphFailed why it cannot be. ready is closed when it is one or the other;
	// then loaded is what came of it.
	graph       *graph.Graph
	graphFailed error
	ready       chan struct{}
	loaded      graphMsg

	keys          keys
	width, height int
	// views are what is shown, the last of them, and what was before.
	views []view
	// help is shown instead, if it is not nil, and prompt in the last line.
	help   *help
	prompt *prompt
	// notice is what is said in the last line until the next key.
	notice string
	// query is what was looked for last.
	query string
	// found is what was found last.
	found *found
}

// graphMsg tells that the graph was read.
type graphMsg struct {
	graph *graph.Graph
	err   error
}

func newApp(ctx context.Context, r *record.Record) *app {
	a := &app{context: ctx, record: r, keys: newKeys(), ready: make(chan struct{}), width: 80, height: 24}
	a.views = []view{newReportView(a)}
	return a
}

// Init implements [tea.Model]. It reads the graph.
func (a *app) Init() tea.Cmd {
	return func() tea.Msg {
		g, err := graph.New(a.context, a.record)
		a.loaded = graphMsg{g, err}
		close(a.ready)
		return a.loaded
	}
}

// top is the view that is shown.
func (a *app) top() view { return a.views[len(a.views)-1] }

// push shows another view.
func (a *app) push(v view) { a.views = append(a.views, v) }

// Update implements [tea.Model].
func (a *app) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
	case graphMsg:
		a.graph, a.graphFailed = m.graph, m.err
		for _, v := range a.views {
			v.refresh()
		}
	case foundMsg:
		a.show(m)
	case tea.PasteMsg:
		if a.prompt != nil {
			return a, a.prompt.update(m)
		}
	case tea.KeyPressMsg:
		a.notice = ""
		command := a.press(m)
		if p := a.top().board().focus; p != nil {
			p.inSight()
		}
		return a, command
	case tea.MouseClickMsg:
		a.notice = ""
		return a, a.click(m.Mouse())
	case tea.MouseWheelMsg:
		a.wheel(m.Mouse())
	}
	return a, nil
}

// press acts on a key.
func (a *app) press(m tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.String() == "ctrl+c":
		return tea.Quit
	case a.prompt != nil:
		return a.answer(m)
	case a.help != nil:
		return a.pressInHelp(m)
	}
	if did, cmd := a.top().press(m); did {
		return cmd
	}
	if scrolled(a.keys, a.top().board().focus, m) {
		return nil
	}
	switch {
	case key.Matches(m, a.keys.quit):
		return tea.Quit
	case key.Matches(m, a.keys.help):
		a.help = newHelp(a)
	case key.Matches(m, a.keys.back):
		a.back()
	case key.Matches(m, a.keys.tab):
		a.top().board().next()
	case key.Matches(m, a.keys.report):
		a.views = a.views[:1]
	case key.Matches(m, a.keys.find):
		a.ask("Find: ", a.query, a.look)
	case key.Matches(m, a.keys.goTo):
		a.ask("State: ", "", a.jump)
	case key.Matches(m, a.keys.graph):
		a.visit(a.initial())
	case key.Matches(m, a.keys.nextFound):
		return a.nextFound(1)
	case key.Matches(m, a.keys.formerFound):
		return a.nextFound(-1)
	case key.Matches(m, a.keys.enter):
		if chosen, ok := a.top().board().focus.chosen(); ok && chosen.open != nil {
			return chosen.open()
		}
	}
	return nil
}

// scrolled moves in a pane, and reports whether the key was one for that.
func scrolled(k keys, p *pane, m tea.KeyPressMsg) bool {
	if p == nil {
		return false
	}
	page := max(1, p.height-1)
	switch {
	case key.Matches(m, k.up):
		p.move(-1)
	case key.Matches(m, k.down):
		p.move(1)
	case key.Matches(m, k.pageUp):
		p.page(-page)
	case key.Matches(m, k.pageDown):
		p.page(page)
	case key.Matches(m, k.home):
		p.end(false)
	case key.Matches(m, k.end):
		p.end(true)
	default:
		return false
	}
	return true
}

// back shows what was shown before.
func (a *app) back() {
	if len(a.views) == 1 {
		a.notice = "this is the report: q quits"
		return
	}
	a.views = a.views[:len(a.views)-1]
}

// wheel scrolls what is under the mouse.
func (a *app) wheel(m tea.Mouse) {
	by := 3
	switch m.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return
	}
	if a.help != nil {
		a.help.pane.scroll(by)
	} else if p, ok := a.top().board().under(m.X, m.Y-1); ok {
		p.scroll(by)
	}
}

// click chooses what is under the mouse. What is chosen already is opened.
func (a *app) click(m tea.Mouse) tea.Cmd {
	if m.Button != tea.MouseLeft || a.help != nil || a.prompt != nil {
		return nil
	}
	p, ok := a.top().board().under(m.X, m.Y-1)
	if !ok {
		return nil
	}
	a.top().board().focus = p.pane
	if again := p.click(m.Y - 1 - p.y); again {
		return a.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	return nil
}

// initial returns the first initial state.
func (a *app) initial() core.StateID {
	var numbers record.Numbers
	for id := range core.StateID(a.record.States.Len()) {
		if a.record.States.Unpack(id, &numbers); numbers.Initial {
			return id
		}
	}
	return 0
}

// visit shows a state.
func (a *app) visit(id core.StateID) {
	switch {
	case a.record.States.Len() == 0:
		a.notice = "the record has no states: check with --record-states N, and without --compact"
	case int(id) >= a.record.States.Len():
		a.notice = fmt.Sprintf("state %d is not recorded: %s", id, a.recorded())
	default:
		if at, ok := a.top().(*stateView); ok && at.id == id {
			a.notice = "this is the state that is shown"
			return
		}
		a.push(newStateView(a, id))
	}
}

// recorded says which states there are.
func (a *app) recorded() string {
	n := a.record.States.Len()
	text := "the record has states 0 to " + strconv.Itoa(n-1)
	if all := max(n, a.record.Extent.States); all > n {
		text += fmt.Sprintf(" of %d (check --record-states N records more)", all)
	}
	return text
}

// jump shows the state of a number.
func (a *app) jump(text string) tea.Cmd {
	number, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil {
		a.notice = "type the number of a state: " + a.recorded()
		return nil
	}
	a.visit(core.StateID(number))
	return nil
}

// View implements [tea.Model].
func (a *app) View() tea.View {
	v := tea.NewView(strings.Join(a.lines(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// The smallest terminal in which something can be read.
const (
	leastWidth  = 30
	leastHeight = 8
)

// lines returns what is shown, as wide and as high as the terminal.
func (a *app) lines() []string {
	if a.width < leastWidth || a.height < leastHeight {
		p := pane{rows: []row{{line: say(plain, "This terminal is too small. Make it 80 columns wide and 24 lines high.")}}}
		return p.draw(a.width, a.height, false)
	}
	foot := a.foot()
	height := a.height - 1 - len(foot)
	lines := []string{a.head()}
	if a.help != nil {
		lines = append(lines, a.help.pane.draw(a.width, height, false)...)
	} else {
		lines = append(lines, a.top().draw(a.width, height)...)
	}
	if a.prompt == nil && a.notice == "" && a.help == nil { // where the view is in its rows is known now
		foot = []string{a.hint()}
	}
	return append(lines, foot...)
}

// head is the first line: what was checked, and what is shown of it.
func (a *app) head() string {
	report := &a.record.Report
	name := verdict(report.Verdict).and(strong, " "+story.SystemName(report))
	var trail line
	last := a.views[1:]
	if len(last) > 2 {
		trail, last = say(faint, " > "+mark), last[len(last)-2:]
	}
	for _, v := range last {
		trail = trail.and(faint, " > ").and(plain, v.title())
	}
	// What is shown is said in any case, and of the name as much as there is room for.
	cells := cut(name.cells(), max(a.width/3, a.width-widthOf(trail.cells())))
	return paint(append(cells, trail.cells()...), a.width, false)
}

// verdict says a verdict.
func verdict(v core.Verdict) line {
	switch v {
	case core.Holds:
		return say(good, "HOLDS")
	case core.Violated:
		return say(bad, "VIOLATED")
	}
	return say(open, "INCONCLUSIVE")
}

// mostNotice is how many lines a notice takes at most.
const mostNotice = 3

// foot is what is below the view: what is asked, what is to be said, or what keys do.
func (a *app) foot() []string {
	switch {
	case a.prompt != nil:
		return []string{a.prompt.draw(a.width)}
	case a.notice != "":
		var lines []string
		wrapped := wrap(say(open, a.notice).cells(), a.width, 0)
		most := max(1, min(mostNotice, a.height-leastHeight+1)) // a view needs its lines
		for i, cells := range wrapped[:min(len(wrapped), most)] {
			if i == most-1 && len(wrapped) > most {
				cells = append(cells[:fitting(cells, a.width-1)], cell{mark, 1, faint})
			}
			lines = append(lines, paint(cells, a.width, false))
		}
		return lines
	case a.help != nil:
		return []string{paint(say(faint, "Esc closes the help").cells(), a.width, false)}
	}
	return []string{a.hint()}
}

// hint says what keys do, and where a pane is in its rows.
func (a *app) hint() string {
	hints := "? help  q quit"
	if len(a.views) > 1 {
		hints += "  Esc back"
	}
	cells := say(faint, hints+"  "+a.top().hints()).cells()
	if p := a.top().board().focus; p.more() != "" {
		more := say(faint, "  "+p.more()).cells()
		cells = append(cut(cells, a.width-widthOf(more)), more...)
	}
	return paint(cells, a.width, false)
}
