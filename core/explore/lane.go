package explore

import "encoding/binary"

// lane is where one goroutine writes records, in chunks of its own.
type lane struct {
	// records is the memory of the chunk at hand, number that of the chunk, and used how many bytes of it are.
	records      *[chunkBytes]byte
	number, used int
	// open are the chunks with records that are not settled, in their order, and mark is how much of the last of marked
	// chunks will be next.
	open         []int
	marked, mark int
	// claims is how many states were entered that are not counted yet, and room how many more may be.
	claims, room int
	// _ keeps lanes from sharing a line of a cache.
	_ [128]byte
}

// lane opens a lane for records that get their numbers later.
func (a *arena) lane() *lane {
	l := &lane{}
	a.lanes = append(a.lanes, l)
	return l
}

// write writes a record without a number, over the last one unless that is kept. It returns false if the arena is full or
// the row too long.
func (a *arena) write(l *lane, row []byte) (ref, bool) {
	if len(row) > maxRow || (l.records == nil || l.used+recordBytes(row) > chunkBytes) && !a.extend(l) {
		return 0, false
	}
	record := l.records[l.used:]
	binary.LittleEndian.PutUint32(record[4:], 0) // a longer row may have been here
	binary.LittleEndian.PutUint16(record[8:], uint16(len(row)))
	copy(record[headerBytes:], row)
	return ref((l.number*chunkBytes + l.used) / recordAlign), true
}

// extend goes on with another chunk. It returns false if the arena is full.
func (a *arena) extend(l *lane) bool {
	settled := 0
	if l == &a.own {
		settled = chunkBytes // its records get their numbers before anybody sees them
	}
	records, number := a.grow(settled)
	if records == nil {
		return false
	}
	l.records, l.number, l.used = records, number, 0
	if l != &a.own {
		l.open = append(l.open, number)
	}
	return true
}

// keep keeps the record that was written last.
func (l *lane) keep(row []byte) { l.used += recordBytes(row) }

// recordBytes returns the size of a record.
func recordBytes(row []byte) int {
	return (headerBytes + len(row) + recordAlign - 1) / recordAlign * recordAlign
}

// settle tells all who read which records have their numbers: all, or all that were there when it was called before. Nobody may read
// meanwhile.
func (a *arena) settle(all bool) {
	for _, l := range a.lanes {
		if all {
			l.marked, l.mark = len(l.open), l.used
		}
		if last := l.marked - 1; last >= 0 {
			for _, number := range l.open[:last] {
				a.chunks[number].settled = chunkBytes
			}
			a.chunks[l.open[last]].settled = l.mark
			l.open = append(l.open[:0], l.open[last:]...)
		}
		l.marked, l.mark = len(l.open), l.used
	}
}

// settled tells whether it is known that a record has its number.
func (a *arena) settled(r ref) bool {
	at := int(r) * recordAlign
	return at%chunkBytes < (*a.shown.Load())[at/chunkBytes].settled
}
