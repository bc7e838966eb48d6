package page

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

// head is what pages of states begin with.
type head struct{ Title, System string }

func (s *Server) head(title string) head { return head{title, story.SystemName(&s.record.Report)} }

// stateView is the page of a state.
type stateView struct {
	head
	Number core.StateID
	Marks  []string
	// Ends says where the state can still end, and Class is the number of its class.
	Ends  string
	Class int
	// Objects are those of the state, and Changes what the last step of a shortest run made of them.
	Objects      []object
	Changes      []change
	Work, Timers []string
	Next         []nextStep
	Cut          bool
	Before       []core.StateID
	MoreBefore   int
	Run          []passed
	// Walk tells that steps can be taken from here with the code of controllers. If not, Without says why.
	Walk    bool
	Without string
}

// deed says who does what.
type deed struct {
	Before, Who, After  string
	Stale, Fault, Order string
}

// nextStep is a step that leads from a state.
type nextStep struct {
	deed
	To     core.StateID
	Number int
	// Known tells that the state is recorded to which it leads, and Here that it is the same.
	Known, Here bool
	Result      string
	Changes     []change
	// Ends says where the system can still end, if the step leaves less open.
	Ends string
}

// passed is a state on a run, with the step that leads to the next one.
type passed struct {
	State core.StateID
	deed
}

// manyBefore is how many states before one are listed.
const manyBefore = 30

// state serves a state.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	if !s.loaded(w, r) {
		return
	}
	id, err := s.stateNumber(r.PathValue("id"))
	if err != nil {
		s.wrong(w, http.StatusNotFound, err)
		return
	}
	from := s.record.States.At(id)
	v := stateView{
		head: s.head(fmt.Sprintf("State %d", id)), Number: id, Marks: s.marks(id, from), Class: s.graph.ClassOf(id) + 1, Cut: from.Cut,
		Ends: s.ends(s.graph.ClassOf(id)), Walk: s.simulator != nil && len(s.graph.Run(id)) > 0, Without: s.without,
	}
	for _, number := range from.Objects {
		v.Objects = append(v.Objects, objectOf(s.record.Objects[number]))
	}
	v.Work, v.Timers = items(from.Work), items(from.Timers)
	for i, step := range from.Steps {
		v.Next = append(v.Next, s.next(i, from, step))
	}
	before := slices.Compact(slices.Clone(s.graph.Before(id)))
	v.Before = before[:min(len(before), manyBefore)]
	v.MoreBefore = len(before) - len(v.Before)
	run := s.graph.Run(id)
	for i, at := range run {
		if i+1 == len(run) {
			v.Run = append(v.Run, passed{State: at})
			break
		}
		v.Run = append(v.Run, passed{at, deedOf(s.between(at, run[i+1]))})
	}
	if len(run) > 1 {
		v.Changes = s.differences(s.record.States.At(run[len(run)-2]), from)
	}
	s.show(w, "state", v)
}

// marks say in a word or two what is special about a state.
func (s *Server) marks(id core.StateID, from record.State) []string {
	var marks []string
	if from.Initial {
		marks = append(marks, "initial")
	}
	if from.Quiescent {
		marks = append(marks, "no work left")
	}
	if from.Cut {
		marks = append(marks, "not all steps were taken")
	}
	if n := s.graph.Cycle(id); n > 0 {
		marks = append(marks, "on a cycle, with "+story.Counted(n, "state", "states"))
	}
	return marks
}

// between returns a step that leads from one state to another.
func (s *Server) between(from, to core.StateID) record.Step {
	steps := s.record.States.At(from).Steps
	return steps[slices.IndexFunc(steps, func(step record.Step) bool { return step.To == to })]
}

// next describes a step.
func (s *Server) next(number int, from record.State, step record.Step) nextStep {
	n := nextStep{deed: deedOf(step), To: step.To, Number: number, Here: step.To == from.ID, Result: resultOf(step)}
	if n.Known = int(step.To) < s.graph.Len(); !n.Known {
		return n
	}
	n.Changes = s.differences(from, s.record.States.At(step.To))
	if here, there := s.graph.ClassOf(from.ID), s.graph.ClassOf(step.To); here != there {
		n.Ends = s.ends(there)
	}
	return n
}

func resultOf(step record.Step) string {
	switch {
	case step.Failed != "":
		return story.Clean("it fails: " + step.Failed)
	case step.Requeued:
		return "it asks to be run again"
	}
	return ""
}

// deedOf says what a step does.
func deedOf(step record.Step) deed {
	return deedIn(core.TraceStep{
		Kind: step.Kind, Controller: step.Controller, Request: step.Request, Detail: step.Detail, Order: step.Order, Late: step.Late,
	})
}

func deedIn(step core.TraceStep) deed {
	before, who, after := story.Deed(step)
	return deed{story.Clean(before), story.Clean(who), story.Clean(after), story.Clean(story.Staleness(step)), story.Clean(step.Detail), story.Clean(step.Order)}
}

// differences are those of the objects of two states.
func (s *Server) differences(from, to record.State) []change {
	before, after := s.versions(from), s.versions(to)
	var changes []change
	for _, key := range keysOf(before, after) {
		was, is := before[key], after[key]
		if was == is {
			continue
		}
		c := core.TraceChange{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Verb: "changed"}
		switch {
		case was == 0:
			c.Verb, c.Fields = "created", []core.FieldChange{{To: s.record.Objects[is-1].Fields}}
		case is == 0:
			c.Verb = "deleted"
		default:
			c.Fields = core.DiffFields(s.record.Objects[was-1].Fields, s.record.Objects[is-1].Fields)
		}
		changes = append(changes, changeOf(c))
	}
	return changes
}

// versions returns the numbers of the objects of a state, each plus 1, by key.
func (s *Server) versions(of record.State) map[core.Key]int {
	versions := map[core.Key]int{}
	for _, number := range of.Objects {
		versions[s.record.Objects[number].Key()] = number + 1
	}
	return versions
}

func keysOf(one, other map[core.Key]int) []core.Key {
	var keys []core.Key
	for key := range one {
		keys = append(keys, key)
	}
	for key := range other {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, core.Key.Compare)
	return slices.Compact(keys)
}

// objectOf returns an object with the fields that tell something.
func objectOf(o core.TraceObject) object {
	telling, kept := story.Telling(core.Leaves("", o.Fields), nil)
	return object{Name: story.Clean(o.Key().String()), Fields: values(telling), Kept: kept}
}

func items(of []record.Item) []string {
	var names []string
	for _, item := range of {
		names = append(names, itemName(item.Controller, item.Request))
	}
	return names
}

func itemName(controller string, request core.Request) string {
	return story.Clean(controller + " reconciles " + string(request))
}

// ends says where the states of a class can still end.
func (s *Server) ends(number int) string {
	class := s.graph.Classes()[number]
	var outcomes []string
	for _, outcome := range class.Outcomes {
		if outcome == graph.MostOutcomes {
			outcomes = append(outcomes, "others")
			break
		}
		outcomes = append(outcomes, strconv.Itoa(outcome+1))
	}
	var parts []string
	switch len(outcomes) {
	case 0:
	case 1:
		parts = append(parts, "outcome "+outcomes[0])
	default:
		last := len(outcomes) - 1
		parts = append(parts, "outcomes "+strings.Join(outcomes[:last], ", ")+" and "+outcomes[last])
	}
	if class.Trapped {
		parts = append(parts, "no outcome at all")
	}
	if class.Open {
		parts = append(parts, "what was not searched or recorded")
	}
	return strings.Join(parts, ", or ")
}

// searchView is the page of the graph, and of what was found in it.
type searchView struct {
	head
	Query       graph.Query
	Class       string
	Asked       bool
	Found       []foundState
	Total, Last int
	States      int
	Note        string
	Initial     []core.StateID
	Classes     []classView
	More        int
	Picture     *picture
	// Outcomes tells that the report compares outcomes.
	Outcomes bool
	Walk     bool
	Without  string
}

// foundState is one of the states that were looked for.
type foundState struct {
	State core.StateID
	Marks []string
	Ends  string
	Steps int
}

// mostFound is how many states are listed at once.
const mostFound = 100

// states serves the classes of states, and searches.
func (s *Server) states(w http.ResponseWriter, r *http.Request) {
	if !s.loaded(w, r) {
		return
	}
	ask := r.URL.Query()
	if text := strings.TrimSpace(ask.Get("state")); text != "" {
		id, err := s.stateNumber(text)
		if err != nil {
			s.wrong(w, http.StatusNotFound, err)
			return
		}
		http.Redirect(w, r, "/states/"+strconv.Itoa(int(id)), http.StatusSeeOther)
		return
	}
	v := searchView{
		head:   s.head("States"),
		Query:  graph.Query{Object: ask.Get("object"), Field: ask.Get("field"), Controller: ask.Get("controller"), Quiescent: ask.Get("quiescent") != ""},
		Class:  ask.Get("class"),
		States: s.graph.Len(), Last: s.graph.Len() - 1, Note: s.record.Extent.Note, Initial: s.graph.Initial(),
		Walk: s.simulator != nil, Without: s.without,
	}
	if len(v.Initial) > mostFound {
		v.Initial = v.Initial[:mostFound]
	}
	if v.Class != "" {
		number, err := strconv.Atoi(v.Class)
		if err != nil || number < 1 || number > len(s.graph.Classes()) {
			s.wrong(w, http.StatusNotFound, fmt.Errorf("there is no group %q of states: use a number from 1 to %d", v.Class, len(s.graph.Classes())))
			return
		}
		v.Query.Class = number
	}
	if v.Asked = v.Query != (graph.Query{}); v.Asked {
		found, total, err := s.graph.Find(r.Context(), v.Query, mostFound)
		if err != nil {
			return // nobody waits for the answer
		}
		v.Total = total
		for _, id := range found {
			from := s.record.States.At(id)
			v.Found = append(v.Found, foundState{id, s.marks(id, from), s.ends(s.graph.ClassOf(id)), len(from.Steps)})
		}
	}
	v.Classes, v.More = s.classes()
	v.Picture, v.Outcomes = s.picture(), len(s.record.Report.OutcomeList) > 1
	s.show(w, "states", v)
}
