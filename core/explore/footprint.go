package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// footprints is what is known of what steps touch. The searching goroutine makes it grow; the others only compare.
type footprints struct {
	places map[placeName]Place
	// agents are by number, calls by the node of a call that is a step of its own.
	agents []*footprint
	calls  map[*behavior.Node]*footprint
	// handlers are what event handlers look at, by the kind of the event: whoever writes an object of the kind looks at
	// it.
	handlers map[core.Kind]*footprint
	// visible is what is looked at by invariants, and all of it is if an invariant looks at what no footprint
	// covers.
	visible    *footprint
	allVisible bool
	// growth counts what was learned.
	growth int
}

// placeName says what a place is: a cell, the objects of a kind in a namespace (empty for all), or the workers of an
// actor.
type placeName struct {
	cell      state.Cell
	listed    bool
	kind      core.Kind
	namespace string
	workers   string
}

// footprint is what was touched so far.
type footprint struct {
	known         bool
	reads, writes map[Place]bool
	alters, gates map[Place]bool
	wakes         map[int]bool
	// kinds are the kinds of the objects that are written.
	kinds map[core.Kind]bool
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
		calls:    map[*behavior.Node]*footprint{},
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
	}
}

// addAgent numbers a new agent.
func (f *footprints) addAgent() int {
	f.agents = append(f.agents, newFootprint())
	f.growth++
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

// of returns the footprint of the step of an agent: for a call that is a step of its own, that of the call.
func (f *footprints) of(s *taken) *footprint {
	if s.kind == core.Ask {
		if f.calls[s.node] == nil {
			f.calls[s.node] = newFootprint()
		}
		return f.calls[s.node]
	}
	return f.agents[s.agent()]
}

// read takes note of what the answer to a call depends on, as a sight shows it.
func (f *footprints) read(s *sight, reads []behavior.Read) {
	w := s.walker
	for _, r := range reads {
		for _, place := range f.readPlaces(s, r) {
			if w.handling != nil {
				grow(f, f.handler(w.handling.Key.Kind).reads, place)
				continue
			}
			step := &w.tour.current
			agent := f.agents[step.agent()]
			grow(f, f.of(step).reads, place)
			grow(f, agent.reads, place)
			if step.actor.atomic {
				grow(f, agent.gates, place)
			}
		}
	}
}

func (f *footprints) handler(kind core.Kind) *footprint {
	if f.handlers[kind] == nil {
		f.handlers[kind] = newFootprint()
	}
	return f.handlers[kind]
}

// readPlaces returns the places that a read looks at. What a view shows depends on the view, too; who holds which versions on all
// views of the kind.
func (f *footprints) readPlaces(s *sight, r behavior.Read) []Place {
	w := s.walker
	kind := r.Kind
	place := f.place(placeName{listed: true, kind: r.Kind, namespace: r.Namespace})
	if !r.Listed {
		key, _ := w.machine.vocabulary.Key(r.Cell)
		kind, place = key.Kind, f.place(placeName{cell: r.Cell})
	}
	places := []Place{place}
	for _, a := range w.machine.watchers[kind] {
		if v := a.view(kind); v != nil && (r.Held || a == s.actor) {
			places = append(places, f.place(placeName{cell: v.Cell()}))
		}
	}
	return places
}

// covers tells whether the walker's step touched nothing but what is known.
func (f *footprints) covers(w *walker, s *taken) bool {
	known := f.agents[s.agent()]
	if s.kind == core.Ask {
		if known = f.calls[s.node]; known == nil {
			return false
		}
	}
	if !known.known {
		return false
	}
	for _, t := range w.touched {
		if !known.touches(t.cell) {
			return false
		}
	}
	return true
}

// note takes note of what the walker's step touched.
func (f *footprints) note(w *walker, s *taken) {
	agent := f.agents[s.agent()]
	for _, known := range []*footprint{f.of(s), agent} {
		if !known.known {
			known.known = true
			f.growth++
		}
		for _, t := range w.touched {
			if !known.touches(t.cell) {
				known.touch(t.cell)
				f.growth++
				f.wrote(w, s, known, t.cell)
			}
		}
	}
	for _, known := range []*footprint{f.of(s), agent} {
		switch s.kind {
		case core.Begin, core.Return:
			grow(f, known.writes, f.place(placeName{workers: s.actor.Name}))
			grow(f, known.gates, f.place(placeName{workers: s.actor.Name}))
		case core.Deliver:
			grow(f, known.gates, f.place(placeName{cell: s.view.Cell()}))
		}
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

// export returns a footprint for a reducer.
func (f *footprints) export(from *footprint) Footprint {
	reads := sorted(from.reads)
	for kind := range from.kinds {
		if h := f.handlers[kind]; h != nil {
			reads = append(reads, sorted(h.reads)...)
		}
	}
	slices.Sort(reads)
	return Footprint{
		Known:  from.known,
		Reads:  slices.Compact(reads),
		Writes: sorted(from.writes),
		Alters: sorted(from.alters),
		Wakes:  sorted(from.wakes),
		Gates:  sorted(from.gates),
	}
}

func sorted[K int | Place](members map[K]bool) []K {
	list := make([]K, 0, len(members))
	for member := range members {
		list = append(list, member)
	}
	slices.Sort(list)
	return list
}

// all returns the footprints of all agents, by number.
func (f *footprints) all() []Footprint {
	exported := make([]Footprint, len(f.agents))
	for i, known := range f.agents {
		exported[i] = f.export(known)
	}
	return exported
}
