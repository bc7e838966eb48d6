package explore

import "sync/atomic"

// batchLen is how many states are expanded before what was found is stored.
const batchLen = 1024

// batch is a number of states that are expanded at once.
type batch struct {
	states   []waiting
	portions [batchLen / portionLen]portion
	// next is the number of the next portion that nobody has taken.
	next atomic.Int64
	// bound is the bound on depth, 0 if there is none.
	bound int
}

func newBatch(bound int) *batch { return &batch{states: make([]waiting, 0, batchLen), bound: bound} }

// take fills the batch with the next states of a frontier.
func (b *batch) take(f frontier) {
	b.states = f.take(b.states)
	b.next.Store(0)
}

// at returns the expansion of one of the states, and the portion that it is in.
func (b *batch) at(i int) (*portion, *expansion) {
	p := &b.portions[i/portionLen]
	return p, &p.expansions[i%portionLen]
}

// filled returns how many portions the batch has.
func (b *batch) filled() int { return (len(b.states) + portionLen - 1) / portionLen }

// labour expands portions of the batch until all are taken.
func (b *batch) labour(s *scout) {
	for {
		at := int(b.next.Add(1)) - 1
		begin := at * portionLen
		if begin >= len(b.states) {
			return
		}
		s.fill(&b.portions[at], b.states[begin:min(begin+portionLen, len(b.states))], b.bound)
	}
}
