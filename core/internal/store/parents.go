package store

import (
	"cmp"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// parents is a list of the parents of states, as deltas. States are mostly found in the order of their parents: so it tells how much
// further on a parent is than the one before, in a byte each.
type parents struct {
	deltas Pages[uint8]
	// anchors are the parents of one state of every so many, and jumps those that are no step further on.
	anchors Pages[core.StateID]
	jumps   []jump
	last    core.StateID
}

// jump is the parent of a state, if it is less than the one before, or much more.
type jump struct{ id, parent core.StateID }

const (
	// anchorEvery is how many states there are to an anchor.
	anchorEvery = 16
	// jumped marks a jump among the deltas.
	jumped = 1<<8 - 1
)

func (p *parents) len() int { return p.deltas.Len() }

func (p *parents) add(parent core.StateID) {
	id := core.StateID(p.len())
	delta := uint8(jumped)
	switch {
	case id%anchorEvery == 0:
		p.anchors.Add(parent)
		delta = 0
	case parent >= p.last && parent-p.last < jumped:
		delta = uint8(parent - p.last)
	default:
		p.jumps = append(p.jumps, jump{id: id, parent: parent})
	}
	p.deltas.Add(delta)
	p.last = parent
}

// at returns the parent of a state.
func (p *parents) at(id core.StateID) core.StateID {
	parent := p.anchors.At(int(id / anchorEvery))
	for i := id/anchorEvery*anchorEvery + 1; i <= id; i++ {
		if delta := p.deltas.At(int(i)); delta != jumped {
			parent += core.StateID(delta)
		} else {
			parent = p.jump(i)
		}
	}
	return parent
}

func (p *parents) jump(id core.StateID) core.StateID {
	i, _ := slices.BinarySearchFunc(p.jumps, id, func(a jump, id core.StateID) int { return cmp.Compare(a.id, id) })
	return p.jumps[i].parent
}
