package core

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
