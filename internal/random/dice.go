package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// dice draw values at random. It can be set what they draw.
type dice struct {
	mu  sync.Mutex
	set *rand.Rand // nil if it is left to chance
	of  *throws
}

// throws are what was drawn while dice were set.
type throws struct {
	dice  *dice
	drawn []int
}

// Dice draw so many different values, all of six digits.
const least, draws = 100_000, 900_000

// throw draws a value.
func (d *dice) throw() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set == nil {
		return least + rand.IntN(draws)
	}
	value := least + d.set.IntN(draws)
	d.of.drawn = append(d.of.drawn, value)
	return value
}

// Set implements [core.Randomness].
func (d *dice) Set(seed uint64, before int) core.Draw {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set != nil {
		panic("the dice are set already")
	}
	d.set, d.of = rand.New(rand.NewPCG(seed, uint64(before))), &throws{dice: d}
	return d.of
}

// Release implements [core.Randomness].
func (*dice) Release() {}

// End implements [core.Draw].
func (t *throws) End() bool {
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	t.dice.set = nil
	return len(t.drawn) > 0
}

// Words implements [core.Draw].
func (t *throws) Words(texts []string) []string {
	all := strings.Join(texts, "\n")
	var words []string
	for _, value := range t.drawn {
		if word := fmt.Sprint(value); strings.Contains(all, word) {
			words = append(words, word)
		}
	}
	return words
}

// Compare implements [core.Randomness].
func (d *dice) Compare(runs []core.Drawn, _ bool) (run, text int) {
	for text := range runs[0].Texts {
		first := unnamed(runs[0].Texts[text], runs[0].Words)
		for run := 1; run < len(runs); run++ {
			if unnamed(runs[run].Texts[text], runs[run].Words, runs[0].Words) != first {
				return run, text
			}
		}
	}
	return 0, -1
}

// unnamed returns a text with the words of some lists replaced by what numbers them in their list.
func unnamed(text string, lists ...[]string) string {
	var pairs []string
	for _, words := range lists {
		for i, word := range words {
			pairs = append(pairs, word, fmt.Sprint("\x00", i, "\x00"))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Other implements [core.Randomness]. Nothing follows from values but that they were drawn.
func (d *dice) Other(answer core.Response, _ int, _ ...string) (core.Response, bool) {
	return answer, true
}

// Texts implements [core.Randomness]: nobody can tell.
func (d *dice) Texts(core.Response) []string { return nil }

// Exchanged implements [core.Randomness].
func (d *dice) Exchanged(_, _ core.Drawn, _ [][]string) bool { return false }

// Derived implements [core.Randomness].
func (d *dice) Derived(_, _ core.Drawn, _ [][]string) []string { return nil }

// Follow implements [core.Randomness].
func (d *dice) Follow(map[string][]string) {}

// Echo implements [core.Randomness].
func (d *dice) Echo(answer core.Response, _, _ []string) core.Response { return answer }

// Renamed implements [core.Randomness].
func (d *dice) Renamed(text string, _ int) (string, bool) { return text, true }

// Has implements [core.Randomness].
func (d *dice) Has(string) bool { return false }

// shown is what a value comes to for what is done next: those that were drawn are all the same.
func shown(value int) int { return min(value, values) % values }

// draw returns a program that draws something.
func (g *generator) draw(step func(string, int, func(*plain.World) int) *program, variable plain.Var[int]) *program {
	dice := g.dice
	switch g.IntN(6) {
	case 0:
		return step(fmt.Sprint("throw and set ", variable.Key()), 1, func(w *plain.World) int { variable.Set(w, dice.throw()); return 0 })
	case 1:
		return step("throw in vain", 1, func(*plain.World) int { dice.throw(); return 0 })
	}
	early := g.IntN(2) == 0
	return step(fmt.Sprint("throw and make ", variable.Key()), 2, func(w *plain.World) int {
		value := 0
		if early {
			value = dice.throw()
		}
		if _, ok := variable.Lookup(w); ok {
			return 0
		}
		if !early {
			value = dice.throw()
		}
		variable.Set(w, value)
		return 1
	})
}
