package random

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Neighbors returns the system of a seed, of a family in which the same controllers work for two or three names and
// mostly on the objects of the name at hand. They list all objects and pick what they look for themselves, and so do
// their event handlers: mostly what is of that name, sometimes what others have, one of them or all of them together.
func Neighbors(seed uint64) (*core.System, error) {
	g := &neighbors{Rand: rand.New(rand.NewPCG(seed, 15)), kinds: Kinds()[:1+seed%3], remembers: seed%4 == 0, closely: 2 + int(seed%5)}
	for i := range 2 + g.IntN(2) {
		g.names = append(g.names, fmt.Sprint(i))
	}
	system := &core.System{Name: fmt.Sprintf("neighbors %d", seed), Store: shelf{versioned: g.IntN(3) == 0, ordered: true}}
	for i := range 1 + g.IntN(3) {
		system.Strategies = append(system.Strategies, g.controller(fmt.Sprintf("controller%d", i)))
	}
	var start core.Initial
	for _, kind := range g.kinds {
		for _, name := range g.names {
			if g.IntN(3) > 0 {
				start.Objects = append(start.Objects, core.Object{Key: core.Key{Kind: kind, Namespace: elsewhere, Name: name}, Content: thing{value: g.IntN(none)}})
			}
		}
	}
	system.Initial = []core.Initial{start}
	return system, system.Validate()
}

// neighbors makes systems of neighbors.
type neighbors struct {
	*rand.Rand
	kinds     []core.Kind
	names     []string
	remembers bool
	// closely is how often, of eight times, they look at the object of the name alone.
	closely int
}

// neighbor is a controller that works for each name in the same way.
type neighbor struct {
	core.Description
	errands []errand
	// hears is what event handlers look at before they enqueue the name of the object, by the kind of the event, and
	// all tells that they enqueue all names.
	hears map[core.Kind]heard
	names []string
	// keeps is what it looks at and remembers, nil for nothing, and kept is what that was. If it is what the first
	// errand is due for, there is nothing to do the next time.
	keeps *glance
	kept  int
}

// errand is something that a controller does for a name if it sees a certain number.
type errand struct {
	look glance
	due  int
	// further is what it looks at then, nil for nothing, before it goes on if that is a certain number, too.
	further *glance
	later   int
	does    call
	// to is whose object that is about: of the name itself, or of one next to it.
	to int
	// again tells that it is done once more.
	again bool
}

type heard struct {
	look *glance
	due  int
	all  bool
}

// glance is a list of all objects of a kind, and what is picked of it.
type glance struct {
	kind  core.Kind
	picks picking
	value int
	// byName looks at the object of the name alone, without a list.
	byName bool
}

// picking says what is picked of a list.
type picking int

const (
	// own is the value of the object of the name.
	own picking = iota
	// others is whether another one has a value, and allOthers whether all other ones have.
	others
	allOthers
)

func (l glance) see(recorder core.EffectRecorder, name string) int {
	if l.byName {
		return recorder.Do(&call{verb: get, key: core.Key{Kind: l.kind, Namespace: elsewhere, Name: name}}).(reply).number()
	}
	all := recorder.Do(&call{verb: list, key: core.Key{Kind: l.kind, Namespace: elsewhere}}).(reply).objects
	some, every := false, true
	for _, o := range all {
		switch has := valueOf(o.Content); {
		case o.Key.Name == name:
			if l.picks == own {
				return has
			}
		case has == l.value:
			some = true
		default:
			every = false
		}
	}
	if l.picks == others && some || l.picks == allOthers && every {
		return 1
	}
	return none
}

// Describe implements [core.Strategy].
func (n *neighbor) Describe() core.Description { return n.Description }

// New implements [core.Strategy].
func (n *neighbor) New() (core.Instance, error) {
	fresh := *n
	return &fresh, nil
}

// Memory implements [core.Introspective].
func (n *neighbor) Memory() map[string]string {
	if n.keeps == nil {
		return nil
	}
	return map[string]string{"kept": fmt.Sprint(n.kept)}
}

// Handle implements [core.Instance].
func (n *neighbor) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	h := n.hears[event.Key.Kind]
	if !slices.Contains(n.names, event.Key.Name) {
		return nil
	}
	if h.look != nil && h.look.see(recorder, event.Key.Name) != h.due {
		return nil
	}
	if !h.all {
		return []core.Request{core.Request(event.Key.Name)}
	}
	var all []core.Request
	for _, name := range n.names {
		all = append(all, core.Request(name))
	}
	return all
}

// Reconcile implements [core.Instance].
func (n *neighbor) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	if n.keeps != nil {
		before := n.kept
		if n.kept = n.keeps.see(recorder, string(request)); before == n.errands[0].due {
			return core.Result{}
		}
	}
	for _, e := range n.errands {
		if e.look.see(recorder, string(request)) != e.due {
			continue
		}
		if e.further != nil && e.further.see(recorder, string(request)) != e.later {
			continue
		}
		does, at := e.does, slices.Index(n.names, string(request))
		does.key.Name = n.names[(at+e.to)%len(n.names)]
		recorder.Do(&does)
		return core.Result{Requeue: e.again && len(n.Standing) == 0}
	}
	return core.Result{Blocked: len(n.Standing) > 0}
}

func (g *neighbors) kind() core.Kind { return g.kinds[g.IntN(len(g.kinds))] }

func (g *neighbors) glance() glance {
	return glance{kind: g.kind(), picks: picking(max(0, g.IntN(8)-5)), value: g.IntN(none), byName: g.IntN(8) < g.closely}
}

func (g *neighbors) controller(name string) *neighbor {
	n := &neighbor{Description: core.Description{Name: name, Sequential: true}, names: g.names, hears: map[core.Kind]heard{}}
	for range 1 + g.IntN(2) {
		e := errand{look: g.glance(), due: g.IntN(none + 1), to: max(0, g.IntN(12)-10), again: g.IntN(4) == 0}
		if e.look.picks != own {
			e.due = []int{1, none}[g.IntN(2)]
		}
		if g.IntN(3) == 0 {
			look := glance{kind: g.kind(), byName: true}
			e.further, e.later = &look, g.IntN(none)
		}
		e.does = call{verb: []verb{set, set, set, remove}[g.IntN(4)], key: core.Key{Kind: g.kind(), Namespace: elsewhere}, value: g.IntN(none)}
		n.errands = append(n.errands, e)
	}
	if g.remembers {
		look := g.glance()
		n.keeps = &look
	}
	for i, name := range g.names {
		if i == 0 || g.IntN(4) > 0 {
			n.Initial = append(n.Initial, core.Request(name))
		}
	}
	for _, kind := range g.kinds {
		if g.IntN(2) == 0 {
			continue
		}
		n.Watches = append(n.Watches, kind)
		h := heard{all: g.IntN(10) == 0}
		if g.IntN(3) > 0 {
			look := g.glance()
			look.byName = false
			h.look, h.due = &look, g.IntN(none)
			if look.picks != own {
				h.due = []int{1, none}[g.IntN(2)]
			}
		}
		n.hears[kind] = h
	}
	return n
}
