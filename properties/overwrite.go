package properties

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// overwrite is a run at whose end a controller changes what another one wrote.
type overwrite struct {
	field         field
	first, second claim
	run           core.Run
	// disturbed is 1 if the run takes faults or steps on old views, and 0 if not.
	disturbed int
}

// holder is a state, and who changed the field last on the way to it.
type holder struct {
	id core.StateID
	by string
}

// overwrites returns for each two controllers a shortest run on which the one changes what the other wrote, without
// faults and steps on old views if it goes without.
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

// real tells whether one controller changes what another one wrote.
func (o overwrite) real() bool {
	return o.first.by != "" && o.second.by != "" && o.first.by != o.second.by
}

// samePair tells whether the controllers are the same.
func (o overwrite) samePair(other overwrite) bool { return o.why() == other.why() }

func (o overwrite) why() cause {
	return causeOf(min(o.first.by, o.second.by), max(o.first.by, o.second.by), o.field.pattern())
}

func (o overwrite) violation() core.Violation {
	return core.Violation{
		Summary: fmt.Sprintf("%s and %s both write %s: %s writes %s, and then %s writes %s",
			o.first.by, o.second.by, o.field, o.first.by, shortly(o.first.to), o.second.by, shortly(o.second.to)),
		Details:     []string{"Who comes last has its way until the other is run again. Let one of them own the field, or let both come to the same value."},
		Controllers: []string{o.first.by, o.second.by},
		Fields:      []string{o.field.String()},
		Stem:        o.run,
		State:       o.second.edge.To,
	}
}
