package explore

import "sync/atomic"

// batchLen is how many states at most are expanded before what was found is stored.
const batchLen = 2048

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

// loose tells whether steps lead to states that were not found.
func (b *batch) loose() bool {
	for i := range b.filled() {
		if b.portions[i].loose {
			return true
		}
	}
	return false
}

// filled returns how many portions the batch has.
func (b *batch) filled() int { return (len(b.states) + portionLen - 1) / portionLen }

// labour expands portions of the batch, one of some workers, until all are taken.
func (b *batch) labour(s *scout, workers int) {
	for {
		begin, end := b.grab(workers)
		if begin == end {
			return
		}
		for i := begin; i < end; i++ {
			first := i * portionLen
			s.fill(&b.portions[i], b.states[first:min(first+portionLen, len(b.states))], b.bound)
		}
	}
}

// grab takes some of the portions that nobody has taken. States that are next to each other lead to the same states, so at first
// it takes many; and in the end one at a time, so that all workers are done together.
func (b *batch) grab(workers int) (begin, end int) {
	for {
		next := b.next.Load()
		begin = int(next)
		left := b.filled() - begin
		end = begin + min(max(left/(2*workers), 1), left)
		if b.next.CompareAndSwap(next, int64(end)) {
			return begin, end
		}
	}
}
