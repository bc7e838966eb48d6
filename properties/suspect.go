package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// suspect is part of a livelock that may be one by itself: work items, and what goes round because of them.
type suspect struct {
	items  []core.Item
	rounds []round
}

// suspects divides what goes round in a cycle by who writes it: fields that are written by the same items belong together.
// Items whose writes change nothing in the end are alone.
func suspects(cycle core.Run, rounds []round) []suspect {
	var all []suspect
	of := func(items []core.Item) *suspect {
		i := slices.IndexFunc(all, func(s suspect) bool { return slices.Equal(s.items, items) })
		if i < 0 {
			i = len(all)
			all = append(all, suspect{items: items})
		}
		return &all[i]
	}
	writers := map[core.Item]bool{}
	for _, r := range rounds {
		s := of(r.items)
		s.rounds = append(s.rounds, r)
		for _, item := range r.items {
			writers[item] = true
		}
	}
	for _, e := range cycle {
		if e.Wrote && !writers[e.Step.Item] {
			of([]core.Item{e.Step.Item})
		}
	}
	return all
}

// culprits returns the parts of a livelock that would go on without the others, each a livelock of its own, and what goes
// round besides, as a consequence. If no part goes on by itself, all of them are one.
func (c *component) culprits(cycle core.Run) (guilty []suspect, others []round) {
	all := suspects(cycle, rounds(c.graph, cycle))
	if len(all) < 2 {
		return all, nil
	}
	var rest []suspect
	for _, s := range all {
		if c.selfContained(s) {
			guilty = append(guilty, s)
		} else {
			rest = append(rest, s)
		}
	}
	if len(rest) == 0 {
		return guilty, nil
	}
	whole := union(rest)
	if len(guilty) == 0 || len(rest) > 1 && c.selfContained(whole) {
		return append(guilty, whole), nil
	}
	return guilty, whole.rounds
}

func union(parts []suspect) suspect {
	var all suspect
	for _, s := range parts {
		all.items = append(all.items, s.items...)
		all.rounds = append(all.rounds, s.rounds...)
	}
	slices.SortFunc(all.items, core.Item.Compare)
	all.items = slices.Compact(all.items)
	return all
}

// maxTried bounds the states in which items are tried to see what they depend on.
const maxTried = 1024

// selfContained tells whether what the items make of their fields depends on nothing else that goes round: in whichever state of the
// component one of them is run, the same values come to the same.
func (c *component) selfContained(s suspect) bool {
	if len(s.rounds) == 0 {
		return false
	}
	type situation struct {
		item   core.Item
		values string
	}
	outcome := map[situation]string{}
	for _, id := range c.states[:min(len(c.states), maxTried)] {
		content := func(key core.Key) core.Content { return c.graph.State(id).Get(key) }
		before := s.values(content)
		for _, item := range s.items {
			for _, effect := range c.graph.Try(id, item) {
				at, after := situation{item, before}, s.values(afterwards(effect, content))
				if known, seen := outcome[at]; seen && known != after {
					return false
				}
				outcome[at] = after
			}
		}
	}
	return true
}

// afterwards returns the contents of objects after an effect.
func afterwards(effect core.Effect, before func(core.Key) core.Content) func(core.Key) core.Content {
	return func(key core.Key) core.Content {
		for _, change := range effect.Changes {
			if change.Key == key {
				return change.After
			}
		}
		return before(key)
	}
}

// values are those of the fields, as a text.
func (s suspect) values(content func(core.Key) core.Content) string {
	var b strings.Builder
	for _, r := range s.rounds {
		var value any
		if c := content(r.key); c != nil {
			value = true
			if !r.exists {
				value, _ = lookup(c.Fields(), r.path)
			}
		}
		fmt.Fprintf(&b, "%q ", core.FieldText(value))
	}
	return b.String()
}
