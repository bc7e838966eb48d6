package random

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Beats returns the system of a seed, of a family in which each controller does something again and again, some time
// after the last one, which it has noted in an object. What it does may be nothing, to write one thing or another, to
// count up to a bound or round and round, or to go by what another controller has written or by how long ago something
// was.
func Beats(seed uint64) (*core.System, error) {
	g := &beats{rand.New(rand.NewPCG(seed, 27))}
	model := plain.Model{Name: fmt.Sprintf("beats %d", seed)}
	family := plain.NewFamily[int](Kinds()[0])
	var start []core.Object
	controllers := 1 + g.IntN(2)
	for i := range controllers {
		last := plain.NewVar[string](fmt.Sprintf("last%d", i))
		start = append(start, last.Is("never"))
		if i == 0 || g.IntN(2) == 0 {
			start = append(start, family.At(i).Is(g.IntN(heights)))
		}
		c := plain.Controller{Name: fmt.Sprintf("controller%d", i), Requests: []core.Request{"0"}, Reconcile: g.beat(last, family.At(i), family.At(g.IntN(controllers)))}
		if g.IntN(2) == 0 {
			c.Watches = []plain.Watch{{Kind: family.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"0"} }}}
		}
		model.Controllers = append(model.Controllers, c)
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model.System()
}

// heights is how many values an object may have: more than there are beats in a search, so that counting does not come
// to its end.
const heights = 7

// beats makes controllers that do something again and again.
type beats struct{ *rand.Rand }

// beat returns what a controller does that notes when it did so the last time, in one object, and what it came to, in
// another one. What it comes to next may depend on a third one.
func (g *beats) beat(last plain.Var[string], own, other plain.Var[int]) func(*plain.World, core.Request) core.Result {
	const every = 10 * time.Minute
	next := g.table()
	heeds, ages := g.IntN(3) == 0, g.IntN(4) == 0
	return func(w *plain.World, _ core.Request) core.Result {
		at, err := time.Parse(time.RFC3339, last.Get(w))
		if left := time.Until(at.Add(every)); err == nil && left > 0 {
			return core.Result{RequeueAfter: left}
		}
		now := time.Now().UTC()
		value, known := own.Lookup(w)
		if to := next[value%heights]; !known || to != value {
			if heeds {
				if theirs, ok := other.Lookup(w); ok {
					to = next[theirs%heights]
				}
			}
			if ages && err == nil && now.Sub(at) > 24*time.Hour {
				to = (to + 1) % heights
			}
			own.Set(w, to)
		}
		last.Set(w, now.Format(time.RFC3339))
		return core.Result{RequeueAfter: every}
	}
}

// table returns what each value comes to.
func (g *beats) table() [heights]int {
	var next [heights]int
	kind, to := g.IntN(5), g.IntN(heights)
	for value := range next {
		switch kind {
		case 0:
			next[value] = value
		case 1:
			next[value] = to
		case 2:
			next[value] = (value + 1) % heights
		case 3:
			next[value] = (to - value + heights) % heights // to and fro
		default:
			next[value] = min(value+1, heights-1)
		}
	}
	return next
}
