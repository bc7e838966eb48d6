package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// walkView is the page of a run of which the reader chooses the steps.
type walkView struct {
	head
	// State is where the run leaves what is recorded, and Taken the numbers of the choices from there on.
	State   core.StateID
	Taken   string
	Back    string
	CanBack bool
	// Beyond is how many steps were chosen after the recorded ones.
	Beyond       int
	Run          run
	Objects      []object
	Work, Timers []string
	Choices      []choiceView
}

// choiceView is a step that can be taken.
type choiceView struct {
	deed
	Link    string
	Result  string
	Stopped string
	Changes []change
}

// longestWalk is how many steps can be chosen.
const longestWalk = 500

// walk serves a run with the code of controllers: a recorded one to a state, and then steps that the reader has chosen,
// each by its number among those that can be taken.
func (s *Server) walk(w http.ResponseWriter, r *http.Request) {
	if !s.loaded(w, r) {
		return
	}
	if s.simulator == nil {
		s.wrong(w, http.StatusNotFound, errors.New(s.without))
		return
	}
	text := r.URL.Query().Get("state")
	id, err := s.stateNumber(text)
	if text == "" {
		id, err = s.graph.Initial()[0], nil
	}
	if err != nil {
		s.wrong(w, http.StatusNotFound, err)
		return
	}
	taken, err := choicesIn(r.URL.Query().Get("take"))
	if err != nil {
		s.wrong(w, http.StatusBadRequest, err)
		return
	}
	position, err := s.position(r.Context(), id, taken)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		s.wrong(w, http.StatusConflict, err)
		return
	}
	s.show(w, "walk", s.walked(id, taken, position))
}

// choicesIn reads the numbers of choices.
func choicesIn(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var taken []int
	for part := range strings.SplitSeq(text, ".") {
		number, err := strconv.Atoi(part)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("%q is no number of a step", part)
		}
		taken = append(taken, number)
	}
	if len(taken) > longestWalk {
		return nil, fmt.Errorf("a walk has %d steps at most", longestWalk)
	}
	return taken, nil
}

// position takes the steps.
func (s *Server) position(ctx context.Context, id core.StateID, taken []int) (*core.Position, error) {
	states := s.graph.Run(id)
	if len(states) == 0 {
		return nil, fmt.Errorf("no recorded run leads to state %d", id)
	}
	initial := slices.Index(s.graph.Initial(), states[0])
	var steps []core.Step
	for i := range states[1:] {
		steps = append(steps, stepIn(s.between(states[i], states[i+1])))
	}
	position, err := s.simulator.Run(ctx, initial, steps)
	if err != nil {
		return nil, fmt.Errorf("the run to state %d cannot be taken with the code as it is now: %w", id, err)
	}
	for _, number := range taken {
		if number >= len(position.Choices) {
			return nil, fmt.Errorf("there is no step %d after %s: there are %d", number, story.Counted(len(steps), "step", "steps"), len(position.Choices))
		}
		steps = append(steps, position.Choices[number].Edge.Step)
		if position, err = s.simulator.Run(ctx, initial, steps); err != nil {
			return nil, err
		}
	}
	return position, nil
}

// stepIn returns a recorded step. That its kind is known was checked when it was read.
func stepIn(step record.Step) core.Step {
	kind, _ := core.StepKindOf(step.Kind)
	return core.Step{Kind: kind, Item: core.Item{Strategy: step.Controller, Request: step.Request}, Detail: step.Detail, Order: step.Order}
}

// walked describes where a run has led.
func (s *Server) walked(id core.StateID, taken []int, position *core.Position) walkView {
	told := core.Finding{Trace: position.Trace}
	f := finding{Finding: told, Lanes: lanes(told)}
	v := walkView{
		head: s.head("Step by step"), State: id, Taken: numbersText(taken), Beyond: len(taken),
		Run: f.run("", position.Trace, 0, len(position.Trace.Steps), true),
	}
	if v.CanBack = len(taken) > 0; v.CanBack {
		v.Back = numbersText(taken[:len(taken)-1])
	}
	for _, o := range position.Objects {
		v.Objects = append(v.Objects, objectOf(o))
	}
	for _, item := range position.Work {
		v.Work = append(v.Work, itemName(item.Strategy, item.Request))
	}
	for _, item := range position.Timers {
		v.Timers = append(v.Timers, itemName(item.Strategy, item.Request))
	}
	for i, c := range position.Choices {
		step := c.Edge.Step
		shown := choiceView{
			deed: deedIn(core.TraceStep{
				Kind: step.Kind.Name(), Controller: step.Item.Strategy, Request: step.Item.Request, Detail: step.Detail, Order: step.Order, Late: c.Edge.Late,
			}),
			Link: numbersText(append(slices.Clip(taken), i)), Stopped: story.Clean(c.Stopped),
		}
		if c.Edge.Failed != "" {
			shown.Result = story.Clean("it fails: " + c.Edge.Failed)
		}
		for _, changed := range c.Changes {
			shown.Changes = append(shown.Changes, changeOf(changed))
		}
		v.Choices = append(v.Choices, shown)
	}
	return v
}

func numbersText(numbers []int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ".")
}
