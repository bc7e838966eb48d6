package graph

import (
	"context"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// Query says which states are looked for: those that are like all that is set. Texts may be parts of what they stand
// for, in any case of letters.
type Query struct {
	// Object is in the name of an object of the state, as in "Pod default/web". Field is in the path of one of its
	// fields or, after "=", in the value: "status.phase=Running". Without Object it is that of any object.
	Object, Field string
	// Controller is in the name of a controller that can take a step.
	Controller string
	// Class is the number of the class of the state plus 1, 0 for any.
	Class int
	// Quiescent wants states in which no work is left.
	Quiescent bool
}

// Find returns the first states that are like a query, so many at most, and how many there are in all. The error is
// that of the context.
func (g *Graph) Find(ctx context.Context, q Query, most int) (found []core.StateID, total int, err error) {
	objects := make([]bool, len(g.record.Objects))
	for i, o := range g.record.Objects {
		objects[i] = q.fits(o)
	}
	steps := make([]bool, len(g.record.States.Steps()))
	for i, s := range g.record.States.Steps() {
		steps[i] = contains(s.Controller, q.Controller)
	}
	err = g.each(ctx, func(id core.StateID, numbers *record.Numbers) {
		if q.Class > 0 && g.ClassOf(id) != q.Class-1 || q.Quiescent && !numbers.Quiescent {
			return
		}
		if (q.Object != "" || q.Field != "") && !anyOf(objects, numbers.Objects, func(n int) int { return n }) {
			return
		}
		if q.Controller != "" && !anyOf(steps, numbers.Steps, func(s core.ListedStep) int { return s.Step }) {
			return
		}
		if total++; len(found) < most {
			found = append(found, id)
		}
	})
	return found, total, err
}

// anyOf reports whether one of a list is marked.
func anyOf[E any](marked []bool, list []E, number func(E) int) bool {
	for _, e := range list {
		if marked[number(e)] {
			return true
		}
	}
	return false
}

// fits reports whether an object is one that is looked for.
func (q Query) fits(o core.TraceObject) bool {
	if !contains(o.Key().String(), q.Object) {
		return false
	}
	if q.Field == "" {
		return true
	}
	path, value, both := strings.Cut(q.Field, "=")
	for _, leaf := range core.Leaves("", o.Fields) {
		if contains(leaf.Path, strings.TrimSpace(path)) && (!both || contains(core.FieldText(leaf.Value), strings.TrimSpace(value))) {
			return true
		}
	}
	return false
}

// contains reports whether a text has another one in it, in any case of letters.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
