package properties

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/emirpasic/gods/v2/maps/linkedhashmap"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
)

// Matches holds if what is asked for comes about and stays: for each object of the kind, if from some point on it asks
// for the same for ever, then from some point on the state matches it for ever, on every fair run. It is eventually
// stable reconciliation, G(G desired(d) → F G matches(d)) for all d (Sun and others, Anvil, OSDI 2024). The function
// says whether a state matches the desired object, which is in it; it must be a function of both.
//
// An object asks for what is in its spec, or, if it has none, for all it holds but metadata and status. An object that
// is being deleted asks for nothing.
//
// It finds what the other properties of settled systems do not: systems that settle, always in the same way, in the
// wrong place. And of what never comes to rest it finds only what matters. It misses what happens on the way: for that
// use an invariant. It says nothing on runs in which what is asked for changes for ever.
func Matches(name string, kind core.Kind, matches func(state core.State, desired core.Object) bool) core.Property {
	m := matching{name: name, kind: kind, matches: matches}
	p := core.Property{
		Name:  name,
		Kinds: []core.Kind{kind},
		Doc:   fmt.Sprintf("What an object of the kind %s asks for comes to exist and stays, as long as the object asks for it.", kind),
		Judge: m.judge,
		// What an object asks for, and whether it is there, depends on single states, and a run with repeated states
		// left out says the same.
		Sees: func(s core.State) {
			for _, o := range s.List(kind, "") {
				matches(s, o)
			}
		},
	}
	if matches == nil {
		p.Mistake = errors.New("nothing says what matches: give a function")
	}
	return p
}

type matching struct {
	name    string
	kind    core.Kind
	matches func(core.State, core.Object) bool
}

// wish is what an object asks for.
type wish struct {
	key  core.Key
	text string
}

// granted tells where an object asks for something, and whether it is there.
type granted map[core.StateID]bool

// judge tells one violation at most: the cause of all is that objects of the kind do not get what they ask for. It
// shows the one that is reached soonest.
func (m matching) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	wishes, err := m.wishes(ctx, g)
	if err != nil {
		return nil, err
	}
	type missed struct {
		wish      wish
		violation core.Violation
	}
	var all []missed
	for _, w := range wishes.Keys() {
		states, _ := wishes.Get(w)
		lapse := func(id core.StateID) bool { matches, asked := states[id]; return asked && !matches }
		asked := every(g, func(id core.StateID) bool { _, asked := states[id]; return asked })
		if !slices.ContainsFunc(asked, lapse) {
			continue
		}
		r := region{graph: g, roots: asked, inside: func(id core.StateID) bool { _, asked := states[id]; return asked }}
		v, found, err := r.recurrence(ctx, lapse)
		if err != nil {
			return nil, err
		}
		if found {
			v.Summary = fmt.Sprintf("%s: %s keeps asking for the same, but never gets it permanently", m.name, w.key)
			v.Fields = []string{w.key.String()}
			all = append(all, missed{w, v})
		}
	}
	slices.SortStableFunc(all, func(a, b missed) int { return len(a.violation.Stem) - len(b.violation.Stem) })
	var found causes
	for _, one := range all {
		if why := causeOf(string(m.kind)); !found.known(why, one.wish.key.String()) {
			found.tell(why, one.wish.key.String(), one.violation)
		}
	}
	return found.violations(), nil
}

// recurrence returns the fair run that is reached by what takes least, if there is any, that stays in the region for
// ever and comes by one of some states again and again.
func (r *region) recurrence(ctx context.Context, recurs func(core.StateID) bool) (core.Violation, bool, error) {
	owner := map[core.StateID]*component{}
	err := r.components(ctx, func(states scc.Component[core.StateID]) bool {
		if !slices.ContainsFunc(states.Nodes, recurs) {
			return true
		}
		for _, part := range r.fairParts(states, true) {
			if slices.ContainsFunc(part.states, recurs) {
				for _, id := range part.states {
					owner[id] = part
				}
			}
		}
		return true
	})
	if err != nil || len(owner) == 0 {
		return core.Violation{}, false, err
	}
	stem, at := entry(r.graph, slices.Sorted(maps.Keys(owner)))
	v := core.Violation{Stem: stem, State: at}
	if c := owner[at]; c.moves() {
		v.Cycle = c.cycle(at, func(e core.Edge) bool { return recurs(e.From) })
	} else {
		v.Details = []string{"No further step is required there: that state repeats forever."}
	}
	v.Controllers = controllersOf(slices.Concat(stem, v.Cycle), func(core.Edge) bool { return true })
	return v, true, nil
}

// wishes returns what is asked for, in the order of the first states, each with the states in which it is.
func (m matching) wishes(ctx context.Context, g core.Graph) (*linkedhashmap.Map[wish, granted], error) {
	wishes := linkedhashmap.New[wish, granted]()
	for id := range core.StateID(g.States()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		state := g.State(id)
		for _, o := range state.List(m.kind, "") {
			text, asks := asked(o.Content.Fields())
			if !asks {
				continue
			}
			w := wish{o.Key, text}
			states, known := wishes.Get(w)
			if !known {
				states = granted{}
				wishes.Put(w, states)
			}
			states[id] = m.matches(state, o)
		}
	}
	return wishes, nil
}

// asked returns what an object asks for, and false if it asks for nothing.
func asked(fields any) (string, bool) {
	tree, isTree := fields.(map[string]any)
	if !isTree {
		return fmt.Sprint(fields), true
	}
	if deleted, _ := lookup(tree, "metadata.deletionTimestamp"); deleted != nil {
		return "", false
	}
	if spec, there := tree["spec"]; there {
		return fmt.Sprint(spec), true
	}
	rest := make(map[string]any, len(tree))
	for name, value := range tree {
		if name != "metadata" && name != "status" {
			rest[name] = value
		}
	}
	return fmt.Sprint(rest), true
}
