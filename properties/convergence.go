package properties

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// StableConvergence holds if every fair run comes to rest for ever: at some point
// nothing is left to do but to wait for timers, and what they set off changes
// nothing. It finds livelocks (controllers undoing each other's work), endless
// retries of an error, and reconciles that ask to be run again for ever.
//
// A state that is at rest although running a known request again would change it is
// what [Fixpoint] looks for.
func StableConvergence() core.Property {
	return core.Property{
		Name:  "stable convergence",
		Doc:   "Every fair run comes to rest, for ever: no livelock, no endless retry, no endless requeue.",
		Judge: judgeConvergence,
		Ends:  true,
	}
}

func judgeConvergence(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	if g.Acyclic() {
		return nil, nil
	}
	var restless []unrest
	// Not only from the start: what lies behind a cut state counts, too.
	r := region{graph: g, roots: every(g, func(core.StateID) bool { return true })}
	err := r.components(ctx, func(states []core.StateID) bool {
		if u, found := findUnrest(newComponentIfCyclic(g, states)); found {
			restless = append(restless, u)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return tellUnrest(g, restless), nil
}

// newComponentIfCyclic returns nil for a single state without a step to itself, which most
// components are.
func newComponentIfCyclic(g core.Graph, states []core.StateID) *component {
	if len(states) == 1 {
		id := states[0]
		if !slices.ContainsFunc(g.Edges(id), func(e core.Edge) bool { return e.To == id }) {
			return nil
		}
	}
	return newComponent(g, states)
}

// unrest is a component that a fair run can stay in without coming to rest.
type unrest struct {
	component *component
	kind      string
	// telling is what a cycle through the component has to show.
	telling func(core.Edge) bool
}

func findUnrest(c *component) (unrest, bool) {
	if c == nil || !c.fair() {
		return unrest{}, false
	}
	wrote := func(e core.Edge) bool { return e.Wrote }
	failed := func(e core.Edge) bool { return e.Failed != "" }
	requeued := func(e core.Edge) bool { return e.Requeued }
	switch {
	case c.any(wrote):
		return unrest{c, "livelock", wrote}, true
	case c.rests():
		return unrest{}, false
	case c.any(failed):
		return unrest{c, "error loop", failed}, true
	case c.any(requeued):
		return unrest{c, "busy loop", requeued}, true
	default:
		return unrest{c, "idle loop", func(core.Edge) bool { return true }}, true
	}
}

// rests tells whether some state of the component has no work left.
func (c *component) rests() bool {
	return slices.ContainsFunc(c.states, func(id core.StateID) bool {
		return !slices.ContainsFunc(c.graph.Edges(id), func(e core.Edge) bool { return e.Step.Due() })
	})
}

// tellUnrest turns components into violations: for each group of controllers that do
// the same the one that is reached soonest, in that order.
func tellUnrest(g core.Graph, restless []unrest) []core.Violation {
	type reached struct {
		unrest
		stem core.Run
		at   core.StateID
	}
	var all []reached
	for _, u := range restless {
		stem, at := entry(g, u.component.states)
		all = append(all, reached{u, stem, at})
	}
	slices.SortStableFunc(all, func(a, b reached) int { return len(a.stem) - len(b.stem) })
	var violations []core.Violation
	told := map[string]bool{}
	for _, r := range all {
		duties := append(r.component.duties(r.at), duty{step: r.telling})
		cycle := r.component.cycle(r.at, duties)
		v := core.Violation{Stem: r.stem, State: r.at, Cycle: cycle, Controllers: controllersOf(cycle, r.telling)}
		v.Fields = fieldsOf(g, cycle)
		v.Summary, v.Details = sayUnrest(r.kind, cycle, v.Controllers, v.Fields)
		if name := r.kind + strings.Join(v.Controllers, ","); !told[name] {
			told[name] = true
			violations = append(violations, v)
		}
	}
	return violations
}

// entry returns a shortest run to any of the states, and the one it reaches.
func entry(g core.Graph, states []core.StateID) (core.Run, core.StateID) {
	within := func(id core.StateID) bool {
		_, found := slices.BinarySearch(states, id)
		return found
	}
	run, _ := g.Shortest(within)
	start := slices.IndexFunc(g.Initial(), within)
	if len(run) > 0 || start < 0 {
		return run, run.End(states[0])
	}
	return run, g.Initial()[start]
}

func sayUnrest(kind string, cycle core.Run, controllers, fields []string) (string, []string) {
	who := enumerate(controllers)
	switch kind {
	case "error loop":
		for _, e := range cycle {
			if e.Failed != "" {
				return fmt.Sprintf("%s retries %s for ever: %s", e.Step.Item.Strategy, e.Step.Item.Request, e.Failed),
					[]string{"The error comes back on every retry, and nothing else can happen that would end it."}
			}
		}
	case "busy loop":
		return fmt.Sprintf("%s asks to be run again for ever, without changing anything", who),
			[]string{"Nothing that could happen ends it. If it is to wait for a time, return RequeueAfter in place of Requeue."}
	case "idle loop":
		return fmt.Sprintf("%s can go on for ever without changing anything", who),
			[]string{"There is always a message to receive or an action to take."}
	}
	what := "objects"
	if len(fields) > 0 {
		what = enumerate(fields)
	}
	if len(controllers) == 1 {
		return fmt.Sprintf("%s never stops changing %s", who, what), nil
	}
	return fmt.Sprintf("%s never stop undoing each other's work on %s", who, what), nil
}

// controllersOf returns who takes the steps that are accepted, or any steps if none is, in the order of
// their first.
func controllersOf(run core.Run, accept func(core.Edge) bool) []string {
	var controllers []string
	for _, e := range run {
		if accept(e) && !slices.Contains(controllers, e.Step.Item.Strategy) {
			controllers = append(controllers, e.Step.Item.Strategy)
		}
	}
	if len(controllers) == 0 && len(run) > 0 {
		return controllersOf(run, func(core.Edge) bool { return true })
	}
	return controllers
}

// fieldsOf returns the fields that the steps of a run change, in order, each once.
func fieldsOf(g core.Graph, run core.Run) []string {
	var fields []string
	for _, e := range run {
		if !e.Wrote {
			continue
		}
		for _, field := range ChangedFields(g.Effect(e)) {
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// ChangedFields names the fields that an effect changes, as violations name them.
func ChangedFields(effect core.Effect) []string {
	var fields []string
	for _, change := range effect.Changes {
		fields = append(fields, changedFields(change)...)
	}
	return fields
}

// changedFields names the fields of a change as "kind namespace/name: path". A
// created or deleted object counts as one field, named by the object alone.
func changedFields(c core.Change) []string {
	if c.Before == nil || c.After == nil {
		return []string{c.Key.String()}
	}
	var fields []string
	for _, path := range core.ChangedPaths(c.Before.Fields(), c.After.Fields()) {
		field := c.Key.String()
		if path != "" {
			field += ": " + path
		}
		fields = append(fields, field)
	}
	return fields
}

// enumerate joins words as in a sentence.
func enumerate(words []string) string {
	switch len(words) {
	case 0:
		return "nobody"
	case 1:
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
