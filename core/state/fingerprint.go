package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Fingerprint is a 128-bit hash of a state: the exclusive or of the prints of its
// cells that are not 0. It depends on the contents alone, not on the order in which
// cells and values were met, so it is the same in every search of a system.
type Fingerprint struct{ Hi, Lo uint64 }

// Toggle adds a print to the fingerprint, or takes it out again.
func (f *Fingerprint) Toggle(print Fingerprint) {
	f.Hi ^= print.Hi
	f.Lo ^= print.Lo
}

// String returns the fingerprint as 32 hexadecimal digits.
func (f Fingerprint) String() string { return fmt.Sprintf("%016x%016x", f.Hi, f.Lo) }

// printOf returns the print of a value in a cell, from the texts that identify
// them.
func printOf(cell, value string) Fingerprint {
	h := sha256.New()
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(cell)))
	h.Write(length[:])
	h.Write([]byte(cell))
	h.Write([]byte(value))
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return Fingerprint{
		Hi: binary.LittleEndian.Uint64(sum[:8]),
		Lo: binary.LittleEndian.Uint64(sum[8:16]),
	}
}
