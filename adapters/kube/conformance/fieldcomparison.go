package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
	"github.com/orrery-dev/orrery/core"
)

// FieldTally counts what came of the requests about a base.
type FieldTally struct {
	// Paths are the fields that were changed, Mutations the values they were set to.
	Paths, Mutations int
	// Requests are the creates and updates that were compared; Refused are those that the
	// real server refused.
	Requests, Refused int
	// Differences counts those that are not accepted, by class.
	Differences map[Class]int
	// Accepted counts those that are, by the name of the acceptance.
	Accepted map[string]int
	// Kinds are those of the bases.
	Kinds []string
}

func newFieldTally(kind string) FieldTally {
	return FieldTally{Differences: map[Class]int{}, Accepted: map[string]int{}, Kinds: []string{kind}}
}

// Add adds another tally.
func (t *FieldTally) Add(other *FieldTally) {
	t.Paths += other.Paths
	t.Mutations += other.Mutations
	t.Requests += other.Requests
	t.Refused += other.Refused
	t.Kinds = append(t.Kinds, other.Kinds...)
	if t.Differences == nil {
		t.Differences, t.Accepted = map[Class]int{}, map[string]int{}
	}
	for class, n := range other.Differences {
		t.Differences[class] += n
	}
	for name, n := range other.Accepted {
		t.Accepted[name] += n
	}
}

// MeasureFields compares the fields of the [FieldBases] of the kinds that are wanted. It tells
// each difference that is not accepted, and the tally of each base.
func (l *Laboratory) MeasureFields(ctx context.Context, wanted func(kind string) bool, tell func(FieldDifference), told func(kind string, tally *FieldTally)) (*FieldTally, error) {
	bases, _, err := FieldBases()
	if err != nil {
		return nil, err
	}
	constants, err := Constants()
	if err != nil {
		return nil, err
	}
	total := &FieldTally{}
	for i, base := range bases {
		if !wanted(base.Subject) {
			continue
		}
		tally, err := l.CompareFields(ctx, bases, i, constants, tell)
		if err != nil {
			return nil, err
		}
		told(base.Subject, tally)
		total.Add(tally)
	}
	return total, nil
}

// FieldSubjects returns the kinds that fields are compared of.
func FieldSubjects() ([]Subject, error) {
	subjects, err := Subjects()
	if err != nil {
		return nil, err
	}
	_, more, err := FieldBases()
	return append(subjects, more...), err
}

// CompareFields sets each field of a base to each of its values, in creates and in updates,
// on the simulated and on the real server. It tells each difference, and counts those that
// are not in [AcceptedFields].
func (l *Laboratory) CompareFields(ctx context.Context, bases []FieldBase, which int, constants mutation.Constants, tell func(FieldDifference)) (*FieldTally, error) {
	c := &fieldComparison{which: which, base: bases[which], tell: tell, tally: newFieldTally(bases[which].Subject)}
	suffix := l.Real.Suffix()
	var err error
	if c.ours, c.world, err = l.Simulated.Begin(ctx, suffix); err != nil {
		return nil, err
	}
	if c.real, err = l.Real.Begin(ctx); err != nil {
		return nil, err
	}
	c.laboratory, c.empty = l, maps.Clone(c.world.objects)
	subject := c.real.subject(c.base.Subject)
	if subject.Namespaced {
		c.namespace = namespaces[0]
	}
	c.kind = subject.Kind().Kind
	parts, err := subject.mutations(c.real.scheme, constants)
	if err != nil {
		return nil, err
	}
	for _, found := range parts {
		c.tally.Paths += found.Paths
		c.tally.Mutations += len(found.All)
		for _, m := range found.All {
			if err := c.try(ctx, found.part, m); err != nil {
				return nil, fmt.Errorf("%s, %s = %v: %w", c.kind, m.Path(), m.Value, err)
			}
		}
	}
	c.remove(ctx, c.current)
	return &c.tally, nil
}

// fieldComparison compares the changes of one base.
type fieldComparison struct {
	laboratory *Laboratory
	which      int
	base       FieldBase
	kind       string
	namespace  string
	real, ours *Side
	world      *World
	// empty is what is in the simulated world before the first request.
	empty map[core.Key]core.Content
	tell  func(FieldDifference)
	tally FieldTally
	made  int
	// current is the name of an object that is the base, empty if there is none.
	current string
}

// try compares what comes of a change.
func (c *fieldComparison) try(ctx context.Context, part mutation.Part, m mutation.Mutation) error {
	if part == mutation.Spec {
		var object tree
		mustDecode(c.base.Object, &object)
		name := c.name("m")
		create := Action{Verb: Create, Subject: c.base.Subject, Namespace: c.namespace, Name: name, Object: c.text(m.Apply(object))}
		c.both(ctx, m, "create", create, create)
		c.remove(ctx, name)
	}
	c.forget(c.current)
	if m.Guess == mutation.Mistyped && part == mutation.Spec {
		return nil // What cannot be read is never compared with what is there.
	}
	if c.current == "" {
		c.current = c.name("b")
		created := Action{Verb: Create, Subject: c.base.Subject, Namespace: c.namespace, Name: c.current, Object: c.base.Object}
		real, ours := c.real.Do(ctx, created), c.ours.Do(ctx, created)
		if real.Object == nil || ours.Object == nil {
			return fmt.Errorf("the base cannot be created: %+v, %+v", real, ours)
		}
	}
	update := Action{Verb: Update, Client: 1, Subject: c.base.Subject, Namespace: c.namespace, Name: c.current}
	verb := "update"
	if part == mutation.Status {
		verb, update.Subresource = "update status", string(part)
	}
	if c.compareUpdate(ctx, m, verb, update) {
		c.remove(ctx, c.current)
		c.current = ""
	}
	c.forget(c.current)
	return nil
}

// name returns a new name.
func (c *fieldComparison) name(prefix string) string {
	c.made++
	return fmt.Sprintf("%s%d-run", prefix, c.made)
}

// text writes an object as JSON.
func (c *fieldComparison) text(object tree) json.RawMessage {
	text, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("conformance: an object cannot be written as JSON: %v", err))
	}
	return text
}

// compareUpdate makes the change to what each server has, and reports whether one of them did it.
func (c *fieldComparison) compareUpdate(ctx context.Context, m mutation.Mutation, verb string, update Action) bool {
	changed := func(side *Side) Action {
		named := func(text string) string { return strings.ReplaceAll(text, "-run", side.suffix) }
		known := side.copies[copyKey{0, c.base.Subject, named(c.namespace), named(c.current)}]
		a := update
		a.Object = c.text(m.Apply(known))
		return a
	}
	real, ours := c.both(ctx, m, verb, changed(c.real), changed(c.ours))
	return real.Refused == nil || ours.Refused == nil
}

// both makes a request to each server, and counts and tells how they differ.
func (c *fieldComparison) both(ctx context.Context, m mutation.Mutation, verb string, toReal, toOurs Action) (real, ours Answer) {
	answer := func(side *Side, a Action) (Answer, string) {
		reply := side.Do(ctx, a)
		return newRenaming(side.suffix, c.laboratory.Normalisations).answer(c.kind, reply), reply.Unsupported
	}
	real, _ = answer(c.real, toReal)
	ours, unmodelled := answer(c.ours, toOurs)
	request := FieldRequest{Kind: c.base.Subject, Base: c.which, Verb: verb, Path: m.Path(), Value: m.Value, Guess: m.Guess, Conflict: m.Conflict}
	d := newFieldDifference(request, real, ours, unmodelled)
	c.tally.Requests++
	if real.Refused != nil {
		c.tally.Refused++
	}
	if d.Class == "" {
		return real, ours
	}
	if accepted := acceptedField(d); accepted != "" {
		c.tally.Accepted[accepted]++
		return real, ours
	}
	c.tally.Differences[d.Class]++
	c.tell(d)
	return real, ours
}

// remove deletes an object, if it is there, from the real server. The simulated one is made
// to forget it.
func (c *fieldComparison) remove(ctx context.Context, name string) {
	if name != "" {
		const client = 2
		c.real.Do(ctx, Action{Verb: Delete, Subject: c.base.Subject, Namespace: c.namespace, Name: name, Client: client, Grace: new(int64)})
	}
}

// forget lets the simulated world forget all objects but one, and all that was before.
func (c *fieldComparison) forget(but string) {
	keep := strings.ReplaceAll(but, "-run", c.ours.suffix)
	for key := range c.world.objects {
		if _, there := c.empty[key]; !there && (but == "" || key.Name != keep) {
			delete(c.world.objects, key)
			delete(c.world.past, key)
		}
	}
}
