package ltl

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Fairness is what is assumed of runs. Strategies that are declared unfair are left out of it.
type Fairness uint8

const (
	// Weak fairness: a step that stays possible from some point on is taken again and again, and so is a timer that may fire again
	// and again: it stays set until it does.
	Weak Fairness = iota
	// Strong fairness: a step that is possible again and again is taken again and again.
	Strong
	// Unfair assumes nothing: a run may also stay for ever in any state.
	Unfair
)

// String names the kind of runs.
func (f Fairness) String() string {
	switch f {
	case Weak:
		return "weakly fair run"
	case Strong:
		return "strongly fair run"
	}
	return "run, fair or not"
}

// assumption says what is assumed of runs, empty if it is what is assumed everywhere.
func (f Fairness) assumption() string {
	switch f {
	case Strong:
		return "What is possible again and again is eventually done (strong fairness)."
	case Unfair:
		return "Nothing need ever be done: runs that are not fair count, too."
	}
	return ""
}

// inFlight tells whether a step is one of a reconcile in flight.
func inFlight(s core.Step) bool { return s.Kind == core.Ask || s.Kind == core.Return }

// waiting returns the steps that would begin what waits in a queue of a state, but cannot as the workers are
// busy. They count as possible: queues are first in, first out, so that nobody waits for ever while others are
// served. What never is in flight itself waits for no worker, and what is in flight waits for its own run.
func waiting(g core.Graph, id core.StateID) []core.Step {
	s := g.State(id)
	busy := s.InFlight()
	var steps []core.Step
	for _, item := range s.Work() {
		if slices.Contains(busy, item) {
			continue
		}
		if slices.ContainsFunc(busy, func(other core.Item) bool { return other.Strategy == item.Strategy }) {
			steps = append(steps, core.Step{Kind: core.Begin, Item: item})
		}
	}
	edges := g.Edges(id)
	return slices.DeleteFunc(steps, func(s core.Step) bool {
		return slices.ContainsFunc(edges, func(e core.Edge) bool { return e.Step == s })
	})
}

// part is a strongly connected part of a product, with at least one step inside.
type part struct {
	nodes []uint32
	has   func(uint32) bool
}

// fairness finds parts of a product in which a fair run can stay that is accepted.
type fairness struct {
	*product
	strong bool
	// able counts in how many places of a part a fair step can be taken, taken tells whether it is taken inside;
	// both by step. seen are the steps that were counted.
	able  []int
	taken []bool
	seen  []int
	// untaken is how many fair steps there are that are not taken inside.
	untaken int
}

// parts calls accept with the parts of a part in which a fair run can pass through every place and come by every
// mark again and again. With weak fairness of a step, that is all of it or nothing: a step that is possible everywhere and never
// taken inside is so in every part. With strong fairness, a step that is never taken inside must never be possible, so
// the places in which it is are left out, and what remains is searched (Emerson and Lei, Modalities for model checking,
// 1987).
func (f *fairness) parts(whole part, accept func(nodes []uint32)) {
	var marks uint64
	f.count(whole, &marks)
	neglected, hopeless := map[int]bool{}, false
	for _, step := range f.seen {
		switch {
		case f.taken[step]:
		case f.recurs(step, f.strong):
			neglected[step] = true
		default:
			hopeless = hopeless || f.able[step] == len(whole.nodes)
		}
		f.able[step], f.taken[step] = 0, false
	}
	f.seen = f.seen[:0]
	switch {
	case marks != f.automaton.marks || hopeless:
	case len(neglected) == 0:
		accept(whole.nodes)
	default:
		f.without(whole, neglected, accept)
	}
}

// recurs tells whether a step that is possible again and again is taken again and again, as all are with strong fairness. A timer
// that is set is always due later on, and only waits while controllers have something else to do.
func (r *reading) recurs(step int, strong bool) bool {
	return strong || r.steps[step].Kind == core.Fire
}

// count counts the fair steps of a part and gathers the marks on its steps.
func (f *fairness) count(whole part, marks *uint64) {
	if f.able == nil {
		f.able, f.taken = make([]int, len(f.steps)), make([]bool, len(f.steps))
	}
	f.untaken = 0
	for i := range f.steps {
		if f.steps[i].fair {
			f.untaken++
		}
	}
	for _, node := range whole.nodes {
		if *marks == f.automaton.marks && f.untaken == 0 {
			return // whatever comes, no step is neglected
		}
		from := f.at(node)
		row := f.row(from.id)
		var m move
		for at := 0; at < len(row); {
			at = m.next(row, at)
			step := f.labels[m.label].step
			fair := f.steps[step].fair
			if fair {
				if f.able[step]++; f.able[step] == 1 {
					f.seen = append(f.seen, step)
				}
			}
			if f.labels[m.label].waits {
				continue
			}
			for _, arc := range f.read(f.letterAt(from.id, m.label), from.mode).arcs {
				if *marks|arc.marks == *marks && (f.taken[step] || !fair) {
					continue // nothing new
				}
				if whole.has(f.find(place{m.to, uint32(arc.to)})) {
					*marks |= arc.marks
					if fair && !f.taken[step] {
						f.taken[step] = true
						f.untaken--
					}
				}
			}
		}
	}
}

// without goes on with what is left of a part when the places are left out in which one of some steps is possible.
func (f *fairness) without(whole part, neglected map[int]bool, accept func([]uint32)) {
	r := &remainder{product: f.product, local: map[uint32]uint32{}}
	for _, node := range whole.nodes {
		avoids := true
		f.enabled(f.at(node).id, func(step int) { avoids = avoids && !neglected[step] })
		if avoids {
			r.local[node] = uint32(len(r.nodes))
			r.nodes = append(r.nodes, node)
		}
	}
	// The remainder is a part of what was searched already, so nothing ends this early.
	_ = components(context.Background(), r, func(c component) bool {
		if !c.moves {
			return true
		}
		nodes := make([]uint32, len(c.nodes))
		for i, n := range c.nodes {
			nodes[i] = r.nodes[n]
		}
		f.parts(part{nodes, func(node uint32) bool {
			n, remains := r.local[node]
			return remains && c.has(n)
		}}, accept)
		return true
	})
}

// remainder is some places of a product, numbered anew.
type remainder struct {
	*product
	nodes []uint32
	local map[uint32]uint32
	begun int
}

func (r *remainder) root() (uint32, bool) {
	r.begun++
	return uint32(r.begun - 1), r.begun <= len(r.nodes)
}

func (r *remainder) next(node uint32, c *cursor) (uint32, bool) {
	for to, more := r.cross(r.nodes[node], c); more; to, more = r.cross(r.nodes[node], c) {
		if n, remains := r.local[to.node]; remains {
			return n, true
		}
	}
	return 0, false
}
