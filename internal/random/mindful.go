package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Mindful returns the system of a seed, of a family in which controllers keep a few bits of memory: what they do depends on it, and event handlers
// and reconciles change it. Some of them share a process. Most of those share their memory, and some of these say that they do not.
func Mindful(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4))}
	return g.mindful(fmt.Sprintf("mindful %d", seed))
}

// Restless returns the system of a seed, of a family of mindful controllers of which some leave what they are to do to a goroutine that they share with
// the others of their process, or change their memory after a time.
func Restless(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 6))}
	system, err := g.mindful(fmt.Sprintf("restless %d", seed))
	if err != nil {
		return nil, err
	}
	look, err := g.glance()
	if err != nil {
		return nil, err
	}
	for _, strategy := range system.Strategies {
		m, ok := strategy.(*mind)
		if !ok || g.IntN(4) == 0 || m.divided && slices.ContainsFunc(m.process, func(other *mind) bool { return other.look != nil }) {
			continue
		}
		m.look = look
		for bits := range m.leaves {
			m.leaves[bits], m.alarms[bits], m.onWork[bits] = g.IntN(3) > 0, g.IntN(4) == 0, g.bits(bits)
		}
	}
	return system, nil
}

// Patient returns the system of a seed, of a family of mindful controllers that look at the clock. Some take the time and do something else when it took long, or do not heed that at all. In every
// other system that is all; in the others some look at the clock otherwise, or note a deadline and do something else once it is over.
func Patient(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 10)), dated: seed%2 == 0, timed: 1}
	dated := g.dated
	if !dated {
		g.timed = 2
	}
	system, err := g.mindful(fmt.Sprintf("patient %d", seed))
	if err != nil {
		return nil, err
	}
	for _, strategy := range system.Strategies {
		m, ok := strategy.(*mind)
		if !ok {
			continue
		}
		if m.waits = dated && g.IntN(3) > 0; m.waits {
			for bits := range m.notes {
				m.notes[bits], m.eventNotes[bits], m.onDeadline[bits] = g.IntN(2) == 0, g.IntN(6) == 0, g.bits(bits)
			}
		}
		if m.times = !dated || g.IntN(2) == 0; m.times {
			heeds := g.IntN(4) > 0
			for bits := range m.heeds {
				m.starts[bits], m.heeds[bits], m.onSlow[bits] = g.IntN(4) > 0, heeds && g.IntN(3) > 0, g.IntN(minds)
			}
		}
	}
	return system, nil
}

// glance returns what looks at a variable, and does nothing else.
func (g *generator) glance() (core.Strategy, error) {
	family := g.families[0]
	model := plain.Model{Name: "glance", Initial: []core.Initial{plain.Start()}, Controllers: []plain.Controller{{
		Name: "glance", Requests: []core.Request{"0"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result {
			family.At(0).Lookup(w)
			return core.Result{}
		},
	}}}
	system, err := model.System()
	if err != nil {
		return nil, err
	}
	return system.Strategies[0], nil
}

func (g *generator) mindful(name string) (*core.System, error) {
	system, err := g.system(name, false)
	if err != nil {
		return nil, err
	}
	g.mind(system)
	return system, nil
}

// mind has most of the controllers of a system keep memory.
func (g *generator) mind(system *core.System) {
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
	divided := g.IntN(2) == 0
	apart := divided && g.IntN(3) > 0
	for _, m := range minds {
		m.process, m.divided, m.apart = minds, divided, apart
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
	// process are those that it runs with, nil if it is alone. divided tells that they say not to share memory, and apart that this is so.
	process        []*mind
	divided, apart bool
	// leaves says in which memories a reconcile leaves what it is to do to the background, which looks at the world first, and onWork what comes of a
	// memory then. In a memory of alarms, it is the next one after an hour. None of these is there without look.
	look           core.Strategy
	leaves, alarms [minds]bool
	onWork         [minds]int
	// waits tells that it keeps a deadline, which it notes in some memories when it reconciles, and in others when it handles an event. onDeadline is what comes of a memory when that is over.
	waits             bool
	notes, eventNotes [minds]bool
	onDeadline        [minds]int
	// times tells that it takes the time, from a run in some memories to the next one. In some memories it heeds how long that took, and onSlow is what comes of a memory when it took long.
	times         bool
	starts, heeds [minds]bool
	onSlow        [minds]int
}

// Describe implements [core.Strategy].
func (m *mind) Describe() core.Description {
	d := m.Strategy.Describe()
	if m.process != nil {
		d.Process = "shared"
	}
	d.Divided, d.Active = m.divided, m.Restless()
	if m.divided {
		d.Active = m.look != nil
	}
	return d
}

// Restless reports whether those with its memory work between activations.
func (m *mind) Restless() bool {
	if m.apart {
		return m.look != nil
	}
	return m.look != nil || slices.ContainsFunc(m.process, func(other *mind) bool { return other.look != nil })
}

// New implements [core.Strategy].
func (m *mind) New() (core.Instance, error) {
	r, err := m.join(newMemory())
	if err != nil {
		return nil, err
	}
	for _, other := range m.process {
		with := r.memory
		if m.apart && other != m {
			with = newMemory()
		}
		member, err := other.join(with)
		if err != nil {
			return nil, err
		}
		r.members = append(r.members, member)
	}
	return r, nil
}

// Apart names it if it has a memory of its own in the process.
func (m *mind) Apart() string {
	if !m.apart {
		return ""
	}
	return m.Describe().Name
}

// newMemory returns the memory of a process that has just started.
func newMemory() *memory {
	return &memory{serial: rand.Uint64(), wake: make(chan struct{}, 1), end: make(chan struct{})}
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
	if r := instance.(*remembering); memory != "" {
		parts := strings.Split(memory, " ")
		r.bits, r.alarm, r.todo = int(parts[0][0]-'0'), parts[1] == "alarm", parts[5:]
		r.deadline, r.began = timeOf(parts[2]), timeOf(parts[3])
		if r.took, err = time.ParseDuration(parts[4]); err != nil {
			panic(err)
		}
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
	// todo is what is left to the background: the name of a controller, and a request.
	todo []string
	// alarm tells that the time will change it.
	alarm bool
	// deadline is the time that it waits for, zero if it waits for none.
	deadline time.Time
	// began is since when it takes the time, zero if it does not, and took how long it took the last time.
	began time.Time
	took  time.Duration
	// started tells that the background is at work, which is woken and told to end.
	started   bool
	wake, end chan struct{}
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
	if r.bits == 0 && len(r.todo) == 0 && !r.alarm && r.deadline.IsZero() && r.began.IsZero() && r.took == 0 {
		return ""
	}
	alarm := "quiet"
	if r.alarm {
		alarm = "alarm"
	}
	return strings.Join(append([]string{strconv.Itoa(r.bits), alarm, noted(r.deadline), noted(r.began), r.took.String()}, r.todo...), " ")
}

// noTime stands for none.
const noTime = "none"

// noted is a time as text, and timeOf returns it.
func noted(t time.Time) string {
	if t.IsZero() {
		return noTime
	}
	return t.Format(time.RFC3339Nano)
}

// timeOf returns the time that a text notes.
func timeOf(text string) (t time.Time) {
	if text == noTime {
		return t
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// take takes the time, and heeds how long that took.
func (r *remembering) take() {
	switch {
	case !r.times:
	case r.took > time.Minute && r.heeds[r.bits]:
		r.took, r.bits = 0, r.onSlow[r.bits]
	case !r.began.IsZero():
		r.took, r.began = time.Since(r.began), time.Time{}
	case r.starts[r.bits]:
		r.began = time.Now()
	}
}

// wait looks at the deadline, and notes one if there is none.
func (r *remembering) wait(notes [minds]bool) {
	switch {
	case !r.waits:
	case !r.deadline.IsZero() && time.Now().After(r.deadline):
		r.deadline, r.bits = time.Time{}, r.onDeadline[r.bits]
	case r.deadline.IsZero() && notes[r.bits]:
		r.deadline = time.Now().Add(time.Hour)
	}
}

// Start implements [core.Active].
func (r *remembering) Start(recorder core.EffectRecorder) []func() {
	r.started = true
	return []func(){func() {
		for {
			r.Work(0, recorder)
			select {
			case <-r.wake:
			case <-r.end:
				return
			}
		}
	}}
}

// Stop implements [core.Active].
func (r *remembering) Stop() { close(r.end) }

// Waiting returns how many calls wait in the background.
func (r *remembering) Waiting() int { return min(1, len(r.todo)) }

// Alarmed reports whether the time will change the memory.
func (r *remembering) Alarmed() bool { return r.alarm }

// Ring is what the time does.
func (r *remembering) Ring() { r.alarm, r.bits = false, (r.bits+1)%minds }

// Work does what is left to the background, up to the end.
func (r *remembering) Work(_ int, recorder core.EffectRecorder) {
	for len(r.todo) > 0 {
		name, request, _ := strings.Cut(r.todo[0], "/")
		member := r
		if other := r.Of(name); other != nil {
			member = other.(*remembering)
		}
		glance, err := member.look.New()
		if err != nil {
			panic(err)
		}
		glance.Reconcile(recorder, "0")
		member.Instance.Reconcile(recorder, core.Request(request))
		r.todo, r.bits = r.todo[1:], member.onWork[r.bits]
	}
}

// leave leaves a request to the background, or does not do it twice.
func (r *remembering) leave(request core.Request) {
	if left := r.Describe().Name + "/" + string(request); !slices.Contains(r.todo, left) {
		r.todo = append(slices.Clip(r.todo), left)
	}
}

// stir wakes the background, and sets the alarm.
func (r *remembering) stir() {
	if r.look != nil && r.alarms[r.bits] && !r.alarm {
		r.alarm = true
		if r.started {
			time.AfterFunc(time.Hour, r.Ring)
		}
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Memory implements [core.Introspective].
func (r *remembering) Memory() map[string]string {
	if !r.apart {
		return r.shown()
	}
	shown := map[string]string{}
	for _, member := range r.members {
		name := member.Describe().Name
		for path, value := range member.shown() {
			shown[name+"/"+path] = value
		}
	}
	return shown
}

// MemoryOf implements [core.Divided].
func (r *remembering) MemoryOf(strategy string) map[string]string {
	return r.Of(strategy).(*remembering).shown()
}

// shown is what is to be seen of its own memory.
func (r *remembering) shown() map[string]string {
	shown := map[string]string{"serial": strconv.FormatUint(r.serial, 16), "low": strconv.Itoa(r.bits % 2), "high": strconv.Itoa(r.bits / 2), "deadline": noted(r.deadline), "began": noted(r.began), "took": r.took.String()}
	for i, left := range r.todo {
		shown[fmt.Sprintf("todo[%d]", i)] = left
	}
	return shown
}

// Handle implements [core.Instance].
func (r *remembering) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	r.wait(r.eventNotes)
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
	defer r.stir()
	r.wait(r.notes)
	r.take()
	before := r.bits
	if r.look != nil && r.leaves[before] {
		r.leave(request)
		r.bits = r.onRun[before]
		return core.Result{}
	}
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
