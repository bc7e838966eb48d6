package behavior

import (
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// Write is a committed change of one cell.
type Write struct {
	Cell state.Cell
	// Key is the object of the cell.
	Key core.Key
	To  state.Value
	// Unwatched tells that no strategy has to be told of the change.
	Unwatched bool
}

// Answered is what happens when a call is made in states that agree on the cells
// its answer was computed from.
type Answered struct {
	Edge   *Edge
	Writes []Write
	// Enqueue are the items that are put into work queues, and EnqueueAfter those for which a timer is set.
	Enqueue, EnqueueAfter []state.Cell
	// Lists tells that it was computed from a list.
	Lists bool
	// Turns tells that the answer is a list that may come in another order, which makes a difference to who is given
	// it.
	Turns bool
	// Reads are what the answer was computed from. They are kept for calls that may have been made at the same time as
	// others, and for those that read a cache which may lag behind.
	Reads []Read
}

// Effects reports whether the call itself changes anything, or puts anything into a work queue, now or later.
func (a *Answered) Effects() bool { return len(a.Writes)+len(a.Enqueue)+len(a.EnqueueAfter) > 0 }

// Read is one thing that was looked at to answer a call: a cell, or a part of its object; with Listed set,
// all objects of a kind in a namespace (empty for all); with Held set, who else holds which versions of
// the object of the cell.
type Read struct {
	Cell  state.Cell
	Value state.Value
	// Projection is the part of the object that counts, with its number as the value; nil if all of it does.
	Projection *state.Projection
	Listed     bool
	Held       bool
	Kind       core.Kind
	Namespace  string
	// Selection says which of the objects that are listed count, nil if all do.
	Selection *state.Selection
	// Signature identifies what a list showed, or what was held, see [Cells].
	Signature string
}

// branch is where a look-up goes on: to another probe, to an answer, or nowhere yet.
type branch struct {
	probe    *probe
	answered *Answered
}

// probe asks for the next thing that the answer depends on. What is asked next may depend on what
// was seen.
type probe struct {
	read        Read              // what is looked at; its value does not count
	byValue     state.Fan[branch] // by value of the cell
	bySignature map[string]branch // by signature of the list or of what is held
}

// Cells is how a caller sees the cells of a state: the store itself, or through a
// view that lags behind.
type Cells interface {
	// Value returns what the cell shows.
	Value(state.Cell) state.Value
	// Project returns the number of the part that the cell of an object shows, and false if it is not known.
	Project(*state.Projection, state.Cell) (state.Value, bool)
	// AppendSignature appends the signature of a list of what is selected, and returns false if it is not known what
	// is.
	AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool)
	// AppendHeld appends the signature of the versions of an object that are held besides
	// the one that is there.
	AppendHeld(buffer []byte, cell state.Cell) []byte
}

// Look returns what happens when the call is made in a state, nil if it was never
// made in one that agrees with it. The buffer is used for lists; it may be changed.
func (n *Node) Look(cells Cells, buffer []byte) *Answered {
	at := n.answers
	for at.probe != nil {
		p := at.probe
		switch {
		case p.read.Listed:
			signature, known := cells.AppendSignature(buffer[:0], p.read.Kind, p.read.Namespace, p.read.Selection)
			if !known {
				return nil
			}
			at = p.bySignature[string(signature)]
		case p.read.Projection != nil:
			shown, known := cells.Project(p.read.Projection, p.read.Cell)
			if !known {
				return nil
			}
			at = p.byValue.Get(shown)
		case p.read.Held:
			at = p.bySignature[string(cells.AppendHeld(buffer[:0], p.read.Cell))]
		default:
			at = p.byValue.Get(cells.Value(p.read.Cell))
		}
	}
	return at.answered
}

// Remember stores what happens when the call is made in states that show these
// reads, in this order. The error means that the store is not a function of what
// it reads through its snapshot.
func (n *Node) Remember(reads []Read, answered *Answered) error {
	answers, ok := n.answers.with(reads, answered)
	if !ok {
		return fmt.Errorf("the store computed the answer to %q from other reads than before: Store.Answer must depend on nothing but the call and what it reads from the snapshot", n.Call)
	}
	n.answers = answers
	return nil
}

func (b branch) with(reads []Read, answered *Answered) (branch, bool) {
	if len(reads) == 0 {
		return branch{answered: answered}, b.probe == nil
	}
	read, rest := reads[0], reads[1:]
	switch {
	case b.answered != nil:
		return b, false
	case b.probe == nil:
		b.probe = &probe{read: read}
	case !b.probe.read.Asks(read):
		return b, false
	}
	p := b.probe
	if read.Listed || read.Held {
		if p.bySignature == nil {
			p.bySignature = map[string]branch{}
		}
		next, ok := p.bySignature[read.Signature].with(rest, answered)
		p.bySignature[read.Signature] = next
		return b, ok
	}
	next, ok := p.byValue.Get(read.Value).with(rest, answered)
	p.byValue.Put(read.Value, next)
	return b, ok
}

// Question returns the read without what it saw.
func (r Read) Question() Read {
	r.Value, r.Signature = 0, ""
	return r
}

// Asks reports whether two reads look at the same thing, whatever they saw.
func (r Read) Asks(other Read) bool { return r.Question() == other.Question() }

// Covers reports whether the read looks at the cell of an object, or would if all objects of its kind were selected.
func (r Read) Covers(c state.Cell, key core.Key) bool {
	if !r.Listed {
		return r.Cell == c
	}
	return r.Kind == key.Kind && (r.Namespace == "" || r.Namespace == key.Namespace)
}

// commutes reports whether two calls on a path have nothing to do with each other, however they were answered: neither
// writes what the other one reads or writes. Then each is answered as it is whichever comes first, and both come to the
// same. What only one goroutine asks at a time is meant.
func (e *Edge) commutes(other *Edge) bool {
	if len(e.From.Turns)+len(other.From.Turns)+len(e.From.Parked)+len(other.From.Parked) > 0 {
		return false
	}
	return !e.disturbs(other) && !other.disturbs(e)
}

// disturbs reports whether the call writes what another one reads or writes.
func (e *Edge) disturbs(other *Edge) bool {
	disturbs := false
	e.From.Point().answers.each(func(a *Answered) { // however it was answered
		for _, write := range a.Writes {
			disturbs = disturbs || other.From.Point().answers.looksAt(write.Cell, write.Key)
			other.From.Point().answers.each(func(b *Answered) {
				disturbs = disturbs || slices.ContainsFunc(b.Writes, func(w Write) bool { return w.Cell == write.Cell })
			})
		}
	})
	return disturbs
}

// looksAt reports whether some answer was computed from the cell of an object.
func (b branch) looksAt(cell state.Cell, key core.Key) bool {
	if b.probe == nil {
		return false
	}
	if b.probe.read.Covers(cell, key) {
		return true
	}
	for next := range b.probe.byValue.All() {
		if next.looksAt(cell, key) {
			return true
		}
	}
	for _, next := range b.probe.bySignature {
		if next.looksAt(cell, key) {
			return true
		}
	}
	return false
}

// Most raises counts to the most changes of each kind that a run through the tree below the node may commit.
func (n *Node) Most(counts map[core.Kind]int) { n.most(map[core.Kind]int{}, counts) }

// most does the same behind so many changes.
func (n *Node) most(before, counts map[core.Kind]int) {
	for _, at := range n.variants {
		at.most(before, counts)
	}
	if n.Chance != nil {
		for _, way := range n.Chance.Ways {
			if way.Node != n {
				way.Node.mostOf(before, counts)
			}
		}
	}
	n.mostOf(before, counts)
}

// mostOf does the same for what the node itself stands for.
func (n *Node) mostOf(before, counts map[core.Kind]int) {
	turns := n.Turns
	if turns == nil {
		turns = []*Node{n}
	}
	for _, at := range turns {
		commits := map[*Edge]map[core.Kind]int{}
		at.answers.each(func(a *Answered) {
			if of := a.kinds(); of != nil {
				commits[a.Edge] = raise(commits[a.Edge], of)
			}
		})
		for _, edge := range at.edges {
			after := before
			if of := commits[edge]; of != nil {
				after = maps.Clone(before)
				for kind, more := range of {
					after[kind] += more
				}
				raise(counts, after)
			}
			edge.To.most(after, counts)
		}
	}
}

// each shows all answers of a branch.
func (b branch) each(show func(*Answered)) {
	if b.answered != nil {
		show(b.answered)
	}
	if b.probe == nil {
		return
	}
	for next := range b.probe.byValue.All() {
		next.each(show)
	}
	for _, next := range b.probe.bySignature {
		next.each(show)
	}
}

// kinds counts the changes, nil if there are none.
func (a *Answered) kinds() map[core.Kind]int {
	var counts map[core.Kind]int
	for _, write := range a.Writes {
		if counts == nil {
			counts = map[core.Kind]int{}
		}
		counts[write.Key.Kind]++
	}
	return counts
}

// raise raises counts to others that are higher, and returns them.
func raise(counts, to map[core.Kind]int) map[core.Kind]int {
	if counts == nil {
		counts = map[core.Kind]int{}
	}
	for kind, n := range to {
		counts[kind] = max(counts[kind], n)
	}
	return counts
}
