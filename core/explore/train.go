package explore

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/orrery-dev/orrery/core"
)

// train is a list of rows that loses its first ones while more are added behind.
type train struct {
	cars []*car
	// len is how many rows were ever added, and first the first one that is not dropped.
	len, first core.StateID
	// spare is a car that is not used, if there is one.
	spare *car
}

// car holds some of the rows one behind the other, each after its length.
type car struct {
	first core.StateID
	// marks are where every so many rows begin.
	marks []uint32
	rows  []byte
}

const (
	carBytes = 1 << 18
	// markEvery is how many rows there are to a mark.
	markEvery = 8
)

// add adds a row of up to maxRow bytes.
func (t *train) add(row []byte) {
	last := len(t.cars) - 1
	if last < 0 || len(t.cars[last].rows)+binary.MaxVarintLen32+len(row) > carBytes {
		t.cars = append(t.cars, t.empty())
		last++
	}
	c := t.cars[last]
	if (t.len-c.first)%markEvery == 0 {
		c.marks = append(c.marks, uint32(len(c.rows)))
	}
	c.rows = binary.AppendUvarint(c.rows, uint64(len(row)))
	c.rows = append(c.rows, row...)
	t.len++
}

// empty returns a car for the rows from the next one on.
func (t *train) empty() *car {
	c := t.spare
	t.spare = nil
	if c == nil {
		c = &car{rows: make([]byte, 0, carBytes)}
	}
	c.first = t.len
	return c
}

// row returns a row, which must not be changed; nil if it was dropped.
func (t *train) row(id core.StateID) []byte {
	if id < t.first {
		return nil
	}
	c := t.cars[sort.Search(len(t.cars), func(i int) bool { return t.cars[i].first > id })-1]
	rows := c.rows[c.marks[(id-c.first)/markEvery]:]
	for skip := (id - c.first) % markEvery; ; skip-- {
		length, n := binary.Uvarint(rows)
		end := n + int(length)
		if skip == 0 {
			return rows[n:end:end]
		}
		rows = rows[end:]
	}
}

// drop drops the rows before one.
func (t *train) drop(id core.StateID) {
	t.first = id
	for len(t.cars) > 0 && (len(t.cars) > 1 && t.cars[1].first <= id || t.len <= id) {
		c := t.cars[0]
		t.cars = slices.Delete(t.cars, 0, 1)
		c.rows, c.marks = c.rows[:0], c.marks[:0]
		t.spare = c
	}
}
