package ltl

// maxSimulated bounds the automata whose states are compared with each other.
const maxSimulated = 400

// quotient makes one state of those that simulate each other, and leaves out arcs that another
// one makes needless. A state simulates another one directly if for each arc of that one it
// has an arc for the same letters, with the same marks, to a state that simulates the other's.
func (a *automaton) quotient() {
	if len(a.states) > maxSimulated {
		return
	}
	simulates := a.simulation()
	leader := make([]int, len(a.states))
	for s := range leader {
		leader[s] = s
		for t := range s {
			if simulates[s][t] && simulates[t][s] {
				leader[s] = leader[t]
				break
			}
		}
	}
	a.initial = leader[a.initial]
	for s, arcs := range a.states {
		for i := range arcs {
			arcs[i].to = leader[arcs[i].to]
		}
		// Leaving out is decided on all arcs at once: of two that stand for each other the first stays.
		var kept []arc
		for i, x := range arcs {
			needless := false
			for j, y := range arcs {
				if i != j && y.standsFor(x, simulates) && (j < i || !x.standsFor(y, simulates)) {
					needless = true
				}
			}
			if !needless {
				kept = append(kept, x)
			}
		}
		a.states[s] = kept
	}
}

// standsFor reports whether whatever is accepted by way of another arc of the same state is accepted by way of
// this one.
func (x arc) standsFor(other arc, simulates [][]bool) bool {
	return x.on.covers(other.on) && x.marks&other.marks == other.marks && simulates[x.to][other.to]
}

// simulation returns for each state which others it simulates directly: the greatest such
// relation.
func (a *automaton) simulation() [][]bool {
	n := len(a.states)
	simulates := make([][]bool, n)
	for s := range simulates {
		simulates[s] = make([]bool, n)
		for t := range simulates[s] {
			simulates[s][t] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for s := range n {
			for t := range n {
				if s != t && simulates[s][t] && !a.matches(s, t, simulates) {
					simulates[s][t] = false
					changed = true
				}
			}
		}
	}
	return simulates
}

// matches reports whether one state has an arc that stands for each arc of another one.
func (a *automaton) matches(s, t int, simulates [][]bool) bool {
	for _, x := range a.states[t] {
		matched := false
		for _, y := range a.states[s] {
			if y.standsFor(x, simulates) {
				matched = true
				break
			}
		}
		if !matched {
			return false
		}
	}
	return true
}
