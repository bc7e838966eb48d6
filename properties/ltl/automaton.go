package ltl

// automaton is a generalised Büchi automaton with marks on its arcs. It accepts a word
// if it has a run over it, from the initial state, on which each mark comes again and again.
type automaton struct {
	// atoms are the names of the bits of letters.
	atoms   []string
	initial int
	states  [][]arc
	// marks are all marks, one bit each.
	marks uint64
}

// letter is a set of atoms, one bit each.
type letter uint64

// cube is a set of letters: those with all bits of one set and none of the other.
type cube struct{ with, without letter }

func (c cube) has(l letter) bool { return l&c.with == c.with && l&c.without == 0 }

// covers reports whether every letter of another cube is in this one.
func (c cube) covers(other cube) bool {
	return c.with&other.with == c.with && c.without&other.without == c.without
}

// arc leads to a state, for the letters of a cube.
type arc struct {
	on    cube
	marks uint64
	to    int
}

// certain reports whether every word is accepted from a state.
func (a *automaton) certain(state int) bool {
	for _, arc := range a.states[state] {
		if arc.on == (cube{}) && arc.marks == a.marks && arc.to == state {
			return true
		}
	}
	return false
}
