package state

// Value is one value of a cell's domain. 0 means nothing.
type Value uint32

// Vector holds the value of every cell. It may be shorter than the vocabulary: the
// cells beyond its end are 0.
type Vector []Value

// AppendRow appends the packed form of the vector: each value as a base-128 number,
// without the zeros at the end. Equal states have equal rows.
func (v Vector) AppendRow(row []byte) []byte {
	n := len(v)
	for n > 0 && v[n-1] == 0 {
		n--
	}
	for _, value := range v[:n] {
		for value >= 0x80 {
			row = append(row, byte(value)|0x80)
			value >>= 7
		}
		row = append(row, byte(value))
	}
	return row
}

// ReadRow unpacks a row into the vector, which must be long enough for it, and
// sets the cells beyond the row to 0. It returns how many cells the row has: if as many as bytes, each has one.
func (v Vector) ReadRow(row []byte) (cells int) {
	cell := 0
	for i := 0; i < len(row); cell++ {
		b := row[i]
		i++
		value := Value(b)
		if b >= 0x80 {
			value &= 0x7f
			for shift := 7; ; shift += 7 {
				b = row[i]
				i++
				value |= Value(b&0x7f) << shift
				if b < 0x80 {
					break
				}
			}
		}
		v[cell] = value
	}
	clear(v[cell:])
	return cell
}

// Value returns the value of a cell.
func (v Vector) Value(c Cell) Value {
	if int(c) >= len(v) {
		return 0
	}
	return v[c]
}

// Touch is a cell that a step looked at or changed, with the value that it had before.
type Touch struct {
	Cell Cell
	Was  Value
}

// Touches reports whether a cell was touched.
func Touches(touched []Touch, c Cell) bool {
	for i := range touched {
		if touched[i].Cell == c {
			return true
		}
	}
	return false
}
