package ltl

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/core/scc"
)

// StutterInvariant reports whether the formula cannot tell runs apart that differ only in how
// often a state repeats before another one follows. False may also mean that the formula is too large to
// decide it.
func (f *Formula) StutterInvariant() bool {
	invariant, _ := f.stutterInvariance()
	return invariant
}

// stutterInvariance also returns the reason if a formula is not stutter-invariant.
//
// A formula without X is. Otherwise the words are compared that a formula accepts and those that
// it refuses, each with any letter repeated: the formula is stutter-invariant if they have none in common (Michaud and
// Duret-Lutz, Practical stutter-invariance checks for ω-regular languages, SPIN 2015).
func (f *Formula) stutterInvariance() (bool, string) {
	x := f.find(func(n *node) bool { return n.operator == next })
	if x == nil {
		return true, ""
	}
	refuse := func(what string) (bool, string) {
		column := utf8.RuneCountInString(f.text[:x.at.from]) + 1
		return false, fmt.Sprintf("%s %s how often a state repeats, because of the X at column %d", f, what, column)
	}
	holds, err := translate(f, false)
	if err != nil {
		return refuse("may depend on")
	}
	fails, err := translate(f, true)
	if err != nil {
		return refuse("may depend on")
	}
	common := &stuttering{automata: [2]*automaton{holds, fails}, steps: map[uint32][]jump{}}
	switch {
	case common.size() > maxStuttering:
		return refuse("may depend on")
	case common.empty():
		return true, ""
	}
	return refuse("depends on")
}

// stuttering is the product of two automata, each of which may also repeat the letter that it read last.
// Nodes are numbered by what they are made of.
type stuttering struct {
	automata [2]*automaton
	begun    bool
	// steps are the steps of nodes that were visited.
	steps map[uint32][]jump
}

// maxStuttering bounds the number of nodes.
const maxStuttering = 1 << 16

// size returns how many nodes there may be.
func (s *stuttering) size() int {
	if len(s.automata[0].atoms) > 16 {
		return maxStuttering + 1
	}
	return len(s.automata[0].states) * len(s.automata[1].states) * (s.letters() + 1)
}

// seen is a node: the states of both, and the letter that was read last, or one more than there are.
type seen struct {
	states [2]int
	last   letter
}

func (s *stuttering) letters() int { return 1 << len(s.automata[0].atoms) }

func (s *stuttering) pack(n seen) uint32 {
	return uint32((n.states[0]*len(s.automata[1].states)+n.states[1])*(s.letters()+1) + int(n.last))
}

func (s *stuttering) unpack(node uint32) seen {
	letters, other := s.letters()+1, len(s.automata[1].states)
	pair := int(node) / letters
	return seen{[2]int{pair / other, pair % other}, letter(int(node) % letters)}
}

func (s *stuttering) Root() (uint32, bool) {
	first := !s.begun
	s.begun = true
	return s.pack(seen{[2]int{s.automata[0].initial, s.automata[1].initial}, letter(s.letters())}), first
}

// jump is a step of the product. Of each automaton it has the marks that were passed, and whether it moved: one
// that only repeats its letter for ever has read no infinite word.
type jump struct {
	to    uint32
	marks [2]uint64
	moved [2]bool
}

// jumps returns the steps from a node.
func (s *stuttering) jumps(node uint32) []jump {
	all, known := s.steps[node]
	if known {
		return all
	}
	from := s.unpack(node)
	for l := range letter(s.letters()) {
		for _, x := range s.options(0, from, l) {
			for _, y := range s.options(1, from, l) {
				all = append(all, jump{
					to:    s.pack(seen{[2]int{x.state, y.state}, l}),
					marks: [2]uint64{x.marks, y.marks},
					moved: [2]bool{x.moved, y.moved},
				})
			}
		}
	}
	s.steps[node] = all
	return all
}

// option is what one automaton can do with a letter.
type option struct {
	state int
	marks uint64
	moved bool
}

func (s *stuttering) options(side int, from seen, l letter) []option {
	var options []option
	if l == from.last {
		options = append(options, option{state: from.states[side]})
	}
	for _, arc := range s.automata[side].states[from.states[side]] {
		if arc.on.has(l) {
			options = append(options, option{arc.to, arc.marks, true})
		}
	}
	return options
}

func (s *stuttering) Next(node uint32, c *cursor) (uint32, bool) {
	jumps := s.jumps(node)
	if int(c.arc) == len(jumps) {
		return 0, false
	}
	c.arc++
	return jumps[c.arc-1].to, true
}

// empty reports whether there is no word that both accept.
func (s *stuttering) empty() bool {
	empty := true
	// Nothing ends the context.
	_ = scc.Search(context.Background(), s, func(c scc.Component[uint32]) bool {
		var marks [2]uint64
		var moved [2]bool
		for _, node := range c.Nodes {
			for _, j := range s.jumps(node) {
				if c.Has(j.to) {
					for side := range 2 {
						marks[side] |= j.marks[side]
						moved[side] = moved[side] || j.moved[side]
					}
				}
			}
		}
		accepted := moved == [2]bool{true, true}
		for side, a := range s.automata {
			accepted = accepted && marks[side] == a.marks
		}
		empty = !accepted
		return empty
	})
	return empty
}
