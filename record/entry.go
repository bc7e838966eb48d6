package record

import "github.com/orrery-dev/orrery/core"

// Entry is one entry of a record: a [Header], a [Report], each [Finding], each [Outcome], then each [Object] before the
// first [State] that has it, and the [Extent] at the end. In records of the first version, the extent comes before the
// objects.
type Entry interface{ tag() tag }

// Header says what was checked. It is the first entry of every record.
type Header struct {
	// System is the name under which the system can be built again.
	System string `json:"system"`
	// Params are the parameters it was built with.
	Params map[string]string `json:"params"`
	// Options are the options of the check by the names of their flags, with the
	// values as they are given on a command line.
	Options map[string][]string `json:"options"`
}

// Report is the report of the check. It is the second entry. Its findings and
// outcomes are without their stories, which are entries of their own.
type Report core.Report

// Finding is the story of the finding that has this number in the report.
type Finding struct {
	ID    int        `json:"id"`
	Trace core.Trace `json:"trace"`
	// Other is a second story to compare the first one with, nil if there is none.
	Other *core.Trace `json:"other,omitempty"`
}

// Outcome is one way in which the system can end.
type Outcome core.OutcomeReport

// Extent says how much of the graph of states the record holds.
type Extent struct {
	// States is how many states the search stored. Steps may lead to any of them.
	States int `json:"states"`
	// Recorded is how many of them the record holds: those with the smallest numbers.
	Recorded int `json:"recorded"`
	// Note says in a sentence that not all are recorded, and why, empty if all are.
	Note string `json:"note,omitempty"`
	// Interrupted tells that there would be more of them if recording had not been interrupted.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Object is one version of an object, as far as it matters to outcomes. Objects
// are numbered from 0 in the order of their entries; states refer to them by
// these numbers.
type Object core.TraceObject

// State is one state with the steps that lead from it.
type State struct {
	ID      core.StateID `json:"id"`
	Initial bool         `json:"initial,omitempty"`
	// Cut tells that not all of the state's steps were taken.
	Cut bool `json:"cut,omitempty"`
	// Quiescent tells that no work is left that can be done.
	Quiescent bool `json:"quiescent,omitempty"`
	// Objects are the numbers of the objects in the state, in the order of their keys.
	Objects []int  `json:"objects,omitempty"`
	Work    []Item `json:"work,omitempty"`
	Timers  []Item `json:"timers,omitempty"`
	Steps   []Step `json:"steps,omitempty"`
}

// Item is a request in a controller's work queue, or one that waits for a timer.
type Item struct {
	Controller string       `json:"controller"`
	Request    core.Request `json:"request"`
}

// Step is a step from one state to another.
type Step struct {
	// Kind is the name of a kind of steps, see [core.StepKind.Name].
	Kind string `json:"kind"`
	Item
	// Detail says what goes wrong in the step, see [core.Step].
	Detail string `json:"detail,omitempty"`
	// Order says in which order concurrent calls were answered, see [core.Step].
	Order string       `json:"order,omitempty"`
	To    core.StateID `json:"to"`
	// Late tells that the controller acted on a stale view.
	Late bool `json:"late,omitempty"`
	// Wrote tells that the step committed at least one write.
	Wrote bool `json:"wrote,omitempty"`
	// Failed is the error that the reconcile returned, empty if it returned none.
	Failed string `json:"failed,omitempty"`
	// Requeued tells that the reconcile asked to be run again at once.
	Requeued bool `json:"requeued,omitempty"`
}

// counts is the last entry: how many there are of each of the others.
type counts struct {
	Findings int `json:"findings"`
	Outcomes int `json:"outcomes"`
	Objects  int `json:"objects"`
	States   int `json:"states"`
	Steps    int `json:"steps"`
	// Items and StepNames are what states refer to, in records of the second version.
	Items     int `json:"items,omitempty"`
	StepNames int `json:"step_names,omitempty"`
}

// tag tells the kinds of entries apart. The numbers are part of the format.
type tag byte

const (
	headerTag  tag = 1
	reportTag  tag = 2
	findingTag tag = 3
	outcomeTag tag = 4
	extentTag  tag = 5
	objectTag  tag = 6
	stateTag   tag = 7
	endTag     tag = 8

	// These are in records of the second version only, which has no states as JSON.
	itemTag   tag = 9
	stepTag   tag = 10
	packedTag tag = 11
)

func (Header) tag() tag  { return headerTag }
func (Report) tag() tag  { return reportTag }
func (Finding) tag() tag { return findingTag }
func (Outcome) tag() tag { return outcomeTag }
func (Extent) tag() tag  { return extentTag }
func (Object) tag() tag  { return objectTag }
func (State) tag() tag   { return stateTag }
func (counts) tag() tag  { return endTag }
func (Item) tag() tag    { return itemTag }
func (Step) tag() tag    { return stepTag }
func (packed) tag() tag  { return packedTag }
