package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// spot is what a row in the list of a run's steps stands for.
type spot struct {
	// first and last are the positions of steps; of the initial state they are -1, and of a row that stands for nothing
	// -2.
	first, last int
	// folds tells that the row can be unfolded into its steps, or is what they were unfolded from.
	folds bool
}

// run is a run in a story.
type run struct {
	name  string
	trace core.Trace
	// common is how many steps it shares with the other run.
	common int
	// lanes are the controllers of the story, in the order of their first steps.
	lanes []string
	// unfolded are the first steps of what is unfolded, and all tells that everything is.
	unfolded map[int]bool
	all      bool

	// renamed tells that names may be others in the graph than in the run.
	renamed bool
	// states are those of the graph that the run goes through, as far as it has them; nil until they are looked for.
	states []core.StateID

	list  pane
	spots []spot
	// width is for what the rows were made, and narrow tells that steps are a list whatever there is room for.
	width  int
	narrow bool
}

// stateAfter returns the state of the graph after so many steps. The numbers that a trace has may be those of another
// search, so its steps are looked for in the graph: a search with a reduction has not taken all of them.
func (r *run) stateAfter(states *record.States, steps int) (core.StateID, bool) {
	if r.states == nil {
		r.states = r.follow(states)
	}
	if steps >= len(r.states) {
		return 0, false
	}
	return r.states[steps], true
}

// follow returns the states that the run goes through, from an initial one on.
func (r *run) follow(states *record.States) []core.StateID {
	found := []core.StateID{}
	at := core.StateID(0) // where all searches start, if there is one initial state only
	if len(r.trace.Steps) > 0 {
		at = r.trace.Steps[0].From
	}
	if int(at) >= states.Len() || r.renamed || !states.At(at).Initial {
		return found
	}
	found = append(found, at)
	for _, s := range r.trace.Steps {
		steps := states.At(at).Steps
		i := slices.IndexFunc(steps, func(step record.Step) bool {
			return step.Kind == s.Kind && step.Controller == s.Controller && step.Request == s.Request && step.Detail == s.Detail && step.Order == s.Order
		})
		if i < 0 || int(steps[i].To) >= states.Len() {
			return found
		}
		at = steps[i].To
		found = append(found, at)
	}
	return found
}

// commonFold is where it is kept that the common steps are unfolded.
const commonFold = -1

// stepMark is a mark of a step, and what it means.
type stepMark struct{ mark, means string }

// The marks of steps.
const (
	changesMark = "*"
	nothingMark = "."
	staleMark   = "~"
	wrongMark   = "!"
)

func stepMarks() []stepMark {
	return []stepMark{
		{changesMark, "the step changes objects"},
		{nothingMark, "it changes none"},
		{staleMark, "the controller acts on a stale cache"},
		{wrongMark, "something goes wrong: a call fails, a controller crashes, a reconcile returns an error"},
	}
}

// marksOf returns the marks of a step, two characters.
func marksOf(s core.TraceStep) line {
	said := say(plain, " ")
	switch {
	case s.Detail != "" || s.Crashes || s.Kind == "restart" || strings.Contains(s.Result, "error"):
		said = say(bad, wrongMark)
	case s.Late:
		said = say(open, staleMark)
	}
	if len(s.Changes) > 0 {
		return said.and(strong, changesMark)
	}
	return said.and(faint, nothingMark)
}

// deed says what is done in a step, where it is known who does it.
func deed(s core.TraceStep) string {
	before, who, after := story.Deed(s)
	if who == "" {
		return before
	}
	what := strings.TrimPrefix(before, "the ")
	what = strings.TrimSuffix(strings.TrimSuffix(what, " of "), " for ")
	return strings.TrimSpace(what + " " + strings.TrimPrefix(strings.TrimSpace(after), ": "))
}

// outcomeOf says in a few words what a step does to objects.
func outcomeOf(s core.TraceStep) string {
	switch {
	case s.Detail != "":
		return s.Detail
	case len(s.Changes) == 0:
		return ""
	}
	c := s.Changes[0]
	said := strings.TrimSuffix(c.Verb, "d") + "s " + c.Key().String()
	if rest := len(s.Changes) - 1; rest > 0 {
		said += fmt.Sprintf(" and %d more", rest)
	}
	return said
}

// leastLane is how wide the column of a controller is at least. Where there is no room for columns, steps are a list.
const leastLane = 20

// laneWidth returns how wide the columns of controllers are, 0 if there is no room for them.
func (r *run) laneWidth() int {
	if len(r.lanes) == 0 || r.narrow {
		return 0
	}
	width := (r.width - r.list.margin() - 5) / len(r.lanes)
	if width < leastLane {
		return 0
	}
	return min(width, 36)
}

// numberWidth is the room for the number of a step.
const numberWidth = 4

// sayStep says a step in one line.
func (r *run) sayStep(i int) line {
	s := r.trace.Steps[i]
	said := say(faint, fmt.Sprintf("%*d ", numberWidth, i+1))
	if lane := r.laneWidth(); lane > 0 {
		for _, name := range r.lanes {
			if name != s.Controller {
				said = said.join(pad(say(faint, " │"), lane))
				continue
			}
			said = said.join(pad(marksOf(s).and(plain, " "+deed(s)), lane))
		}
		return said
	}
	name := say(strong, s.Controller)
	return said.join(marksOf(s)).and(plain, " ").join(pad(name, r.nameWidth())).and(plain, " "+deed(s)).and(faint, "  "+outcomeOf(s))
}

// nameWidth is how wide the column with the controllers' names is.
func (r *run) nameWidth() int {
	width := 0
	for _, name := range r.lanes {
		width = max(width, widthOf(say(plain, name).cells()))
	}
	return min(width, r.width/4) + 1
}

// pad returns a line of a width.
func pad(l line, width int) line {
	cells := cut(l.cells(), width-1)
	padded := line{}
	for _, c := range cells {
		padded = append(padded, span{c.ink, c.text})
	}
	return padded.and(plain, strings.Repeat(" ", max(0, width-widthOf(cells))))
}

// header names the columns.
func (r *run) header() line {
	said := say(plain, strings.Repeat(" ", r.list.margin()+numberWidth+1))
	if lane := r.laneWidth(); lane > 0 {
		for _, name := range r.lanes {
			said = said.join(pad(say(strong, "   "+name), lane))
		}
		return said
	}
	return said.and(faint, "   ").join(pad(say(faint, "controller"), max(r.nameWidth(), len("controller")+1))).and(faint, "step")
}

// layOut makes the rows for a width.
func (r *run) layOut(width int, narrow bool) {
	if r.width == width && r.narrow == narrow && r.spots != nil {
		return
	}
	r.width, r.narrow = width, narrow
	was := spot{-1, -1, false}
	if r.list.cursor < len(r.spots) {
		was = r.spots[r.list.cursor]
	}
	r.spots = nil
	var rows []row
	add := func(s spot, l line) {
		r.spots, rows = append(r.spots, s), append(rows, row{line: l, cut: true, still: s.first == none})
	}
	add(spot{-1, -1, false}, say(plain, "     Initial state"))
	if r.common > 0 {
		said := story.Counted(r.common, "step is", "steps are") + " the same in both runs"
		add(spot{0, r.common - 1, true}, r.sayFold(r.unfolded[commonFold] || r.all, said))
		if r.unfolded[commonFold] || r.all {
			r.addLegs(add, 0, r.common)
		}
	}
	r.addLegs(add, r.common, len(r.trace.Steps))
	if again := r.trace.Repetition(); again != "" {
		add(spot{none, none, false}, say(open, "     "+again+": the next step is step "+fmt.Sprint(r.trace.CycleStart+1)))
	}
	at := slices.Index(r.spots, was)
	if at < 0 { // it is folded now
		at = slices.IndexFunc(r.spots, func(s spot) bool { return s.first <= was.first && s.last >= was.first })
	}
	r.list.cursor = max(0, at)
	r.list.set(rows)
}

// none is the position of what is no step.
const none = -2

// sayFold says what is folded, or was.
func (r *run) sayFold(unfolded bool, said string) line {
	sign := "+"
	if unfolded {
		sign = "-"
	}
	return say(faint, fmt.Sprintf("%*s ", numberWidth, sign)).and(faint, "   "+said)
}

// addLegs adds the steps between two positions, of which those that change nothing are folded.
func (r *run) addLegs(add func(spot, line), from, to int) {
	for _, leg := range story.Legs(r.trace, from, to) {
		if leg.First == r.trace.CycleStart {
			add(spot{none, none, false}, say(open, "     "+r.trace.Repetition()+":"))
		}
		if leg.First < leg.Last {
			unfolded := r.unfolded[leg.First] || r.all
			add(spot{leg.First, leg.Last, true}, r.sayFold(unfolded, leg.String()+" change nothing"))
			if !unfolded {
				continue
			}
		}
		for i := leg.First; i <= leg.Last; i++ {
			add(spot{i, i, false}, r.sayStep(i))
		}
	}
}

// at returns what is chosen.
func (r *run) at() spot {
	if r.list.cursor < len(r.spots) {
		return r.spots[r.list.cursor]
	}
	return spot{-1, -1, false}
}

// toggle folds or unfolds what is chosen, and reports whether it can be.
func (r *run) toggle() bool {
	s := r.at()
	if !s.folds {
		return false
	}
	fold := s.first
	if s.first == 0 && s.last == r.common-1 && r.list.cursor == 1 {
		fold = commonFold
	}
	if r.all { // all but this one stay unfolded
		r.all = false
		for _, other := range r.spots {
			if other.folds {
				r.unfolded[other.first] = true
			}
		}
		r.unfolded[commonFold] = true
		r.unfolded[fold] = true
	}
	r.unfolded[fold] = !r.unfolded[fold]
	r.layOutAgain()
	return true
}

// unfoldAll folds or unfolds everything.
func (r *run) unfoldAll(all bool) {
	r.all, r.unfolded = all, map[int]bool{}
	r.layOutAgain()
}

// layOutAgain makes the rows for the same width.
func (r *run) layOutAgain() {
	width := r.width
	r.width = -1
	r.layOut(width, r.narrow)
}
