package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Deed says who does what in a step, as a sentence in three parts: before the controller's name, the name, and after
// it. One of a step in which nobody acts has no name.
func Deed(step core.TraceStep) (before, who, after string) {
	what := string(step.Request)
	switch step.Kind {
	case "fire":
		return "the timer of ", step.Controller, " for " + what + " fires"
	case "act":
		return "", step.Controller, ": " + what
	case "deliver":
		return "the cache of ", step.Controller, " receives changes to " + what
	case "begin":
		return "", step.Controller, " starts to reconcile " + what
	case "call":
		return "", step.Controller, " continues with " + what
	case "return":
		return "", step.Controller, " finishes with " + what
	case "restart":
		return "", step.Controller, " crashes and restarts"
	case "user":
		return "", step.Controller, " action: " + what
	case "work":
		return "", step.Controller, " runs"
	case "elapse":
		return "time passes for ", step.Controller, ""
	case "pass":
		return cmp.Or(what, "a long time") + " passes", "", ""
	case "expire":
		return "the deadline of ", step.Controller, " for " + what + " passes"
	}
	return "", step.Controller, " reconciles " + what
}

// Staleness says what the stale cache does not show that a controller acts on, empty if it is not stale.
func Staleness(step core.TraceStep) string {
	switch {
	case !step.Late:
		return ""
	case len(step.Unseen) == 0:
		return "on a stale cache"
	}
	return "on a stale cache, which does not yet show that " + strings.Join(step.Unseen, ", and that ")
}

// Behind says how far the cache is behind that a call was answered from, empty if it is not.
func Behind(call core.TraceCall) string {
	for _, lag := range call.Behind {
		switch {
		case lag.Changes == 0 || call.Wrote || !slices.Contains(strings.Fields(call.Call), string(lag.Kind)):
		case lag.Changes == 1:
			return "from a cache that is 1 change behind"
		default:
			return fmt.Sprintf("from a cache that is %d changes behind", lag.Changes)
		}
	}
	return ""
}

// located returns the calls of a step for which it is told where in the code they are made, by their positions: those
// that wrote or failed, or the last one, if there is nothing of the kind, in a step that ends with something to tell.
func located(step core.TraceStep) []int {
	var positions []int
	for i, call := range step.Calls {
		if call.At != nil && (call.Wrote || call.Fault != "") {
			positions = append(positions, i)
		}
	}
	if last := len(step.Calls) - 1; len(positions) == 0 && last >= 0 && step.Calls[last].At != nil && (step.Late || step.Result != "") {
		positions = append(positions, last)
	}
	return positions
}

// At says where in the code a call of a step is made, empty if that is not to be told.
func At(step core.TraceStep, call int) string {
	if !slices.Contains(located(step), call) {
		return ""
	}
	return step.Calls[call].At.String()
}
