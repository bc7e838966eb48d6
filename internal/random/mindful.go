package random

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/orrery-dev/orrery/core"
)

// Mindful returns the system of a seed, of a family in which controllers keep a few bits of memory: what they do depends on it, and event handlers
// and reconciles change it. Some of them share a process, and so their memory.
func Mindful(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4))}
	system, err := g.system(fmt.Sprintf("mindful %d", seed), false)
	if err != nil {
		return nil, err
	}
	for i, strategy := range system.Strategies {
		d := strategy.Describe()
		if d.Messages || len(d.Standing) > 0 || g.IntN(5) == 0 {
			continue
		}
		m := &mind{Strategy: strategy, swaps: g.IntN(2) == 0 && len(d.Initial) > 1, sums: map[core.Kind]int{}}
		for bits := range m.onEvent {
			m.onEvent[bits], m.onRun[bits], m.onFailure[bits] = g.bits(bits), g.bits(bits), g.bits(bits)
			m.mute[bits], m.skip[bits] = g.IntN(5) == 0, g.IntN(4) == 0
		}
		for _, kind := range d.Watches {
			m.sums[kind] = g.IntN(minds)
		}
		system.Strategies[i] = m
	}
	if g.IntN(2) == 0 {
		g.share(system.Strategies)
	}
	return system, nil
}

// share puts some of the controllers that keep memory into one process.
func (g *generator) share(strategies []core.Strategy) {
	var minds []*mind
	for _, strategy := range strategies {
		if m, ok := strategy.(*mind); ok && g.IntN(4) > 0 {
			minds = append(minds, m)
		}
	}
	if len(minds) < 2 {
		return
	}
	for _, m := range minds {
		m.process = minds
	}
}

// minds is how many different memories a controller has at most.
const minds = 4

// bits returns what comes of a memory: mostly the same.
func (g *generator) bits(now int) int {
	if g.IntN(2) == 0 {
		return now
	}
	return g.IntN(minds)
}

// mind is a controller with memory.
type mind struct {
	core.Strategy
	// onEvent, onRun and onFailure are what comes of a memory by an event, or by a reconcile and how that ends. What an event does depends on
	// its kind and on whether it is a deletion.
	onEvent, onRun, onFailure [minds]int
	sums                      map[core.Kind]int
	// mute and skip say in which memories events enqueue nothing, and reconciles do nothing.
	mute, skip [minds]bool
	// swaps tells that some memories take one request for the other.
	swaps bool
	// process are those that share their memory, nil if it is alone.
	process []*mind
}

// Describe implements [core.Strategy].
func (m *mind) Describe() core.Description {
	d := m.Strategy.Describe()
	if m.process != nil {
		d.Process = "shared"
	}
	return d
}

// New implements [core.Strategy].
func (m *mind) New() (core.Instance, error) {
	r, err := m.join(&memory{serial: rand.Uint64()})
	if err != nil {
		return nil, err
	}
	for _, other := range m.process {
		member, err := other.join(r.memory)
		if err != nil {
			return nil, err
		}
		r.members = append(r.members, member)
	}
	return r, nil
}

// join returns an instance with a memory.
func (m *mind) join(with *memory) (*remembering, error) {
	inner, err := m.Strategy.New()
	if err != nil {
		return nil, err
	}
	return &remembering{mind: m, Instance: inner, memory: with}, nil
}

// Remember returns an instance that remembers something, which is what [remembering.Remembers] returned.
func (m *mind) Remember(memory string) core.Instance {
	instance, err := m.New()
	if err != nil {
		panic(err)
	}
	if memory != "" {
		instance.(*remembering).bits = int(memory[0] - '0')
	}
	return instance
}

// remembering is a controller that remembers.
type remembering struct {
	*mind
	core.Instance
	*memory
	// members are those of its process.
	members []*remembering
}

// memory is what a process keeps.
type memory struct {
	bits int
	// serial is different in each instance, and nothing depends on it.
	serial uint64
}

// Of implements [core.Plural].
func (r *remembering) Of(strategy string) core.Instance {
	for _, member := range r.members {
		if member.Describe().Name == strategy {
			return member
		}
	}
	return nil
}

// Remembers returns what it remembers, empty if it is nothing.
func (r *remembering) Remembers() string {
	if r.bits == 0 {
		return ""
	}
	return strconv.Itoa(r.bits)
}

// Memory implements [core.Introspective].
func (r *remembering) Memory() map[string]string {
	return map[string]string{"serial": strconv.FormatUint(r.serial, 16), "low": strconv.Itoa(r.bits % 2), "high": strconv.Itoa(r.bits / 2)}
}

// Handle implements [core.Instance].
func (r *remembering) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	requests := r.Instance.Handle(recorder, event)
	if event.New == nil {
		r.bits = (r.bits + 1) % minds
	}
	r.bits = (r.onEvent[r.bits] + r.sums[event.Key.Kind]) % minds
	if r.mute[r.bits] {
		return nil
	}
	return requests
}

// Reconcile implements [core.Instance].
func (r *remembering) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	before := r.bits
	if r.skip[before] {
		r.bits = r.onRun[before]
		return core.Result{}
	}
	if r.swaps && before%2 == 1 {
		request = map[core.Request]core.Request{"0": "1", "1": "0"}[request]
	}
	result := r.Instance.Reconcile(recorder, request)
	switch {
	case result.Blocked:
	case result.Err != nil:
		r.bits = r.onFailure[before]
	default:
		r.bits = r.onRun[before]
	}
	return result
}
