package properties

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/emirpasic/gods/v2/maps/linkedhashmap"
	"github.com/emirpasic/gods/v2/sets/linkedhashset"

	"github.com/orrery-dev/orrery/core"
)

// OneWriter holds if no two controllers own one field: on no run does a controller change a field of an object that
// another one has changed last, but for users. Two controllers that write the same value agree: the second write
// changes nothing. The paths name fields that may have several writers, with all that is below them:
// "status.conditions".
//
// It finds fights before they are livelocks, and writers that win only as long as the other one is not run again.
//
// It misses a field that one controller sets when it creates the object and another one changes: a first value is no
// claim. Of the metadata only labels, annotations, and references to owners are looked at, and of lists without names
// only the whole; generations that were observed are left out. A value that two controllers hand to each other on
// purpose, such as a phase, is found, too: name its path. An object that one step deletes and makes again, under the
// same uid, counts as changed.
func OneWriter(shared ...string) core.Property {
	return core.Property{
		Name: "one writer for each field",
		Doc:  "No controller changes a field of an object that another controller has changed before.",
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeOwnership(ctx, g, shared)
		},
		Ends: true,
	}
}

// judgeOwnership tells one violation for each cause: two controllers, and the field without the name of the object.
func judgeOwnership(ctx context.Context, g core.Graph, shared []string) ([]core.Violation, error) {
	contests, err := contests(ctx, g, shared)
	if err != nil {
		return nil, err
	}
	var all []overwrite
	for _, c := range contests {
		overwrites, err := c.overwrites(ctx, g)
		if err != nil {
			return nil, err
		}
		all = append(all, overwrites...)
	}
	slices.SortStableFunc(all, func(a, b overwrite) int { return cmp.Or(a.disturbed-b.disturbed, len(a.run)-len(b.run)) })
	var found causes
	for _, o := range all {
		if why, about := o.why(), o.field.key.String(); !found.known(why, about) {
			found.tell(why, about, o.violation())
		}
	}
	return found.violations(), nil
}

// claim is what a step does to a field.
type claim struct {
	edge core.Edge
	// by is the controller that changes the value, empty if nobody owns it afterwards: the object is made or goes, or a
	// user writes.
	by       string
	from, to any
}

// contest is a field that several controllers change, with all that happens to it, by the states where it does.
type contest struct {
	field  field
	claims map[core.StateID][]claim
}

// contests returns the fields that more than one controller changes, in the order of their first changes.
func contests(ctx context.Context, g core.Graph, shared []string) ([]*contest, error) {
	r := claimReader{shared: shared, known: map[version][]core.FieldChange{}}
	writers := linkedhashmap.New[field, *linkedhashset.Set[string]]()
	err := changes(ctx, g, func(e core.Edge, change core.Change) {
		for _, c := range r.claims(change) {
			f := field{change.Key, c.Path}
			by, known := writers.Get(f)
			if !known {
				by = linkedhashset.New[string]()
				writers.Put(f, by)
			}
			by.Add(e.Step.Item.Strategy)
		}
	})
	if err != nil {
		return nil, err
	}
	var all []*contest
	of := map[core.Key][]*contest{}
	for _, f := range writers.Keys() {
		if by, _ := writers.Get(f); by.Size() > 1 {
			c := &contest{field: f, claims: map[core.StateID][]claim{}}
			all, of[f.key] = append(all, c), append(of[f.key], c)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, r.collect(ctx, g, of)
}

// collect notes all that happens to contested fields.
func (r claimReader) collect(ctx context.Context, g core.Graph, of map[core.Key][]*contest) error {
	return everyChange(ctx, g, func(e core.Edge, change core.Change) {
		for _, c := range of[change.Key] {
			if !sameLife(change) {
				c.claims[e.From] = append(c.claims[e.From], claim{edge: e})
				continue
			}
			claims := r.claims(change)
			i := slices.IndexFunc(claims, func(f core.FieldChange) bool { return f.Path == c.field.path })
			if i < 0 {
				continue
			}
			by := e.Step.Item.Strategy
			if e.Step.Kind == core.Intervene {
				by = ""
			}
			c.claims[e.From] = append(c.claims[e.From], claim{e, by, claims[i].From, claims[i].To})
		}
	})
}

// claimReader finds out which fields with an owner a change is about.
type claimReader struct {
	shared []string
	// known are the changes that were seen: they are the same again and again.
	known map[version][]core.FieldChange
}

// version is an object before and after a change.
type version struct {
	key           core.Key
	before, after string
}

// claims returns the fields that a change is about, each once. The life of an object is none.
func (r claimReader) claims(change core.Change) []core.FieldChange {
	if !sameLife(change) {
		return nil
	}
	v := version{change.Key, change.Before.Canonical(), change.After.Canonical()}
	claims, known := r.known[v]
	if known {
		return claims
	}
	for _, c := range leafChanges(keyed(change.Before.Fields()), keyed(change.After.Fields())) {
		c.Path = owned(c.Path)
		same := func(other core.FieldChange) bool { return other.Path == c.Path }
		if claimed(field{change.Key, c.Path}, r.shared) && !slices.ContainsFunc(claims, same) {
			claims = append(claims, c)
		}
	}
	r.known[v] = claims
	return claims
}

// leafChanges returns the differences between two trees. What is in a part that only one of them has is told one by
// one.
func leafChanges(from, to any) []core.FieldChange {
	var changes []core.FieldChange
	for _, c := range core.DiffFields(from, to) {
		var parts []core.FieldChange
		none := map[string]any{}
		if tree, inner := c.To.(map[string]any); inner && c.From == nil {
			parts = leafChanges(none, tree)
		} else if tree, inner := c.From.(map[string]any); inner && c.To == nil {
			parts = leafChanges(tree, none)
		}
		if len(parts) == 0 {
			parts = []core.FieldChange{{From: c.From, To: c.To}}
		}
		for _, part := range parts {
			part.Path = joined(c.Path, part.Path)
			changes = append(changes, part)
		}
	}
	return changes
}

// joined returns the path of something below a path.
func joined(path, below string) string {
	if path == "" || below == "" || below[0] == '[' {
		return path + below
	}
	return path + "." + below
}

// owned returns the path of the field that a change is about: of lists that of the whole.
func owned(path string) string {
	for i, r := range path {
		if r == '[' && i+1 < len(path) && path[i+1] >= '0' && path[i+1] <= '9' {
			return path[:i]
		}
	}
	return path
}

// claimed reports whether a field has an owner.
func claimed(f field, shared []string) bool {
	under := func(path string) bool { return below(f.path, path) }
	if f.tally() || slices.ContainsFunc(shared, under) {
		return false
	}
	return !under("metadata") || slices.ContainsFunc([]string{"metadata.labels", "metadata.annotations", "metadata.ownerReferences"}, under)
}

// overwrite is a run at whose end a controller changes what another one wrote.
type overwrite struct {
	field         field
	first, second claim
	run           core.Run
	// disturbed is 1 if the run takes faults or steps on stale views, and 0 if not.
	disturbed int
}

// holder is a state, and who changed the field last on the way to it.
type holder struct {
	id core.StateID
	by string
}

// overwrites returns for each two controllers a shortest run on which the one changes what the other wrote, without
// faults and steps on stale views if it goes without.
func (c *contest) overwrites(ctx context.Context, g core.Graph) ([]overwrite, error) {
	calm, err := c.search(ctx, quiet{g})
	if err != nil {
		return nil, err
	}
	all, err := c.search(ctx, g)
	for _, o := range all {
		if !slices.ContainsFunc(calm, o.samePair) {
			o.disturbed = 1
			calm = append(calm, o)
		}
	}
	return calm, err
}

// search looks for overwrites, by shortest runs.
func (c *contest) search(ctx context.Context, g core.Graph) ([]overwrite, error) {
	type arrival struct {
		before holder
		edge   core.Edge
		claim  claim // the last one
	}
	into := map[holder]arrival{}
	var queue []holder
	for _, id := range g.Initial() {
		into[holder{id: id}] = arrival{before: holder{id: id}}
		queue = append(queue, holder{id: id})
	}
	run := func(h holder) core.Run {
		var run core.Run
		for into[h].before != h {
			run = append(run, into[h].edge)
			h = into[h].before
		}
		slices.Reverse(run)
		return run
	}
	var found []overwrite
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := queue[0]
		queue = queue[1:]
		last := into[h].claim
		for _, e := range slices.Clone(g.Edges(h.id)) {
			now := last
			if i := slices.IndexFunc(c.claims[h.id], func(c claim) bool { return c.edge == e }); i >= 0 {
				now = c.claims[h.id][i]
			}
			if o := (overwrite{field: c.field, first: last, second: now}); o.real() && !slices.ContainsFunc(found, o.samePair) {
				o.run = append(run(h), e)
				found = append(found, o)
			}
			next := holder{e.To, now.by}
			if _, known := into[next]; !known {
				into[next] = arrival{h, e, now}
				queue = append(queue, next)
			}
		}
	}
	return found, nil
}

// real reports whether one controller changes what another one wrote.
func (o overwrite) real() bool {
	return o.first.by != "" && o.second.by != "" && o.first.by != o.second.by
}

// samePair reports whether the controllers are the same.
func (o overwrite) samePair(other overwrite) bool { return o.why() == other.why() }

func (o overwrite) why() cause {
	return causeOf(min(o.first.by, o.second.by), max(o.first.by, o.second.by), o.field.pattern())
}

func (o overwrite) violation() core.Violation {
	return core.Violation{
		Summary: fmt.Sprintf("%s and %s both write %s: %s writes %s, and then %s writes %s",
			o.first.by, o.second.by, o.field, o.first.by, shortly(o.first.to), o.second.by, shortly(o.second.to)),
		Details:     []string{"The last writer wins until the other controller reconciles again. Let one of them own the field, or make both write the same value."},
		Controllers: []string{o.first.by, o.second.by},
		Fields:      []string{o.field.String()},
		Stem:        o.run,
		State:       o.second.edge.To,
	}
}
