package explore

import (
	"cmp"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// lineage is a list of the parents of states. States are mostly found in the order of their parents: so it tells how much
// further on a parent is than the one before, in a byte each.
type lineage struct {
	steps pages[uint8]
	// anchors are the parents of one state of every so many, and leaps those that are no step further on.
	anchors pages[core.StateID]
	leaps   []leap
	last    core.StateID
}

// leap is the parent of a state, if it is less than the one before, or much more.
type leap struct{ id, parent core.StateID }

const (
	// anchorEvery is how many states there are to an anchor.
	anchorEvery = 16
	// leapt marks a leap among the steps.
	leapt = 1<<8 - 1
)

func (l *lineage) len() int { return l.steps.len }

func (l *lineage) add(parent core.StateID) {
	id := core.StateID(l.len())
	step := uint8(leapt)
	switch {
	case id%anchorEvery == 0:
		l.anchors.add(parent)
		step = 0
	case parent >= l.last && parent-l.last < leapt:
		step = uint8(parent - l.last)
	default:
		l.leaps = append(l.leaps, leap{id: id, parent: parent})
	}
	l.steps.add(step)
	l.last = parent
}

// at returns the parent of a state.
func (l *lineage) at(id core.StateID) core.StateID {
	parent := l.anchors.at(int(id / anchorEvery))
	for i := id/anchorEvery*anchorEvery + 1; i <= id; i++ {
		if step := l.steps.at(int(i)); step != leapt {
			parent += core.StateID(step)
		} else {
			parent = l.leap(i)
		}
	}
	return parent
}

func (l *lineage) leap(id core.StateID) core.StateID {
	i, _ := slices.BinarySearchFunc(l.leaps, id, func(a leap, id core.StateID) int { return cmp.Compare(a.id, id) })
	return l.leaps[i].parent
}
