package ltl

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core/scc"
)

// runs is the product of an automaton with a word: nodes are a position and a state.
type runs struct {
	*automaton
	word  *lassoWord
	roots []uint32
}

func (r *runs) split(node uint32) (position, state int) {
	return int(node) / len(r.states), int(node) % len(r.states)
}

func (r *runs) letter(position int) letter {
	var l letter
	for i, name := range r.atoms {
		if r.word.holds(name, position) {
			l |= 1 << i
		}
	}
	return l
}

func (r *runs) Root() (uint32, bool) {
	if len(r.roots) == 0 {
		return 0, false
	}
	root := r.roots[0]
	r.roots = nil
	return root, true
}

func (r *runs) Next(node uint32, c *cursor) (uint32, bool) {
	position, state := r.split(node)
	for arcs := r.states[state]; int(c.arc) < len(arcs); {
		arc := arcs[c.arc]
		c.arc++
		if arc.on.has(r.letter(position)) {
			return uint32(r.word.after(position)*len(r.states) + arc.to), true
		}
	}
	return 0, false
}

// acceptsWord reports whether an automaton accepts a word.
func (a *automaton) acceptsWord(t interface{ Context() context.Context }, w *lassoWord) bool {
	r := &runs{automaton: a, word: w, roots: []uint32{uint32(a.initial)}}
	accepted := false
	err := scc.Search(t.Context(), r, func(c scc.Component[uint32]) bool {
		var marks uint64
		for _, node := range c.Nodes {
			position, state := r.split(node)
			for _, arc := range a.states[state] {
				if arc.on.has(r.letter(position)) && c.Has(uint32(w.after(position)*len(a.states)+arc.to)) {
					marks |= arc.marks
				}
			}
		}
		accepted = accepted || c.Cyclic && marks == a.marks
		return !accepted
	})
	return accepted && err == nil
}

// TestTranslation compares the automata of random formulas and of their negations with
// the definition of the logic on random words.
func TestTranslation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormula(t, 3, 4)
		holds, err := translate(f, false)
		if err != nil {
			t.Skip(err)
		}
		fails, err := translate(f, true)
		if err != nil {
			t.Skip(err)
		}
		for range 20 {
			w := drawWord(t, 3)
			want := w.accepts(f)
			if got := holds.acceptsWord(t, w); got != want {
				t.Fatalf("%s on %s: got %t, want %t", f, w, got, want)
			}
			if got := fails.acceptsWord(t, w); got == want {
				t.Fatalf("not %s on %s: got %t, want %t", f, w, got, !want)
			}
		}
	})
}

// TestTranslationOfSmallFormulas compares automata with the definition on every short
// word.
func TestTranslationOfSmallFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormula(t, 2, 3)
		negated, err := translate(f, true)
		if err != nil {
			t.Skip(err)
		}
		eachWord(2, 2, 2, func(w *lassoWord) {
			if negated.acceptsWord(t, w) == w.accepts(f) {
				t.Fatalf("%s on %s: %t", f, w, w.accepts(f))
			}
		})
	})
}
