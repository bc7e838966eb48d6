package ltl

import (
	"cmp"
	"fmt"
	"slices"
)

// maxStates bounds automata.
const maxStates = 5000

// translate returns an automaton that accepts exactly the words of which the formula is
// true, or false if it is to be negated. The error is for formulas that are too large.
func translate(f *Formula, negated bool) (*automaton, error) {
	p := newPool()
	for _, name := range f.Atoms() {
		p.literal(name, false)
	}
	if len(p.atoms) > maxAtoms {
		return nil, sizeError{fmt.Sprintf("it has %d atoms, and %d is the most", len(p.atoms), maxAtoms)}
	}
	t := &tableau{
		expander: expander{pool: p, untils: map[form]int{}, terms: map[form][]term{}},
		numbers:  map[form]int{},
		byTerms:  map[string]int{},
	}
	initial, err := t.number(p.normalize(f.root, negated))
	if err != nil {
		return nil, err
	}
	a := &automaton{atoms: p.atoms, initial: initial}
	var owed [][]uint64
	for len(a.states) < len(t.states) {
		var arcs []arc
		var debts []uint64
		for _, term := range t.states[len(a.states)] {
			// What contradicts itself is left out. What is implied stays: an until that is owed must
			// not be hidden behind another one.
			if _, possible := p.meet(term.next); !possible {
				continue
			}
			to, err := t.number(p.conjunction(term.next))
			if err != nil {
				return nil, err
			}
			arcs = append(arcs, arc{on: term.on, to: to})
			debts = append(debts, term.owed)
		}
		a.states = append(a.states, arcs)
		owed = append(owed, debts)
	}
	// A mark for each until, on all arcs that do not owe it.
	a.marks = 1<<len(t.untils) - 1
	for s, arcs := range a.states {
		for i := range arcs {
			arcs[i].marks = a.marks &^ owed[s][i]
		}
	}
	a.reduce()
	return a, nil
}

// tableau finds the states of an automaton as far as they are reached. A state is a form,
// which has to be true of the rest of the word. Forms with equal terms are one state.
type tableau struct {
	expander
	numbers map[form]int
	byTerms map[string]int
	states  [][]term
}

func (t *tableau) number(f form) (int, error) {
	if n, known := t.numbers[f]; known {
		return n, nil
	}
	terms, err := t.expand(f)
	if err != nil {
		return 0, err
	}
	sorted := slices.SortedFunc(slices.Values(terms), term.compare)
	key := fmt.Sprint(sorted)
	n, known := t.byTerms[key]
	if !known {
		if n = len(t.states); n >= maxStates {
			return 0, sizeError{fmt.Sprintf("its automaton has more than %d states", maxStates)}
		}
		t.byTerms[key] = n
		t.states = append(t.states, sorted)
	}
	t.numbers[f] = n
	return n, nil
}

// compare puts terms in an order.
func (t term) compare(other term) int {
	return cmp.Or(
		cmp.Compare(t.on.with, other.on.with),
		cmp.Compare(t.on.without, other.on.without),
		cmp.Compare(t.owed, other.owed),
		slices.Compare(t.next, other.next),
	)
}
