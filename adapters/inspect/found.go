package inspect

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/graph"
)

// mostFound is how many states are listed of those that were found.
const mostFound = 1000

// found is the view of what was found.
type found struct {
	app    *app
	text   string
	query  graph.Query
	states []core.StateID
	total  int
	list   pane
	panes  board
}

// foundMsg tells what was found.
type foundMsg struct {
	found *found
	err   error
}

// look looks for states. It waits until the graph is read.
func (a *app) look(text string) tea.Cmd {
	a.query = text
	query, err := parseQuery(text, a.controllers())
	if err != nil {
		a.notice = err.Error()
		return nil
	}
	if a.record.States.Len() == 0 {
		a.visit(0) // which says why there is none
		return nil
	}
	a.notice = "looking for states " + sayQuery(query)
	return func() tea.Msg {
		select {
		case <-a.ready:
		case <-a.context.Done():
			return foundMsg{err: a.context.Err()}
		}
		if a.loaded.err != nil {
			return foundMsg{err: a.loaded.err}
		}
		states, total, err := a.loaded.graph.Find(a.context, query, mostFound)
		return foundMsg{&found{app: a, text: text, query: query, states: states, total: total}, err}
	}
}

// controllers are those that can take steps.
func (a *app) controllers() []string {
	var names []string
	for _, s := range a.record.States.Steps() {
		if !slices.Contains(names, s.Controller) {
			names = append(names, s.Controller)
		}
	}
	return names
}

// show shows what was found.
func (a *app) show(m foundMsg) {
	a.notice = ""
	switch {
	case m.err != nil:
		a.notice = "the search ended: " + m.err.Error()
	case m.found.total == 0:
		a.notice = "no state " + sayQuery(m.found.query)
		if all := a.record.Extent.States; all > a.record.States.Len() {
			a.notice += "; " + a.recorded()
		}
	default:
		m.found.list.chooses, m.found.panes.focus = true, &m.found.list
		m.found.refresh()
		a.found = m.found
		a.push(m.found)
	}
}

// nextFound shows another state of those that were found.
func (a *app) nextFound(direction int) tea.Cmd {
	if a.found == nil {
		a.notice = "nothing was found yet: / finds states"
		return nil
	}
	states := a.found.states
	at, shown := a.top().(*stateView)
	i := -1
	if shown {
		i = slices.Index(states, at.id)
	}
	switch next := i + direction; {
	case i < 0:
		a.visit(states[0])
	case next < 0 || next >= len(states):
		a.notice = "there is no other state " + sayQuery(a.found.query)
	default:
		a.views[len(a.views)-1] = newStateView(a, states[next])
	}
	return nil
}

func (f *found) title() string { return "found " + story.Counted(f.total, "state", "states") }

func (f *found) board() *board { return &f.panes }

func (f *found) refresh() {
	rows := []row{heading(story.Counted(f.total, "state", "states") + " " + sayQuery(f.query)), gap()}
	for _, id := range f.states {
		rows = append(rows, row{line: f.app.sayState(id), cut: true, open: func() tea.Cmd {
			f.app.visit(id)
			return nil
		}})
	}
	if rest := f.total - len(f.states); rest > 0 {
		rows = append(rows, row{line: say(faint, mark+" and "+story.Counted(rest, "more state", "more states")+": look for less"), still: true})
	}
	f.list.set(rows)
}

func (f *found) draw(width, height int) []string {
	f.panes.place(placed{&f.list, 0, 0, width, height})
	return f.panes.drawPane(f.panes.shown[0])
}

func (f *found) press(tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (f *found) keys() []key.Binding { return nil }

func (f *found) hints() string { return "Enter go to the state" }
