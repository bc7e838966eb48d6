package inspect

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// storyView is the view of a finding or an outcome: its runs step by step.
type storyView struct {
	app     *app
	name    string
	finding core.Finding
	runs    []*run
	// current is the run of which a step is shown.
	current int

	panes  board
	detail pane
	// told is the step that the detail is made for.
	told toldStep
	// zoomed tells that the detail is shown alone, and all that nothing is folded.
	zoomed, all bool
}

// toldStep is a step of a run, and how it is told.
type toldStep struct {
	run  *run
	spot spot
	all  bool
}

func newStoryView(a *app, name string, f core.Finding) *storyView {
	v := &storyView{app: a, name: name, finding: f}
	traces, names := []core.Trace{f.Trace}, []string{"The run"}
	common := 0
	if f.Other != nil {
		traces, names = append(traces, *f.Other), []string{"First run", "Second run"}
		common = story.Common(f.Trace, *f.Other)
	}
	var lanes []string
	for _, t := range traces {
		for _, s := range t.Steps {
			if !slices.Contains(lanes, s.Controller) {
				lanes = append(lanes, s.Controller)
			}
		}
	}
	for i, t := range traces {
		r := &run{name: names[i], trace: t, common: common, lanes: lanes, unfolded: map[int]bool{}, renamed: a.record.Report.Reduction == "symmetry"}
		r.list.chooses = true
		v.runs = append(v.runs, r)
	}
	v.panes.focus = &v.runs[0].list
	return v
}

func (v *storyView) title() string { return v.name }

func (v *storyView) board() *board { return &v.panes }

func (v *storyView) refresh() {}

func (v *storyView) keys() []key.Binding {
	k := v.app.keys
	return []key.Binding{k.zoom, k.fold, k.unfoldAll, k.next, k.former, k.detailUp, k.detailDown, k.switchRun, k.after}
}

func (v *storyView) hints() string {
	switch {
	case v.zoomed:
		return "← → step  z all  s state"
	case len(v.runs) > 1:
		return "Tab run  Enter zoom  z unfold  J K scroll  s state"
	}
	return "Enter zoom  z unfold  J K scroll  s state"
}

// run returns the run of which a step is shown.
func (v *storyView) run() *run { return v.runs[v.current] }

func (v *storyView) press(m tea.KeyPressMsg) (bool, tea.Cmd) {
	k := v.app.keys
	switch {
	case key.Matches(m, k.enter):
		if v.zoomed {
			v.zoomed = false
		} else if v.panes.focus == &v.detail || !v.run().toggle() {
			v.zoomed = true
		}
	case key.Matches(m, k.back) && v.zoomed:
		v.zoomed = false
	case key.Matches(m, k.unfoldAll):
		v.all = !v.all
		for _, r := range v.runs {
			r.unfoldAll(v.all)
		}
	case key.Matches(m, k.next):
		v.run().list.move(1)
	case key.Matches(m, k.former):
		v.run().list.move(-1)
	case key.Matches(m, k.detailUp):
		v.detail.scroll(-1)
	case key.Matches(m, k.detailDown):
		v.detail.scroll(1)
	case key.Matches(m, k.tab):
		v.tab()
	case key.Matches(m, k.after):
		v.goToState()
	default:
		return false, nil
	}
	return true, nil
}

// tab goes to the other run, or to the other pane if there is one run only.
func (v *storyView) tab() {
	if len(v.runs) == 1 {
		v.panes.next()
		return
	}
	v.current = (v.current + 1) % len(v.runs)
	v.panes.focus = &v.run().list
}

// goToState shows the state after the chosen step.
func (v *storyView) goToState() {
	r := v.run()
	steps := r.at().last + 1
	if steps > 0 && r.trace.Steps[steps-1].Kind == "probe" { // which nobody takes
		steps--
	}
	id, known := r.stateAfter(&v.app.record.States, steps)
	switch {
	case known:
		v.app.visit(id)
	case v.app.record.States.Len() == 0:
		v.app.visit(0) // which says why there is none
	case v.app.record.Report.Reduction == "none":
		v.app.notice = "the state after this step is not recorded: " + v.app.recorded()
	default:
		v.app.notice = "the search did not take this step from there (--reduction " + v.app.record.Report.Reduction + "), so the graph does not have it; s at an earlier step, or / to find states"
	}
}

// The widths from which there is room for two columns.
const (
	wideStory = 110
	wideRuns  = 120
)

func (v *storyView) draw(width, height int) []string {
	for i, r := range v.runs { // the mouse may have chosen the other one
		if v.panes.focus == &r.list {
			v.current = i
		}
	}
	head := v.head(width)
	if v.zoomed {
		v.tell()
		v.panes.place(placed{&v.detail, 0, 1, width, height - 1})
		v.panes.focus = &v.detail
		return v.drawDetail(v.panes.shown[0])
	}
	if v.panes.focus == &v.detail && len(v.runs) > 1 || v.panes.focus == nil {
		v.panes.focus = &v.run().list
	}
	if height-len(head) < 12 { // no room for what was found
		head = nil
	}
	lines, y := head, len(head)
	if len(v.runs) == 1 && width >= wideStory {
		return append(lines, v.drawColumns(y, width, height-y)...)
	}
	return append(lines, v.drawStacked(y, width, height-y)...)
}

// head says what was found, in two lines at most.
func (v *storyView) head(width int) []string {
	said := say(strong, v.finding.Summary).cells()
	lines := wrap(said, width, 0)
	shown := []string{paint(lines[0], width, false)}
	if len(lines) == 2 {
		shown = append(shown, paint(lines[1], width, false))
	} else if len(lines) > 2 {
		shown = append(shown, paint(append(lines[1][:fitting(lines[1], width-1)], cell{mark, 1, faint}), width, false))
	}
	return shown
}

// drawColumns shows the steps, and beside them what the chosen one does.
func (v *storyView) drawColumns(y, width, height int) []string {
	r := v.run()
	left := min(width*9/20, max(60, 5+2+len(r.lanes)*36))
	right := width - left - 1
	r.layOut(left, false)
	v.tell()
	v.panes.place(placed{&r.list, 0, y + 1, left, height - 1}, placed{&v.detail, left + 1, y + 1, right, height - 1})
	list := append([]string{paint(r.header().cells(), left, false)}, v.panes.drawPane(v.panes.shown[0])...)
	return beside(list, v.drawDetail(v.panes.shown[1]))
}

// drawStacked shows the steps, those of two runs beside each other where there is room, and below them what the chosen
// one does.
func (v *storyView) drawStacked(y, width, height int) []string {
	upper := v.listHeight(height)
	lower := height - upper - 1
	var lines []string
	if len(v.runs) > 1 && width >= wideRuns {
		left := (width - 1) / 2
		sizes := []placed{{&v.runs[0].list, 0, y + 2, left, upper - 2}, {&v.runs[1].list, left + 1, y + 2, width - left - 1, upper - 2}}
		for i, p := range sizes {
			v.runs[i].layOut(p.width, false)
		}
		v.tell()
		v.panes.place(sizes[0], sizes[1], placed{&v.detail, 0, y + upper + 1, width, lower})
		lines = beside(v.drawRun(0, sizes[0]), v.drawRun(1, sizes[1]))
	} else {
		r := v.run()
		titled := 1
		if len(v.runs) > 1 {
			titled = 2
		}
		at := placed{&r.list, 0, y + titled, width, upper - titled}
		r.layOut(width, true)
		v.tell()
		v.panes.place(at, placed{&v.detail, 0, y + upper + 1, width, lower})
		lines = v.drawRun(v.current, at)
	}
	return append(lines, v.drawDetail(v.panes.shown[len(v.panes.shown)-1])...)
}

// drawDetail shows what the chosen step does, below a line that says which one it is.
func (v *storyView) drawDetail(at placed) []string {
	lines := v.panes.drawPane(at)
	return append([]string{rule(at.width, v.sayStep())}, lines...)
}

// listHeight returns how high the lists of steps are with what is above them: as high as they need to be, but not much
// higher than two fifths.
func (v *storyView) listHeight(height int) int {
	rows := 0
	for _, r := range v.runs {
		rows = max(rows, len(r.spots))
	}
	return max(5, min(rows+3, height*2/5))
}

// drawRun shows the steps of a run below its name, which it has if there are two.
func (v *storyView) drawRun(i int, at placed) []string {
	r := v.runs[i]
	var lines []string
	if len(v.runs) > 1 {
		said := say(strong, r.name)
		switch {
		case i != v.current:
			said = say(faint, r.name+" (Tab goes there)")
		case at.width >= wideRuns/2 && len(v.panes.shown) == 2:
			said = said.and(faint, " (Tab shows the other one)")
		}
		lines = append(lines, rule(at.width, said))
	}
	lines = append(lines, paint(r.header().cells(), at.width, false))
	return append(lines, v.panes.drawPane(at)...)
}

// sayStep says which step is shown.
func (v *storyView) sayStep() line {
	r, at := v.run(), v.run().at()
	said := "Initial state"
	if at.first >= 0 {
		said = fmt.Sprintf("%s of %d", story.Leg{First: at.first, Last: at.last}, len(r.trace.Steps))
	}
	if len(v.runs) > 1 {
		said = r.name + ", " + said
	}
	if more := v.detail.more(); more != "" {
		return say(strong, said).and(faint, "  ("+more+")")
	}
	return say(strong, said)
}

// tell makes what is told of the chosen step, unless it is that already.
func (v *storyView) tell() {
	r := v.run()
	told := toldStep{r, r.at(), v.all}
	if told == v.told {
		return
	}
	v.told = told
	t := &teller{all: v.all}
	if at := told.spot; at.first < 0 {
		v.tellStart(t, r)
	} else {
		v.tellSteps(t, r, at)
	}
	v.detail.top = 0
	v.detail.set(t.rows)
}

// tellStart tells what was found, and how things are at the start.
func (v *storyView) tellStart(t *teller, r *run) {
	if v.finding.Property != "" {
		t.say(plain, "violates:", say(plain, v.finding.Property))
	}
	for _, field := range v.finding.Fields {
		t.say(plain, "field:", say(plain, field))
	}
	for _, d := range v.finding.Details {
		if d == "" {
			continue
		}
		t.rows = append(t.rows, row{line: say(plain, d), indent: 2})
	}
	if len(r.trace.Steps) == 0 {
		t.rows = append(t.rows, row{line: say(plain, "The run has no steps.")})
	}
	for _, m := range story.Entries(r.trace.Memory) {
		t.say(plain, "memory:", say(plain, m.Controller+": "+m.String()))
	}
	v.tellObjects(t, r, nil, "Objects in the initial state")
}

// tellSteps tells of a step, or of several that change nothing or are the same in both runs.
func (v *storyView) tellSteps(t *teller, r *run, at spot) {
	if at.folds {
		t.rows = append(t.rows, row{line: say(faint, "Enter folds or unfolds these steps."), indent: 2})
		for i := at.first; i <= at.last; i++ {
			before, who, after := story.Deed(r.trace.Steps[i])
			said := say(faint, fmt.Sprintf("%*d ", numberWidth, i+1)).join(marksOf(r.trace.Steps[i])).and(plain, " "+before).and(strong, who).and(plain, after)
			t.rows = append(t.rows, row{line: said, indent: 8})
		}
	} else {
		t.step(r.trace.Steps[at.first])
	}
	if id, known := r.stateAfter(&v.app.record.States, at.last+1); known {
		t.rows = append(t.rows, row{line: say(faint, fmt.Sprintf("After it the system is in state %d (s shows that in the graph).", id)), indent: 2})
	}
	v.tellObjects(t, r, r.trace.Steps[at.first:at.last+1], fmt.Sprintf("Objects after step %d", at.last+1))
}

// tellObjects tells the objects after some steps, those of the story. What these steps change comes first, and is
// marked.
func (v *storyView) tellObjects(t *teller, r *run, steps []core.TraceStep, title string) {
	until := r.at().last + 1
	about := r.trace.Initial
	if !t.all {
		about = story.About(v.finding, r.trace)
	}
	changed := map[core.Key][]string{}
	for _, s := range steps {
		for _, c := range s.Changes {
			paths := changed[c.Key()]
			if c.Verb == "created" {
				paths = append(paths, "")
			}
			for _, f := range c.Fields {
				paths = append(paths, f.Path)
			}
			changed[c.Key()] = paths
		}
	}
	objects := story.After(about, r.trace.Steps[:max(0, until)])
	slices.SortStableFunc(objects, func(a, b story.Object) int {
		_, first := changed[a.Key]
		_, second := changed[b.Key]
		switch {
		case first == second:
			return 0
		case first:
			return -1
		}
		return 1
	})
	if len(t.rows) > 0 {
		t.rows = append(t.rows, gap())
	}
	t.rows = append(t.rows, heading(title))
	if len(objects) == 0 {
		t.rows = append(t.rows, row{line: say(faint, "  no objects")})
	}
	t.objects(objects, story.Changed(v.finding), changed)
	if rest := len(r.trace.Initial) - len(about); rest > 0 {
		t.rows = append(t.rows, row{line: say(faint, fmt.Sprintf("%s and %s that no step reads or changes (z shows all)", mark, story.Counted(rest, "other object", "other objects"))), indent: 2})
	}
}
