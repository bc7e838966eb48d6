package inspect

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// route is the view of a shortest run to a state: the states along it.
type route struct {
	app    *app
	states []core.StateID
	list   pane
	panes  board
}

// showRun shows the shortest run to the state.
func (v *stateView) showRun() {
	a := v.app
	if a.graph == nil {
		a.notice = "the graph is being read: try again in a moment"
		return
	}
	run := a.graph.Run(v.id)
	if len(run) == 0 {
		a.notice = "no recorded run leads to this state from an initial state"
		return
	}
	r := &route{app: a, states: run}
	r.list.chooses, r.panes.focus = true, &r.list
	r.refresh()
	r.list.end(true)
	a.push(r)
}

func (r *route) title() string { return fmt.Sprintf("run to state %d", r.states[len(r.states)-1]) }

func (r *route) board() *board { return &r.panes }

func (r *route) keys() []key.Binding { return nil }

func (r *route) hints() string { return "Enter go to the state" }

func (r *route) press(tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (r *route) refresh() {
	rows := []row{heading("A shortest run, " + story.Counted(len(r.states)-1, "step", "steps")), gap()}
	for i, id := range r.states {
		if i > 0 {
			steps := r.app.record.States.At(r.states[i-1]).Steps
			at := slices.IndexFunc(steps, func(s record.Step) bool { return s.To == id })
			rows = append(rows, row{line: say(plain, "    ").join(sayRecordedStep(steps[at])), indent: 7, still: true})
		}
		rows = append(rows, row{line: r.app.sayState(id), cut: true, open: func() tea.Cmd {
			r.app.visit(id)
			return nil
		}})
	}
	r.list.set(rows)
}

func (r *route) draw(width, height int) []string {
	r.panes.place(placed{&r.list, 0, 0, width, height})
	return r.panes.drawPane(r.panes.shown[0])
}

// sayState says a state in one line.
func (a *app) sayState(id core.StateID) line {
	s := a.record.States.At(id)
	said := say(strong, fmt.Sprintf("state %d", id))
	if words := stateWords(s); words != "" {
		said = said.and(plain, " ("+words+")")
	}
	said = said.and(faint, fmt.Sprintf("  %s from here", story.Counted(len(s.Steps), "step", "steps")))
	if a.graph != nil {
		said = said.and(faint, "; "+a.leadsOn(a.graph.Classes()[a.graph.ClassOf(id)]))
	}
	return said
}
