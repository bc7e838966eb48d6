package store

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// trees keeps encodings as trees of shared nodes (Laarman, van de Pol and Weber, "Parallel recursive state compression
// for free", SPIN 2011). An encoding is cut into words of 8 bytes. Each distinct word is a node of level 0, each
// distinct pair of nodes one of the next level, and the pair at the top is the root of the encoding: 8 bytes, whatever
// its length. Most states differ from others in few words, so there are far fewer nodes than states.
//
// A node is named by its level in 4 bits and its place there, counted from 1, in 28. The node 0 is zeros, of any
// length. As an encoding does not end in a zero, its length follows from its tree; and the height of the tree from its
// right half, which is not 0. So equal encodings have equal roots, and encodings can get longer while others stay as
// they are.
type trees struct{ levels [treeLevels]level }

const (
	wordBytes = 8
	// treeLevels is how many levels there can be below the root of the longest encoding.
	treeLevels = 13
	placeBits  = 28
	// mostNodes is how many nodes a level can have.
	mostNodes = 1<<placeBits - 1
)

// level holds the nodes of a level: words, or pairs.
type level struct {
	nodes words
	table table
	// next is the place of the next node, and most how many nodes there is room for in the table.
	next atomic.Uint32
	most uint32
	// before is what next was when room was made.
	before uint32
}

// folder is what a goroutine needs to make trees.
type folder struct {
	nodes []uint32
	// lacks is the level where there was no room for a node.
	lacks int
	// spare are places in the levels that were taken in vain, counted from 1.
	spare [treeLevels]uint32
}

// wordAt returns up to 8 bytes as a word.
func wordAt(b []byte) uint64 {
	switch n := len(b); {
	case n >= wordBytes:
		return binary.LittleEndian.Uint64(b)
	case n >= 4: // from both ends: where they overlap they are the same
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<(8*(n/2)) | uint64(b[n-1])<<(8*(n-1))
	}
	return 0
}

// fold returns the root of an encoding, and false if there is no room for its nodes. Several goroutines may call it,
// each with a folder of its own.
func (t *trees) fold(f *folder, encoded []byte) (root uint64, ok bool) {
	f.nodes = f.nodes[:0]
	for ; len(encoded) > 0; encoded = encoded[min(wordBytes, len(encoded)):] {
		n, ok := t.node(f, 0, wordAt(encoded))
		if !ok {
			f.lacks = 0
			return 0, false
		}
		f.nodes = append(f.nodes, n)
	}
	for l := 1; len(f.nodes) > 2; l++ {
		for i := 0; i < len(f.nodes); i += 2 {
			n, ok := t.node(f, l, pairAt(f.nodes, i))
			if !ok {
				f.lacks = l
				return 0, false
			}
			f.nodes[i/2] = n
		}
		f.nodes = f.nodes[:(len(f.nodes)+1)/2]
	}
	return pairAt(f.nodes, 0), true
}

// pairAt returns a pair of nodes; those that are missing are 0.
func pairAt(nodes []uint32, i int) uint64 {
	var left, right uint32
	if i < len(nodes) {
		left = nodes[i]
	}
	if i+1 < len(nodes) {
		right = nodes[i+1]
	}
	return uint64(left)<<32 | uint64(right)
}

// halves returns the nodes of a pair.
func halves(pair uint64) (left, right uint32) { return uint32(pair >> 32), uint32(pair) }

// node returns the node of a level that holds a word or a pair. It returns false if it is not there and there is no
// room for it.
func (t *trees) node(f *folder, number int, word uint64) (uint32, bool) {
	if word == 0 {
		return 0, true
	}
	l := &t.levels[number]
	if l.most == 0 {
		return 0, false
	}
	high, low := bits.Mul64(word, 0x9e3779b97f4a7c15)
	hash := uint32((high ^ low) >> 32)
	var own uint64
	for i := l.table.home(hash); ; i = l.table.after(i) {
		var entry uint64
		entry, i = l.table.next(hash, i)
		if entry == 0 {
			if own == 0 {
				place := f.spare[number]
				if place == 0 {
					place = l.next.Add(1)
					f.spare[number] = place
				}
				if place > l.most {
					return 0, false
				}
				l.nodes.put(place-1, word)
				own = entryOf(hash, Ref(place-1))
			}
			if entry = l.table.occupy(i, own); entry == own {
				f.spare[number] = 0
				return uint32(number)<<placeBits | uint32(own), true
			}
		}
		if place := uint32(entry); l.nodes.at(place-1) == word {
			return uint32(number)<<placeBits | place, true
		}
	}
}

// word returns what a node holds.
func (t *trees) word(node uint32) uint64 {
	return t.levels[node>>placeBits].nodes.at(node&mostNodes - 1)
}

// is reports whether a root is that of an encoding.
func (t *trees) is(root uint64, encoded []byte) bool {
	left, right := halves(root)
	if right == 0 {
		return len(encoded) <= wordBytes && t.holds(left, 0, encoded)
	}
	number := int(right >> placeBits)
	half := wordBytes << number
	if number == 0 && left != 0 { // as below, but shorter
		return len(encoded) > half && len(encoded) <= 2*half &&
			t.levels[0].nodes.at(left-1) == wordAt(encoded) && t.levels[0].nodes.at(right-1) == wordAt(encoded[half:])
	}
	return len(encoded) > half && len(encoded) <= 2*half && t.holds(left, number, encoded[:half]) && t.holds(right, number, encoded[half:])
}

// holds reports whether a node of a level holds a part of an encoding, and zeros behind it.
func (t *trees) holds(node uint32, number int, part []byte) bool {
	if node == 0 {
		for _, b := range part {
			if b != 0 {
				return false
			}
		}
		return true
	}
	word := t.word(node)
	if number == 0 {
		return word == wordAt(part)
	}
	left, right := halves(word)
	if half := wordBytes << (number - 1); len(part) > half {
		return t.holds(left, number-1, part[:half]) && t.holds(right, number-1, part[half:])
	}
	return right == 0 && t.holds(left, number-1, part)
}

// append appends the encoding of a root.
func (t *trees) append(row []byte, root uint64) []byte {
	begin := len(row)
	left, right := halves(root)
	number := int(right >> placeBits) // 0 if there is no right half
	row = t.unfold(t.unfold(row, left, number), right, number)
	for len(row) > begin && row[len(row)-1] == 0 {
		row = row[:len(row)-1]
	}
	return row
}

// unfold appends what a node of a level holds.
func (t *trees) unfold(row []byte, node uint32, number int) []byte {
	switch {
	case node == 0:
		for range 1 << number {
			row = binary.LittleEndian.AppendUint64(row, 0)
		}
		return row
	case number == 0:
		return binary.LittleEndian.AppendUint64(row, t.word(node))
	}
	left, right := halves(t.word(node))
	return t.unfold(t.unfold(row, left, number-1), right, number-1)
}

// short returns a level in use that lacks room for some more nodes, and for twice those that came since room was made
// before; nil if there is none.
func (t *trees) short() *level {
	const some = tablePageLen / 16
	for i := range t.levels {
		l := &t.levels[i]
		if next := l.next.Load(); l.most > 0 && l.most < mostNodes && next+max(some, 2*(next-l.before)) > l.most {
			return l
		}
	}
	return nil
}

// reserved notes that there is room now.
func (t *trees) reserved() {
	for i := range t.levels {
		t.levels[i].before = t.levels[i].next.Load()
	}
}

// growth returns how many bytes the next encoding may allocate at once.
func (t *trees) growth() int64 {
	growth := int64(0)
	for i := range t.levels {
		if l := &t.levels[i]; l.most > 0 && l.next.Load() >= l.most {
			growth += l.growth()
		}
	}
	return growth
}

// growth returns how many bytes it takes to make room for more nodes.
func (l *level) growth() int64 { return l.table.growth() }

// grow makes room for more nodes, and returns false if there cannot be more. Nobody may make trees meanwhile.
func (l *level) grow() bool {
	switch l.most {
	case mostNodes:
		return false
	case 0:
		l.table = newTable()
	default:
		l.table.grow()
	}
	l.most = uint32(min(l.table.most(), mostNodes))
	return true
}
