package state

import (
	"encoding/binary"
	"iter"
)

// AppendSigned appends an object that a list shows to the signature of the list.
func AppendSigned(signature []byte, c Cell, value Value) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(signature, uint64(c)), uint64(value))
}

// Signed returns the objects that a list shows, by the signature of the list.
func Signed(signature string) iter.Seq2[Cell, Value] {
	return func(yield func(Cell, Value) bool) {
		for rest := []byte(signature); len(rest) > 0; {
			c, n := binary.Uvarint(rest)
			value, m := binary.Uvarint(rest[n:])
			if rest = rest[n+m:]; !yield(Cell(c), Value(value)) {
				return
			}
		}
	}
}
