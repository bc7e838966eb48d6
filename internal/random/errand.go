package random

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Errands returns the system of a seed, of a family of controllers that keep something for each request and leave some
// of what they are to do for it to a goroutine. In some of the systems, what is left for one request has to do with
// another one, in one way or another.
func Errands(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 16))}
	system, err := g.system(fmt.Sprintf("errands %d", seed), false)
	if err != nil {
		return nil, err
	}
	keepLedgers(g.Rand, system)
	for _, strategy := range system.Strategies {
		l, keeps := strategy.(*ledger)
		if !keeps || g.IntN(4) == 0 {
			continue
		}
		e := &errands{between: betweens[g.IntN(len(betweens))]}
		if e.look, err = g.errandLook(); err != nil {
			return nil, err
		}
		for bits := range minds {
			e.leaves[bits], e.onWork[bits] = g.IntN(3) > 0, g.bits(bits)
		}
		l.errands = e
	}
	return system, nil
}

// errandLook returns what looks at the variable of a request, and does nothing else.
func (g *generator) errandLook() (core.Strategy, error) {
	family := g.families[0]
	model := plain.Model{Name: "glances", Initial: []core.Initial{plain.Start()}, Controllers: []plain.Controller{{
		Name: "glances", Requests: []core.Request{"0"},
		Reconcile: func(w *plain.World, request core.Request) core.Result {
			family.Named(string(request)).Lookup(w)
			return core.Result{}
		},
	}}}
	system, err := model.System()
	if err != nil {
		return nil, err
	}
	return system.Strategies[0], nil
}

// errands are what a controller leaves to goroutines, one for each request.
type errands struct {
	// look is what each does first.
	look core.Strategy
	// leaves says in which memories a run leaves what it is to do to a goroutine, and onWork what comes of a memory
	// then.
	leaves  [minds]bool
	onWork  [minds]int
	between between
}

// between is how what is left for one request has to do with another one.
type between string

const (
	// apart has nothing to do with it, as it should be.
	apart between = ""
	// queues does one at a time, in order, and locks has each wait for the end of the one before, which nobody can see.
	queues between = "queues"
	locks  between = "locks"
	// yields does nothing for a request if anything is left for another one.
	yields between = "yields"
	// settles changes what is kept for all requests.
	settles between = "settles"
)

var betweens = [...]between{apart, apart, apart, queues, locks, yields, settles}

// left begins the entry of a request in what a controller remembers for which something is left to be done.
const left = "left:"

// leave leaves a request to a goroutine, or does not do it twice.
func (b *booked) leave(request core.Request) {
	if slices.Contains(b.left, request) {
		return
	}
	b.left = append(b.left, request)
	if b.errands.lanes() > 1 {
		slices.Sort(b.left)
	}
	if b.background == nil || b.errands.between == queues && len(b.left) > 1 {
		return
	}
	if b.errands.between == locks {
		go func() {
			b.lock <- struct{}{}
			defer func() { <-b.lock }()
			b.run(b.background, request)
		}()
		return
	}
	go func() {
		for more := true; more; more = b.errands.between == queues && len(b.left) > 0 {
			if b.errands.between == queues {
				request = b.left[0]
			}
			b.run(b.background, request)
		}
	}()
}

// run does what is left for a request.
func (b *booked) run(recorder core.EffectRecorder, request core.Request) {
	glance, err := b.errands.look.New()
	if err != nil {
		panic(err)
	}
	glance.Reconcile(recorder, request)
	if b.errands.between != yields || len(b.left) == 1 {
		b.Instance.Reconcile(recorder, request)
	}
	b.left = slices.DeleteFunc(slices.Clone(b.left), func(other core.Request) bool { return other == request })
	about := []core.Request{request}
	if b.errands.between == settles {
		about = slices.Sorted(maps.Keys(b.kept))
	}
	for _, request := range about {
		b.keep(request, b.errands.onWork[b.kept[request]])
	}
}

// Restless reports whether it works between activations.
func (l *ledger) Restless() bool { return l.errands != nil }

// Lanes returns for how many requests anything may wait at once.
func (l *ledger) Lanes() int { return l.errands.lanes() }

// Lanes returns how many calls a controller may have wait that does all that it leaves to the background in one
// goroutine.
func (m *mind) Lanes() int { return 1 }

func (e *errands) lanes() int {
	if e.between == queues || e.between == locks {
		return 1
	}
	return 2 // as there are requests
}

// Describe implements [core.Strategy].
func (l *ledger) Describe() core.Description {
	d := l.Strategy.Describe()
	if l.errands != nil {
		d.Active, d.Initial = true, []core.Request{"0", "1"}
	}
	return d
}

// Start implements [core.Active].
func (b *booked) Start(recorder core.EffectRecorder) []func() {
	b.background = recorder
	return nil
}

// Stop implements [core.Active].
func (*booked) Stop() {}

// Waiting returns for how many requests a call waits.
func (b *booked) Waiting() int { return min(b.errands.lanes(), len(b.left)) }

// Work does what is left for one of them, up to the end: with all that waits for that.
func (b *booked) Work(turn int, recorder core.EffectRecorder) {
	b.run(recorder, b.left[turn])
	for b.errands.lanes() == 1 && len(b.left) > 0 {
		b.run(recorder, b.left[0])
	}
}

// Alarmed reports whether the time changes the memory, and Ring is what it does.
func (*booked) Alarmed() bool { return false }

// Ring does nothing.
func (*booked) Ring() {}

// remembersErrands returns the entries of the requests for which something is left to be done.
func (b *booked) remembersErrands() []string {
	var entries []string
	for _, request := range b.left {
		entries = append(entries, left+string(request))
	}
	return entries
}

// errandOf returns the request of such an entry, and false if it is another one.
func errandOf(entry string) (core.Request, bool) {
	request, is := strings.CutPrefix(entry, left)
	return core.Request(request), is
}

// showErrands adds to what an instance shows what is left.
func (b *booked) showErrands(shown map[string]string) {
	for i, request := range b.left {
		if b.errands.between == queues {
			shown[fmt.Sprintf("left[%d]", i)] = string(request)
		} else {
			shown["left["+string(request)+"]"] = "yes"
		}
	}
}
