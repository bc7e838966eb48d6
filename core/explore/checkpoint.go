package explore

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/state"
)

// A search that was ended goes on from what its workers had found. What they find is a function of what is known by
// then, and all else happens in one goroutine in a fixed order. So a log of what they found, batch by batch, is enough
// to come to the same point again: the search is begun anew, and takes from the log what otherwise takes the workers
// most of the time. What was learned of controllers is learned again, by running the same code in the same order; so
// are footprints, sleep sets, provisos and searches that were begun again. See decision 73.

// Log keeps what searches note of themselves.
type Log interface {
	// Next returns the next entry of the search that goes on, nil if there are no more.
	Next() []byte
	// Add adds an entry.
	Add(entry []byte)
	// End tells that a search has ended, and whether it came to its end.
	End(complete bool)
}

// Checkpoint is what searches of one check note, one after the other, so that another check of the same system under
// the same options can go on where they ended. It is for one check.
type Checkpoint struct {
	log Log
	// next is the entry that is next, nil if the log has no more.
	next []byte
	// entry is the one in the making, of a batch.
	entry  []byte
	parent []byte
	// digest is one of all states that were stored so far, in their order.
	digest uint64
	// cut tells that a search did not come to its end: what comes after it is not noted.
	cut bool
}

// NewCheckpoint returns what a check notes in a log.
func NewCheckpoint(log Log) *Checkpoint { return &Checkpoint{log: log, next: log.Next()} }

// errDiverged ends a search that goes on from a log and finds something else than the log has.
var errDiverged = errors.New("the search does not go as the checkpoint says: a controller is not deterministic, or what it depends on outside of the system has changed. Check again without the checkpoint")

// The entries of a log.
const (
	searchEntry = iota + 1
	batchEntry
)

// The marks of an expansion in a log.
const (
	noted = 1 << iota // there are none at an expansion that was not complete
	notedReduced
	notedLevel
	notedQuiescent
	notedBack
)

// begin notes that a search begins.
func (c *Checkpoint) begin(s *search) error {
	if c == nil {
		return nil
	}
	c.digest = 0
	for id := range core.StateID(s.States()) {
		c.stored(s.Fingerprint(id).Lo)
	}
	entry := []byte{searchEntry, flag(s.options.Reducer != nil) | flag(s.checker != nil)<<1}
	entry = binary.AppendUvarint(entry, c.digest)
	switch {
	case c.cut:
		return nil
	case c.next != nil && !bytes.Equal(c.next, entry):
		return errDiverged
	case c.next != nil:
		c.next = c.log.Next()
	}
	c.log.Add(entry)
	return nil
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// end takes note that a search ends, and whether it was cut short.
func (c *Checkpoint) end(cut bool) {
	if c != nil {
		c.cut = c.cut || cut
		c.log.End(!cut)
	}
}

// stored takes note of a state that was stored, by the lower half of its fingerprint.
func (c *Checkpoint) stored(print uint64) {
	if c != nil {
		c.digest = (c.digest ^ print) * 0x9e3779b97f4a7c15
		c.digest ^= c.digest >> 29
	}
}

// replays reports whether the log has the next batch.
func (c *Checkpoint) replays() bool {
	return c != nil && !c.cut && len(c.next) > 0 && c.next[0] == batchEntry
}

// open begins the entry of a batch.
func (c *Checkpoint) open(s *search) {
	if c != nil {
		c.entry = append(c.entry[:0], batchEntry, flag(s.overlapping))
		c.entry = binary.AppendUvarint(c.entry, uint64(len(s.batch.states)))
	}
}

// close ends it. If the log has the batch, it must have come to the same.
func (c *Checkpoint) close(s *search) error {
	if c == nil || c.cut {
		return nil
	}
	for _, count := range []uint64{uint64(s.States()), uint64(s.Stats.Transitions), uint64(s.Stats.Terminal), uint64(len(s.quiescent)), c.digest} {
		c.entry = binary.AppendUvarint(c.entry, count)
	}
	if s.batch.replayed {
		if !bytes.Equal(c.entry, c.next) {
			return errDiverged
		}
		c.next = c.log.Next()
	}
	c.log.Add(c.entry)
	return nil
}

// skip notes an expansion that has nothing of the workers'.
func (c *Checkpoint) skip() {
	if c != nil {
		c.entry = append(c.entry, 0)
	}
}

// expansion begins to note the expansion of a state.
func (c *Checkpoint) expansion(s *search, of *chunk, e *expansion) *notes {
	if c == nil {
		return nil
	}
	n := &notes{Checkpoint: c, search: s, from: e.from, back: e.back}
	n.head = noted | flag(e.reduced)*notedReduced | flag(e.level)*notedLevel | flag(e.quiescent)*notedQuiescent
	n.steps, n.asleep = e.steps, of.agentsIn(e.asleep)
	return n
}

// notes is an expansion in the making.
type notes struct {
	*Checkpoint
	search *search
	from   core.StateID
	head   byte
	back   bool
	steps  int
	asleep []int

	successors []byte
	count      int
	unpacked   bool
}

// successor notes where a step leads: to a state that was new or not, in which agents are asleep.
func (n *notes) successor(id core.StateID, isNew bool, asleep []int) {
	if n == nil {
		return
	}
	s := n.search
	if !isNew && !s.sleeps.needed && !s.depths.needed {
		n.back = n.back || id <= n.from // which is all that matters of it
		return
	}
	n.count++
	if isNew {
		if !n.unpacked {
			n.parent = append(n.parent[:0], s.store.Encoded(s.store.At(n.from), nil)...)
			n.unpacked = true
		}
		n.successors = append(n.successors, 0)
		n.successors = appendDelta(n.successors, n.parent, s.store.Encoded(s.store.At(id), nil))
	} else {
		n.successors = binary.AppendUvarint(n.successors, uint64(id)+1)
	}
	if s.sleeps.needed {
		n.successors = appendAgents(n.successors, asleep)
	}
}

// done ends an expansion.
func (n *notes) done() {
	if n == nil {
		return
	}
	c := n.Checkpoint
	c.entry = append(c.entry, n.head|flag(n.back)*notedBack)
	c.entry = binary.AppendUvarint(c.entry, uint64(n.steps))
	if n.search.sleeps.needed {
		c.entry = appendAgents(c.entry, n.asleep)
	}
	c.entry = binary.AppendUvarint(c.entry, uint64(n.count))
	c.entry = append(c.entry, n.successors...)
}

func appendAgents(entry []byte, agents []int) []byte {
	entry = binary.AppendUvarint(entry, uint64(len(agents)))
	for _, agent := range agents {
		entry = binary.AppendUvarint(entry, uint64(agent))
	}
	return entry
}

// appendDelta appends a row as what is different from that of the state that leads there: how many bytes are the same
// in front and behind, and those in between.
func appendDelta(entry, parent, row []byte) []byte {
	most := min(len(parent), len(row))
	front := 0
	for front < most && parent[front] == row[front] {
		front++
	}
	behind := 0
	for behind < most-front && parent[len(parent)-1-behind] == row[len(row)-1-behind] {
		behind++
	}
	entry = binary.AppendUvarint(entry, uint64(front))
	entry = binary.AppendUvarint(entry, uint64(behind))
	entry = binary.AppendUvarint(entry, uint64(len(row)-front-behind))
	return append(entry, row[front:len(row)-behind]...)
}

// replay fills a batch with what the log says of it, as if workers had found it. It returns whether the next batch was
// taken before this one was merged.
func (c *Checkpoint) replay(s *search, b *batch) (overlapping bool, err error) {
	r := replayer{search: s, rest: c.next[1:]}
	overlapping = r.byte() == 1
	if r.number() != uint64(len(b.states)) {
		return false, errDiverged
	}
	for i := range b.chunksLen() {
		chunk := &b.chunks[i]
		chunk.successors, chunk.rows, chunk.agents, chunk.asleep = chunk.successors[:0], chunk.rows[:0], chunk.agents[:0], chunk.asleep[:0]
	}
	for i, w := range b.states {
		chunk, e := b.at(i)
		*e = expansion{from: w.id}
		if r.expansion(chunk, e); r.bad {
			return false, errDiverged
		}
	}
	b.replayed = true
	return overlapping, nil
}

// replayer reads the entry of a batch.
type replayer struct {
	*search
	rest   []byte
	vector state.Vector
	// bad tells that the entry is not one of this search.
	bad bool
}

func (r *replayer) number() uint64 {
	value, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return value
}

func (r *replayer) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	value := r.rest[0]
	r.rest = r.rest[1:]
	return value
}

// bytes returns so many bytes.
func (r *replayer) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	value := r.rest[:n]
	r.rest = r.rest[n:]
	return value
}

func (r *replayer) expansion(c *chunk, e *expansion) {
	head := r.byte()
	if head == 0 {
		return
	}
	e.begin = len(c.successors)
	e.complete, e.reduced, e.level = true, head&notedReduced != 0, head&notedLevel != 0
	e.quiescent, e.back = head&notedQuiescent != 0, head&notedBack != 0
	e.steps = int(r.number())
	if r.sleeps.needed {
		e.asleep = r.agents(c)
	}
	var parent []byte
	for count := r.number(); count > 0 && !r.bad; count-- {
		l := store.Lookup{}
		if known := r.number(); known > 0 {
			l.Found, l.Ref = true, store.Ref(known-1)
		} else if !r.bad {
			if parent == nil {
				parent = r.store.Encoded(r.store.At(e.from), nil)
			}
			r.delta(c, &l, parent)
		}
		if r.sleeps.needed {
			c.asleep = append(c.asleep, r.agents(c))
		}
		c.successors = append(c.successors, l)
	}
	e.end = len(c.successors)
}

// delta reads the row of a new state.
func (r *replayer) delta(c *chunk, l *store.Lookup, parent []byte) {
	front, behind := r.number(), r.number()
	between := r.bytes(r.number())
	if length := uint64(len(parent)); r.bad || front > length || behind > length-front {
		r.bad = true
		return
	}
	l.Begin = int32(len(c.rows))
	c.rows = append(c.rows, parent[:front]...)
	c.rows = append(c.rows, between...)
	c.rows = append(c.rows, parent[uint64(len(parent))-behind:]...)
	l.End = int32(len(c.rows))
	vector, print, known := r.machine.Vocabulary.Unpack(c.rows[l.Begin:l.End], r.vector)
	r.vector, l.Hash = vector, print.Lo
	r.bad = !known
}

// agents reads a list of agents.
func (r *replayer) agents(c *chunk) agentRange {
	begin := int32(len(c.agents))
	for count := r.number(); count > 0 && !r.bad; count-- {
		agent := r.number()
		if agent >= uint64(r.machine.Agents) {
			r.bad = true
			return agentRange{}
		}
		c.agents = append(c.agents, int(agent))
	}
	return agentRange{begin, int32(len(c.agents))}
}

// successorAt returns where a successor in a log is stored that was not new. The log may be of another search, so that
// it must be looked at.
func (s *search) successorAt(l *store.Lookup) (store.Ref, error) {
	switch {
	case !s.batch.replayed:
		return l.Ref, nil
	case int64(l.Ref) >= int64(s.States()):
		return 0, errDiverged
	}
	return s.store.At(core.StateID(l.Ref)), nil
}
