package state

import (
	"encoding/binary"
	"slices"
	"strings"

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
	// Behind marks an item with a timer for whose runs a long time has not passed yet that has passed for others.
	Behind

	// longShift is below the bits of longMask, which are those of a number, see [Value.Long].
	longShift       = 3
	longMask  Value = MostLong << longShift

	itemValues = Queued | Timed | Behind | longMask
	// markBits is how many bits the marks take. What is above them is the number of the point where the item's
	// run is parked, 0 if it is not in flight.
	markBits = 5
)

// MostLong is how many lengths of timers are told apart.
const MostLong = 3

// Long returns how long the timer of an item is set for, as a number from 0 for any time on.
func (v Value) Long() int { return int(v & longMask >> longShift) }

// SetFor returns the value with the timer set for long, by its number.
func (v Value) SetFor(long int) Value { return v&^longMask | Value(long)<<longShift&longMask }

// Untimed returns the value without a timer.
func (v Value) Untimed() Value { return v.SetFor(0) &^ Timed }

// Parked returns the number of the point where the run of an item is parked, 0 if it is not in flight.
func (v Value) Parked() int { return int(v >> markBits) }

// ParkedAt returns the value with the run parked at a point, 0 for none.
func (v Value) ParkedAt(point int) Value { return v&itemValues | Value(point)<<markBits }

// Vocabulary interns cells and their values. It only grows. It may be read by
// several goroutines as long as nobody adds to it.
type Vocabulary struct {
	settle func(key core.Key, versions []core.Content, pinned []bool) []core.Content

	objects map[core.Key]Cell
	items   map[core.Item]Cell
	views   map[watch]Cell
	notes   map[string]Cell
	kinds   map[core.Kind][]Cell // in the order of their keys

	selections map[selectionName]*Selection
	selecting  map[core.Kind][]*Selection

	projections map[projectionName]*Projection
	projecting  map[core.Kind][]*Projection

	cells []cell
	// prints are the prints of every cell's values, and settled their canonical forms,
	// nil where a value is its own. They lie apart from the cells because the search
	// reads nothing else of them.
	prints  [][]Fingerprint
	settled [][]Value
	// normals are the canonical forms of several versions of an object together.
	normals        []map[string]*Normalization
	normalizations int
}

// Normalization says how the versions of an object that can still be seen are brought to
// their canonical forms together.
type Normalization struct {
	From, To []Value
	// Same tells that nothing changes.
	Same bool
}

// Of returns the canonical form of a value, which is the value itself if it is not among the versions.
func (s *Normalization) Of(value Value) Value {
	if i := slices.Index(s.From, value); i >= 0 {
		return s.To[i]
	}
	return value
}

// role is what a cell is for.
type role uint8

const (
	objectRole role = iota
	itemRole
	viewRole
	noteRole
)

// watch names a strategy's view of a kind.
type watch struct {
	strategy string
	kind     core.Kind
}

// cell is a cell with its domain.
type cell struct {
	identity string
	role     role
	key      core.Key  // of an object
	item     core.Item // of an item

	contents []core.Content // by value of an object; nil at 0
	values   map[string]Value
}

// NewVocabulary returns an empty vocabulary. The function brings contents to their
// canonical form, as [core.Store.Settle] does.
func NewVocabulary(settle func(key core.Key, versions []core.Content, pinned []bool) []core.Content) *Vocabulary {
	return &Vocabulary{
		settle:  settle,
		objects: map[core.Key]Cell{},
		items:   map[core.Item]Cell{},
		views:   map[watch]Cell{},
		notes:   map[string]Cell{},
		kinds:   map[core.Kind][]Cell{},

		selections: map[selectionName]*Selection{},
		selecting:  map[core.Kind][]*Selection{},

		projections: map[projectionName]*Projection{},
		projecting:  map[core.Kind][]*Projection{},
	}
}

// Cells returns the number of cells.
func (v *Vocabulary) Cells() int { return len(v.cells) }

func (v *Vocabulary) add(c cell) Cell {
	v.cells = append(v.cells, c)
	v.prints = append(v.prints, []Fingerprint{{}})
	settled := []Value{0}
	if c.role == itemRole {
		settled = nil
	}
	v.settled = append(v.settled, settled)
	v.normals = append(v.normals, nil)
	return Cell(len(v.cells) - 1)
}

// Object returns the cell of an object, which it adds if it is new.
func (v *Vocabulary) Object(key core.Key) Cell {
	if c, known := v.objects[key]; known {
		return c
	}
	c := v.add(cell{
		identity: "object\x00" + string(key.Kind) + "\x00" + key.Namespace + "\x00" + key.Name,
		role:     objectRole,
		key:      key,
		contents: []core.Content{nil},
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
	c := v.add(cell{identity: "item\x00" + item.Strategy + "\x00" + string(item.Request), role: itemRole, item: item})
	for value := Value(1); value <= itemValues; value++ {
		v.prints[c] = append(v.prints[c], printOf(v.cells[c].identity, string(rune('0'+value))))
	}
	v.items[item] = c
	return c
}

// View returns the cell of a strategy's view of a kind, which it adds if it is new.
func (v *Vocabulary) View(strategy string, kind core.Kind) Cell {
	name := watch{strategy, kind}
	if c, known := v.views[name]; known {
		return c
	}
	c := v.add(cell{
		identity: "view\x00" + strategy + "\x00" + string(kind),
		role:     viewRole,
	})
	v.views[name] = c
	return c
}

// Note returns the cell of something about the state as a whole that has a name, which it adds if it
// is new: how many faults there were, what users have done.
func (v *Vocabulary) Note(name string) Cell {
	if c, known := v.notes[name]; known {
		return c
	}
	c := v.add(cell{identity: "note\x00" + name, role: noteRole})
	v.notes[name] = c
	return c
}

// Extend adds a value to the domain of a view's cell or of a note, and returns it. The text says what
// it is; no two values of the cell may have the same.
func (v *Vocabulary) Extend(c Cell, text string) Value {
	value := Value(len(v.settled[c]))
	v.settled[c] = append(v.settled[c], value)
	v.prints[c] = append(v.prints[c], printOf(v.cells[c].identity, text))
	return value
}

// Park adds a point where the run of an item can be parked, and returns its number. The text says
// what has happened in the run so far; no two points of the cell may have the same.
func (v *Vocabulary) Park(c Cell, text string) int {
	point := len(v.prints[c]) >> markBits
	for marks := Value(0); marks <= itemValues; marks++ {
		v.prints[c] = append(v.prints[c], printOf(v.cells[c].identity, string(rune('0'+marks))+" in flight after "+text))
	}
	return point
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
	v.settled[c] = append(v.settled[c], value)
	v.prints[c] = append(v.prints[c], printOf(domain.identity, canonical))
	if settled := v.settle(domain.key, []core.Content{content}, nil)[0]; settled.Canonical() != canonical {
		// The canonical form may be new, too; then the domain grows once more.
		target := v.Intern(c, settled)
		v.settled[c][value] = target
	}
	return value
}

// Key returns the key of an object's cell, and false for any other cell.
func (v *Vocabulary) Key(c Cell) (core.Key, bool) {
	return v.cells[c].key, v.cells[c].role == objectRole
}

// ItemAt returns the item of an item's cell, and false for any other cell.
func (v *Vocabulary) ItemAt(c Cell) (core.Item, bool) {
	return v.cells[c].item, v.cells[c].role == itemRole
}

// Describe says what a cell is for, in the user's words.
func (v *Vocabulary) Describe(c Cell) string {
	switch v.cells[c].role {
	case objectRole:
		return v.cells[c].key.String()
	case itemRole:
		return "the work of " + v.cells[c].item.String()
	}
	return strings.ReplaceAll(v.cells[c].identity, "\x00", " ")
}

// Content returns the content that a value stands for in an object's cell, nil for 0.
func (v *Vocabulary) Content(c Cell, value Value) core.Content { return v.cells[c].contents[value] }

// Values returns how many values an object's cell can have, nothing included.
func (v *Vocabulary) Values(c Cell) int { return len(v.cells[c].contents) }

// Normalized returns the canonical form of a value of an object nobody holds another version of, and the
// value itself in any other cell.
func (v *Vocabulary) Normalized(c Cell, value Value) Value {
	if settled := v.settled[c]; settled != nil {
		return settled[value]
	}
	return value
}

// Normalization returns how versions of an object are brought to their canonical forms together, and false if that was
// not asked before. The versions must be in the order of their values, each once, and so must be those which are
// pinned.
func (v *Vocabulary) Normalization(c Cell, versions, pinned []Value, buffer []byte) (*Normalization, bool) {
	s, known := v.normals[c][string(appendVersions(buffer[:0], versions, pinned))]
	return s, known
}

// appendVersions appends what names versions of which some are pinned.
func appendVersions(name []byte, versions, pinned []Value) []byte {
	name = Vector(versions).AppendRow(name)
	if len(pinned) > 0 {
		name = Vector(pinned).AppendRow(Vector{0}.AppendRow(name)) // no version is 0
	}
	return name
}

// Normalize returns how versions of an object are brought to their canonical forms together, but for those which are
// pinned.
func (v *Vocabulary) Normalize(c Cell, versions, pinned []Value) *Normalization {
	name := string(appendVersions(nil, versions, pinned))
	if s, known := v.normals[c][name]; known {
		return s
	}
	contents, stays := make([]core.Content, len(versions)), make([]bool, len(versions))
	for i, value := range versions {
		contents[i], stays[i] = v.Content(c, value), slices.Contains(pinned, value)
	}
	s := &Normalization{From: slices.Clone(versions), To: make([]Value, len(versions))}
	for i, settled := range v.settle(v.cells[c].key, contents, stays) {
		s.To[i] = v.Intern(c, settled)
	}
	s.Same = slices.Equal(s.From, s.To)
	if v.normals[c] == nil {
		v.normals[c] = map[string]*Normalization{}
	}
	v.normals[c][name] = s
	v.normalizations++
	return s
}

// Normalizations returns how many of them are known.
func (v *Vocabulary) Normalizations() int { return v.normalizations }

// Renamed returns the values that a value of an object's cell may become without a write, by what is known of canonical
// forms: the value itself is the first.
func (v *Vocabulary) Renamed(c Cell, value Value) []Value {
	values := []Value{value}
	for i := 0; i < len(values); i++ {
		for _, s := range v.normals[c] {
			if to := s.Of(values[i]); !slices.Contains(values, to) {
				values = append(values, to)
			}
		}
	}
	return values
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

// Unpack returns the vector of a row from elsewhere, written over the given one, and its fingerprint. It returns false
// for a row that is none, or has cells or values that are not known here.
func (v *Vocabulary) Unpack(row []byte, vector Vector) (Vector, Fingerprint, bool) {
	vector = vector[:0]
	var f Fingerprint
	for len(row) > 0 {
		value, n := binary.Uvarint(row)
		c := len(vector)
		if n <= 0 || c >= len(v.prints) || value >= uint64(len(v.prints[c])) {
			return vector, f, false
		}
		if value != 0 {
			f.Toggle(v.prints[c][value])
		}
		vector, row = append(vector, Value(value)), row[n:]
	}
	return vector, f, len(vector) == 0 || vector[len(vector)-1] != 0
}

// Kind returns the cells of the objects of a kind, in the order of their keys. The
// slice must not be changed.
func (v *Vocabulary) Kind(kind core.Kind) []Cell { return v.kinds[kind] }

// Lookup returns the cell of an object, and false if it was never met.
func (v *Vocabulary) Lookup(key core.Key) (Cell, bool) {
	c, known := v.objects[key]
	return c, known
}
