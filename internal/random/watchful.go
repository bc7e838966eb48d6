package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Watchful returns the system of a seed, of a family in which controllers mostly look and find nothing to do. Some of
// what they look at changes without waking them: then they find as little to do or, now and then, something. Some look
// at the clock, and some keep a few bits of memory.
func Watchful(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12)), dated: true}
	model := plain.Model{Name: fmt.Sprintf("watchful %d", seed)}
	for i := range 1 + g.IntN(2) {
		g.families = append(g.families, plain.NewFamily[int](Kinds()[i]))
	}
	for i := range 1 + g.IntN(3) {
		model.Controllers = append(model.Controllers, g.watcher(fmt.Sprintf("watcher%d", i)))
	}
	for i := range 1 + g.IntN(2) {
		model.Controllers = append(model.Controllers, g.changer(fmt.Sprintf("changer%d", i)))
	}
	g.Shuffle(len(model.Controllers), func(i, j int) {
		model.Controllers[i], model.Controllers[j] = model.Controllers[j], model.Controllers[i]
	})
	for range 1 + g.IntN(2) {
		var start []core.Object
		for _, family := range g.families {
			for i := range 2 {
				if g.IntN(3) > 0 {
					start = append(start, family.At(i).Is(g.IntN(values)))
				}
			}
		}
		model.Initial = append(model.Initial, plain.Start(start...))
	}
	system, err := model.System()
	if err == nil && g.IntN(3) == 0 {
		g.mind(system)
	}
	return system, err
}

// glances is a run that looks at some things, and does something only if they are as it says.
type glances struct {
	looks []func(*plain.World) int
	// act is what it does if the numbers of what it has seen come to due, all in all, and sooner is where it goes no
	// further if one of them is that.
	act         *program
	due, sooner int
}

func (l *glances) run(w *plain.World) core.Result {
	sum := 0
	for _, look := range l.looks {
		seen := look(w)
		if seen == l.sooner {
			return core.Result{}
		}
		sum += seen
	}
	if sum%4 != l.due {
		return core.Result{}
	}
	return l.act.run(w)
}

// glances returns a run that mostly finds nothing to do.
func (g *generator) glances() *glances {
	l := &glances{due: g.IntN(4), sooner: g.IntN(2 * values), act: g.program(2, false, false)}
	for range 1 + g.IntN(3) {
		variable, family := g.variable(), g.families[g.IntN(len(g.families))]
		switch g.IntN(8) {
		case 0, 1:
			l.looks = append(l.looks, func(w *plain.World) int { return len(family.All(w)) })
		case 2, 3:
			l.looks = append(l.looks, func(*plain.World) int { return epoch() })
		default:
			l.looks = append(l.looks, func(w *plain.World) int {
				if now, ok := variable.Lookup(w); ok {
					return shown(now)
				}
				return values
			})
		}
	}
	return l
}

// watcher returns a controller that is woken by some of what it looks at.
func (g *generator) watcher(name string) plain.Controller {
	requests := []core.Request{"0", "1"}[:1+g.IntN(3)/2]
	runs := map[core.Request]*glances{}
	for _, request := range requests {
		runs[request] = g.glances()
	}
	c := plain.Controller{
		Name: name, Requests: requests,
		Reconcile: func(w *plain.World, request core.Request) core.Result { return runs[request].run(w) },
	}
	for _, family := range g.families {
		switch g.IntN(5) {
		case 0, 1:
			woken := slices.Clone(requests[:1+g.IntN(len(requests))])
			c.Watches = append(c.Watches, plain.Watch{Kind: family.Kind(), Map: func(core.Key) []core.Request { return woken }})
		case 2:
			c.Caches = append(c.Caches, family.Kind())
		}
	}
	return c
}

// changer returns a controller that changes something at each of its few runs, some of them after a time.
func (g *generator) changer(name string) plain.Controller {
	var changes []*program
	for range 1 + g.IntN(3) {
		changes = append(changes, g.program(1, false, false))
	}
	counts := plain.NewVar[int]("count of " + name)
	after := g.IntN(len(changes))
	return plain.Controller{
		Name: name, Requests: []core.Request{"0"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result {
			n, _ := counts.Lookup(w)
			if n >= len(changes) {
				return core.Result{}
			}
			counts.Set(w, n+1)
			changes[n].run(w)
			if n == after {
				return core.Result{RequeueAfter: time.Minute}
			}
			return core.Result{Requeue: true}
		},
	}
}
