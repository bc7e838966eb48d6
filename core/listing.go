package core

// Listed is a state of a graph with the steps from it, as [Graph.List] shows it: in numbers, since states have most of
// what they hold in common. What a number stands for is shown once, with the first state that has it; each list has
// numbers of its own, from 0. It is valid only during the call that it is handed to.
type Listed struct {
	ID                      StateID
	Initial, Cut, Quiescent bool
	// Objects are the versions of the state's objects that matter to outcomes, in the order of their keys. Versions
	// that differ may be the same as far as they matter.
	Objects []int
	// Work and Timers are the items in work queues, and those that wait for a timer, in order.
	Work, Timers []int
	// Steps are the steps from the state, in their fixed order.
	Steps []ListedStep

	// NewObjects, NewItems and NewSteps are what the numbers stand for that no state before had. From and To of a step
	// mean nothing.
	NewObjects []TraceObject
	NewItems   []Item
	NewSteps   []Edge
}

// ListedStep is a step that leads from a state.
type ListedStep struct {
	// Step is the number of the step.
	Step int
	To   StateID
}
