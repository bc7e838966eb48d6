package explore

import (
	"math/bits"

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
	// recording tells that a search is under way: what is run later, to look at its states, does not count.
	recording bool
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

// record has a machine record what its steps touch.
func (f *footprints) record(m *machine) {
	m.recorder, f.recording = f, true
	for range m.agents {
		f.added()
	}
	for _, a := range m.actors {
		f.agents[a.restarts].known = true // where it can act, nothing is left out
	}
}

// added implements [recorder]. In the midst of a state a new agent has nothing to do yet, so that it is left out there.
func (f *footprints) added() {
	f.agents = append(f.agents, newFootprint())
	f.growth++
	if w := f.choosing; w != nil && w.tour.only != nil {
		w.tour.only = append(w.tour.only, false)
	}
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
func (f *footprints) of(w *explorer, s *taken) *footprint {
	if stage, ok := w.stage(s); ok {
		return f.stages[stage]
	}
	return f.agents[s.agent()]
}

// both returns the footprints of the walker's step and of its agent.
func (f *footprints) both(w *explorer, s *taken) []*footprint {
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

// read implements [recorder].
func (f *footprints) read(s *sight, node *behavior.Node, reads []behavior.Read) {
	if !f.recording {
		return
	}
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

// block implements [recorder].
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
func (f *footprints) covers(w *explorer, s *taken) bool {
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
func (f *footprints) note(w *explorer, s *taken) {
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
func (f *footprints) wrote(w *explorer, s *taken, known *footprint, c state.Cell) {
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

// covers tells whether these ties of a step are known.
func (f *footprint) covers(t ties) bool {
	for _, c := range t.held {
		if !f.holds[c] {
			return false
		}
	}
	for _, c := range t.settled {
		if !f.settles[c] {
			return false
		}
	}
	return true
}

// tie takes note of the ties of a step.
func (f *footprints) tie(w *explorer, known *footprint, t ties) {
	for _, c := range t.held {
		grow(f, known.holds, c)
		grow(f, known.alters, f.place(placeName{cell: c, held: true}))
	}
	for _, c := range t.settled {
		grow(f, known.settles, c)
		grow(f, known.reads, f.place(placeName{cell: c}))
		for _, place := range f.heldPlaces(w.machine, c) {
			grow(f, known.reads, place)
		}
	}
}

// heldPlaces returns the places that say who holds which versions of an object.
func (f *footprints) heldPlaces(m *machine, c state.Cell) []Place {
	places := []Place{f.place(placeName{cell: c, held: true})}
	key, _ := m.vocabulary.Key(c)
	for _, a := range m.watchers[key.Kind] {
		if v := a.view(key.Kind); v != nil {
			places = append(places, f.place(placeName{cell: v.Cell()}))
		}
	}
	return places
}

// unchanging returns the places that say who holds versions of objects which nobody changes: it does not matter.
func (f *footprints) unchanging() map[Place]bool {
	written := map[Place]bool{}
	for _, known := range f.agents {
		for place := range known.writes {
			written[place] = true
		}
	}
	unchanging := map[Place]bool{}
	for name, place := range f.places {
		if name.held && !written[f.places[placeName{cell: name.cell}]] {
			unchanging[place] = true
		}
	}
	return unchanging
}
