package view

import (
	"encoding/binary"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// Change is one committed change of an object. From is 0 if it was created, To if it
// was deleted.
type Change struct {
	Cell     state.Cell
	From, To state.Value
}

// Backlog is what a view has yet to receive. Backlogs are never changed.
//
//  1. The From of a change is the To of the change of that cell before it, in both lists taken as
//     one.
//  2. It keeps as many received changes as the rule needs, and no more.
//  3. Under [Relist] each cell occurs once, in the order of keys.
type Backlog struct {
	// Waiting are the changes that were not delivered, in the order of their commits.
	Waiting []Change
	// received are the changes before those which a restart may undo, in the order of
	// their commits.
	received []Change
}

// trimmed returns the backlog without what the rule need not remember.
func (b Backlog) trimmed(r Rule) Backlog {
	keep := max(0, r.remembered()-len(b.Waiting))
	b.received = b.received[max(0, len(b.received)-keep):]
	return b
}

// with returns the backlog with a change committed, under a rule.
func (b Backlog) with(r Rule, change Change, keyOf func(state.Cell) core.Key) Backlog {
	if r.kind != relist {
		b.Waiting = append(slices.Clip(b.Waiting), change)
		return b.trimmed(r)
	}
	at, known := slices.BinarySearchFunc(b.Waiting, change.Cell, func(c Change, cell state.Cell) int {
		return keyOf(c.Cell).Compare(keyOf(cell))
	})
	b.Waiting = slices.Clone(b.Waiting)
	switch {
	case !known:
		b.Waiting = slices.Insert(b.Waiting, at, change)
	case b.Waiting[at].From == 0 && change.To == 0:
		// It came and went between two lists.
		b.Waiting = slices.Delete(b.Waiting, at, at+1)
	default:
		b.Waiting[at].To = change.To
	}
	return b
}

// delivered returns how many waiting changes one delivery takes, and the backlog after it.
func (b Backlog) delivered(r Rule) (int, Backlog) {
	n := min(1, len(b.Waiting))
	if r.kind == relist {
		n = len(b.Waiting)
	}
	after := Backlog{
		received: slices.Concat(b.received, b.Waiting[:n]),
		Waiting:  b.Waiting[n:],
	}
	return n, after.trimmed(r)
}

// oldest returns how many changes behind the store a restart may put the view.
func (b Backlog) oldest(r Rule) int {
	switch r.kind {
	case lag, ownWrites:
		return len(b.Waiting)
	case restart:
		return min(r.bound, len(b.received)+len(b.Waiting))
	}
	return 0 // a list shows the newest position
}

// restarted returns the backlog after a restart that put the view a number of changes behind.
func (b Backlog) restarted(r Rule, behind int) Backlog {
	all := slices.Concat(b.received, b.Waiting)
	at := len(all) - behind
	return Backlog{received: all[:at], Waiting: all[at:]}.trimmed(r)
}

// renamed returns the backlog with the versions of one object in their canonical forms.
func (b Backlog) renamed(cell state.Cell, normal *state.Normalization) Backlog {
	each := func(changes []Change) []Change {
		out := slices.Clone(changes)
		for i, c := range out {
			if c.Cell == cell {
				out[i].From, out[i].To = normal.Of(c.From), normal.Of(c.To)
			}
		}
		return out
	}
	return Backlog{Waiting: each(b.Waiting), received: each(b.received)}
}

// shown returns what the view shows of a cell that holds a value in the store.
func (b Backlog) shown(cell state.Cell, stored state.Value) state.Value {
	for _, c := range b.Waiting {
		if c.Cell == cell {
			return c.From
		}
	}
	return stored
}

// empty tells that there is nothing to tell the backlog from none.
func (b Backlog) empty() bool { return len(b.Waiting)+len(b.received) == 0 }

// identity returns a text that tells backlogs over the same vocabulary apart.
func (b Backlog) identity() string {
	text := binary.AppendUvarint(nil, uint64(len(b.received)))
	for _, changes := range [][]Change{b.received, b.Waiting} {
		for _, c := range changes {
			text = binary.AppendUvarint(text, uint64(c.Cell))
			text = binary.AppendUvarint(text, uint64(c.From))
			text = binary.AppendUvarint(text, uint64(c.To))
		}
	}
	return string(text)
}

// content returns a text that tells backlogs apart in every search: it is made of the
// prints of what they hold, not of numbers.
func (b Backlog) content(vocabulary *state.Vocabulary) string {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(b.received)))
	for _, changes := range [][]Change{b.received, b.Waiting} {
		for _, c := range changes {
			for _, value := range []state.Value{c.From, c.To} {
				print := vocabulary.Print(c.Cell, value)
				text = binary.LittleEndian.AppendUint64(text, print.Hi)
				text = binary.LittleEndian.AppendUint64(text, print.Lo)
			}
		}
	}
	return string(text)
}
