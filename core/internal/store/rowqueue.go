package store

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/orrery-dev/orrery/core"
)

// rowQueue is a list of encodings that loses its first ones while more are added behind.
type rowQueue struct {
	blocks []*block
	// len is how many rows were ever added, and first the first one that is not dropped.
	len, first core.StateID
	// spare is a block that is not used, if there is one.
	spare *block
}

// block holds some of the rows one behind the other, each after its length.
type block struct {
	first core.StateID
	// marks are where every so many rows begin.
	marks []uint32
	rows  []byte
}

const (
	blockBytes = 1 << 18
	// markEvery is how many rows there are to a mark.
	markEvery = 8
)

// add adds a row of up to maxEncoded bytes.
func (q *rowQueue) add(row []byte) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last].rows)+binary.MaxVarintLen32+len(row) > blockBytes {
		q.blocks = append(q.blocks, q.empty())
		last++
	}
	b := q.blocks[last]
	if (q.len-b.first)%markEvery == 0 {
		b.marks = append(b.marks, uint32(len(b.rows)))
	}
	b.rows = binary.AppendUvarint(b.rows, uint64(len(row)))
	b.rows = append(b.rows, row...)
	q.len++
}

// empty returns a block for the rows from the next one on.
func (q *rowQueue) empty() *block {
	b := q.spare
	q.spare = nil
	if b == nil {
		b = &block{rows: make([]byte, 0, blockBytes)}
	}
	b.first = q.len
	return b
}

// row returns a row, which must not be changed; nil if it was dropped.
func (q *rowQueue) row(id core.StateID) []byte {
	if id < q.first {
		return nil
	}
	b := q.blocks[sort.Search(len(q.blocks), func(i int) bool { return q.blocks[i].first > id })-1]
	rows := b.rows[b.marks[(id-b.first)/markEvery]:]
	for skip := (id - b.first) % markEvery; ; skip-- {
		length, n := binary.Uvarint(rows)
		end := n + int(length)
		if skip == 0 {
			return rows[n:end:end]
		}
		rows = rows[end:]
	}
}

// drop drops the rows before one.
func (q *rowQueue) drop(id core.StateID) {
	q.first = id
	for len(q.blocks) > 0 && (len(q.blocks) > 1 && q.blocks[1].first <= id || q.len <= id) {
		b := q.blocks[0]
		q.blocks = slices.Delete(q.blocks, 0, 1)
		b.rows, b.marks = b.rows[:0], b.marks[:0]
		q.spare = b
	}
}
