package properties

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
)

// StableConvergence holds if every fair run comes to rest for ever: at some point
// nothing is left to do but to wait for timers, and what they set off changes
// nothing, or the times of a heartbeat. It finds livelocks (controllers undoing each other's work), endless
// retries of an error, and reconciles that ask to be run again for ever.
//
// A state that is at rest although running a known request again would change it is
// what [Fixpoint] looks for.
//
// Comparisons are rules for comparing objects, such as [Without]: a step that changes nothing but what they leave out
// writes nothing. It is still a step: what goes on without waiting for a timer is found all the same.
func StableConvergence(comparisons ...core.Comparison) core.Property {
	return comparing(comparisons, core.Property{
		Name:   "stable convergence",
		Doc:    "Every fair run settles: no livelock, no endless retry, no endless requeue.",
		Judge:  judgeConvergence,
		Ends:   true,
		Merges: core.WithoutLoops,
	})
}

func judgeConvergence(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	if g.Acyclic() {
		return nil, nil
	}
	var restless []unrest
	// Not only from the start: what lies behind a cut state counts, too.
	r := region{graph: g, roots: every(g, func(core.StateID) bool { return true })}
	err := r.components(ctx, func(states scc.Component[core.StateID]) bool {
		for _, part := range r.fairParts(states, false) {
			if u, found := findUnrest(ctx, part); found && u.unpromised() && !u.awaits() {
				restless = append(restless, u)
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return tellUnrest(g, restless), nil
}

// The ways of never coming to rest.
const (
	livelock  = "livelock"
	errorLoop = "error loop"
	busyLoop  = "busy loop"
	idleLoop  = "idle loop"
)

// unrest is a component that a fair run can stay in without coming to rest.
type unrest struct {
	component *component
	kind      string
	// shows is what a cycle through the component has to show.
	shows func(core.Edge) bool
}

// findUnrest tells how a fair run that stays in a component never comes to rest, and false if it does.
func findUnrest(ctx context.Context, c *component) (unrest, bool) {
	wrote := func(e core.Edge) bool { return e.Wrote }
	failed := func(e core.Edge) bool { return e.Failed != "" }
	requeued := func(e core.Edge) bool { return e.Requeued }
	switch {
	case c.any(wrote) && !c.beats(ctx):
		return unrest{c, livelock, wrote}, true
	case c.rests():
		return unrest{}, false
	case c.any(failed):
		return unrest{c, errorLoop, failed}, true
	case c.any(requeued):
		return unrest{c, busyLoop, requeued}, true
	default:
		return unrest{c, idleLoop, func(core.Edge) bool { return true }}, true
	}
}

// unpromised reports whether it goes on although users keep their promises, and keeps only what does. Retries that
// write nothing end where the promise is kept, unless it is one that those who retry may not count on.
func (u *unrest) unpromised() bool {
	promise := u.component.promised()
	if promise == nil || u.kind != errorLoop && u.kind != busyLoop {
		return true
	}
	shows := u.shows
	u.shows = func(e core.Edge) bool { return shows(e) && promise.Excepts != nil && promise.Excepts(e.Step.Item) }
	return u.component.any(u.shows)
}

// awaits reports whether it goes on because no more time passes: each of those who retry would do something else later,
// which was not searched, and is a reason.
func (u *unrest) awaits() bool {
	if u.kind != errorLoop && u.kind != busyLoop {
		return false
	}
	var awaited []core.Item
	for _, id := range u.component.states {
		awaited = append(awaited, u.component.graph.Awaited(id)...)
	}
	return !u.component.any(func(e core.Edge) bool { return u.shows(e) && !slices.Contains(awaited, e.Step.Item) })
}

// promised returns the promise to take a step that is possible in all states of the component, nil if there is none.
func (c *component) promised() *core.Promise {
	for _, e := range slices.Clone(c.graph.Edges(c.states[0])) {
		promise := c.graph.Promised(e.Step)
		possible := func(id core.StateID) bool {
			return slices.ContainsFunc(c.graph.Edges(id), func(other core.Edge) bool { return other.Step == e.Step })
		}
		if promise != nil && !slices.ContainsFunc(c.states, func(id core.StateID) bool { return !possible(id) }) {
			return promise
		}
	}
	return nil
}

// beats reports whether a run that stays in the component writes something, but nothing other than times, and waits for
// a timer before each time that it does so again: a heartbeat.
func (c *component) beats(ctx context.Context) bool {
	wrote := func(e core.Edge) bool { return e.Wrote }
	if !c.any(wrote) || c.any(func(e core.Edge) bool { return e.Wrote && !c.graph.Effect(e).Dated }) {
		return false
	}
	hot := false
	r := region{graph: c.graph, roots: c.states, inside: c.has, accepts: func(e core.Edge) bool { return !e.Step.Kind.Timed() }}
	err := r.components(ctx, func(states scc.Component[core.StateID]) bool {
		hot = states.Cyclic && newComponent(c.graph, states.Nodes, r.accepts).any(wrote)
		return !hot
	})
	return err == nil && !hot
}

// rests reports whether some state of the component has no work left.
func (c *component) rests() bool {
	return slices.ContainsFunc(c.states, func(id core.StateID) bool {
		return !slices.ContainsFunc(c.graph.Edges(id), func(e core.Edge) bool { return e.Step.Due() })
	})
}

// tellUnrest turns components into violations: for each cause the one that is reached soonest, in that order. The cause
// of a livelock are the controllers and the fields that go round; of an error loop the controller and its error,
// without the names of what it works on; of other loops the controllers.
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
	var found causes
	for _, r := range all {
		cycle := r.component.cycle(r.at, r.shows)
		for _, a := range r.accounts(cycle) {
			if found.known(a.why, a.what) {
				continue
			}
			v := a.violation
			v.Stem, v.State, v.Cycle = r.stem, r.at, cycle
			found.tell(a.why, a.what, v)
		}
	}
	return found.violations()
}

// account is what is said about one of the things that go wrong in a component.
type account struct {
	why       cause
	what      string
	violation core.Violation
}

// accounts says what goes wrong in the component, as a cycle through it shows.
func (u unrest) accounts(cycle core.Run) []account {
	switch u.kind {
	case livelock:
		return u.component.livelocks(cycle)
	case errorLoop, busyLoop:
		return retries(cycle, u.shows)
	}
	controllers := controllersOf(cycle, u.shows)
	summary, detail := "%s can continue forever without changing anything", "There is always a message to receive or an action to take."
	fields := leftOut(u.component.graph, cycle)
	if len(fields) > 0 {
		summary = "%s can continue forever, changing only what is ignored when objects are compared"
		detail = fmt.Sprintf("There is always work to do, and it changes %s.", changesText(fields))
	}
	return []account{{
		why:  causeOf(append([]string{idleLoop}, controllers...)...),
		what: cycle[0].Step.Item.String(),
		violation: core.Violation{
			Summary:     fmt.Sprintf(summary, enumerate(controllers)),
			Details:     []string{detail},
			Controllers: controllers,
			Fields:      fields,
		},
	}}
}

// retries tells of the items that take accepted steps in a cycle, which have them run again.
func retries(cycle core.Run, accept func(core.Edge) bool) []account {
	var accounts []account
	told := map[core.Item]bool{}
	for _, e := range cycle {
		item := e.Step.Item
		if told[item] || !accept(e) {
			continue
		}
		told[item] = true
		a := account{
			why:  causeOf(busyLoop, item.Strategy),
			what: item.String(),
			violation: core.Violation{
				Summary:     fmt.Sprintf("%s requeues %s forever without changing anything", item.Strategy, item.Request),
				Details:     []string{"No other step ends this. To wait for some time, return RequeueAfter instead of Requeue."},
				Controllers: []string{item.Strategy},
			},
		}
		if e.Failed != "" {
			a.why = causeOf(errorLoop, item.Strategy, nameless(e.Failed, namesIn(item.Request)...))
			a.violation.Summary = fmt.Sprintf("%s retries %s forever: %s", item.Strategy, item.Request, e.Failed)
			a.violation.Details = []string{"Every retry returns the error, and no other step ends this."}
		}
		accounts = append(accounts, a)
	}
	return accounts
}

// entry returns a shortest run to any of the states, and the one it reaches.
func entry(g core.Graph, states []core.StateID) (core.Run, core.StateID) {
	within := func(id core.StateID) bool {
		_, found := slices.BinarySearch(states, id)
		return found
	}
	run, _ := g.Shortest(within)
	return run, run.EndIn(g, within)
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

// NoDeadlock holds if something can always happen. It is for models that are meant
// to run for ever; a system of controllers is meant to come to rest.
func NoDeadlock() core.Property {
	return core.Property{
		Name:   "no deadlock",
		Doc:    "In every reachable state, some step is possible.",
		Ends:   true,
		Merges: core.InEnds,
		Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
			alive := func(e core.Edge) bool { return e.Step.Due() || e.Step.Kind.Timed() }
			dead := func(id core.StateID) bool { return !g.Cut(id) && !slices.ContainsFunc(g.Edges(id), alive) }
			for _, id := range g.Quiescent() {
				if !dead(id) {
					continue
				}
				stem, _ := g.Shortest(dead)
				return []core.Violation{{
					Summary: "the system reaches a state in which no step is possible",
					Stem:    stem,
					State:   stem.End(id),
				}}, nil
			}
			return nil, nil
		},
	}
}
