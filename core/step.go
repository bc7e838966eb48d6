package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// StepKind is the kind of a step.
type StepKind uint8

const (
	// Reconcile takes a request from the work queue and runs it to its end.
	Reconcile StepKind = iota
	// Act runs a standing request: a guarded action of a textbook model.
	Act
	// Fire moves a request whose timer is set to the work queue.
	Fire
	// Deliver brings what a view waits for to a controller. The request of the step's item is the kind.
	Deliver
	// Begin takes a request from the work queue; it is in flight then.
	Begin
	// Ask answers the next call of a request in flight.
	Ask
	// Return ends a request in flight.
	Return
	// Restart crashes a controller, in the midst of a reconcile or not, and starts it again with empty memory. The item
	// has no request.
	Restart
	// Intervene is an action of the scenario. The request of the step's item is the name of the action.
	Intervene
	// Work is what a process does between activations, in a goroutine that waits for nothing but the answer to its next
	// call.
	Work
	// Elapse lets the clock go on until something happens in a process by itself.
	Elapse
	// Pass lets a long time pass, for all. The item is [Everything].
	Pass
	// Expire lets what a request waits for be over after a long time has passed: the clock of its runs catches up, and
	// its timer fires.
	Expire
)

// stepKinds are the names of the kinds, as traces have them.
func stepKinds() []string {
	return []string{"reconcile", "act", "fire", "deliver", "begin", "call", "return", "restart", "user", "work", "elapse", "pass", "expire"}
}

// Name returns the word for the kind in a trace.
func (k StepKind) Name() string { return stepKinds()[k] }

// StepKindOf returns the kind of a name, and false if there is none.
func StepKindOf(name string) (StepKind, bool) {
	i := slices.Index(stepKinds(), name)
	return StepKind(max(i, 0)), i >= 0
}

// Step names what happened between two states. Steps of one state have different
// names.
type Step struct {
	Kind StepKind
	// Item is who does it, and what it is about.
	Item Item
	// Detail tells steps of the same kind and item apart, in the user's words: which calls fail, where the controller
	// crashes, how old the view is that it starts again with. It is empty where all goes well.
	Detail string
	// Order says, in the user's words too, which of concurrent calls of a run are answered before others of lower
	// identities, that caches list objects in the opposite order, and what code does by chance ([ByChance]). It is
	// empty where calls are answered in the order of their identities, and where there are none, and caches list in the
	// order of keys.
	Order string
}

// Timed reports whether steps of the kind wait for the time: they are taken only where nothing else is to be done.
func (k StepKind) Timed() bool { return k == Fire || k == Elapse || k == Pass || k == Expire }

// ByChance are the words in [Step.Order] before what code does by chance.
const ByChance = "by chance, "

// Chance reports whether it is chance that the step goes as it does: the controller may do something else in the same
// state. Who takes such a step in a state again and again comes to do all that it may.
func (s Step) Chance() bool { return strings.Contains(s.Order, ByChance) }

// Everything is the item of steps that are about no controller: time passes. Its request is how much, such as "an
// hour", or empty for a time that is longer than whatever controllers wait for.
func Everything() Item { return Item{Strategy: "time"} }

// Due reports whether the step is part of what the controllers do by themselves, so that it is taken
// sooner or later: not a timer that may fire late, nor a fault or an action of a user, which may never come.
func (s Step) Due() bool {
	return !s.Kind.Timed() && s.Kind != Intervene && !s.Faulty()
}

// Faulty reports whether something goes wrong in the step: a crash or a call that fails.
func (s Step) Faulty() bool { return s.Kind == Restart || s.Detail != "" }

// String says the step in a few words.
func (s Step) String() string {
	text := s.plainly()
	if s.Order != "" {
		text += ", where " + s.Order
	}
	if s.Detail != "" {
		text += ", and " + s.Detail
	}
	return text
}

func (s Step) plainly() string {
	switch s.Kind {
	case Fire:
		return fmt.Sprintf("the timer of %s for %s fires", s.Item.Strategy, s.Item.Request)
	case Act:
		return fmt.Sprintf("%s: %s", s.Item.Strategy, s.Item.Request)
	case Deliver:
		return fmt.Sprintf("the cache of %s receives changes to %s", s.Item.Strategy, s.Item.Request)
	case Begin:
		return fmt.Sprintf("%s starts to reconcile %s", s.Item.Strategy, s.Item.Request)
	case Ask:
		return fmt.Sprintf("%s continues with %s", s.Item.Strategy, s.Item.Request)
	case Return:
		return fmt.Sprintf("%s finishes with %s", s.Item.Strategy, s.Item.Request)
	case Restart:
		return fmt.Sprintf("%s crashes and restarts", s.Item.Strategy)
	case Work:
		return fmt.Sprintf("%s runs", s.Item.Strategy)
	case Elapse:
		return fmt.Sprintf("time passes for %s", s.Item.Strategy)
	case Pass:
		return cmp.Or(string(s.Item.Request), "a long time") + " passes"
	case Expire:
		return fmt.Sprintf("the deadline of %s for %s passes", s.Item.Strategy, s.Item.Request)
	case Intervene:
		return fmt.Sprintf("a user takes the action %q", s.Item.Request)
	}
	return fmt.Sprintf("%s reconciles %s", s.Item.Strategy, s.Item.Request)
}
