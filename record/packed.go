package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// packed is a state in numbers: of entries before it. It is a byte of marks and four lists: the objects, the items in
// work queues, the items that wait for timers, and the steps. A list begins with its length. A step is its number, and
// how much higher the number of the state is to which it leads. All are variable-length integers, and only the last one
// has a sign.
type packed []byte

// The marks of a state.
const (
	initialMark = 1 << iota
	cutMark
	quiescentMark

	allMarks = initialMark | cutMark | quiescentMark
)

// appendPacked packs the state of a number.
func appendPacked(p packed, id core.StateID, state *Numbers) packed {
	marks := byte(0)
	if state.Initial {
		marks |= initialMark
	}
	if state.Cut {
		marks |= cutMark
	}
	if state.Quiescent {
		marks |= quiescentMark
	}
	p = append(p, marks)
	for _, list := range [][]int{state.Objects, state.Work, state.Timers} {
		p = binary.AppendUvarint(p, uint64(len(list)))
		for _, number := range list {
			p = binary.AppendUvarint(p, uint64(number))
		}
	}
	p = binary.AppendUvarint(p, uint64(len(state.Steps)))
	for _, step := range state.Steps {
		p = binary.AppendUvarint(p, uint64(step.Step))
		p = binary.AppendVarint(p, int64(step.To)-int64(id))
	}
	return p
}

// Numbers is a state in numbers: those of the objects, the items and the steps of its record, each from 0.
type Numbers struct {
	Initial, Cut, Quiescent bool
	Objects, Work, Timers   []int
	Steps                   []core.ListedStep
}

// unpack sets the state of a number, given how many objects, items and steps its numbers may stand for. What it sets is
// used again.
func (n *Numbers) unpack(p packed, id core.StateID, objects, items, steps int) error {
	if len(p) == 0 || p[0]&^allMarks != 0 {
		return errors.New("the marks of a state are not what they should be")
	}
	n.Initial, n.Cut, n.Quiescent = p[0]&initialMark != 0, p[0]&cutMark != 0, p[0]&quiescentMark != 0
	u := unpacker{rest: p[1:]}
	n.Objects = u.numbers(n.Objects, objects, "object")
	n.Work = u.numbers(n.Work, items, "item")
	n.Timers = u.numbers(n.Timers, items, "item")
	n.Steps = n.Steps[:0]
	for range u.length() {
		number, distance := u.number(steps, "step"), u.distance()
		to := int64(id) + distance
		if u.err == nil && (to < 0 || to > int64(^core.StateID(0))) {
			u.err = errors.New("a step leads to a state that cannot be")
		}
		n.Steps = append(n.Steps, core.ListedStep{Step: number, To: core.StateID(to)})
	}
	if u.err == nil && len(u.rest) > 0 {
		u.err = errors.New("something follows the last step")
	}
	if u.err != nil {
		return fmt.Errorf("state %d: %w", id, u.err)
	}
	return nil
}

// state returns the state with what its numbers stand for.
func (n *Numbers) state(id core.StateID, items []Item, steps []Step) State {
	s := State{ID: id, Initial: n.Initial, Cut: n.Cut, Quiescent: n.Quiescent, Objects: slices.Clone(n.Objects)}
	for _, number := range n.Work {
		s.Work = append(s.Work, items[number])
	}
	for _, number := range n.Timers {
		s.Timers = append(s.Timers, items[number])
	}
	for _, listed := range n.Steps {
		step := steps[listed.Step]
		step.To = listed.To
		s.Steps = append(s.Steps, step)
	}
	return s
}

// unpacker reads integers until the first error. Then all are 0.
type unpacker struct {
	rest []byte
	err  error
}

// length returns the length of a list, each element of which takes a byte at least.
func (u *unpacker) length() int {
	length := u.unsigned()
	if u.err == nil && length > uint64(len(u.rest)) {
		u.err = errors.New("a list is longer than its entry")
	}
	if u.err != nil {
		return 0
	}
	return int(length)
}

// numbers returns a list of numbers of something of which there are so many, in place of another list.
func (u *unpacker) numbers(list []int, count int, what string) []int {
	list = list[:0]
	for range u.length() {
		list = append(list, u.number(count, what))
	}
	return list
}

// number returns a number of something of which there are so many.
func (u *unpacker) number(count int, what string) int {
	number := u.unsigned()
	if u.err == nil && number >= uint64(count) {
		u.err = fmt.Errorf("it refers to %s %d, which does not come before it", what, number)
	}
	if u.err != nil {
		return 0
	}
	return int(number)
}

func (u *unpacker) unsigned() uint64 {
	value, n := binary.Uvarint(u.rest)
	u.took(n)
	return value
}

func (u *unpacker) distance() int64 {
	value, n := binary.Varint(u.rest)
	u.took(n)
	return value
}

// took goes on behind an integer.
func (u *unpacker) took(n int) {
	switch {
	case u.err != nil:
	case n <= 0:
		u.err = errors.New("an integer is cut short")
	default:
		u.rest = u.rest[n:]
	}
}
