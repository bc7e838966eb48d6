package explore

import (
	"math/bits"
	"slices"
)

// digests is an index by tags alone: a state with the tag of another one is taken for it.
//
// It is a number of tables, one for each way in which a tag can begin. A table holds tags in their order, each where it would be
// if tags were spread evenly, or as near behind as there is room: finding one is to go on from there until a tag is not less. As the order
// stays when a table gets longer, that needs no other memory than what is added.
type digests struct {
	tables [1 << digestTableBits]digestTable
}

const (
	digestTableBits = 6
	// digestPage is how many digests a page holds, and digestMargin how many of a table's are left for those that are put off at its end.
	digestPage   = 1 << 10
	digestMargin = 1 << 6
)

// digest is an entry: a tag in two halves, so that it takes no more than 12 bytes, and the number of its state from 1 on; 0 is empty.
type digest struct{ high, low, number uint32 }

func (d *digest) tag() uint64 { return uint64(d.high)<<32 | uint64(d.low) }

// digestTable is a part of the index.
type digestTable struct {
	pages []*[digestPage]digest
	count int
}

// of returns the table of a tag.
func (d *digests) of(tag uint64) *digestTable { return &d.tables[tag>>(64-digestTableBits)] }

func (d *digests) find(tag uint64, _ []byte) (ref, bool) {
	t := d.of(tag)
	if i := t.seek(tag); i < t.len() {
		if there := t.at(i); there.number != 0 && there.tag() == tag {
			return ref(there.number - 1), true
		}
	}
	return 0, false
}

func (d *digests) fetch(arrivals []arrival) {
	for i := range arrivals {
		a := &arrivals[i]
		if t := d.of(a.tag); len(t.pages) > 0 {
			a.near = t.at(t.home(a.tag)).number == 0
		}
	}
}

func (d *digests) add(tag uint64, r ref) {
	t := d.of(tag)
	if t.count >= t.len()/8*7 {
		t.grow()
	}
	over := t.insert(digest{high: uint32(tag >> 32), low: uint32(tag), number: uint32(r) + 1})
	for over.number != 0 {
		t.grow()
		over = t.insert(over)
	}
	t.count++
}

// growth implements [index]: no table is large, and none gets much larger at once.
func (d *digests) growth() int64 { return 0 }

func (t *digestTable) len() int { return len(t.pages) * digestPage }

func (t *digestTable) at(i int) *digest { return &t.pages[i/digestPage][i%digestPage] }

// home returns where a tag belongs.
func (t *digestTable) home(tag uint64) int {
	high, _ := bits.Mul64(tag<<digestTableBits, uint64(t.len()-digestMargin))
	return int(high)
}

// seek returns where a tag is, or else where it would have to be put.
func (t *digestTable) seek(tag uint64) int {
	if len(t.pages) == 0 {
		return 0
	}
	i := t.home(tag)
	for i < t.len() {
		rest := t.pages[i/digestPage][i%digestPage:]
		for j := range rest {
			if there := &rest[j]; there.number == 0 || there.tag() >= tag {
				return i + j
			}
		}
		i += len(rest)
	}
	return i
}

// insert enters a digest that is not there yet, and puts those off that are in the way. It returns the one for which there is no
// room behind them, if there is one.
func (t *digestTable) insert(d digest) digest {
	for i := t.seek(d.tag()); i < t.len() && d.number != 0; i++ {
		there := t.at(i)
		d, *there = *there, d
	}
	return d
}

// grow makes the table longer by an eighth.
func (t *digestTable) grow() {
	for range len(t.pages)/8 + 1 {
		t.pages = append(t.pages, new([digestPage]digest))
	}
	for !t.spread() {
		t.pages = append(t.pages, new([digestPage]digest))
	}
}

// spread puts all digests where they belong, and returns false if they do not fit so.
func (t *digestTable) spread() bool {
	// First they are packed at the end, and then taken from there one after the other.
	packed := t.len()
	for _, page := range slices.Backward(t.pages) {
		for i := digestPage - 1; i >= 0; i-- {
			if d := page[i]; d.number != 0 {
				packed--
				page[i] = digest{}
				*t.at(packed) = d
			}
		}
	}
	free := 0
	for ; packed < t.len(); packed++ {
		d := *t.at(packed)
		to := max(t.home(d.tag()), free)
		if to > packed {
			return false
		}
		*t.at(packed) = digest{}
		*t.at(to) = d
		free = to + 1
	}
	return true
}
