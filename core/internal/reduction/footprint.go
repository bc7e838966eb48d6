package reduction

import (
	"maps"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// footprints is what is known of what steps touch. The searching goroutine makes it grow; the others only compare.
type footprints struct {
	places map[placeName]Place
	// names are those of places, by number.
	names []placeName
	// looks are the places that the answer to a call was made from, with what whoever made it saw there, and woken the
	// agents that were woken whenever something was seen to change so, by what was there before.
	looks map[*behavior.Answered]looked
	woken map[sight]map[changed][]waking
	// machine is the one whose steps are recorded, with its vocabulary.
	machine    *transition.Machine
	vocabulary *state.Vocabulary
	// agents are by number, stages are the steps of runs whose calls are steps of their own.
	agents []*footprint
	stages map[transition.Stage]*footprint
	// handlers are what event handlers look at, by the object of the event: whoever writes the object looks at it.
	handlers map[core.Key]*footprint
	// visible is what is looked at by invariants, and all of it is if an invariant looks at what no footprint
	// covers.
	visible    *footprint
	allVisible bool
	// listers are what is known of steps that show lists, by agent.
	listers []*lister
	// growth counts what was learned.
	growth int
	// recording tells that a search is under way: what is run later, to look at its states, does not count.
	recording bool
	// searches counts the searches, and ended are the ends of runs, by the search that came to them.
	searches int
	// heeded is how much was known when the search began of what event handlers heed.
	heeded int
	ended  map[*behavior.Leaf]int
	judged judged
	// settled is what was known when the search began: what is chosen in a state must not depend on what was learned
	// meanwhile.
	settled knowledge
	// choosing is the walker that learns while it leaves out agents.
	choosing *transition.Walker
}

// placeName says what a place is: a cell or a part of its object, who holds versions of its object, the objects of a
// kind in a namespace (empty for all), those of them that are selected, or the workers of an actor.
type placeName struct {
	sight
	// value is what is seen, if valued is set.
	value  state.Value
	valued bool
	// begun is how the run began that looks there, with what its controller remembers.
	begun transition.Begun
	// entering tells that a place is what comes to be listed, and entry that it is what a list shows of one object.
	entering  bool
	entry     bool
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
	// looks are the places that were looked at, as the agent sees them.
	looks map[Place]bool
	// putOff tells that the agent was put off in some state, see [Choice]: nobody sleeps behind its steps.
	putOff bool
	// takes tells that the agent takes its own work out of a queue, and blocks that a run of it was blocked, or may be
	// by what it was made for: what it reads may keep it from taking a step.
	takes, blocks bool
	// delivers are the kinds of the objects of which it delivers events.
	delivers map[core.Kind]bool
	// holds and normalizes are the ties to versions that are held.
	holds, normalizes map[state.Cell]bool
	// touched are the cells that are changed.
	touched bitset.Set[state.Cell]
}

// NewFootprints returns a record of nothing.
func NewFootprints() *footprints {
	return &footprints{
		places:   map[placeName]Place{},
		stages:   map[transition.Stage]*footprint{},
		handlers: map[core.Key]*footprint{},
		looks:    map[*behavior.Answered]looked{},
		ended:    map[*behavior.Leaf]int{},
		woken:    map[sight]map[changed][]waking{},
		visible:  newFootprint(),
	}
}

func newFootprint() *footprint {
	return &footprint{
		reads: map[Place]bool{}, writes: map[Place]bool{},
		alters: map[Place]bool{}, gates: map[Place]bool{},
		wakes: map[int]bool{}, looks: map[Place]bool{},
		delivers: map[core.Kind]bool{},
		holds:    map[state.Cell]bool{}, normalizes: map[state.Cell]bool{},
	}
}

// Record has a machine record what its steps touch.
func (f *footprints) Record(m *transition.Machine) {
	m.Recorder, f.machine, f.vocabulary, f.recording = f, m, m.Vocabulary, true
	for range m.Agents {
		f.Added()
	}
	for _, p := range m.Processes {
		f.agents[p.Restarts].known = true // where it can act, nothing is left out
	}
}

// Added implements [transition.Recorder]. In the midst of a state a new agent has nothing to do yet, so that it is left
// out there.
func (f *footprints) Added() {
	f.agents = append(f.agents, newFootprint())
	f.growth++
	if f.choosing != nil {
		f.choosing.AddAgent()
	}
}

func (f *footprints) place(name placeName) Place {
	p, known := f.places[name]
	if !known {
		p = Place(len(f.places))
		f.places[name] = p
		f.names = append(f.names, name)
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

// seeAll notes that an invariant looks at the work.
func (f *footprints) seeAll() {
	if !f.allVisible {
		f.allVisible = true
		f.growth++
	}
}

// of returns the footprint of the walker's step: for a stage of a run that of the stage, nil if it is not known.
func (f *footprints) of(w *Explorer, s *transition.Taken) *footprint {
	if stage, ok := w.Stage(s); ok {
		return f.stages[stage]
	}
	return f.agents[s.Agent()]
}

// both returns the footprints of the walker's step and of its agent.
func (f *footprints) both(w *Explorer, s *transition.Taken) []*footprint {
	agent := f.agents[s.Agent()]
	stage, ok := w.Stage(s)
	if !ok {
		return []*footprint{agent}
	}
	return []*footprint{f.stage(stage), agent}
}

// stage returns the footprint of a stage of a run.
func (f *footprints) stage(s transition.Stage) *footprint {
	if f.stages[s] == nil {
		f.stages[s] = newFootprint()
	}
	return f.stages[s]
}

// Read implements [transition.Recorder].
func (f *footprints) Read(s *transition.ClientView, node *behavior.Node, answered *behavior.Answered, reads []behavior.Read) {
	if !f.recording {
		return
	}
	w := s.Walker
	var readers []*footprint
	if w.Handling != nil {
		readers = []*footprint{f.handler(w.Handling.Key)}
	} else {
		f.look(s, answered, reads)
		agent := f.agents[w.Current().Agent()]
		readers = []*footprint{agent}
		if w.Current().Actor.Atomic {
			agent.blocks = true
		} else if w.Machine.Conditions.Granularity == transition.PerCall {
			// The answer may be looked for to find out whether a run would be blocked, and then counts for the call all
			// the same.
			readers = append(readers, f.stage(transition.Stage{Node: node.Point()}))
		}
	}
	for _, known := range readers {
		for _, r := range reads {
			for _, place := range f.readPlaces(s, r) {
				grow(f, known.reads, place)
			}
		}
	}
}

// Block implements [transition.Recorder].
func (f *footprints) Block(agent int) {
	if known := f.agents[agent]; !known.blocks {
		known.blocks = true
		f.growth++
	}
}

// Ended implements [transition.Recorder].
func (f *footprints) Ended(leaf *behavior.Leaf) { f.ended[leaf] = f.searches }

// readsOf returns the places that an agent or a stage looks at, with those that the event handlers of what it changes
// or delivers look at.
func (f *footprints) readsOf(known *footprint) map[Place]bool {
	reads := maps.Clone(known.reads)
	for c := range known.touched.All() {
		if key, isObject := f.vocabulary.Key(c); isObject && f.handlers[key] != nil {
			maps.Copy(reads, f.handlers[key].reads)
		}
	}
	if len(known.delivers) > 0 {
		for key, h := range f.handlers {
			if known.delivers[key.Kind] {
				maps.Copy(reads, h.reads)
			}
		}
	}
	return reads
}

// blocks reports whether it was known when the search began that runs of an agent may be blocked.
func (f *footprints) blocks(agent int) bool {
	return agent < len(f.settled.blocked) && f.settled.blocked[agent]
}

// handler returns what event handlers look at that handle the events of an object.
func (f *footprints) handler(key core.Key) *footprint {
	if f.handlers[key] == nil {
		f.handlers[key] = newFootprint()
	}
	return f.handlers[key]
}

// readPlaces returns the places that a read looks at. What a view shows depends on the view, too.
func (f *footprints) readPlaces(s *transition.ClientView, r behavior.Read) []Place {
	w := s.Walker
	kind := r.Kind
	place := f.place(placeName{listed: true, kind: r.Kind, namespace: r.Namespace, selection: r.Selection})
	if !r.Listed {
		key, _ := w.Machine.Vocabulary.Key(r.Cell)
		kind, place = key.Kind, f.place(placeName{sight: sight{cell: r.Cell, projection: r.Projection}})
	}
	if r.Held {
		return f.heldPlaces(w.Machine, r.Cell)
	}
	places := []Place{place}
	if s.Actor != nil {
		if v := s.Actor.View(kind); v != nil {
			places = append(places, f.place(placeName{sight: sight{cell: v.Cell()}}))
		}
	}
	return places
}

// covers reports whether the walker's step touched nothing but what is known.
func (f *footprints) covers(w *Explorer, s *transition.Taken) bool {
	if !f.coversWakes(w, s) {
		return false
	}
	if s.Kind == core.Restart {
		return true // where there may be one, nothing is left out for what steps touch
	}
	known := f.of(w, s)
	if known == nil || !known.known {
		return false
	}
	for _, t := range w.Touched {
		if !known.touched.Has(t.Cell) || !f.coversParts(w, known, t) {
			return false
		}
	}
	looks := f.agents[s.Agent()].looks
	for _, c := range w.Recalled {
		if place, placed := f.places[placeName{sight: sight{cell: c}}]; !placed || !known.reads[place] {
			return false
		}
		if place, placed := f.places[memoryPlace(w, c)]; !placed || !looks[place] {
			return false
		}
	}
	woken := true
	w.wakes.agents(s, func(agent int) { woken = woken && known.wakes[agent] })
	w.wakes.timers(s, func(c state.Cell) {
		place, placed := f.places[placeName{sight: sight{cell: c}}]
		woken = woken && placed && known.alters[place]
	})
	return woken && known.covers(w.Ties(s))
}

// note notes what the walker's step touched.
func (f *footprints) note(w *Explorer, s *transition.Taken) {
	f.noteWakes(w, s)
	if s.Kind == core.Restart {
		return
	}
	ties := w.Ties(s)
	for _, known := range f.both(w, s) {
		if !known.known {
			known.known = true
			f.growth++
			f.begin(s, known)
		}
		for _, t := range w.Touched {
			if !known.touched.Has(t.Cell) {
				known.touched.Add(t.Cell)
				f.growth++
				f.wrote(w, s, known, t.Cell)
			}
			f.noteParts(w, known, t)
		}
		for _, c := range w.Recalled {
			grow(f, known.reads, f.place(placeName{sight: sight{cell: c}}))
		}
		w.wakes.agents(s, func(agent int) { grow(f, known.wakes, agent) })
		w.wakes.timers(s, func(c state.Cell) { grow(f, known.alters, f.place(placeName{sight: sight{cell: c}})) })
		f.tie(w, known, ties)
	}
	for _, c := range w.Recalled {
		grow(f, f.agents[s.Agent()].looks, f.place(memoryPlace(w, c)))
	}
}

// begin notes what every step of an agent touches.
func (f *footprints) begin(s *transition.Taken, known *footprint) {
	switch s.Kind {
	case core.Begin:
		known.takes = true
		grow(f, known.writes, f.place(placeName{workers: s.Actor.Name}))
	case core.Return:
		grow(f, known.writes, f.place(placeName{workers: s.Actor.Name}))
		// Whether its deadline is yet to come is forgotten at the end unless there is a timer.
		grow(f, known.reads, f.place(placeName{sight: sight{cell: s.Item.Cell}}))
	case core.Reconcile, core.Act, core.Intervene:
		known.takes = true
	case core.Deliver:
		grow(f, known.delivers, s.View.Kind())
		grow(f, known.gates, f.place(placeName{sight: sight{cell: s.View.Cell()}}))
		return
	}
	// Whether its views are old makes it another step.
	for _, v := range s.Actor.Process.Views {
		grow(f, known.reads, f.place(placeName{sight: sight{cell: v.Cell()}}))
	}
}

// wrote notes a cell that a step changes.
func (f *footprints) wrote(w *Explorer, s *transition.Taken, known *footprint, c state.Cell) {
	vocabulary := w.Machine.Vocabulary
	if item, isItem := vocabulary.ItemAt(c); isItem {
		if s.Item == nil || item != s.Item.Item {
			grow(f, known.wakes, w.Machine.ItemAt[c].Agent)
		}
		return
	}
	if c == w.Machine.Crashes || c == w.Machine.Failures {
		return // as long as there may be faults, nothing is left out
	}
	grow(f, known.writes, f.place(placeName{sight: sight{cell: c}}))
	key, isObject := vocabulary.Key(c)
	if !isObject {
		return
	}
	grow(f, known.alters, f.place(placeName{listed: true, kind: key.Kind}))
	if key.Namespace != "" {
		grow(f, known.alters, f.place(placeName{listed: true, kind: key.Kind, namespace: key.Namespace}))
	}
}

// covers reports whether these ties of a step are known.
func (f *footprint) covers(t transition.Ties) bool {
	for _, c := range t.Held {
		if !f.holds[c] {
			return false
		}
	}
	for _, c := range t.Normalized {
		if !f.normalizes[c] {
			return false
		}
	}
	return true
}

// tie notes the ties of a step.
func (f *footprints) tie(w *Explorer, known *footprint, t transition.Ties) {
	for _, c := range t.Held {
		grow(f, known.holds, c)
		grow(f, known.alters, f.place(placeName{sight: sight{cell: c}, held: true}))
	}
	for _, c := range t.Normalized {
		grow(f, known.normalizes, c)
		grow(f, known.reads, f.place(placeName{sight: sight{cell: c}}))
		for _, place := range f.heldPlaces(w.Machine, c) {
			grow(f, known.reads, place)
		}
	}
}

// heldPlaces returns the places that say who holds which versions of an object.
func (f *footprints) heldPlaces(m *transition.Machine, c state.Cell) []Place {
	places := []Place{f.place(placeName{sight: sight{cell: c}, held: true})}
	key, _ := m.Vocabulary.Key(c)
	for _, v := range m.Views[key.Kind] {
		places = append(places, f.place(placeName{sight: sight{cell: v.Cell()}}))
	}
	return places
}
