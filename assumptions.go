package orrery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// assumptions says what a verdict takes for granted.
func (v *verdict) assumptions(system *core.System, options Options, unchecked []core.Unchecked) []string {
	given := []string{"Each reconcile is one step: nothing it reads changes while it runs."}
	if options.Granularity == PerCall {
		given = []string{"Each call of a reconcile is one step. An action of a model or of a user is one step, too."}
	}
	switch {
	case len(options.Stale) == 0 && late(system):
		given = append(given, "Caches are fresh once they have received what they had not at the start: from then on, every committed change is delivered immediately.")
	case len(options.Stale) == 0:
		given = append(given, "Caches are fresh: every committed change is delivered immediately.")
	default:
		given = append(given, fmt.Sprintf("Caches may be stale, as these rules allow: %s. %s", strings.Join(options.staleness(), ", "), viewsOf(v.space.Views())))
		if options.Granularity != PerCall {
			given = append(given, "What others write reaches the cache of a reconcile before it begins or after it has ended; what it has written itself may have reached it when it reads that back, or not yet.")
		}
	}
	if options.Crashes == 0 && options.Failures == 0 {
		given = append(given, "No controller crashes, and no call fails.")
	} else {
		where := ""
		if len(options.FaultsIn) > 0 {
			where = ", only in " + strings.Join(options.FaultsIn, ", ")
		}
		given = append(given, fmt.Sprintf("At most %s and %s happen in a run%s.", plural(options.Crashes, "crash", "crashes"), plural(options.Failures, "failed call", "failed calls"), where))
	}
	if options.Orders == 1 {
		given = append(given, "Concurrent calls of a reconcile are answered in one order.")
	}
	if ignored := options.ignoredMemory(system); len(ignored) > 0 {
		given = append(given, fmt.Sprintf("What controllers keep in %s makes no difference to what they do.", strings.Join(ignored, ", ")))
	}
	for _, file := range v.space.Files() {
		given = append(given, fmt.Sprintf("The files that %s do not change.", file))
	}
	if memory := v.space.Memory(); len(memory) > 0 {
		given = append(given, "Event handlers of a controller that keeps memory run between its reconciles, not during them.")
		if slices.ContainsFunc(memory, func(m core.MemoryReport) bool { return m.Background }) {
			given = append(given, "What a controller does in the background is one step up to where it waits, and takes no time. Time passes only when no other step is possible.")
		}
		for _, m := range memory {
			if m.Ticks {
				given = append(given, fmt.Sprintf("Something in %s ticks and shows nothing: it does nothing for the first time after more than two hours.", m.Controller))
			}
		}
	}
	for _, name := range options.Doubles {
		given = append(given, fmt.Sprintf("Two instances of %s are always active.", name))
	}
	if len(system.Scenario.Actions) > 0 {
		given = append(given, "Users take each action of the scenario at most once."+settledFirst(system.Scenario)+promised(system.Scenario))
	}
	if options.Compact {
		given = append(given, fmt.Sprintf("No two states have the same 64-bit hash: with %d states, the probability of a collision is about %.1g.", v.space.States(), v.space.Odds()))
	}
	given = append(given,
		"A step that stays possible is eventually taken (weak fairness of every work item, delivery and timer).",
		v.timing(options, len(system.Scenario.Actions) > 0))
	if drawing := v.space.Drawing(); len(drawing) > 0 {
		given = append(given, fmt.Sprintf("Names, passwords and keys that %s draws at random are never the same by accident, and which of those that one reconcile draws comes first in an order decides nothing.", strings.Join(drawing, " or ")))
	}
	if heeding := v.space.Heeding(); len(heeding) > 0 {
		given = append(given, fmt.Sprintf("Caches list objects to %s in the order of their names or in the opposite one, and in no other: there, the order makes a difference.", strings.Join(heeding, " and ")))
	}
	if forking := v.space.Forking(); len(forking) > 0 {
		given = append(given, fmt.Sprintf("%s between things by chance, such as by the order of a map: all of that was searched that came up in at least 55 runs, each thing several times. Chance is fair: in a state that comes again and again, each of these things is done again and again.", do(forking, "choose")))
	}
	given = append(given, v.assumed...)
	given = append(given, v.comparing()...)
	for _, p := range v.properties {
		if p.Assumption != "" {
			given = append(given, fmt.Sprintf("For %q: %s", p.Name, p.Assumption))
		}
	}
	for _, u := range unchecked {
		given = append(given, fmt.Sprintf("A real API server accepts the values of the fields that were not validated here: %s %s. To validate them, %s.",
			u.Kind, strings.Join(u.Fields, ", "), u.Remedy))
	}
	if store, ok := system.Store.(core.Assuming); ok {
		given = append(given, store.Assumptions()...)
	}
	return slices.Concat(given, system.Assumptions)
}

// promised says which actions users have promised to take.
func promised(scenario core.Scenario) string {
	return aboutActions(scenario, func(a core.Action) bool { return a.Promise != nil }, " They take %s sooner or later, so that who waits for it does not wait forever.")
}

// settledFirst says which actions users take only once the system has settled.
func settledFirst(scenario core.Scenario) string {
	return aboutActions(scenario, func(a core.Action) bool { return a.Settled }, " They wait until controllers have nothing to do but wait for timers before they take %s.")
}

// aboutActions says something about some actions of a scenario, nothing if there are none.
func aboutActions(scenario core.Scenario, accept func(core.Action) bool, format string) string {
	var names []string
	for _, action := range scenario.Actions {
		if accept(action) {
			names = append(names, strconv.Quote(action.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(format, strings.Join(names, ", "))
}

// timing says when timers fire, and what the clock does.
func (v *verdict) timing(options Options, acts bool) string {
	awaiting := v.space.Awaiting()
	if len(awaiting) == 0 {
		return "A timer fires only when no other step is possible but retries that change nothing, and the clock does not advance."
	}
	most, users := plural(options.Deadlines, "time", "times"), ""
	if acts && options.Deadlines > 0 {
		most, users = plural(options.Deadlines+1, "time", "times"), " Users do not act after the last of these times."
	}
	if _, names := v.space.Passing(); len(names) > 0 {
		most += " by " + strings.Join(names, " and by ") + " (first where somebody who waits has set a timer), and as often"
	}
	if v.space.Recurs() {
		users += " What is done after the last of these times is what was done after the one before, with later times, so that more would come to nothing new."
	}
	return fmt.Sprintf("A timer fires only when no other step is possible but retries that change nothing. The clock advances only then, too, at most %s, by more than what %s may wait for, and at once for requests without a timer.%s",
		most, strings.Join(awaiting, " and "), users)
}

// viewsOf says which views may lag behind.
func viewsOf(views []core.ViewReport) string {
	if len(views) == 0 {
		return "No cache can be stale."
	}
	var texts []string
	for i, v := range views {
		if i == 0 || views[i-1].Controller != v.Controller {
			texts = append(texts, fmt.Sprintf("that of %s for %s", v.Controller, v.Kind))
		} else {
			texts[len(texts)-1] += ", " + string(v.Kind)
		}
	}
	return fmt.Sprintf("These caches may be stale: %s.", strings.Join(texts, "; "))
}
