package random

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Coins decide by chance what controllers do. Nobody who runs them can set how they fall, unless somebody chooses.
type Coins struct {
	mu     sync.Mutex
	choose func(sides int) int // nil if it is left to chance
}

// Choose has a function say how coins fall, given their sides, or leaves it to chance again if it is nil.
func (c *Coins) Choose(choose func(sides int) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.choose = choose
}

// toss returns one of so many sides.
func (c *Coins) toss(sides int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.choose != nil {
		return c.choose(sides)
	}
	return rand.IntN(sides)
}

// toss returns a program that goes on in one of two or three ways by chance, or makes calls in one order or another.
func (g *generator) toss(calls int, guards, messages bool) *program {
	if g.shuffles && g.IntN(2) == 0 {
		return g.shuffled(calls, guards, messages)
	}
	sides := 2 + g.IntN(4)/3
	p := &program{call: fmt.Sprint("toss ", sides), do: func(*plain.World) int { return g.coins.toss(sides) }}
	tossed := g.tossed
	g.tossed++
	for range sides {
		p.next = append(p.next, g.program(calls, guards, messages))
	}
	g.tossed = tossed
	return p
}

// shuffled returns a program that makes some calls one after the other, in any order: as code does that takes out of a
// map what to do. How it goes on may depend on the order.
func (g *generator) shuffled(calls int, guards, messages bool) *program {
	branches := make([]*program, 2+g.IntN(4)/3)
	coins, forks := g.coins, g.forks
	g.coins, g.forks = nil, false
	known := map[string]bool{}
	for i := range branches {
		branches[i] = g.apart(known, messages)
	}
	g.coins, g.forks = coins, forks
	ordered := g.IntN(4) == 0
	p := &program{call: "shuffle", do: func(w *plain.World) int {
		sum, first := 0, coins.toss(len(branches)) // as maps of a few keys: where it begins is by chance
		for done := range branches {
			i := (first + done) % len(branches)
			sum += branches[i].answer(w)
			if ordered {
				sum += i * done
			}
		}
		return sum
	}}
	g.tossed++
	for range 3 {
		p.next = append(p.next, g.program(calls-1, guards, messages))
	}
	g.tossed--
	return p
}

// mostTossed is how often a run leaves something to chance at most: each way comes up often then.
const mostTossed = 2

// Chancy returns the system of a seed, of a family in which controllers do one thing or another by chance, and the
// coins that decide.
func Chancy(seed uint64) (*core.System, *Coins, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 16)), coins: &Coins{}}
	system, err := g.system(fmt.Sprintf("chancy %d", seed), false)
	return system, g.coins, err
}

// Shuffling is as [Chancy], and controllers also make calls in any order.
func Shuffling(seed uint64) (*core.System, *Coins, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 16)), coins: &Coins{}, shuffles: true}
	system, err := g.system(fmt.Sprintf("shuffling %d", seed), false)
	return system, g.coins, err
}
