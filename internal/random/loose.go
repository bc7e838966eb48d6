package random

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// loose makes systems whose parts have little to do with each other: the same controllers work in several namespaces,
// and mostly on what is there.
type loose struct {
	*rand.Rand
	namespaces []string
	kinds      []core.Kind
	// sharing is how often, of ten times, something is shared among namespaces.
	sharing int
	// receives tells that there is somebody to send messages to, and merging that work queues have one entry for each
	// request.
	receives, merging bool
	// narrows tells that routines look at parts of objects, at lists of some of them, and at lists of all namespaces.
	narrows bool
	// changes are what routines set.
	changes []*routine
}

// receiver is the name of the process that receives messages.
const receiver = "receiver"

func (g *loose) kind() core.Kind { return g.kinds[g.IntN(len(g.kinds))] }

func (g *loose) name() string { return []string{"x", "y"}[g.IntN(4)/3] }

// Loose returns the system of a seed, of a family in which many orders of steps do not matter. Equal seeds give equal
// systems. Its store is not for the naive twin.
func Loose(seed uint64) (*core.System, error) {
	g := &loose{Rand: rand.New(rand.NewPCG(seed, 2)), merging: seed%3 == 1}
	return g.system(fmt.Sprintf("loose %d", seed))
}

// Narrow returns the system of a seed, of a family like the loose one. Most of what its controllers look at is a part
// of an object, or those objects of one namespace or all that have a value; and they look past their views now and
// then. Its store is not for the naive twin.
func Narrow(seed uint64) (*core.System, error) {
	g := &loose{Rand: rand.New(rand.NewPCG(seed, 8)), narrows: true}
	return g.system(fmt.Sprintf("narrow %d", seed))
}

func (g *loose) system(name string) (*core.System, error) {
	g.kinds = Kinds()[:1+g.IntN(3)]
	g.sharing = max(0, g.IntN(4)-1)
	g.receives = g.IntN(3) == 0
	for i := range 1 + g.IntN(3) {
		g.namespaces = append(g.namespaces, fmt.Sprintf("n%d", i))
	}
	system := &core.System{
		Name:  name,
		Store: shelf{versioned: g.IntN(2) == 0, ordered: true},
	}
	if g.receives {
		system.Strategies = append(system.Strategies, &agent{
			Description: core.Description{Name: receiver, Messages: true, Unfair: g.IntN(4) == 0, Sequential: true},
			routines:    map[string]*routine{"x": g.routine(2, true), "y": g.routine(2, false)},
		})
	}
	if g.IntN(5) < 2 {
		system.Strategies = append(system.Strategies, g.process())
	}
	if g.IntN(6) == 0 {
		system.Strategies = append(system.Strategies, g.waiting()...)
	} else {
		for i := range 1 + g.IntN(3) {
			system.Strategies = append(system.Strategies, g.controller(fmt.Sprintf("controller%d", i), g.work()))
		}
	}
	for i := range max(0, g.IntN(4)-1) {
		system.Scenario.Actions = append(system.Scenario.Actions, g.action(i))
	}
	system.Scenario.InOrder = g.IntN(3) == 0
	for range 1 + g.IntN(4)/3 {
		system.Initial = append(system.Initial, g.initial())
	}
	system.Properties = []core.Property{{Name: "random", Invariant: g.invariant()}}
	return system, system.Validate()
}

// process returns a process with guarded actions.
func (g *loose) process() *agent {
	p := &agent{
		Description: core.Description{Name: "process", Unfair: g.IntN(3) == 0, Sequential: true},
		routines:    map[string]*routine{"act": g.guarded(), "do": g.guarded()},
	}
	for range 1 + g.IntN(2) {
		namespace := g.namespaces[g.IntN(len(g.namespaces))]
		request := core.Request(namespace + "/" + []string{"act", "do"}[g.IntN(2)])
		if len(p.Standing) == 0 || p.Standing[0] != request {
			p.Standing = append(p.Standing, request)
		}
	}
	if g.IntN(3) == 0 {
		// It has work besides that is in its queue or not.
		p.routines[""] = g.routine(2, true)
		p.Initial = []core.Request{core.Request(g.namespaces[0])}
		if g.IntN(2) == 0 {
			p.Watches = g.kinds[:1]
			p.reactions = map[core.Kind]reaction{g.kinds[0]: {value: g.IntN(none), deaf: g.IntN(2) == 0}}
		}
	}
	return p
}

// guarded returns a routine that changes something where something else allows it, and is blocked where that is done.
func (g *loose) guarded() *routine {
	value := g.IntN(none)
	change := &routine{verb: set, kind: g.kind(), name: g.name(), value: value, guard: -1, next: []*routine{{guard: -1}}}
	done := &routine{verb: get, kind: change.kind, name: change.name, guard: value, next: []*routine{change}}
	g.changes = append(g.changes, change)
	first := &routine{verb: get, kind: g.kind(), name: g.name(), shared: g.IntN(4) == 0, guard: none, next: []*routine{done}}
	if g.IntN(3) == 0 {
		first.guard = g.IntN(none)
	}
	return first
}

// controller returns a controller that watches some kinds.
func (g *loose) controller(name string, work *routine) *agent {
	c := &agent{
		Description: core.Description{Name: name, Unfair: g.IntN(12) == 0, Workers: 1 + g.IntN(4)/3, Sequential: true, Merging: g.merging},
		routines:    map[string]*routine{"": work},
		reactions:   map[core.Kind]reaction{},
	}
	for _, kind := range g.kinds {
		if g.IntN(5) < 2 {
			if cached := g.IntN(4); cached < 2 {
				c.cached = append(c.cached, kind)
				if cached == 0 {
					c.Caches = append(c.Caches, kind)
				}
			}
			continue
		}
		c.Watches = append(c.Watches, kind)
		if !g.narrows || g.IntN(3) > 0 {
			c.cached = append(c.cached, kind)
		}
		r := reaction{deaf: g.IntN(3) == 0, value: g.IntN(none)}
		if g.IntN(8) == 0 {
			r.request = core.Request(g.namespaces[0])
		}
		if g.IntN(3) == 0 {
			r.look = &routine{verb: list, kind: g.kind(), shared: g.IntN(3) == 0}
		}
		c.reactions[kind] = r
	}
	if unwatched := slices.DeleteFunc(slices.Clone(g.kinds), func(kind core.Kind) bool { return slices.Contains(c.Watches, kind) }); len(unwatched) > 0 && g.IntN(4) == 0 {
		c.routines[""] = g.bump(unwatched[0])
	}
	if len(c.Watches) == 0 || g.IntN(4) == 0 {
		for _, namespace := range g.namespaces {
			c.Initial = append(c.Initial, core.Request(namespace))
		}
	}
	return c
}

// work returns what a controller does. Some controllers are blocked now and then.
func (g *loose) work() *routine {
	switch g.IntN(16) {
	case 12, 13, 14, 15:
		return g.watchful(2)
	case 0:
		return g.guarded()
	case 1, 2:
		return g.routine(1+g.IntN(3), true)
	}
	return g.routine(1+g.IntN(3), false)
}

// waiting returns controllers of which one waits for what another one does, while a third may do what concerns it.
func (g *loose) waiting() []core.Strategy {
	set := &routine{verb: set, kind: g.kind(), name: g.name(), shared: g.IntN(4) == 0, value: g.IntN(none), guard: -1, next: []*routine{g.routine(0, false)}}
	wait := &routine{
		verb: get, kind: set.kind, name: set.name, shared: set.shared, guard: set.value, awaited: true,
		next: []*routine{g.routine(2, false)},
	}
	third := g.routine(2, g.IntN(4) == 0)
	if g.IntN(2) == 0 {
		// Both write the same object.
		then, kind, name, value := &routine{guard: -1}, g.kind(), g.name(), g.IntN(none)
		wait.next[0] = &routine{verb: set.verb, kind: kind, name: name, value: value, guard: -1, next: []*routine{then}}
		third = &routine{verb: set.verb, kind: kind, name: name, value: (value + 1) % none, guard: -1, next: []*routine{then}}
	}
	work := []*routine{set, wait, third}
	g.Shuffle(len(work), func(i, j int) { work[i], work[j] = work[j], work[i] })
	var controllers []core.Strategy
	unwoken := g.IntN(2) == 0
	for i, w := range work {
		c := g.controller(fmt.Sprintf("controller%d", i), w)
		c.routines[""] = w
		if unwoken {
			c.Watches = nil // only what is read lets it go on
		}
		c.Initial = []core.Request{core.Request(g.namespaces[0])}
		controllers = append(controllers, c)
	}
	return controllers
}

// action returns something that a user may do.
func (g *loose) action(i int) core.Action {
	r, namespace := g.routine(1+i%2, i%2 == 1), g.namespaces[g.IntN(len(g.namespaces))]
	return core.Action{
		Name: fmt.Sprintf("action %d", i),
		Do: func(recorder core.EffectRecorder) error {
			result := r.run(recorder, namespace, nil)
			if result.Blocked {
				return core.ErrNotEnabled
			}
			return result.Err
		},
	}
}

func (g *loose) initial() core.Initial {
	var initial core.Initial
	for _, namespace := range append(g.namespaces[:len(g.namespaces):len(g.namespaces)], elsewhere) {
		for _, kind := range g.kinds {
			for _, name := range []string{"x", "y"} {
				if g.IntN(5) < 2 {
					key := core.Key{Kind: kind, Namespace: namespace, Name: name}
					initial.Objects = append(initial.Objects, core.Object{Key: key, Content: thing{value: g.IntN(none)}})
				}
			}
		}
	}
	return initial
}

// invariant returns something that is not true of all states, and mostly looks at a few objects only.
func (g *loose) invariant() func(core.State) error {
	namespace := func() string { return g.namespaces[g.IntN(len(g.namespaces))] }
	if len(g.changes) > 0 && g.IntN(3) > 0 {
		// The one change comes before the other.
		one, other := g.changes[g.IntN(len(g.changes))], g.changes[g.IntN(len(g.changes))]
		first, second := one.call(namespace(), nil, nil), other.call(namespace(), nil, nil)
		return func(s core.State) error {
			if valueOf(s.Get(first.key)) == first.value && valueOf(s.Get(second.key)) != second.value {
				return errRandom
			}
			return nil
		}
	}
	kind, in, many, timers := g.kind(), namespace(), g.IntN(none), g.IntN(8) == 0
	return func(s core.State) error {
		if len(s.List(kind, in)) == many || timers && len(s.Timers()) > 1 {
			return errRandom
		}
		return nil
	}
}
