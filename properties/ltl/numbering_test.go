package ltl

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestNumbering gives numbers to places: the same to the same and different ones to others, whether there are few
// states of the automaton or many.
func TestNumbering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const states = 20
		modes := rapid.IntRange(1, 2*fewModes).Draw(t, "modes")
		n := newNumbering(states, modes)
		known := map[uint32]place{}
		for range rapid.IntRange(1, 60).Draw(t, "places") {
			p := place{core.StateID(rapid.IntRange(0, states-1).Draw(t, "state")), uint32(rapid.IntRange(0, modes-1).Draw(t, "mode"))}
			number := n.find(p)
			if other, found := known[number]; found && other != p {
				t.Fatalf("%v and %v have the number %d", p, other, number)
			}
			known[number] = p
			if n.at(number) != p || n.find(p) != number || int(number) >= n.len() {
				t.Fatalf("%v has the number %d of %d, which is %v's", p, number, n.len(), n.at(number))
			}
		}
	})
}
