package random

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Rounds returns the system of a seed, of a family in which each of two or three names has controllers of its own,
// which look at no objects but its. Those of the first, and seldom of others, may go round: they do one thing after the
// other and then the first again, until another one stops them, be it bound to or not, or for ever. What the others do
// may break an invariant.
func Rounds(seed uint64) (*core.System, error) {
	g := &rounds{Rand: rand.New(rand.NewPCG(seed, 21)), kinds: Kinds()[:2+seed%2]}
	system := &core.System{Name: fmt.Sprintf("rounds %d", seed), Store: shelf{ordered: true}}
	var start core.Initial
	for i := range 2 + g.IntN(2) {
		g.name = fmt.Sprint(i)
		g.unfair = 1 + g.IntN(2)*g.IntN(4)
		for j := range 2 + g.IntN(2) {
			system.Strategies = append(system.Strategies, g.controller(fmt.Sprintf("controller%d of %s", j, g.name), i == 0 || g.IntN(8) == 0))
		}
		for _, kind := range g.kinds {
			if g.IntN(4) > 0 {
				start.Objects = append(start.Objects, core.Object{Key: g.key(kind), Content: thing{value: g.IntN(none)}})
			}
		}
	}
	if g.IntN(2) == 0 {
		key, never := g.key(g.kind()), g.IntN(none)
		system.Properties = []core.Property{{Name: "never", Invariant: func(s core.State) error {
			if valueOf(s.Get(key)) == never {
				return errors.New("it is")
			}
			return nil
		}}}
	}
	system.Initial = []core.Initial{start}
	return system, system.Validate()
}

// rounds makes systems that go round.
type rounds struct {
	*rand.Rand
	kinds []core.Kind
	name  string
	// unfair is how many of four controllers need not do anything.
	unfair int
}

func (g *rounds) kind() core.Kind { return g.kinds[g.IntN(len(g.kinds))] }

func (g *rounds) key(kind core.Kind) core.Key {
	return core.Key{Kind: kind, Namespace: elsewhere, Name: g.name}
}

// controller returns a controller of the name at hand, which may go round or not.
func (g *rounds) controller(name string, around bool) *neighbor {
	n := &neighbor{Description: core.Description{Name: name, Sequential: true, Unfair: g.IntN(4) < g.unfair}, names: []string{g.name}, hears: map[core.Kind]heard{}}
	about, changes := g.kind(), g.kind()
	around = around && g.IntN(4) > 0
	switch {
	case around && g.IntN(2) == 0:
		// It does one of two things of the round, and waits until another one has done the other.
		due := g.IntN(2)
		n.errands = []errand{g.errand(g.kinds[0], due, g.kinds[0], 1-due)}
		g.watches(n, g.kinds[0])
	case around:
		for due := range none {
			n.errands = append(n.errands, g.errand(about, due, about, (due+1)%none))
			n.errands[due].again = true
		}
	default:
		for due := range none + 1 {
			if value := g.IntN(none); value != due && g.IntN(2) == 0 {
				n.errands = append(n.errands, g.errand(about, due, changes, value))
			}
		}
		if g.IntN(4) == 0 {
			n.Standing = []core.Request{core.Request(g.name)}
			return n
		}
	}
	n.Initial = []core.Request{core.Request(g.name)}
	for _, kind := range g.kinds {
		if g.IntN(len(g.kinds)) == 0 {
			g.watches(n, kind)
		}
	}
	return n
}

// errand returns what is done to an object if another one has a certain value.
func (g *rounds) errand(about core.Kind, due int, changes core.Kind, value int) errand {
	e := errand{look: glance{kind: about, byName: true}, due: due, does: call{verb: set, key: g.key(changes), value: value}}
	if about != changes && g.IntN(3) == 0 {
		e.does.verb = remove
	}
	if g.IntN(4) == 0 {
		e.further, e.later = &glance{kind: g.kind(), byName: true}, g.IntN(none+1)
	}
	return e
}

func (g *rounds) watches(n *neighbor, kind core.Kind) {
	if !slices.Contains(n.Watches, kind) {
		n.Watches, n.hears[kind] = append(n.Watches, kind), heard{}
	}
}
