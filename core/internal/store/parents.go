package store

import (
	"cmp"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// parents is a list of the parents of states, as deltas. A breadth-first search mostly finds states in the order of
// their parents: so it tells how much further on a parent is than the one before, in a byte each. Where that is not so,
// or parents change, it becomes a plain list.
type parents struct {
	deltas Pages[uint8]
	// anchors are the parents of one state of every so many, and jumps those that are no step further on.
	anchors Pages[core.StateID]
	jumps   []jump
	last    core.StateID
	// plain are the parents as they are, if isPlain is set.
	plain   Pages[core.StateID]
	isPlain bool
}

// jump is the parent of a state, if it is less than the one before, or much more.
type jump struct{ id, parent core.StateID }

const (
	// anchorEvery is how many states there are to an anchor.
	anchorEvery = 16
	// jumped marks a jump among the deltas.
	jumped = 1<<8 - 1
)

// mostJumps is of how many states one may be a jump: with more a plain list is shorter.
const mostJumps = 4

func (p *parents) len() int {
	if p.isPlain {
		return p.plain.Len()
	}
	return p.deltas.Len()
}

func (p *parents) add(parent core.StateID) {
	if p.isPlain {
		p.plain.Add(parent)
		return
	}
	id := core.StateID(p.len())
	delta := uint8(jumped)
	switch {
	case id%anchorEvery == 0:
		p.anchors.Add(parent)
	case parent-p.last < jumped: // one step back is a very long one further on
		delta = uint8(parent - p.last)
	default:
		p.jumps = append(p.jumps, jump{id: id, parent: parent})
	}
	p.deltas.Add(delta)
	p.last = parent
	if len(p.jumps) > p.len()/mostJumps+pageLen {
		p.makePlain()
	}
}

// put changes the parent of a state.
func (p *parents) put(id, parent core.StateID) {
	if !p.isPlain {
		p.makePlain()
	}
	p.plain.Put(int(id), parent)
}

// makePlain makes it a plain list.
func (p *parents) makePlain() {
	var plain Pages[core.StateID]
	for id := range core.StateID(p.len()) {
		plain.Add(p.at(id))
	}
	*p = parents{plain: plain, isPlain: true}
}

// at returns the parent of a state.
func (p *parents) at(id core.StateID) core.StateID {
	if p.isPlain {
		return p.plain.At(int(id))
	}
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
