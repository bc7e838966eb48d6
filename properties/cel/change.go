package cel

import (
	"context"
	"fmt"
	"slices"

	celgo "github.com/google/cel-go/cel"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Change is an expression about what a step makes of an object, or of a variable of a plain model: over what is there
// before, which it calls old, and after, which it calls new. It is about objects that are there before and after and
// differ: nothing is said of those that a step creates or deletes, nor of one that has another uid afterwards. A step
// that writes more than once makes one change.
//
// Values that only count up, such as metadata.generation, are brought to the smallest ones that keep their order in
// each state, so that they cannot be compared across a step.
type Change struct {
	subject   subject
	shape     *shape
	predicate *Predicate
}

// CompileChange reads an expression about the changes of some objects: those of a kind, which is written as its plural,
// by its name, or as objects("…"), or family("…") or variable("…") of a plain model. A mistake is a [*Mistake] in what
// is written for the objects, or in the expression.
func CompileChange(objects, expression string, known Types) (*Change, error) {
	kinds, err := known.kinds()
	if err != nil {
		return nil, err
	}
	s, err := kinds.subject(objects)
	if err != nil {
		return nil, whole(objects, "%v", err)
	}
	c := &Change{subject: s}
	if c.predicate, err = compile(expression, kinds, c); err != nil {
		return nil, err
	}
	return c, nil
}

// String returns the expression.
func (c *Change) String() string { return c.predicate.text }

// Holds reports whether the expression is true of an object before and after. The error is that of [Predicate.Holds].
func (c *Change) Holds(before, after core.Object) (bool, error) {
	names, err := celgo.NewActivation(map[string]any{"old": c.shape.object(before), "new": c.shape.object(after)})
	if err != nil {
		return false, err
	}
	return c.predicate.evaluate(names)
}

// Always returns the property that the expression is true of every step that changes an object of the kind. A step of
// which it is neither true nor false breaks it, too.
func (c *Change) Always(name string) core.Property {
	return core.Property{
		Name: name,
		Doc:  fmt.Sprintf("True of every step that changes %s: %s", c.subject, inline(c.predicate.text)),
		// If orders are left out, what is seen still changes in all the ways that it can, one after the other. So the
		// pairs of what is there before and after a change are the same.
		Sees:  func(s core.State) { c.subject.in(s) },
		Judge: c.judge,
	}
}

// breach is a change of which the expression is not true.
type breach struct {
	edge          core.Edge
	before, after core.Object
	why           string
}

// judge implements [core.Property.Judge].
func (c *Change) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	found := map[core.StateID]*breach{}
	for id := range core.StateID(g.States()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := c.subject.in(g.State(id))
		if len(before) == 0 {
			continue
		}
		for _, e := range slices.Clone(g.Edges(id)) {
			if b := c.breach(before, g.State(e.To)); b != nil {
				b.edge = e
				found[id] = b
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	accept := func(id core.StateID) bool { return found[id] != nil }
	stem, _ := g.Shortest(accept)
	b := found[stem.EndIn(g, accept)]
	v := core.Violation{
		Summary:     fmt.Sprintf("a step changes %s, and %s", b.before.Key, b.why),
		Stem:        append(slices.Clone(stem), b.edge),
		State:       b.edge.To,
		Controllers: []string{b.edge.Step.Item.Strategy},
	}
	v.Fields = properties.ChangedFields(core.Effect{Changes: []core.Change{{Key: b.before.Key, Before: b.before.Content, After: b.after.Content}}})
	for _, change := range core.DiffFields(b.before.Content.Fields(), b.after.Content.Fields()) {
		v.Details = append(v.Details, change.String())
	}
	return []core.Violation{v}, nil
}

// breach returns the first object that was changed as it should not be, nil if there is none.
func (c *Change) breach(before []core.Object, after core.State) *breach {
	for _, old := range before {
		content := after.Get(old.Key)
		if content == nil || content.Canonical() == old.Content.Canonical() {
			continue
		}
		now := core.Object{Key: old.Key, Content: content}
		if uidOf(now) != uidOf(old) {
			continue
		}
		holds, err := c.Holds(old, now)
		switch {
		case err != nil:
			return &breach{before: old, after: now, why: "it is " + unclear(err).Error()}
		case !holds:
			return &breach{before: old, after: now, why: "this is not true: " + inline(c.predicate.text)}
		}
	}
	return nil
}

// uidOf returns the uid of an object, empty if it has none.
func uidOf(o core.Object) string {
	tree, _ := o.Content.Fields().(map[string]any)
	metadata, _ := tree["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	return uid
}
