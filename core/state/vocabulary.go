package state

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Cell numbers a cell of a vocabulary, from 0 in the order of discovery.
type Cell uint32

// The values of an item's cell are sets of these marks.
const (
	// Queued marks an item that is in its controller's work queue.
	Queued Value = 1 << iota
	// Timed marks an item that asked to be run again later.
	Timed

	itemValues = Queued | Timed
)

// Vocabulary interns cells and their values. It only grows. It may be read by
// several goroutines as long as nobody adds to it.
type Vocabulary struct {
	settle func(core.Key, core.Content) core.Content

	objects map[core.Key]Cell
	items   map[core.Item]Cell
	kinds   map[core.Kind][]Cell // in the order of their keys
	cells   []cell
	// prints are the prints of every cell's values, apart from the cells because
	// the search reads nothing else of them.
	prints [][]Fingerprint
}

// cell is a cell with its domain.
type cell struct {
	identity string
	key      core.Key  // of an object
	item     core.Item // of an item
	isObject bool

	contents []core.Content // by value; nil at 0
	settled  []Value        // by value: its canonical form; the value itself if it is canonical
	values   map[string]Value
}

// NewVocabulary returns an empty vocabulary. The function brings a content to its
// canonical form, as [core.Store.Settle] does.
func NewVocabulary(settle func(core.Key, core.Content) core.Content) *Vocabulary {
	return &Vocabulary{
		settle:  settle,
		objects: map[core.Key]Cell{},
		items:   map[core.Item]Cell{},
		kinds:   map[core.Kind][]Cell{},
	}
}

// Cells returns the number of cells.
func (v *Vocabulary) Cells() int { return len(v.cells) }

func (v *Vocabulary) add(c cell) Cell {
	v.cells = append(v.cells, c)
	v.prints = append(v.prints, []Fingerprint{{}})
	return Cell(len(v.cells) - 1)
}

// Object returns the cell of an object, which it adds if it is new.
func (v *Vocabulary) Object(key core.Key) Cell {
	if c, known := v.objects[key]; known {
		return c
	}
	c := v.add(cell{
		identity: "object\x00" + string(key.Kind) + "\x00" + key.Namespace + "\x00" + key.Name,
		key:      key,
		isObject: true,
		contents: []core.Content{nil},
		settled:  []Value{0},
		values:   map[string]Value{},
	})
	v.objects[key] = c
	cells := v.kinds[key.Kind]
	at, _ := slices.BinarySearchFunc(cells, key, func(c Cell, key core.Key) int { return v.cells[c].key.Compare(key) })
	v.kinds[key.Kind] = slices.Insert(cells, at, c)
	return c
}

// Item returns the cell of an item, which it adds if it is new.
func (v *Vocabulary) Item(item core.Item) Cell {
	if c, known := v.items[item]; known {
		return c
	}
	c := v.add(cell{identity: "item\x00" + item.Strategy + "\x00" + string(item.Request), item: item})
	for value := Value(1); value <= itemValues; value++ {
		v.prints[c] = append(v.prints[c], printOf(v.cells[c].identity, string(rune('0'+value))))
	}
	v.items[item] = c
	return c
}

// Intern returns the value of a content in an object's cell, which it adds if it is
// new. A nil content is 0.
func (v *Vocabulary) Intern(c Cell, content core.Content) Value {
	if content == nil {
		return 0
	}
	canonical := content.Canonical()
	if value, known := v.cells[c].values[canonical]; known {
		return value
	}
	value := Value(len(v.cells[c].contents))
	domain := &v.cells[c]
	domain.values[canonical] = value
	domain.contents = append(domain.contents, content)
	domain.settled = append(domain.settled, value)
	v.prints[c] = append(v.prints[c], printOf(domain.identity, canonical))
	if settled := v.settle(domain.key, content); settled.Canonical() != canonical {
		// The canonical form may be new, too: v.cells does not move, but the domain does grow.
		target := v.Intern(c, settled)
		v.cells[c].settled[value] = target
	}
	return value
}

// Key returns the key of an object's cell, and false for the cell of an item.
func (v *Vocabulary) Key(c Cell) (core.Key, bool) { return v.cells[c].key, v.cells[c].isObject }

// ItemAt returns the item of an item's cell.
func (v *Vocabulary) ItemAt(c Cell) core.Item { return v.cells[c].item }

// Content returns the content that a value stands for in an object's cell, nil for 0.
func (v *Vocabulary) Content(c Cell, value Value) core.Content { return v.cells[c].contents[value] }

// Settled returns the canonical form of a value, and the value itself in the cell
// of an item.
func (v *Vocabulary) Settled(c Cell, value Value) Value {
	if settled := v.cells[c].settled; settled != nil {
		return settled[value]
	}
	return value
}

// Print returns the print of a value in a cell.
func (v *Vocabulary) Print(c Cell, value Value) Fingerprint { return v.prints[c][value] }

// Fingerprint returns the fingerprint of a state.
func (v *Vocabulary) Fingerprint(vector Vector) Fingerprint {
	var f Fingerprint
	for c, value := range vector {
		if value != 0 {
			f.Toggle(v.prints[c][value])
		}
	}
	return f
}

// Kind returns the cells of the objects of a kind, in the order of their keys. The
// slice must not be changed.
func (v *Vocabulary) Kind(kind core.Kind) []Cell { return v.kinds[kind] }

// Lookup returns the cell of an object, and false if it was never met.
func (v *Vocabulary) Lookup(key core.Key) (Cell, bool) {
	c, known := v.objects[key]
	return c, known
}
