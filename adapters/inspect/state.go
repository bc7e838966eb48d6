package inspect

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

// stateView is the view of a state in the graph: what can happen there, what led there, and its objects.
type stateView struct {
	app   *app
	id    core.StateID
	state record.State
	// from is the state that was shown before, and hasFrom tells that there was one: what differs is marked.
	from    core.StateID
	hasFrom bool
	all     bool

	list, objects pane
	panes         board
	// width is for what the rows were made.
	width int
}

func newStateView(a *app, id core.StateID) *stateView {
	v := &stateView{app: a, id: id, state: a.record.States.At(id)}
	if before, ok := a.top().(*stateView); ok && before.id != id {
		v.from, v.hasFrom = before.id, true
	}
	v.list.chooses = true
	v.panes.focus = &v.list
	v.make(0)
	for i, r := range v.list.rows { // the first step, if there is one
		if r.open != nil {
			v.list.cursor = i
			break
		}
	}
	return v
}

func (v *stateView) title() string { return fmt.Sprintf("state %d", v.id) }

func (v *stateView) board() *board { return &v.panes }

func (v *stateView) keys() []key.Binding {
	k := v.app.keys
	return []key.Binding{bind("go where the chosen step leads, or where it comes from", "Enter", "enter"), k.towards, k.unfoldAll, k.tab}
}

func (v *stateView) hints() string {
	return "Enter go there  / find  : number  p run to here  z all fields"
}

func (v *stateView) press(m tea.KeyPressMsg) (bool, tea.Cmd) {
	switch {
	case key.Matches(m, v.app.keys.unfoldAll):
		v.all = !v.all
		v.make(v.width)
	case key.Matches(m, v.app.keys.towards):
		v.showRun()
	case key.Matches(m, v.app.keys.graph):
		v.app.notice = "this is the graph of states: " + v.app.recorded()
	default:
		return false, nil
	}
	return true, nil
}

func (v *stateView) refresh() { v.make(v.width) }

// wideState is the width from which objects are beside what can happen.
const wideState = 110

func (v *stateView) draw(width, height int) []string {
	if width != v.width {
		v.make(width)
	}
	if width < wideState {
		v.panes.place(placed{&v.list, 0, 0, width, height})
		return v.panes.drawPane(v.panes.shown[0])
	}
	left := width * 11 / 20
	right := width - left - 1
	v.panes.place(placed{&v.list, 0, 0, left, height}, placed{&v.objects, left + 1, 0, right, height})
	return beside(v.panes.drawPane(v.panes.shown[0]), v.panes.drawPane(v.panes.shown[1]))
}

// make makes the rows.
func (v *stateView) make(width int) {
	v.width = width
	rows := slices.Concat(v.facts(), v.steps(), v.queues(), v.before())
	if width >= wideState {
		v.objects.set(v.tellObjects())
	} else {
		rows = append(append(rows, gap()), v.tellObjects()...)
	}
	v.list.set(rows)
}

// facts says what there is to know of the state as a whole.
func (v *stateView) facts() []row {
	a, s := v.app, v.state
	title := fmt.Sprintf("State %d of %d", v.id, max(a.record.Extent.States, a.record.States.Len()))
	if words := stateWords(s); words != "" {
		title += ": " + words
	}
	rows := []row{{line: say(strong, title), indent: 2}}
	text := func(look ink, said string) { rows = append(rows, row{line: say(look, said), indent: 2}) }
	if s.Cut {
		text(open, "Cut: not all steps of this state were taken. What else can happen here is not known, so this is no end.")
	}
	if rest := unrecorded(&a.record.States, s); rest > 0 {
		text(open, fmt.Sprintf("%s to states that are not recorded.", story.Counted(rest, "step leads", "steps lead")))
	}
	switch {
	case a.graphFailed != nil:
		text(open, "The graph could not be read: "+a.graphFailed.Error())
		return rows
	case a.graph == nil:
		text(faint, "The graph is being read: what led here, and where it can end, is shown in a moment.")
		return rows
	}
	for _, said := range a.reaches(a.graph.Classes()[a.graph.ClassOf(v.id)]) {
		text(plain, said)
	}
	if n := a.graph.Cycle(v.id); n > 1 {
		text(plain, fmt.Sprintf("It is on a cycle: it is one of %d states that can be reached from each other.", n))
	} else if n == 1 {
		text(plain, "It is on a cycle: a step leads from it to itself.")
	}
	return rows
}

// stateWords says what kind of state it is.
func stateWords(s record.State) string {
	var words []string
	if s.Initial {
		words = append(words, "initial")
	}
	if s.Quiescent {
		words = append(words, "quiescent")
	}
	if len(s.Steps) == 0 && !s.Cut {
		words = append(words, "terminal")
	}
	if s.Cut {
		words = append(words, "cut")
	}
	return strings.Join(words, ", ")
}

// unrecorded counts the steps to states that are not recorded.
func unrecorded(states *record.States, s record.State) int {
	n := 0
	for _, step := range s.Steps {
		if int(step.To) >= states.Len() {
			n++
		}
	}
	return n
}

// trail says the states of a run, of a long one the first and the last ones.
func trail(run []core.StateID) string {
	const most = 10
	var names []string
	for i, id := range run {
		switch {
		case len(run) <= most || i == 0 || i > len(run)-most+1:
			names = append(names, fmt.Sprint(id))
		case i == 1:
			names = append(names, mark)
		}
	}
	return strings.Join(names, " → ")
}

// reaches says in sentences which ends can still be reached, as far as the graph knows.
func (a *app) reaches(c graph.Class) []string {
	begin := "From here"
	if reduction := a.record.Report.Reduction; reduction != "" && reduction != "none" {
		begin = "By the steps that the search took from here"
	}
	var said []string
	ends := sayOutcomes(c)
	switch {
	case ends != "" && !c.Open && !c.Trapped:
		said = append(said, begin+", only "+ends+" can be reached.")
	case ends != "":
		said = append(said, begin+", "+ends+" can be reached.")
	}
	switch {
	case c.Trapped && a.unlisted():
		said = append(said, "States can be reached from which none of the listed outcomes can: another outcome, or none.")
	case c.Trapped && ends == "" && !c.Open:
		said = append(said, begin+", no outcome can be reached.")
	case c.Trapped:
		said = append(said, "States can be reached from which no outcome can.")
	}
	if c.Open {
		said = append(said, "States can be reached whose steps are not all recorded: what follows from them is not known.")
	}
	return said
}

// unlisted reports whether there are outcomes that the record does not list.
func (a *app) unlisted() bool { return a.record.Report.Outcomes > len(a.record.Report.OutcomeList) }

// sayOutcomes says which outcomes a class reaches, empty if it reaches none.
func sayOutcomes(c graph.Class) string {
	var names []string
	for _, o := range c.Outcomes {
		if o >= graph.MostOutcomes {
			names = append(names, fmt.Sprintf("others after %d", graph.MostOutcomes))
		} else {
			names = append(names, fmt.Sprint(o+1))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "outcome " + names[0]
	}
	return "outcomes " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// traceStep returns a recorded step as one of a trace, for the words about it.
func traceStep(s record.Step) core.TraceStep {
	t := core.TraceStep{Kind: s.Kind, Controller: s.Controller, Request: s.Request, Detail: s.Detail, Order: s.Order, Late: s.Late}
	if s.Wrote {
		t.Changes = []core.TraceChange{{}}
	}
	if s.Failed != "" {
		t.Result = "error"
	}
	return t
}

// sayRecordedStep says a step of the graph.
func sayRecordedStep(s record.Step) line {
	t := traceStep(s)
	before, who, after := story.Deed(t)
	said := marksOf(t).and(plain, " "+before).and(strong, who).and(plain, after)
	if s.Late {
		said = said.and(open, " on a stale cache")
	}
	for _, more := range []struct{ before, text string }{{"; ", s.Detail}, {"; order: ", s.Order}, {"; error: ", s.Failed}} {
		if more.text != "" {
			said = said.and(plain, more.before+more.text)
		}
	}
	if s.Requeued {
		said = said.and(faint, "; asks to be run again")
	}
	return said
}

// steps says what can happen in the state.
func (v *stateView) steps() []row {
	a := v.app
	rows := []row{gap(), heading(story.Counted(len(v.state.Steps), "step from here", "steps from here"))}
	for _, s := range v.state.Steps {
		to := fmt.Sprintf(" → state %d", s.To)
		said := say(plain, "  ").join(sayRecordedStep(s))
		switch {
		case int(s.To) >= a.record.States.Len():
			said = said.and(open, to+" (not recorded)")
		case s.To == v.id:
			said = said.and(faint, to+", this one")
		default:
			said = said.and(plain, to)
			if a.graph != nil && a.graph.ClassOf(s.To) != a.graph.ClassOf(v.id) {
				said = said.and(open, "; "+a.leadsOn(a.graph.Classes()[a.graph.ClassOf(s.To)]))
			}
		}
		rows = append(rows, row{line: said, indent: 5, open: func() tea.Cmd {
			a.visit(s.To)
			return nil
		}})
	}
	if len(v.state.Steps) == 0 {
		said := "  none: no step is possible"
		if v.state.Cut {
			said = "  none is recorded, as the search was cut here"
		}
		rows = append(rows, row{line: say(faint, said), still: true})
	}
	switch reduction := a.record.Report.Reduction; reduction {
	case "", "none":
	case "symmetry":
		rows = append(rows, row{line: say(faint, "  States that are equal up to renaming are one, so names may change along a step (--reduction symmetry)."), indent: 2})
	default:
		rows = append(rows, row{line: say(faint, "  Orders that cannot matter were skipped (--reduction "+reduction+"): more steps may be possible than the search took."), indent: 2})
	}
	return rows
}

// leadsOn says in a few words what a class reaches.
func (a *app) leadsOn(c graph.Class) string {
	var to []string
	if ends := sayOutcomes(c); ends != "" {
		to = append(to, "to "+ends)
	}
	if c.Trapped && !a.unlisted() {
		to = append(to, "to states without an outcome")
	} else if c.Trapped {
		to = append(to, "to states without a listed outcome")
	}
	if c.Open {
		to = append(to, "to what is not recorded")
	}
	if len(to) == 1 && !c.Open {
		return "leads on " + to[0] + " only"
	}
	return "leads on " + strings.Join(to, ", ")
}

// queues says what waits in the state.
func (v *stateView) queues() []row {
	rows := []row{gap(), heading("In the queues")}
	items := func(label string, items []record.Item) {
		var names []string
		requests := map[string][]string{}
		for _, i := range items {
			if requests[i.Controller] == nil {
				names = append(names, i.Controller)
			}
			requests[i.Controller] = append(requests[i.Controller], string(i.Request))
		}
		for _, name := range names {
			rows = append(rows, row{line: say(faint, "  "+label).and(strong, name).and(plain, ": "+strings.Join(requests[name], ", ")), indent: 4})
		}
	}
	items("", v.state.Work)
	items("timer: ", v.state.Timers)
	if len(v.state.Work)+len(v.state.Timers) == 0 {
		rows = append(rows, row{line: say(faint, "  nothing"), still: true})
	}
	return rows
}

// mostBefore is how many steps to a state are listed.
const mostBefore = 50

// before says what led to the state.
func (v *stateView) before() []row {
	a := v.app
	if a.graph == nil {
		return nil
	}
	froms := a.graph.Before(v.id)
	rows := []row{gap(), heading(story.Counted(len(froms), "step to here", "steps to here"))}
	switch run := a.graph.Run(v.id); {
	case run == nil:
		rows = append(rows, row{line: say(open, "  No recorded run leads here from an initial state."), indent: 2})
	case len(run) > 1:
		said := fmt.Sprintf("  Shortest run, %s: ", story.Counted(len(run)-1, "step", "steps"))
		rows = append(rows, row{line: say(plain, said).and(strong, trail(run)), indent: 4, open: func() tea.Cmd {
			v.showRun()
			return nil
		}})
	case len(froms) == 0:
		rows = append(rows, row{line: say(faint, "  none: it is an initial state"), still: true})
	}
	last := graph.None
	for _, from := range froms[:min(len(froms), mostBefore)] {
		if from == last { // all of its steps are told
			continue
		}
		last = from
		for _, s := range a.record.States.At(from).Steps {
			if s.To == v.id {
				rows = append(rows, row{line: say(plain, "  ").join(sayRecordedStep(s)).and(plain, fmt.Sprintf(" ← state %d", from)), indent: 5, open: func() tea.Cmd {
					a.visit(from)
					return nil
				}})
			}
		}
	}
	if rest := len(froms) - mostBefore; rest > 0 {
		rows = append(rows, row{line: say(faint, "  "+mark+" and "+story.Counted(rest, "more", "more")), still: true})
	}
	return rows
}

// tellObjects tells the objects of the state, and what is different from the state that was shown before.
func (v *stateView) tellObjects() []row {
	t := &teller{all: v.all}
	objects := v.app.objectsOf(v.state)
	changed := map[core.Key][]string{}
	if v.hasFrom {
		t.rows = append(t.rows, heading(fmt.Sprintf("Different from state %d", v.from)))
		n := len(t.rows)
		for _, c := range changes(v.app.objectsOf(v.app.record.States.At(v.from)), objects) {
			t.change(c)
			for _, f := range c.Fields {
				changed[c.Key()] = append(changed[c.Key()], f.Path)
			}
		}
		if len(t.rows) == n {
			t.rows = append(t.rows, row{line: say(faint, "  no object"), still: true})
		}
		t.rows = append(t.rows, gap())
	}
	t.rows = append(t.rows, heading(story.Counted(len(objects), "object", "objects")))
	if len(objects) == 0 {
		t.rows = append(t.rows, row{line: say(faint, "  none"), still: true})
	}
	var all []story.Object
	for _, o := range objects {
		all = append(all, story.Object{Key: o.Key(), Fields: core.Leaves("", o.Fields)})
	}
	t.objects(all, nil, changed)
	return t.rows
}

// objectsOf returns the objects of a state.
func (a *app) objectsOf(s record.State) []core.TraceObject {
	var objects []core.TraceObject
	for _, n := range s.Objects {
		objects = append(objects, a.record.Objects[n])
	}
	return objects
}

// changes returns the differences between the objects of two states, which are in the order of their keys.
func changes(from, to []core.TraceObject) []core.TraceChange {
	var all []core.TraceChange
	change := func(o core.TraceObject, verb string, fields []core.FieldChange) {
		all = append(all, core.TraceChange{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Verb: verb, Fields: fields})
	}
	for len(from) > 0 || len(to) > 0 {
		var order int
		switch {
		case len(from) == 0:
			order = 1
		case len(to) == 0:
			order = -1
		default:
			order = from[0].Key().Compare(to[0].Key())
		}
		switch {
		case order < 0:
			change(from[0], "deleted", nil)
			from = from[1:]
		case order > 0:
			change(to[0], "created", core.DiffFields(nil, to[0].Fields))
			to = to[1:]
		default:
			if fields := core.DiffFields(from[0].Fields, to[0].Fields); len(fields) > 0 {
				change(to[0], "changed", fields)
			}
			from, to = from[1:], to[1:]
		}
	}
	return all
}
