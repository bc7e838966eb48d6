package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// packed is a state in numbers: of entries before it. It is a byte of marks and four lists: the objects, the items in work queues, the items
// that wait for timers, and the steps. A list begins with its length. A step is its number, and how much higher the number of
// the state is to which it leads. All are variable-length integers, and only the last one has a sign.
type packed []byte

// The marks of a state.
const (
	initialMark = 1 << iota
	cutMark
	quiescentMark

	allMarks = initialMark | cutMark | quiescentMark
)

// appendPacked packs a state. The objects are in numbers of the record.
func appendPacked(p packed, state *core.Listed, objects []int) packed {
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
	for _, list := range [][]int{objects, state.Work, state.Timers} {
		p = binary.AppendUvarint(p, uint64(len(list)))
		for _, number := range list {
			p = binary.AppendUvarint(p, uint64(number))
		}
	}
	p = binary.AppendUvarint(p, uint64(len(state.Steps)))
	for _, step := range state.Steps {
		p = binary.AppendUvarint(p, uint64(step.Step))
		p = binary.AppendVarint(p, int64(step.To)-int64(state.ID))
	}
	return p
}

// unpack returns the state of a number, given what its numbers stand for.
func (p packed) unpack(id core.StateID, objects int, items []Item, steps []Step) (State, error) {
	if len(p) == 0 || p[0]&^allMarks != 0 {
		return State{}, errors.New("the marks of a state are not what they should be")
	}
	s := State{ID: id, Initial: p[0]&initialMark != 0, Cut: p[0]&cutMark != 0, Quiescent: p[0]&quiescentMark != 0}
	u := unpacker{rest: p[1:]}
	for range u.length() {
		s.Objects = append(s.Objects, u.number(objects, "object"))
	}
	for _, list := range []*[]Item{&s.Work, &s.Timers} {
		for range u.length() {
			if number := u.number(len(items), "item"); u.err == nil {
				*list = append(*list, items[number])
			}
		}
	}
	for range u.length() {
		number, distance := u.number(len(steps), "step"), u.distance()
		if to := int64(id) + distance; u.err == nil && (to < 0 || to > int64(^core.StateID(0))) {
			u.err = errors.New("a step leads to a state that cannot be")
		}
		if u.err == nil {
			step := steps[number]
			step.To = core.StateID(int64(id) + distance)
			s.Steps = append(s.Steps, step)
		}
	}
	if u.err == nil && len(u.rest) > 0 {
		u.err = errors.New("something follows the last step")
	}
	if u.err != nil {
		return State{}, fmt.Errorf("state %d: %w", id, u.err)
	}
	return s, nil
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
