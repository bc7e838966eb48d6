package explore

import (
	"math/bits"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// footprints is what is known of what steps touch. The searching goroutine makes it grow; the others only compare.
type footprints struct {
	places map[placeName]Place
	// agents are by number, stages are the steps of runs whose calls are steps of their own.
	agents []*footprint
	stages map[stage]*footprint
	// handlers are what event handlers look at, by the kind of the event: whoever writes an object of the kind looks at
	// it.
	handlers map[core.Kind]*footprint
	// visible is what is looked at by invariants, and all of it is if an invariant looks at what no footprint
	// covers.
	visible    *footprint
	allVisible bool
	// growth counts what was learned.
	growth int
	// exported are the stages as they were known when the search began: what is chosen in a state must not depend on what was
	// learned meanwhile.
	exported map[stage]*Footprint
	// blocked tells which agents were known by then to be blocked now and then, by number.
	blocked []bool
	// choosing is the walker that learns while it leaves out agents.
	choosing *walker
}

// placeName says what a place is: a cell, who holds versions of its object, the objects of a kind in a
// namespace (empty for all), those of them that are selected, or the workers of an actor.
type placeName struct {
	cell      state.Cell
	held      bool
	listed    bool
	kind      core.Kind
	namespace string
	selection *state.Selection
	workers   string
}

// footprint is what was touched so far.
type footprint struct {
	known         bool
	reads, writes map[Place]bool
	alters, gates map[Place]bool
	wakes         map[int]bool
	// putOff tells that the agent was put off in some state, see [Choice]: nobody sleeps behind its steps.
	putOff bool
	// takes tells that the agent takes its own work out of a queue, and blocks that a run of it was blocked, or may be by what it was
	// made for: what it reads may keep it from taking a step.
	takes, blocks bool
	// kinds are the kinds of the objects of which event handlers are told.
	kinds map[core.Kind]bool
	// holds and settles are the ties to versions that are held.
	holds, settles map[state.Cell]bool
	// touched are the cells that are changed, one bit each.
	touched []uint64
}

func (f *footprint) touches(c state.Cell) bool {
	word := int(c / 64)
	return word < len(f.touched) && f.touched[word]&(1<<(c%64)) != 0
}

func (f *footprint) touch(c state.Cell) {
	for int(c/64) >= len(f.touched) {
		f.touched = append(f.touched, 0)
	}
	f.touched[c/64] |= 1 << (c % 64)
}

func newFootprints() *footprints {
	return &footprints{
		places:   map[placeName]Place{},
		stages:   map[stage]*footprint{},
		handlers: map[core.Kind]*footprint{},
		visible:  newFootprint(),
	}
}

func newFootprint() *footprint {
	return &footprint{
		reads: map[Place]bool{}, writes: map[Place]bool{},
		alters: map[Place]bool{}, gates: map[Place]bool{},
		wakes: map[int]bool{},
		kinds: map[core.Kind]bool{},
		holds: map[state.Cell]bool{}, settles: map[state.Cell]bool{},
	}
}

// addAgent numbers a new agent. In the midst of a state it has nothing to do yet, so that it is left out there.
func (f *footprints) addAgent() int {
	f.agents = append(f.agents, newFootprint())
	f.growth++
	if w := f.choosing; w != nil && w.tour.only != nil {
		w.tour.only = append(w.tour.only, false)
	}
	return len(f.agents) - 1
}

func (f *footprints) place(name placeName) Place {
	p, known := f.places[name]
	if !known {
		p = Place(len(f.places))
		f.places[name] = p
	}
	return p
}

// grow adds something that was touched.
func grow[K comparable](f *footprints, set map[K]bool, member K) {
	if !set[member] {
		set[member] = true
		f.growth++
	}
}

// seeAll takes note that an invariant looks at the work.
func (f *footprints) seeAll() {
	if !f.allVisible {
		f.allVisible = true
		f.growth++
	}
}

// of returns the footprint of the walker's step: for a stage of a run that of the stage, nil if it is not known.
func (f *footprints) of(w *walker, s *taken) *footprint {
	if stage, ok := w.stage(s); ok {
		return f.stages[stage]
	}
	return f.agents[s.agent()]
}

// both returns the footprints of the walker's step and of its agent.
func (f *footprints) both(w *walker, s *taken) []*footprint {
	agent := f.agents[s.agent()]
	stage, ok := w.stage(s)
	if !ok {
		return []*footprint{agent}
	}
	return []*footprint{f.stage(stage), agent}
}

// stage returns the footprint of a stage of a run.
func (f *footprints) stage(s stage) *footprint {
	if f.stages[s] == nil {
		f.stages[s] = newFootprint()
	}
	return f.stages[s]
}

// read takes note of what the answer to the call of a node depends on, as a sight shows it.
func (f *footprints) read(s *sight, node *behavior.Node, reads []behavior.Read) {
	w := s.walker
	var readers []*footprint
	if w.handling != nil {
		readers = []*footprint{f.handler(w.handling.Key.Kind)}
	} else {
		readers = []*footprint{f.agents[w.tour.current.agent()]}
		if w.machine.conditions.Granularity == PerCall && !w.tour.current.actor.atomic {
			// The answer may be looked for to find out whether a run would be blocked, and then counts for the call all the same.
			readers = append(readers, f.stage(stage{node: node.Point()}))
		}
	}
	for _, known := range readers {
		for _, r := range reads {
			for _, place := range f.readPlaces(s, r) {
				grow(f, known.reads, place)
			}
		}
		if w.handling == nil && w.tour.current.actor.atomic {
			known.blocks = true
		}
	}
}

// block takes note that a run of an agent was blocked.
func (f *footprints) block(agent int) {
	if known := f.agents[agent]; !known.blocks {
		known.blocks = true
		f.growth++
	}
}

// blocks reports whether it was known when the search began that runs of an agent may be blocked.
func (f *footprints) blocks(agent int) bool { return agent < len(f.blocked) && f.blocked[agent] }

func (f *footprints) handler(kind core.Kind) *footprint {
	if f.handlers[kind] == nil {
		f.handlers[kind] = newFootprint()
	}
	return f.handlers[kind]
}

// readPlaces returns the places that a read looks at. What a view shows depends on the view, too.
func (f *footprints) readPlaces(s *sight, r behavior.Read) []Place {
	w := s.walker
	kind := r.Kind
	place := f.place(placeName{listed: true, kind: r.Kind, namespace: r.Namespace, selection: r.Selection})
	if !r.Listed {
		key, _ := w.machine.vocabulary.Key(r.Cell)
		kind, place = key.Kind, f.place(placeName{cell: r.Cell})
	}
	if r.Held {
		return f.heldPlaces(w.machine, r.Cell)
	}
	places := []Place{place}
	if s.actor != nil {
		if v := s.actor.view(kind); v != nil {
			places = append(places, f.place(placeName{cell: v.Cell()}))
		}
	}
	return places
}

// covers tells whether the walker's step touched nothing but what is known.
func (f *footprints) covers(w *walker, s *taken) bool {
	known := f.of(w, s)
	if known == nil || !known.known {
		return false
	}
	for _, t := range w.touched {
		if !known.touches(t.cell) {
			return false
		}
	}
	woken := true
	w.wakes.agents(s, func(agent int) { woken = woken && known.wakes[agent] })
	return woken && (!w.machine.holds || known.covers(w.ties(s)))
}

// note takes note of what the walker's step touched.
func (f *footprints) note(w *walker, s *taken) {
	ties := w.ties(s)
	for _, known := range f.both(w, s) {
		if !known.known {
			known.known = true
			f.growth++
			f.begin(s, known)
		}
		for _, t := range w.touched {
			if !known.touches(t.cell) {
				known.touch(t.cell)
				f.growth++
				f.wrote(w, s, known, t.cell)
			}
		}
		w.wakes.agents(s, func(agent int) { grow(f, known.wakes, agent) })
		f.tie(w, known, ties)
	}
}

// begin takes note of what every step of an agent touches.
func (f *footprints) begin(s *taken, known *footprint) {
	switch s.kind {
	case core.Begin:
		known.takes = true
		grow(f, known.writes, f.place(placeName{workers: s.actor.Name}))
	case core.Return:
		grow(f, known.writes, f.place(placeName{workers: s.actor.Name}))
	case core.Reconcile, core.Act, core.Intervene:
		known.takes = true
	case core.Deliver:
		grow(f, known.kinds, s.view.Kind())
		grow(f, known.gates, f.place(placeName{cell: s.view.Cell()}))
		return
	}
	// Whether its views are old makes it another step.
	for _, v := range s.actor.views {
		grow(f, known.reads, f.place(placeName{cell: v.Cell()}))
	}
}

// wrote takes note of a cell that a step changes.
func (f *footprints) wrote(w *walker, s *taken, known *footprint, c state.Cell) {
	vocabulary := w.machine.vocabulary
	if item, isItem := vocabulary.ItemAt(c); isItem {
		if s.item == nil || item != s.item.Item {
			grow(f, known.wakes, w.machine.itemAt[c].agent)
		}
		return
	}
	if c == w.machine.crashes || c == w.machine.failures {
		return // as long as there may be faults, nothing is left out
	}
	grow(f, known.writes, f.place(placeName{cell: c}))
	key, isObject := vocabulary.Key(c)
	if !isObject {
		return
	}
	grow(f, known.kinds, key.Kind)
	grow(f, known.alters, f.place(placeName{listed: true, kind: key.Kind}))
	if key.Namespace != "" {
		grow(f, known.alters, f.place(placeName{listed: true, kind: key.Kind, namespace: key.Namespace}))
	}
}

// selects finds out what is selected of what steps change, with all values that objects had so far.
func (f *footprints) selects(vocabulary *state.Vocabulary) {
	for _, known := range f.agents {
		f.selectsOf(vocabulary, known)
	}
	for _, known := range f.stages {
		f.selectsOf(vocabulary, known)
	}
}

func (f *footprints) selectsOf(vocabulary *state.Vocabulary, known *footprint) {
	for i, word := range known.touched {
		for ; word != 0; word &= word - 1 {
			c := state.Cell(i*64 + bits.TrailingZeros64(word))
			key, isObject := vocabulary.Key(c)
			if !isObject {
				continue
			}
			for _, s := range vocabulary.Selections(key.Kind) {
				if vocabulary.May(s, c) {
					grow(f, known.alters, f.place(placeName{listed: true, kind: s.Kind, namespace: s.Namespace, selection: s}))
				}
			}
		}
	}
}

// gate takes note of what keeps items from being taken from their queues where each call is a step of its own: that all workers are
// busy.
func (f *footprints) gate(m *machine) {
	if m.conditions.Granularity != PerCall {
		return
	}
	for _, it := range m.items {
		if !it.actor.atomic {
			grow(f, f.agents[it.agent].gates, f.place(placeName{workers: it.actor.Name}))
		}
	}
}

// onlooker is a state that takes note of the cells that a predicate looks at.
type onlooker struct {
	state.Look
	vocabulary *state.Vocabulary
	vector     state.Vector
	trace      []touch
}

var _ core.State = (*onlooker)(nil)

func (o *onlooker) see(c state.Cell) {
	if !touches(o.trace, c) {
		o.trace = append(o.trace, touch{cell: c, was: valueIn(o.vector, c)})
	}
}

// Get implements [core.State]. An object that was never met has a cell from now on.
func (o *onlooker) Get(key core.Key) core.Content {
	o.see(o.vocabulary.Object(key))
	return o.Look.Get(key)
}

// List implements [core.State].
func (o *onlooker) List(kind core.Kind, namespace string) []core.Object {
	for _, c := range o.vocabulary.Kind(kind) {
		o.see(c)
	}
	return o.Look.List(kind, namespace)
}

// Objects returns all objects. It is not in [core.State], but a predicate may find it there.
func (o *onlooker) Objects() []core.Object {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isObject := o.vocabulary.Key(c); isObject {
			o.see(c)
		}
	}
	return o.Look.Objects()
}

// Work implements [core.State].
func (o *onlooker) Work() []core.Item {
	o.seeItems()
	return o.Look.Work()
}

// InFlight implements [core.State].
func (o *onlooker) InFlight() []core.Item {
	o.seeItems()
	return o.Look.InFlight()
}

// Timers implements [core.State].
func (o *onlooker) Timers() []core.Item {
	o.seeItems()
	return o.Look.Timers()
}

func (o *onlooker) seeItems() {
	for c := range state.Cell(o.vocabulary.Cells()) {
		if _, isItem := o.vocabulary.ItemAt(c); isItem {
			o.see(c)
		}
	}
}

// inspect checks the invariants in all states that a new one stands for, unless it was done for one with which they cannot
// tell it from.
func (m *mirror) inspect(id core.StateID, row []byte) error {
	s := m.space
	for i := range s.invariants {
		inv := &s.invariants[i]
		for !inv.broken {
			m.renew()
			m.walker.load(row)
			if m.seen.find(i, m.walker.vector) != nil {
				break
			}
			trace, err := m.behold(inv, id, row)
			if err != nil {
				return err
			}
			if m.walker.machine.vocabulary.Cells() == m.cells {
				m.walker.load(row)
				m.seen.remember(i, m.walker.vector, trace)
				break
			}
		}
	}
	return nil
}

// behold checks an invariant in all arrangements of a state, and returns the cells that it looks at with their values in the state.
func (m *mirror) behold(inv *invariant, id core.StateID, row []byte) ([]touch, error) {
	vocabulary := m.walker.machine.vocabulary
	m.walker.load(row)
	vector := slices.Clone(m.walker.vector)
	look := func(at state.Vector) []touch {
		o := &onlooker{Look: state.NewLook(vocabulary, at), vocabulary: vocabulary, vector: at}
		if err := judge(inv.property, o); err != nil && !inv.broken {
			inv.broken, inv.state, inv.err = true, id, err
		}
		return o.trace
	}
	trace := look(vector)
	for i, a := range m.arrangements {
		image, err := m.walker.image(vector, a)
		if err != nil {
			return nil, err
		}
		if trace, err = m.bringBack(trace, look(image), i, vector); err != nil {
			return nil, err
		}
	}
	return trace, nil
}
