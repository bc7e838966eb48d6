package core

import "fmt"

// StepKind is the kind of a step.
type StepKind uint8

const (
	// Reconcile takes a request from the work queue and runs it to its end.
	Reconcile StepKind = iota
	// Act runs a standing request: a guarded action of a textbook model.
	Act
	// Fire moves a request whose timer is set to the work queue.
	Fire
)

// Step names what happened between two states. Steps of one state have different
// names.
type Step struct {
	Kind StepKind
	Item Item
}

// String says the step in a few words.
func (s Step) String() string {
	switch s.Kind {
	case Fire:
		return fmt.Sprintf("the timer of %s for %s fires", s.Item.Strategy, s.Item.Request)
	case Act:
		return fmt.Sprintf("%s: %s", s.Item.Strategy, s.Item.Request)
	}
	return fmt.Sprintf("%s reconciles %s", s.Item.Strategy, s.Item.Request)
}
