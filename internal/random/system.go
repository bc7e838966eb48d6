// Package random makes systems that nobody would write, to compare searches on: small enough to be searched in full,
// and with a bit of everything that a system can have.
package random

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// program is a random run: what to do, and how to go on for each of the answers.
type program struct {
	call   string                   // says what it does first
	do     func(w *plain.World) int // returns the number of the answer
	next   []*program
	result core.Result
}

// run runs the program to its end.
func (p *program) run(w *plain.World) core.Result {
	for len(p.next) > 0 {
		p = p.next[p.do(w)%len(p.next)]
	}
	return p.result
}

var errRandom = errors.New("something failed")

// generator makes random systems that are small enough to be searched in full.
type generator struct {
	*rand.Rand
	families []plain.Family[int]
	inboxes  []plain.Inbox[string]
	// forks tells that programs make calls from several goroutines.
	forks bool
	// dated tells that programs look at the clock, staged that they do several things in turn because of it, and timed
	// how many more of three runs set timers.
	dated, staged bool
	timed         int
	// dice are what programs draw with, nil if they do not.
	dice *dice
	// coins decide in programs, nil if nothing does, and tossed is how often they do on the way to the one that is
	// made.
	coins *Coins
	// shuffles tells that they also decide in which order calls are made.
	shuffles bool
	tossed   int
	// merging tells that work queues have one entry for each request.
	merging bool
}

// values is how many values a variable can have.
const values = 3

func (g *generator) variable() plain.Var[int] {
	return g.families[g.IntN(len(g.families))].At(g.IntN(2))
}

// program returns a program with at most so many calls on each of its ways. What
// guards may be taken back as a whole; what messages may send some.
func (g *generator) program(calls int, guards, messages bool) *program {
	if calls == 0 || g.IntN(6) == 0 {
		return &program{result: g.result()}
	}
	if g.forks && g.IntN(3) == 0 {
		return g.fork(calls, guards, messages)
	}
	variable, value := g.variable(), g.IntN(values)
	step := func(call string, answers int, do func(*plain.World) int) *program {
		p := &program{call: call, do: do}
		for range answers {
			p.next = append(p.next, g.program(calls-1, guards, messages))
		}
		return p
	}
	if g.dated && g.IntN(3) == 0 {
		p := g.program(calls-1, guards, messages)
		then, stages := &program{call: p.call, do: func(*plain.World) int { return epoch() }}, 2
		if g.staged {
			then.do, stages = func(*plain.World) int { return stage() }, 3
		}
		for range stages {
			then.next = append(then.next, p)
			p = g.program(calls-1, guards, messages)
		}
		return then
	}
	if g.coins != nil && g.tossed < mostTossed && g.IntN(3) == 0 {
		return g.toss(calls, guards, messages)
	}
	if g.dice != nil && g.IntN(2) == 0 {
		return g.draw(step, variable)
	}
	choice := g.IntN(10)
	switch {
	case choice < 3:
		return step(fmt.Sprint("get ", variable.Key()), values+1, func(w *plain.World) int {
			if now, ok := variable.Lookup(w); ok {
				return shown(now)
			}
			return values
		})
	case choice < 4:
		family := g.families[g.IntN(len(g.families))]
		return step(fmt.Sprint("list ", family.Kind()), 3, func(w *plain.World) int {
			sum := 0
			for _, member := range family.All(w) {
				sum += shown(member.Value) + 1
			}
			return sum
		})
	case choice < 5 && guards:
		return step(fmt.Sprint("get ", variable.Key()), 1, func(w *plain.World) int {
			now, ok := variable.Lookup(w)
			w.Require(ok && now != value)
			return 0
		})
	case choice < 7 && messages && len(g.inboxes) > 0:
		inbox, message := g.inboxes[g.IntN(len(g.inboxes))], fmt.Sprintf("m%d", g.IntN(2))
		return step(fmt.Sprint("send ", message), 1, func(w *plain.World) int { inbox.Send(w, message); return 0 })
	case choice < 8:
		return step(fmt.Sprint("delete ", variable.Key()), 1, func(w *plain.World) int { variable.Delete(w); return 0 })
	}
	return step(fmt.Sprint("set ", variable.Key(), value), 1, func(w *plain.World) int { variable.Set(w, value); return 0 })
}

// fork returns a program that makes some calls at the same time, from a goroutine each. How it goes on may depend on
// which of them is answered first.
func (g *generator) fork(calls int, guards, messages bool) *program {
	branches := make([]*program, 2+g.IntN(5)/4)
	forks := g.forks
	g.forks = false
	known := map[string]bool{}
	for i := range branches {
		branches[i] = g.apart(known, messages)
	}
	g.forks = forks
	ordered := g.IntN(3) == 0
	p := &program{do: func(w *plain.World) int {
		var all sync.WaitGroup
		var mu sync.Mutex
		sum, done := 0, 0
		for i, branch := range branches {
			all.Go(func() {
				answer := branch.answer(w)
				mu.Lock()
				defer mu.Unlock()
				sum += answer
				if ordered && len(branch.next) > 0 {
					sum += i * done
					done++
				}
			})
		}
		all.Wait()
		return sum
	}}
	for range 3 {
		p.next = append(p.next, g.program(calls-1, guards, messages))
	}
	return p
}

// apart returns a program without calls that are known: nobody could tell which of two equal calls is answered first.
func (g *generator) apart(known map[string]bool, messages bool) *program {
	for range 8 {
		p := g.program(1+g.IntN(4)/3, false, messages)
		calls := p.calls()
		if !slices.ContainsFunc(calls, func(call string) bool { return known[call] }) {
			for _, call := range calls {
				known[call] = true
			}
			return p
		}
	}
	return &program{}
}

// calls says what the program may do.
func (p *program) calls() []string {
	if len(p.next) == 0 {
		return nil
	}
	calls := []string{p.call}
	for _, next := range p.next {
		calls = append(calls, next.calls()...)
	}
	return calls
}

// answer runs the program to its end, and returns the last answer.
func (p *program) answer(w *plain.World) int {
	answer := 0
	for len(p.next) > 0 {
		answer = p.do(w)
		p = p.next[answer%len(p.next)]
	}
	return answer
}

// actions returns guarded actions.
func (g *generator) actions(n int) []plain.Action {
	var actions []plain.Action
	for i := range n {
		p := g.program(3, true, true)
		actions = append(actions, plain.Action{Name: fmt.Sprintf("act%d", i), Do: func(w *plain.World) { p.run(w) }})
	}
	return actions
}

// result returns how a program ends: mostly well.
func (g *generator) result() core.Result {
	if g.timed > 0 && g.IntN(3) < g.timed {
		return core.Result{RequeueAfter: time.Minute}
	}
	return resultOf(g.Rand, 12)
}

// epoch is how often a long time has passed, once at most, by the clock.
func epoch() int { return max(0, stage()-1) }

// stage is 1 when an hour has passed by the clock, and 2 when a long time has.
func stage() int {
	switch passed := time.Since(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)); {
	case passed > 10*365*24*time.Hour:
		return 2
	case passed > 30*time.Minute:
		return 1
	}
	return 0
}

// resultOf returns a result that is not that all is well in four of so many cases.
func resultOf(chance *rand.Rand, of int) core.Result {
	switch chance.IntN(of) {
	case 0:
		return core.Result{Err: errRandom}
	case 1:
		return core.Result{Requeue: true}
	case 2, 3:
		return core.Result{RequeueAfter: time.Minute}
	}
	return core.Result{}
}

// Drawing returns the system of a seed, of a family in which controllers draw random values, mostly for what is not
// there yet. They do not decide what is done.
func Drawing(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 9)), dice: &dice{}}
	system, err := g.system(fmt.Sprintf("drawing %d", seed), false)
	if err == nil {
		system.Randomness = g.dice
	}
	return system, err
}

// System returns the system of a seed. Equal seeds give equal systems.
func System(seed uint64) (*core.System, error) {
	return (&generator{Rand: rand.New(rand.NewPCG(seed, 0)), merging: seed%3 == 1}).system(fmt.Sprintf("random %d", seed), false)
}

// Concurrent returns the system of a seed, of a family in which controllers make calls from several goroutines.
func Concurrent(seed uint64) (*core.System, error) {
	return (&generator{Rand: rand.New(rand.NewPCG(seed, 3))}).system(fmt.Sprintf("concurrent %d", seed), true)
}

// Dated returns the system of a seed, of a family in which controllers look at the clock: what they do is another thing
// from some time on.
func Dated(seed uint64) (*core.System, error) {
	return (&generator{Rand: rand.New(rand.NewPCG(seed, 4)), dated: true, timed: 1, merging: seed%3 == 1}).system(fmt.Sprintf("dated %d", seed), false)
}

// Staged returns the system of a seed, of a family in which what controllers do is another thing from some time on, and
// a third one much later.
func Staged(seed uint64) (*core.System, error) {
	return (&generator{Rand: rand.New(rand.NewPCG(seed, 15)), dated: true, staged: true, timed: 1}).system(fmt.Sprintf("staged %d", seed), false)
}

// system returns a system of a name, with controllers that fork or without.
func (g *generator) system(name string, forks bool) (*core.System, error) {
	for i := range 1 + g.IntN(2) {
		g.families = append(g.families, plain.NewFamily[int](Kinds()[i]))
	}
	model := plain.Model{Name: name}
	receivers := g.IntN(2)
	for i := range receivers {
		g.inboxes = append(g.inboxes, plain.NewInbox[string](fmt.Sprintf("receiver%d", i)))
	}
	dated, timed, dice, coins := g.dated, g.timed, g.dice, g.coins
	g.dated, g.timed, g.dice, g.coins = false, 0, nil, nil
	for i := range receivers {
		onMessage := [2]*program{g.program(2, true, true), g.program(2, true, true)}
		receiver := plain.Process{
			Name:     fmt.Sprintf("receiver%d", i),
			Messages: []core.Request{"m0"},
			Receive: func(w *plain.World, request core.Request) {
				onMessage[strings.Index("01", string(request[1:]))].run(w)
			},
		}
		if g.IntN(4) == 0 {
			receiver.Actions = g.actions(1)
		}
		model.Processes = append(model.Processes, receiver)
	}
	for i := range g.IntN(2) {
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("process%d", i), Unfair: g.IntN(3) == 0,
			Actions: g.actions(1 + g.IntN(2)),
		})
	}
	controllers := 1 + g.IntN(7)/3
	g.forks, g.dated, g.timed, g.dice, g.coins = forks, dated, timed, dice, coins
	for i := range controllers {
		guards := g.IntN(3) == 0 && !forks // what is blocked in one order of its calls only cannot be said to be under way
		p := [2]*program{g.program(5-controllers, guards, true), g.program(2, guards, false)}
		c := plain.Controller{
			Merging:  g.merging,
			Name:     fmt.Sprintf("controller%d", i),
			Requests: []core.Request{"0", "1"}[:1+g.IntN(6)/5],
			Unfair:   g.IntN(6) == 0,
			Reconcile: func(w *plain.World, request core.Request) core.Result {
				return p[strings.Index("01", string(request))].run(w)
			},
		}
		for _, family := range g.families {
			if g.IntN(3) == 0 {
				if g.IntN(2) == 0 {
					c.Caches = append(c.Caches, family.Kind())
				}
				continue
			}
			watch := plain.Watch{Kind: family.Kind()}
			if g.IntN(2) == 0 {
				watch.Map = func(core.Key) []core.Request { return []core.Request{"0"} }
			}
			c.Watches = append(c.Watches, watch)
		}
		model.Controllers = append(model.Controllers, c)
	}
	for range 1 + g.IntN(3) {
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
	if g.IntN(3) == 0 {
		model.Initial = append(model.Initial, model.Initial[0])
	}
	one, other, looks := g.variable(), g.variable(), g.IntN(4)
	model.Properties = []core.Property{{
		Name: "random",
		Invariant: func(s core.State) error {
			a, ok := one.Lookup(s)
			b, ok2 := other.Lookup(s)
			if ok && ok2 && a == 2 && b == 1 || looks == 0 && len(s.Timers()) > 1 {
				return errRandom
			}
			return nil
		},
	}}
	return model.System()
}

// Kinds are the kinds of the objects of the systems.
func Kinds() []core.Kind { return []core.Kind{"a", "b", "c"} }
