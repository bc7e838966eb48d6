package core

import (
	"fmt"
	"path"
	"reflect"
)

// Trace is a run told in full: what each step called, got, changed and enqueued.
// It is plain data that can be stored and shown without the system.
type Trace struct {
	// Initial lists the objects at the start of the run.
	Initial []TraceObject `json:"initial"`
	// Memory is what controllers keep in memory at the start that a fresh instance does not: what their event handlers
	// made of the initial objects.
	Memory []MemoryChange `json:"memory,omitempty"`
	// Events are what the event handlers of controllers that keep memory got at the start, in order.
	Events []TraceEvent `json:"events,omitempty"`
	// Made are objects that are not there before somebody makes them, although the world would take them to be, see
	// [Presuming].
	Made  []Key       `json:"made,omitempty"`
	Steps []TraceStep `json:"steps"`
	// CycleStart is the number of steps after which the rest repeats for ever; -1 if nothing does.
	CycleStart int `json:"cycle_start"`
}

// Repetition says which steps repeat, such as "Steps 2 and 3 repeat forever", and nothing if none do.
func (t Trace) Repetition() string {
	switch from, to := t.CycleStart+1, len(t.Steps); {
	case from == 0:
		return ""
	case from == to:
		return fmt.Sprintf("Step %d repeats forever", to)
	case from+1 == to:
		return fmt.Sprintf("Steps %d and %d repeat forever", from, to)
	default:
		return fmt.Sprintf("Steps %d to %d repeat forever", from, to)
	}
}

// TraceObject is an object as fields.
type TraceObject struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Fields    any    `json:"fields"`
}

// Key returns the key of the object.
func (o TraceObject) Key() Key { return Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name} }

// TraceStep is one step of a trace.
type TraceStep struct {
	// Kind is the name of the kind of the step, see [StepKind.Name]; "probe" for a request that nothing asked
	// for, run at the end to show what is wrong there.
	Kind       string  `json:"kind"`
	Controller string  `json:"controller"`
	Request    Request `json:"request"`
	// Detail says what goes wrong in the step, see [Step.Detail].
	Detail string `json:"detail,omitempty"`
	// Order says in which order concurrent calls were answered, see [Step.Order].
	Order string `json:"order,omitempty"`
	// Crashes tells that the controller crashed in the step where its next call would have come, and started again.
	Crashes bool `json:"crashes,omitempty"`
	// Seed is what the random values follow from that a reconcile draws, see [Randomness], 0 if it draws none.
	Seed uint64 `json:"seed,omitempty,string"`
	// Late tells that the controller acted on a stale view, and Unseen which changes it had not received yet, each in a
	// few words.
	Late   bool     `json:"late,omitempty"`
	Unseen []string `json:"unseen,omitempty"`
	// Calls are the calls that the step made, in order.
	Calls []TraceCall `json:"calls,omitempty"`
	// Changes are the objects that differ after the step, in the order of their keys.
	Changes []TraceChange `json:"changes,omitempty"`
	// Enqueued are the items that are in a work queue after the step and were in none before, in order.
	Enqueued []string `json:"enqueued,omitempty"`
	// Memory are the differences in what controllers keep in memory, as each run of a reconcile or of event handlers
	// left them, in order. Where a controller crashes, they are those between the states before and after the step.
	Memory []MemoryChange `json:"memory,omitempty"`
	// Events are what the event handlers of controllers that keep memory got in the step, in order.
	Events []TraceEvent `json:"events,omitempty"`
	// Logs are the lines that controllers logged in the step, if that was asked for: those of the reconcile first, and
	// then those of event handlers. MissingLogs says which lines are left out, and why, empty if none are.
	Logs        []TraceLog `json:"logs,omitempty"`
	MissingLogs string     `json:"missing_logs,omitempty"`
	// Result says how the step ended, empty if with success and nothing more to do.
	Result string `json:"result,omitempty"`
	// From and To number the states before and after the step.
	From StateID `json:"from"`
	To   StateID `json:"to"`
}

// Unlogged returns the step without what controllers log in it: what happens.
func (s TraceStep) Unlogged() TraceStep {
	s.Logs, s.MissingLogs = nil, ""
	return s
}

// CommonSteps returns how many steps two runs have in common at their beginning, whatever is logged in them.
func CommonSteps(a, b []TraceStep) int {
	n := 0
	for n < min(len(a), len(b)) && reflect.DeepEqual(a[n].Unlogged(), b[n].Unlogged()) {
		n++
	}
	return n
}

// TraceCall is one call with what was answered, both in the user's words.
type TraceCall struct {
	Call     string `json:"call"`
	Response string `json:"response"`
	// Wrote tells that the call changed something.
	Wrote bool `json:"wrote,omitempty"`
	// Handler names the controller whose event handler made the call, empty for the reconcile itself.
	Handler string `json:"handler,omitempty"`
	// Behind says how far the views of the controller were behind the store when it made the call, those that were.
	Behind []TraceLag `json:"behind,omitempty"`
	// Fault names what went wrong with the call without a reason in the objects, see [Fault.Name].
	Fault string `json:"fault,omitempty"`
	// Turn says which of several concurrent calls that read the same it is, in the order of their identities, from 0.
	Turn int `json:"turn,omitempty"`
	// At is where in the code the call was made, nil if that is not known.
	At *Site `json:"at,omitempty"`
	// Creates are the objects that the call created, in order. The world may have chosen their names.
	Creates []Key `json:"creates,omitempty"`
}

// TraceLog is a line that a controller logged.
type TraceLog struct {
	LogLine
	// Handler names the controller whose event handler logged the line, empty for the reconcile itself.
	Handler string `json:"handler,omitempty"`
	// Calls is how many calls the reconcile, or the handler, had made in the step before.
	Calls int `json:"calls,omitempty"`
	// Aside tells that another goroutine logged it than that of the reconcile: at the same time, as far as calls tell.
	Aside bool `json:"aside,omitempty"`
}

// By says in a few words who logged the line, empty if that is the reconcile itself.
func (l TraceLog) By() string {
	switch {
	case l.Handler != "":
		return "by the event handler of " + l.Handler
	case l.Aside:
		return "in another goroutine"
	}
	return ""
}

// Site is the line of code from which a call is made.
type Site struct {
	// Module is the path of the module that the file is in, empty for the main module: the one that was built.
	Module string `json:"module,omitempty"`
	// File is the path of the file within the module, with slashes.
	File string `json:"file"`
	Line int    `json:"line"`
	// Function is the function with the package and the receiver, such as "controller.(*WebReconciler).Reconcile".
	Function string `json:"function"`
}

// String returns the place and the function, such as "internal/controller/web.go:41,
// controller.(*WebReconciler).Reconcile".
func (s Site) String() string {
	return fmt.Sprintf("%s:%d, %s", path.Join(s.Module, s.File), s.Line, s.Function)
}

// TraceLag says how far a view was behind.
type TraceLag struct {
	Kind Kind `json:"kind"`
	// Changes is how many changes of objects of the kind were committed that the view did not show yet: the latest
	// ones, as each view shows the changes of a kind in their order. Of is how many there were since the run started.
	Changes int `json:"changes"`
	Of      int `json:"of"`
}

// TraceChange is the difference that a step makes to one object.
type TraceChange struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Verb is "created", "changed" or "deleted".
	Verb string `json:"verb"`
	// Fields are the differences, in the order of their paths; for a created object they are all its fields.
	Fields []FieldChange `json:"fields,omitempty"`
}

// Key returns the key of the changed object.
func (c TraceChange) Key() Key { return Key{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name} }

// TraceEvent is what the event handlers of a controller got, see [Event]. The versions of the object are those that
// there were after so many changes of objects of the kind, counted from the start of the run: before the event From,
// and after it To.
type TraceEvent struct {
	Controller string `json:"controller"`
	Kind       Kind   `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	// Of is how many changes of the kind there were when the handlers got the event.
	Of      int  `json:"of"`
	Missed  bool `json:"missed,omitempty"`
	Initial bool `json:"initial,omitempty"`
	// Calls is how many calls of the step were made before those of the handlers.
	Calls int `json:"calls,omitempty"`
	// Result says how the handlers ended, such as with what they enqueued, empty if with nothing.
	Result string `json:"result,omitempty"`
}

// Key returns the key of the object.
func (e TraceEvent) Key() Key { return Key{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name} }

// MemoryChange is the difference that a run of a controller makes to a value that a controller keeps in memory.
type MemoryChange struct {
	Controller string `json:"controller"`
	// Field is the way to the value, such as "Reconciler.seen[default/a]", see [Introspective].
	Field string `json:"field"`
	// From and To are the values before and after the step, nil where there is none.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Event is the object whose change the event handlers got that made the difference, empty if they did not.
	Event string `json:"event,omitempty"`
	// Lost tells that the controller crashed in the step: From is what it had then.
	Lost bool `json:"lost,omitempty"`
}

// String says in a few words what is different.
func (c MemoryChange) String() string {
	switch {
	case c.Lost && c.To == nil:
		return fmt.Sprintf("loses %s = %s", c.Field, valueText(c.From))
	case c.Lost:
		return fmt.Sprintf("loses %s = %s, restarts with %s", c.Field, valueText(c.From), valueText(c.To))
	case c.From == nil:
		return fmt.Sprintf("%s = %s", c.Field, valueText(c.To))
	}
	return fmt.Sprintf("%s: %s → %s", c.Field, valueText(c.From), valueText(c.To))
}

func valueText(value *string) string {
	switch {
	case value == nil:
		return "(absent)"
	case *value == "":
		return `""`
	}
	return *value
}

// Position is where a run has led of which somebody chose the steps.
type Position struct {
	// Trace is the run.
	Trace Trace
	// Objects are those of the state, in the order of their keys.
	Objects []TraceObject
	// Work are the items in work queues, and Timers those that wait for a timer, in their order.
	Work, Timers []Item
	// Choices are the steps that can be taken next, in an order that is the same each time.
	Choices []Choice
}

// Choice is a step that can be taken.
type Choice struct {
	// Edge is the step. It leads to no numbered state.
	Edge Edge
	// Changes are the objects that the step changes, in the order of their keys.
	Changes []TraceChange
	// Stopped says why the step cannot be taken to its end, empty if it can.
	Stopped string
}
