package properties

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// compared is a graph whose objects are compared by rules: what these leave out is neither in outcomes nor in effects,
// and what changes nothing else is no write.
type compared struct {
	core.Graph
	rules []rule
}

// Compared returns a graph whose objects are compared by rules, as a property wants it that has Compares set: what they
// leave out is neither in outcomes nor in effects. The error is that of a rule that makes no sense.
func Compared(g core.Graph, comparisons []core.Comparison) (core.Graph, error) {
	rules, err := rulesOf(comparisons)
	if err != nil || len(rules) == 0 {
		return g, err
	}
	if inner, ok := g.(*compared); ok {
		all := slices.Concat(comparisons, inner.comparisons())
		return Compared(inner.Graph, all)
	}
	return &compared{g, rules}, nil
}

func (c *compared) comparisons() []core.Comparison {
	var all []core.Comparison
	for _, r := range c.rules {
		all = append(all, r.Comparison)
	}
	return all
}

// fields returns the fields of an object that count, and false if it does not count at all.
func (c *compared) fields(key core.Key, tree any) (any, bool) {
	for _, r := range c.rules {
		if !r.about(key) {
			continue
		}
		now := r.follow(tree)
		if now.gone {
			return nil, false
		}
		tree = now.value
	}
	return tree, true
}

// Outcome implements [core.Graph].
func (c *compared) Outcome(id core.StateID) map[core.Key]any {
	outcome := c.Graph.Outcome(id)
	kept := make(map[core.Key]any, len(outcome))
	for key, tree := range outcome {
		if tree, counts := c.fields(key, tree); counts {
			kept[key] = tree
		}
	}
	return kept
}

// Try implements [core.Graph].
func (c *compared) Try(id core.StateID, item core.Item) []core.Effect {
	effects := slices.Clone(c.Graph.Try(id, item))
	for i, effect := range effects {
		effects[i] = c.narrow(effect)
	}
	return effects
}

// Effect implements [core.Graph].
func (c *compared) Effect(e core.Edge) core.Effect { return c.narrow(c.Graph.Effect(e)) }

// narrow returns what counts of an effect. One that changes nothing, as it takes back what it writes, stays a write.
func (c *compared) narrow(effect core.Effect) core.Effect {
	var kept []core.Change
	for _, change := range effect.Changes {
		if change, counts := c.counts(change); counts {
			kept = append(kept, change)
		}
	}
	effect.Wrote = effect.Wrote && (len(kept) > 0 || len(effect.Changes) == 0)
	effect.Changes = kept
	return effect
}

// counts returns a change with the fields that count, and false if none does. What a server keeps of each write does
// not count by itself.
func (c *compared) counts(change core.Change) (core.Change, bool) {
	before, was := c.content(change.Key, change.Before)
	after, is := c.content(change.Key, change.After)
	if !was && !is {
		return core.Change{}, false
	}
	if was && is && change.Before != nil && change.After != nil && reflect.DeepEqual(withoutBookkeeping(before.Fields()), withoutBookkeeping(after.Fields())) {
		return core.Change{}, false
	}
	return core.Change{Key: change.Key, Before: before, After: after}, true
}

// content returns a content with the fields that count, nil for none, and false if it does not count at all.
func (c *compared) content(key core.Key, content core.Content) (core.Content, bool) {
	if content == nil {
		return nil, c.about(key)
	}
	fields, counts := c.fields(key, content.Fields())
	if !counts {
		return nil, false
	}
	return narrowed{content, fields}, true
}

// about reports whether an object counts that is not there.
func (c *compared) about(key core.Key) bool {
	return !slices.ContainsFunc(c.rules, func(r rule) bool { return r.As == core.AsAbsent && len(r.path) == 0 && r.about(key) })
}

// narrowed is a content of which only some fields count.
type narrowed struct {
	core.Content
	fields any
}

// Fields implements [core.Content].
func (n narrowed) Fields() any { return n.fields }

// withoutBookkeeping returns fields without what changes with each write.
func withoutBookkeeping(tree any) any {
	fields, _ := tree.(map[string]any)
	metadata, isMap := fields["metadata"].(map[string]any)
	if !isMap {
		return tree
	}
	fields, metadata = maps.Clone(fields), maps.Clone(metadata)
	for _, name := range []string{"resourceVersion", "generation", "managedFields"} {
		delete(metadata, name)
	}
	fields["metadata"] = metadata
	return fields
}

// wrote reports whether a step commits a write that counts.
func wrote(g core.Graph, e core.Edge) bool {
	c, ok := g.(*compared)
	if !ok || !e.Wrote {
		return e.Wrote
	}
	effect := c.Graph.Effect(e)
	return !effect.Wrote || c.narrow(effect).Wrote
}

// leftOut names the fields that a run changes and that do not count.
func leftOut(g core.Graph, run core.Run) []string {
	c, ok := g.(*compared)
	if !ok {
		return nil
	}
	var names []string
	for _, e := range run {
		for _, name := range ChangedFields(c.Graph.Effect(e)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// countedEdges returns the steps from a state, of which only those wrote that commit a write that counts.
func countedEdges(g core.Graph, id core.StateID) []core.Edge {
	edges := g.Edges(id)
	if _, ok := g.(*compared); !ok {
		return edges
	}
	edges = slices.Clone(edges)
	for i, e := range edges {
		edges[i].Wrote = wrote(g, e)
	}
	return edges
}

// comparing returns a property that follows rules for comparing objects.
func comparing(comparisons []core.Comparison, p core.Property) core.Property {
	p.Compares, p.Comparisons = true, comparisons
	if p.Mistake = ValidateComparisons(comparisons); p.Mistake != nil || len(comparisons) == 0 {
		return p
	}
	judge := p.Judge
	p.Judge = func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
		narrow, err := Compared(g, comparisons)
		if err != nil {
			return nil, err
		}
		return judge(ctx, narrow)
	}
	return p
}

// Unmatched returns the rules that are about nothing: no object in any state has what they name. They are likely to be
// misspelt. The error is that of a rule that makes no sense, or that of the context when it ends.
func Unmatched(ctx context.Context, g core.Graph, comparisons []core.Comparison) ([]core.Comparison, error) {
	var open []rule
	for _, c := range comparisons {
		if slices.ContainsFunc(open, func(o rule) bool { return reflect.DeepEqual(o.Comparison, c) }) {
			continue
		}
		r, err := newRule(c)
		if err != nil {
			return nil, err
		}
		open = append(open, r)
	}
	seen := map[core.Object]bool{}
	for id := range core.StateID(g.States()) {
		if len(open) == 0 {
			return nil, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, o := range objectsOf(g, id) {
			if known := reflect.TypeOf(o.Content).Comparable(); known && seen[o] {
				continue
			} else if known {
				seen[o] = true
			}
			open = slices.DeleteFunc(open, func(r rule) bool { return r.about(o.Key) && r.follow(o.Content.Fields()).found })
		}
	}
	unmatched := make([]core.Comparison, len(open))
	for i, r := range open {
		unmatched[i] = r.Comparison
	}
	return unmatched, nil
}

// objectsOf returns the objects of a state that may have what a comparison names.
func objectsOf(g core.Graph, id core.StateID) []core.Object {
	s := g.State(id)
	if all, ok := s.(interface{ Objects() []core.Object }); ok {
		return all.Objects()
	}
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(g.Outcome(id)), core.Key.Compare) {
		objects = append(objects, core.Object{Key: key, Content: s.Get(key)})
	}
	return objects
}
