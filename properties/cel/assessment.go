package cel

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// assessment is a graph in which predicates were evaluated in every state, each once.
type assessment struct {
	core.Graph
	// truth has for each predicate the states in which it is true.
	truth [][]bool
}

// numbered is a state that knows its number.
type numbered struct {
	core.State
	id core.StateID
}

// State implements [core.Graph].
func (a *assessment) State(id core.StateID) core.State { return numbered{a.Graph.State(id), id} }

// predicate returns one of the predicates, for states of the assessment.
func (a *assessment) predicate(i int) properties.Predicate {
	return func(s core.State) bool { return a.truth[i][s.(numbered).id] }
}

// assess evaluates predicates in all states. Where one is neither true nor false, that is what is wrong.
func assess(ctx context.Context, g core.Graph, predicates []*Predicate) (*assessment, []core.Violation, error) {
	a := &assessment{Graph: g, truth: make([][]bool, len(predicates))}
	failed := map[core.StateID]error{}
	for i := range predicates {
		a.truth[i] = make([]bool, g.States())
	}
	for id := range core.StateID(g.States()) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for i, p := range predicates {
			holds, err := p.Holds(g.State(id))
			if err != nil && failed[id] == nil {
				failed[id] = unclear(err)
			}
			a.truth[i][id] = holds
		}
	}
	if len(failed) == 0 {
		return a, nil, nil
	}
	stem, _ := g.Shortest(func(id core.StateID) bool { return failed[id] != nil })
	v := core.Violation{Stem: stem, State: endOf(g, stem, func(id core.StateID) bool { return failed[id] != nil })}
	v.Summary = fmt.Sprintf("a state can be reached in which it is %v", failed[v.State])
	v.Controllers = controllers(stem)
	return nil, []core.Violation{v}, nil
}

// endOf returns where a run ends, which is an initial state that is accepted if there is no step.
func endOf(g core.Graph, run core.Run, accept func(core.StateID) bool) core.StateID {
	for _, id := range g.Initial() {
		if len(run) == 0 && accept(id) {
			return id
		}
	}
	return run.End(0)
}

// controllers returns who takes the last step of a run.
func controllers(run core.Run) []string {
	if len(run) == 0 {
		return nil
	}
	return []string{run[len(run)-1].Step.Item.Strategy}
}

// assessed is a property of runs that is made of predicates.
func assessed(name, doc string, form func(truth []properties.Predicate) core.Property, predicates ...*Predicate) core.Property {
	return core.Property{
		Name: name,
		Doc:  doc,
		Sees: func(s core.State) {
			for _, p := range predicates {
				// What is read is what counts. That it has no value is said when the property is judged.
				_, _ = p.Holds(s)
			}
		},
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			a, violations, err := assess(ctx, g, predicates)
			if err != nil || len(violations) > 0 {
				return violations, err
			}
			var truth []properties.Predicate
			for i := range predicates {
				truth = append(truth, a.predicate(i))
			}
			violations, err = form(truth).Judge(ctx, a)
			for i := range violations {
				violations[i].Details = append(violations[i].Details, doc)
			}
			return violations, err
		},
	}
}
