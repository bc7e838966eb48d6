package ltl

import (
	"context"
	"encoding/binary"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/bitset"
	"github.com/orrery-dev/orrery/properties/internal/fair"
)

// reading is what a check has to know of a graph, in compact form: the graph is asked
// once for each state and once for its steps.
type reading struct {
	*valuation
	fair func(core.Step) bool
	// inParts tells that calls are steps of their own, timed that there are timers.
	inParts, timed bool
	// waits are the steps that count as possible in a state besides those in its row, where they were asked for.
	waits map[core.StateID][]int
	asked bitset.Set[core.StateID]

	// letters has the letter of each state as its number in alphabet.
	letters  []uint32
	alphabet []letter
	numbers  map[letter]uint32
	// traits has a byte for each state.
	traits []trait
	// pages have the steps of the states, each of them those of so many. Of a step they have the label as a varint,
	// most often a byte, and the target in four bytes. begins is where in its page the row of a state begins.
	pages  [][]byte
	begins []uint32
	labels []label
	known  map[label]uint32
	// steps names the steps that labels number.
	steps   []namedStep
	stepIDs map[fair.Step]int
}

// pageStates is how many states have their steps in one page.
const pageStates = 1 << 14

// trait is something that is true of a state.
type trait uint8

const (
	// cutTrait is set where not all steps are known.
	cutTrait trait = 1 << iota
	// restTrait is set where no fair step is taken.
	restTrait
)

// label is what matters of a step: its name, the atoms that are true of it, and whether it is a fault
// or taken on a stale view.
type label struct {
	step        int
	also        letter
	fault, late bool
}

// namedStep is a step that some state has.
type namedStep struct {
	fair.Step
	fair bool
	// followed is the step that came after it the last time, likely to come again.
	followed int
}

// read reads a graph for a formula with the given atoms.
func read(ctx context.Context, g core.Graph, atoms []Atom, assumed func(core.Step) bool) (*reading, error) {
	v, err := newValuation(ctx, g, atoms)
	if err != nil {
		return nil, err
	}
	n := g.States()
	r := &reading{
		valuation: v, fair: assumed,
		letters: make([]uint32, n), traits: make([]trait, n), begins: make([]uint32, n),
		numbers: map[letter]uint32{}, known: map[label]uint32{}, stepIDs: map[fair.Step]int{}, waits: map[core.StateID][]int{},
	}
	for id := range core.StateID(n) {
		if id%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l, err := r.inState(id)
		if err != nil {
			return nil, err
		}
		r.letters[id] = r.number(l)
		r.readSteps(id)
	}
	return r, nil
}

// number returns the number of a letter.
func (r *reading) number(l letter) uint32 {
	n, known := r.numbers[l]
	if !known {
		n = uint32(len(r.alphabet))
		r.numbers[l] = n
		r.alphabet = append(r.alphabet, l)
	}
	return n
}

func (r *reading) readSteps(id core.StateID) {
	if id%pageStates == 0 {
		r.pages = append(r.pages, nil)
	}
	row := &r.pages[len(r.pages)-1]
	r.begins[id] = uint32(len(*row))
	rests, last := true, -1
	for _, e := range r.graph.Edges(id) {
		last = r.step(fair.In(id, e.Step), last)
		r.inParts = r.inParts || fair.Parts(e.Step)
		rests = rests && !r.steps[last].fair
		l := label{
			step:  last,
			also:  r.ofStep(e),
			fault: e.Step.Faulty(),
			late:  e.Late,
		}
		*row = binary.AppendUvarint(*row, uint64(r.label(l)))
		*row = binary.LittleEndian.AppendUint32(*row, uint32(e.To))
	}
	switch {
	case r.graph.Cut(id):
		r.traits[id] = cutTrait
	case rests:
		r.traits[id] = restTrait
	}
}

// step returns the number of a step that comes after another one, or first if that is negative.
func (r *reading) step(s fair.Step, last int) int {
	if last >= 0 {
		if guess := r.steps[last].followed; r.steps[guess].Step == s {
			return guess
		}
	}
	n, known := r.stepIDs[s]
	if !known {
		n = len(r.steps)
		r.stepIDs[s] = n
		r.steps = append(r.steps, namedStep{Step: s, fair: r.fair(s.Step)})
		r.timed = r.timed || fair.Recurs(s)
	}
	if last >= 0 {
		r.steps[last].followed = n
	}
	return n
}

func (r *reading) label(l label) uint32 {
	// Without atoms about steps, labels are as many as steps and have their numbers.
	if l.step < len(r.labels) && r.labels[l.step] == l {
		return uint32(l.step)
	}
	n, known := r.known[l]
	if !known {
		n = uint32(len(r.labels))
		r.known[l] = n
		r.labels = append(r.labels, l)
	}
	return n
}

// move is a step from a state as it was read.
type move struct {
	label uint32
	to    core.StateID
}

// row returns the steps of a state, to be read with [move.next].
func (r *reading) row(id core.StateID) []byte {
	page := r.pages[id/pageStates]
	if after := id + 1; after%pageStates != 0 && int(after) < len(r.begins) {
		return page[r.begins[id]:r.begins[after]]
	}
	return page[r.begins[id]:]
}

// next reads the step at a place of a row, and returns the place behind it.
func (m *move) next(row []byte, at int) int {
	m.label = uint32(row[at])
	at++
	if m.label >= 0x80 {
		l, n := binary.Uvarint(row[at-1:])
		m.label, at = uint32(l), at-1+n
	}
	m.to = core.StateID(binary.LittleEndian.Uint32(row[at:]))
	return at + 4
}

// waiting returns the steps that count as possible in a state besides those in its row.
func (r *reading) waiting(id core.StateID) []int {
	if !r.asked.Add(id) {
		return r.waits[id]
	}
	for _, s := range fair.Waiting(r.graph, id, r.inParts, r.fair) {
		r.waits[id] = append(r.waits[id], r.step(fair.In(id, s), -1))
	}
	return r.waits[id]
}

// rests reports whether a run may stay in a state for ever: no fair step is possible.
func (r *reading) rests(id core.StateID) bool {
	return r.traits[id]&restTrait != 0 && len(r.waiting(id)) == 0
}
