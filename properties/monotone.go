package properties

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Monotone holds if no step of a controller takes a field of an object of the kind back: from true to false, to a
// smaller number or quantity, or to a value that comes earlier in the order, where one is given. The statuses of
// conditions have an order by themselves: "True" is above "False" and "Unknown". A field that is absent is at its
// lowest. Values that the order does not name are not judged.
//
// The path is that of a field as findings name it, with one difference: the items of a list are named, not counted,
// where they have names, as in "status.conditions.Ready.status" and "spec.containers.web.image". The empty path is the
// whole value.
//
// It finds readiness that flaps: a status that says done before it is, and takes it back. A field may go back while
// there is something new to do: what users write does not count, nor what is written to an object that is being
// deleted, or whose status.observedGeneration is behind its metadata.generation.
//
// It misses fields that go back because an object is deleted and made again, and what a step takes back that it wrote
// itself. It says nothing of fields that never rise; [Matches] does. An object that one step deletes and makes again,
// under the same uid, counts as changed.
func Monotone(kind core.Kind, path string, order ...any) core.Property {
	name := string(kind)
	if path != "" {
		name += ": " + path
	}
	m := monotone{kind: kind, path: path, order: order}
	p := core.Property{
		Name:  name + " never goes back",
		Kinds: []core.Kind{kind},
		Doc:   fmt.Sprintf("No controller moves the field %q of an object of the kind %s back to a lower value.", path, kind),
		Judge: m.judge,
		Ends:  true,
	}
	if len(order) == 1 {
		p.Mistake = fmt.Errorf("one value, %s, is no order: give all values, from the first to the last", shortly(order[0]))
	}
	return p
}

// monotone is a field with the order of its values.
type monotone struct {
	kind  core.Kind
	path  string
	order []any
}

// relapse is what one controller takes back: the steps that do, by the states they are taken in, and the objects.
type relapse struct {
	controller string
	steps      map[core.StateID]setback
	keys       []core.Key
}

// setback is a step that takes a field back.
type setback struct {
	edge     core.Edge
	key      core.Key
	from, to any
}

// judge tells one violation for each controller that takes the field back: it is the cause.
func (m monotone) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	var relapses []*relapse
	var mistake error
	err := changes(ctx, g, func(e core.Edge, change core.Change) {
		if change.Key.Kind != m.kind || !sameLife(change) {
			return
		}
		before, after := keyed(change.Before.Fields()), keyed(change.After.Fields())
		from, _ := lookup(before, m.path)
		to, _ := lookup(after, m.path)
		back, err := m.back(from, to)
		if err != nil && mistake == nil {
			mistake = err
		}
		if !back || catchingUp(before) || catchingUp(after) {
			return
		}
		i := slices.IndexFunc(relapses, func(r *relapse) bool { return r.controller == e.Step.Item.Strategy })
		if i < 0 {
			i = len(relapses)
			relapses = append(relapses, &relapse{controller: e.Step.Item.Strategy, steps: map[core.StateID]setback{}})
		}
		relapses[i].add(setback{e, change.Key, from, to})
	})
	if err := errors.Join(err, mistake, m.vacuous(g, relapses)); err != nil {
		return nil, err
	}
	var found causes
	for _, r := range relapses {
		stem, reached := g.Shortest(r.has)
		if !reached {
			continue
		}
		s := r.steps[stem.EndIn(g, r.has)]
		f := field{s.key, m.path}
		why := causeOf(r.controller)
		found.tell(why, s.key.String(), core.Violation{
			Summary:     fmt.Sprintf("%s moves %s back from %s to %s", r.controller, f, shortly(s.from), shortly(s.to)),
			Details:     []string{"Nothing new was requested in between. A client that acts on the first value acts too early."},
			Controllers: []string{r.controller},
			Fields:      []string{f.String()},
			Stem:        append(slices.Clip(stem), s.edge),
			State:       s.edge.To,
		})
		for _, key := range r.keys {
			found.known(why, key.String())
		}
	}
	return found.violations(), nil
}

func (r *relapse) add(s setback) {
	if _, known := r.steps[s.edge.From]; !known {
		r.steps[s.edge.From] = s
	}
	if !slices.Contains(r.keys, s.key) {
		r.keys = append(r.keys, s.key)
	}
}

func (r *relapse) has(id core.StateID) bool {
	_, found := r.steps[id]
	return found
}

// vacuous returns an error if no object of the kind ever has the field: then it is likely to be misspelt.
func (m monotone) vacuous(g core.Graph, relapses []*relapse) error {
	if len(relapses) > 0 {
		return nil
	}
	for id := range core.StateID(g.States()) {
		for _, o := range g.State(id).List(m.kind, "") {
			if _, there := lookup(keyed(o.Content.Fields()), m.path); there {
				return nil
			}
		}
	}
	return fmt.Errorf("no object of the kind %s has a field %q in any state: correct the kind or the path", m.kind, m.path)
}

// back reports whether the one value is above the other.
func (m monotone) back(from, to any) (bool, error) {
	if len(m.order) > 0 {
		before, known := m.place(from)
		after, also := m.place(to)
		return known && also && after < before, nil
	}
	if from == nil && to == nil {
		return false, nil
	}
	a, one := height(from)
	b, other := height(to)
	if !one || !other {
		return false, fmt.Errorf("the values %s and %s of %q have no order by themselves: give the values to Monotone, from the first to the last", shortly(from), shortly(to), m.path)
	}
	return b < a, nil
}

// place returns where a value is in the order that was given.
func (m monotone) place(value any) (int, bool) {
	if value == nil {
		return 0, true
	}
	i := slices.IndexFunc(m.order, func(v any) bool { return core.FieldText(v) == core.FieldText(value) })
	return i, i >= 0
}

// height makes a number of a value that has an order by itself.
func height(value any) (float64, bool) {
	switch value {
	case nil, false, "False", "Unknown":
		return 0, true
	case true, "True":
		return 1, true
	}
	if text, ok := value.(string); ok {
		return quantity(text)
	}
	return number(value)
}

// catchingUp reports whether an object is on its way to something new: it is being deleted, or its status is about an
// earlier generation.
func catchingUp(tree any) bool {
	if deleted, _ := lookup(tree, "metadata.deletionTimestamp"); deleted != nil {
		return true
	}
	observed, reported := numberAt(tree, "status.observedGeneration")
	generation, counted := numberAt(tree, "metadata.generation")
	return reported && counted && observed < generation
}

func numberAt(tree any, path string) (float64, bool) {
	value, _ := lookup(tree, path)
	return number(value)
}
