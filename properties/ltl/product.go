package ltl

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/scc"
	"github.com/orrery-dev/orrery/internal/bitset"
	"github.com/orrery-dev/orrery/properties/internal/fair"
)

// product is the graph as it is read by an automaton.
type product struct {
	*reading
	numbering
	automaton *automaton
	// reads is how the automaton reads a letter, by the number of the letter and its state.
	reads [][]reaction
	// wins tells from which states of the automaton every word is accepted, and lasts in which of them an accepted run
	// can be again and again.
	wins, lasts []bool
	// roots are places to begin with: those at the start, and those behind places that are in no cycle that counts.
	roots  []uint32
	rooted bitset.Set[uint32]
}

// reaction is what an automaton does with a letter in one of its states.
type reaction struct {
	arcs []arc
	// dooms tells that every word that begins with the letter is accepted, stays that the word is
	// in which it repeats for ever.
	dooms, stays bool
}

func newProduct(r *reading, a *automaton) *product {
	p := &product{
		reading: r, numbering: newNumbering(r.graph.States(), len(a.states)),
		automaton: a, wins: make([]bool, len(a.states)), lasts: a.lasting(),
	}
	for mode := range a.states {
		p.wins[mode] = a.certain(mode)
	}
	for _, id := range r.graph.Initial() {
		p.roots = append(p.roots, p.find(place{id, uint32(a.initial)}))
	}
	return p
}

// read returns what the automaton does with a letter, given by its number.
func (p *product) read(l, mode uint32) *reaction {
	for int(l) >= len(p.reads) {
		p.reads = append(p.reads, p.reactions(p.alphabet[len(p.reads)]))
	}
	return &p.reads[l][mode]
}

func (p *product) reactions(l letter) []reaction {
	reactions := make([]reaction, len(p.automaton.states))
	stays := p.automaton.repeats(l)
	for mode, arcs := range p.automaton.states {
		var some []arc
		for _, arc := range arcs {
			if arc.on.has(l) {
				arc.on = cube{} // what is read is known, so that more arcs are alike
				some = append(some, arc)
			}
		}
		reactions[mode] = reaction{
			arcs:  mergedArcs(some),
			dooms: slices.ContainsFunc(some, func(arc arc) bool { return p.wins[arc.to] }),
			stays: stays[mode],
		}
	}
	return reactions
}

// letterAt returns the number of the letter that is read when a step is taken from a state.
func (p *product) letterAt(id core.StateID, l uint32) uint32 {
	if !p.stepwise {
		return p.letters[id]
	}
	return p.number(p.alphabet[p.letters[id]] | p.labels[l].also)
}

// cursor is a place among the steps from a node.
type cursor struct {
	row uint32 // how far the steps of a state were read
	arc uint32 // the next arc of the automaton for the step that comes then
}

// crossing is a step of the product.
type crossing struct {
	move
	marks uint64
	node  uint32
}

// cross returns the next step of the product from a place, and false after the last.
func (p *product) cross(node uint32, c *cursor) (crossing, bool) {
	from := p.at(node)
	row := p.row(from.id)
	var m move
	for int(c.row) < len(row) {
		after := m.next(row, int(c.row))
		arcs := p.read(p.letterAt(from.id, m.label), from.mode).arcs
		if int(c.arc) < len(arcs) {
			arc := &arcs[c.arc]
			if c.arc++; int(c.arc) == len(arcs) {
				c.row, c.arc = uint32(after), 0
			}
			return crossing{m, arc.marks, p.find(place{m.to, uint32(arc.to)})}, true
		}
		c.row, c.arc = uint32(after), 0
	}
	return crossing{}, false
}

// dooms reports whether every run through a place is accepted, however it goes on.
func (p *product) dooms(node uint32) bool {
	at := p.at(node)
	return p.wins[at.mode] || !p.stepwise && p.read(p.letters[at.id], at.mode).dooms
}

// lasting reports whether a run that stays in a place for ever is fair and accepted.
func (p *product) lasting(node uint32) bool {
	at := p.at(node)
	return p.read(p.letters[at.id], at.mode).stays && p.reading.rests(at.id)
}

// repeats returns from which states an automaton accepts a letter that repeats for ever.
func (a *automaton) repeats(l letter) []bool {
	g := &arcGraph{automaton: a, keep: func(arc arc) bool { return arc.on.has(l) }}
	for s := range a.states {
		g.roots = append(g.roots, s)
	}
	return g.alive(nil)
}

// Root implements [scc.Graph]. Behind a cut state the search begins anew: no cycle may pass through it. So it does
// where no accepted cycle can.
func (p *product) Root() (uint32, bool) {
	if len(p.roots) == 0 {
		return 0, false
	}
	root := p.roots[0]
	p.roots = p.roots[1:]
	return root, true
}

// Next implements [scc.Graph].
func (p *product) Next(node uint32, c *cursor) (uint32, bool) {
	at := p.at(node)
	if *c == (cursor{}) && p.dooms(node) {
		return 0, false
	}
	if p.traits[at.id]&cutTrait != 0 || !p.lasts[at.mode] {
		for to, more := p.cross(node, c); more; to, more = p.cross(node, c) {
			if p.rooted.Add(to.node) {
				p.roots = append(p.roots, to.node)
			}
		}
		return 0, false
	}
	to, more := p.cross(node, c)
	return to.node, more
}

// end is why an accepted run is certain at a place.
type end uint8

const (
	noEnd     end = iota
	doomedEnd     // by the run that leads there
	restEnd       // by staying there
	fairEnd       // by a cycle through it
)

// ends are the places at which an accepted run is certain.
type ends struct {
	found bool
	kinds []end // by place; places after the last have none
	// components are those with fair cycles.
	components [][]uint32
}

func (e *ends) at(node uint32) end {
	if int(node) >= len(e.kinds) {
		return noEnd
	}
	return e.kinds[node]
}

// add notes an end, unless there is a simpler one.
func (e *ends) add(node uint32, kind end) {
	for int(node) >= len(e.kinds) {
		e.kinds = append(e.kinds, noEnd)
	}
	if e.kinds[node] == noEnd {
		e.kinds[node] = kind
	}
	e.found = true
}

// ends searches the whole product.
func (p *product) ends(ctx context.Context, strong bool) (*ends, error) {
	e := &ends{}
	search := &fair.Search{Space: &fairness{p, strong}, Marks: p.automaton.marks, Context: ctx}
	err := scc.Search(ctx, p, func(c scc.Component[uint32]) bool {
		for _, node := range c.Nodes {
			switch {
			case p.dooms(node):
				e.add(node, doomedEnd)
			case p.lasting(node):
				e.add(node, restEnd)
			}
		}
		search.Parts(c, func(nodes []uint32) {
			e.components = append(e.components, slices.Clone(nodes))
			for _, node := range nodes {
				e.add(node, fairEnd)
			}
		})
		return true
	})
	return e, err
}

// place is a node of the product: a state of the graph whose letter a state of the automaton
// is about to read.
type place struct {
	id   core.StateID
	mode uint32
}

// numbering gives places numbers.
type numbering interface {
	// find returns the number of a place.
	find(place) uint32
	// at returns the place of a number.
	at(uint32) place
	// len is above all numbers that were given.
	len() int
}

// fewModes is up to how many states of an automaton every place has a number from the start. Then nothing has to be
// looked up, and memory is lost for those that are in no run.
const fewModes = 8

func newNumbering(states, modes int) numbering {
	if modes <= fewModes && states <= (1<<32-1)/fewModes {
		return &grid{states: states, modes: uint32(modes)}
	}
	return &register{head: make([]uint32, states)}
}

// grid numbers all places there can be.
type grid struct {
	states int
	modes  uint32
}

func (g *grid) find(p place) uint32 { return uint32(p.id)*g.modes + p.mode }

func (g *grid) at(n uint32) place { return place{core.StateID(n / g.modes), n % g.modes} }

func (g *grid) len() int { return g.states * int(g.modes) }

// register numbers places as they are found.
type register struct {
	entries []entry
	// head has the last entry for each state: numbers from 1, 0 for none.
	head []uint32
}

// entry is a place with a number, and the entry before it for the same state.
type entry struct {
	place
	before uint32
}

func (r *register) find(p place) uint32 {
	for n := r.head[p.id]; n != 0; n = r.entries[n-1].before {
		if r.entries[n-1].mode == p.mode {
			return n - 1
		}
	}
	r.entries = append(r.entries, entry{p, r.head[p.id]})
	r.head[p.id] = uint32(len(r.entries))
	return uint32(len(r.entries) - 1)
}

func (r *register) at(n uint32) place { return r.entries[n].place }

func (r *register) len() int { return len(r.entries) }
