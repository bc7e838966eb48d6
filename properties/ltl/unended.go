package ltl

import (
	"context"

	"github.com/orrery-dev/orrery/core"
)

// A search lets time pass only so often. What controllers would do after the last time is not in the graph: a run that
// goes round there, or stays, may well come to something else. Such a run breaks no formula; that time no longer passes
// is a reason against a verdict as it is. Of who only renews a time again and again it is known what comes.

// unended finds the states in which what a run comes to is not known.
type unended struct {
	graph core.Graph
	// late are the states from which on no more time passes, by number; nil before they were asked for.
	late []bool
	// renews tells of controllers that they write nothing but times in late states, and do so.
	renews map[string]bool
}

// any reports whether one of the states that a lasso repeats is one.
func (u *unended) any(ctx context.Context, l lasso) (bool, error) {
	repeats := []core.StateID{l.stem.End(l.start)}
	for _, e := range l.cycle {
		repeats = append(repeats, e.From)
	}
	for _, id := range repeats {
		if is, err := u.is(ctx, id); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// is reports whether what a run comes to from a state on is not known.
func (u *unended) is(ctx context.Context, id core.StateID) (bool, error) {
	for _, item := range u.graph.Awaited(id) {
		if renews, err := u.renewing(ctx, item.Strategy); !renews || err != nil {
			return true, err
		}
	}
	return false, nil
}

// renewing reports whether a controller renews times again and again, and writes nothing else once no more time passes.
func (u *unended) renewing(ctx context.Context, strategy string) (bool, error) {
	if renews, known := u.renews[strategy]; known {
		return renews, nil
	}
	if u.late == nil {
		u.late = afterLastTime(u.graph)
	}
	wrote := false
	for id, late := range u.late {
		if !late {
			continue
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		for _, e := range u.graph.Edges(core.StateID(id)) {
			if e.Step.Item.Strategy != strategy || !e.Wrote {
				continue
			}
			if !u.graph.Effect(e).Dated {
				u.renews[strategy] = false
				return false, nil
			}
			wrote = true
		}
	}
	u.renews[strategy] = wrote
	return wrote, nil
}

// afterLastTime returns the states of a graph from which no step leads on that lets time pass.
func afterLastTime(g core.Graph) []bool {
	before := make([][]core.StateID, g.States())
	late := make([]bool, g.States())
	var early []core.StateID
	for id := range core.StateID(g.States()) {
		late[id] = true
		for _, e := range g.Edges(id) {
			before[e.To] = append(before[e.To], id)
			if e.Step.Kind == core.Pass && late[id] {
				late[id] = false
				early = append(early, id)
			}
		}
	}
	for len(early) > 0 {
		id := early[len(early)-1]
		early = early[:len(early)-1]
		for _, from := range before[id] {
			if late[from] {
				late[from] = false
				early = append(early, from)
			}
		}
	}
	return late
}

// leaveOut has no run stay or go round where what it comes to is not known.
func (r *reading) leaveOut(ctx context.Context, u *unended) error {
	for id := range r.traits {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		is, err := u.is(ctx, core.StateID(id))
		if err != nil {
			return err
		}
		if is {
			r.traits[id] = cutTrait
		}
	}
	return nil
}
