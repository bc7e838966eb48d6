package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// sight is an object or a part of it as somebody sees it: through a view that may lag behind, or as it is.
type sight struct {
	cell, view state.Cell
	viewed     bool
	// projection is the part of the object that counts, nil if all of it does.
	projection *state.Projection
}

// change is how an object changes as somebody sees it.
type change struct {
	sight
	from, to state.Value
}

// changes are what a step shows to those who look. It implements [transition.Listener].
type changes struct {
	transition.Inattentive
	seen []change
}

// Refreshed implements [transition.Listener].
func (c *changes) Refreshed(v *view.View, changes []view.Change) {
	for _, delivered := range changes {
		c.seen = append(c.seen, change{sight{cell: delivered.Cell, view: v.Cell(), viewed: true}, delivered.From, delivered.To})
	}
}

// wrote notes what a call is about to write.
func (c *changes) wrote(w *transition.Walker, writes []behavior.Write) {
	for i, write := range writes {
		from := w.Value(write.Cell)
		for _, before := range writes[:i] {
			if before.Cell == write.Cell {
				from = before.To
			}
		}
		to := write.To
		if v := w.Machine.Vocabulary; !w.Machine.Holds {
			from, to = v.Normalized(write.Cell, from), v.Normalized(write.Cell, to) // as others meet it behind the step
		}
		c.seen = append(c.seen, change{sight{cell: write.Cell}, from, to})
	}
}

// memoryPlace names what is seen where the walker's step recalls what a memory holds.
func memoryPlace(w *Explorer, c state.Cell) placeName {
	return placeName{sight: sight{cell: c}, value: w.Previous(c), valued: true}
}

// remembered returns what is remembered before the walker's step.
func (w *Explorer) remembered() []transition.Remembered {
	w.wakes.memories = w.Remembered(w.wakes.memories[:0])
	return w.wakes.memories
}

// seeMemories notes what the walker's step has changed in memories: only what is left behind it can be met by others.
func (w *Explorer) seeMemories() {
	for _, was := range w.remembered()[1:] { // the first stands for whoever keeps nothing
		if now := w.Value(was.Memory); now != was.Value {
			w.wakes.seen = append(w.wakes.seen, change{sight{cell: was.Memory}, was.Value, now})
		}
	}
}

// each calls a function with all that is seen to change: objects, and the parts of them that somebody looks at. It
// returns false where it is not known whether a part changes; with what finds that out, it always is.
func (c *changes) each(vocabulary *state.Vocabulary, learns bool, call func(change)) bool {
	sure := true
	for _, seen := range c.seen {
		call(seen)
		known := eachPart(vocabulary, seen.cell, seen.from, seen.to, learns, func(p *state.Projection, from, to state.Value) {
			part := change{seen.sight, from, to}
			part.projection = p
			call(part)
		})
		sure = sure && known
	}
	return sure
}

// wakeful returns the agents that a step wakes or whose work it makes anew: the one that takes it, and those of a
// controller that starts again.
func (w *Explorer) wakeful(s *transition.Taken) *bitset.Set[int] {
	awake := &w.wakes.awake
	awake.Clear()
	awake.Add(s.Agent())
	for _, c := range w.wakes.woken {
		awake.Add(w.Machine.ItemAt[c].Agent)
	}
	if s.Kind == core.Restart || s.Crashes() {
		for _, it := range w.Machine.Items {
			if it.Actor.Process == s.Actor.Process {
				awake.Add(it.Agent)
			}
		}
	}
	return awake
}

// waking is what something was seen to change to, and the agents that were woken whenever it did.
type waking struct {
	to    state.Value
	woken *bitset.Set[int]
}

// changed is what something was before a change, and what those who may be woken remembered then: whether their event
// handlers put work into a queue may depend on it.
type changed struct {
	from       state.Value
	remembered transition.Remembered
}

// wakingOf returns the agents that were woken whenever something was seen to change so while this was remembered, nil
// if it was not.
func (f *footprints) wakingOf(c change, r transition.Remembered) *bitset.Set[int] {
	for _, known := range f.woken[c.sight][changed{c.from, r}] {
		if known.to == c.to {
			return known.woken
		}
	}
	return nil
}

// coversWakes reports whether it is known that what the walker's step changes does not wake more agents than it does.
func (f *footprints) coversWakes(w *Explorer, s *transition.Taken) bool {
	if len(w.wakes.seen) == 0 {
		return true
	}
	covered, awake, remembered := true, w.wakeful(s), w.remembered()
	sure := w.wakes.each(f.vocabulary, false, func(c change) {
		for _, r := range remembered {
			known := f.wakingOf(c, r)
			covered = covered && known != nil && awake.HasAll(*known)
		}
	})
	return sure && covered
}

// noteWakes notes which agents are not woken by what the walker's step changes.
func (f *footprints) noteWakes(w *Explorer, s *transition.Taken) {
	awake, remembered := w.wakeful(s), w.remembered()
	w.wakes.each(f.vocabulary, true, func(c change) {
		for _, r := range remembered {
			f.noteWaking(c, r, awake)
		}
	})
}

// noteWaking notes which agents a change does not wake while this is remembered.
func (f *footprints) noteWaking(c change, r transition.Remembered, awake *bitset.Set[int]) {
	known := f.wakingOf(c, r)
	switch {
	case known == nil:
		if f.woken[c.sight] == nil {
			f.woken[c.sight] = map[changed][]waking{}
		}
		known = &bitset.Set[int]{}
		known.AddAll(*awake)
		was := changed{c.from, r}
		f.woken[c.sight][was] = append(f.woken[c.sight][was], waking{c.to, known})
		f.growth++
	case !awake.HasAll(*known):
		known.KeepAll(*awake)
		f.growth++
	}
}

// look notes what the answer to a call of an agent was made from: what the agent saw, and where.
func (f *footprints) look(s *transition.ClientView, answered *behavior.Answered, reads []behavior.Read) {
	known := f.agents[s.Walker.Current().Agent()]
	begun := s.Walker.Begun()
	var places []Place
	note := func(name placeName) {
		name.begun = begun
		place := f.place(name)
		grow(f, known.looks, place)
		places = append(places, place)
	}
	for _, r := range reads {
		switch {
		case r.Held:
			note(placeName{sight: sight{cell: r.Cell}, held: true})
		case !r.Listed:
			key, _ := f.vocabulary.Key(r.Cell)
			at := seenBy(s, key.Kind, r.Cell)
			at.projection = r.Projection
			note(placeName{sight: at, value: r.Value, valued: true})
		default:
			note(placeName{listed: true, kind: r.Kind, namespace: r.Namespace, selection: r.Selection, sight: seenBy(s, r.Kind, 0), entering: true})
			for c, value := range state.Signed(r.Signature) {
				note(placeName{sight: seenBy(s, r.Kind, c), value: value, valued: true})
			}
		}
	}
	f.looks[answered] = looked{places, f.searches}
}

// looked are the places where somebody looked to answer a call, and the search that learned it.
type looked struct {
	places []Place
	search int
}

// seenBy returns how an object of a kind is seen by a client.
func seenBy(s *transition.ClientView, kind core.Kind, c state.Cell) sight {
	at := sight{cell: c}
	if s.Actor != nil {
		if v := s.Actor.View(kind); v != nil {
			at.view, at.viewed = v.Cell(), true
		}
	}
	return at
}

// missed returns what may change of what an agent looks at without waking it.
func (f *footprints) missed(agent int) missed {
	m := missed{become: map[Place][]state.Value{}, enter: map[Place][]entering{}}
	for _, place := range sorted(f.agents[agent].looks) {
		name := f.names[place]
		if !f.misses(agent, place, &m) {
			continue
		}
		if name.sight.viewed {
			m.inViews = append(m.inViews, place)
		} else {
			m.places = append(m.places, place)
		}
	}
	return m
}

// misses reports whether somebody may change what is seen in a place without waking an agent, and adds how. Who holds
// which versions changes without waking anybody.
func (f *footprints) misses(agent int, place Place, m *missed) bool {
	name := f.names[place]
	switch {
	case name.held:
		m.become[place] = []state.Value{0}
	case name.valued:
		if values := f.unnoticed(agent, name); len(values) > len(f.become(name.sight, name.value)) {
			m.become[place] = values
		}
	default:
		for _, c := range f.vocabulary.Kind(name.kind) {
			key, _ := f.vocabulary.Key(c)
			at := name.sight
			at.cell = c
			if name.namespace != "" && name.namespace != key.Namespace {
				continue
			}
			if values := f.unnoticedEntries(agent, at, name.begun.Remembered, name.selection); values != nil {
				m.enter[place] = append(m.enter[place], entering{at, values})
			}
		}
	}
	return m.has(place)
}

// unnoticed returns what may be seen in a place by changes that do not wake an agent: what it saw, and what that may
// become.
func (f *footprints) unnoticed(agent int, name placeName) []state.Value {
	return f.goOn(agent, name.sight, name.begun.Remembered, slices.Clone(f.become(name.sight, name.value)))
}

// goOn adds to values what they may become by changes that do not wake an agent that remembers this.
func (f *footprints) goOn(agent int, at sight, r transition.Remembered, values []state.Value) []state.Value {
	for i := 0; i < len(values); i++ {
		for _, known := range f.woken[at][changed{values[i], r}] {
			if known.woken.Has(agent) {
				continue
			}
			for _, to := range f.become(at, known.to) {
				if !slices.Contains(values, to) {
					values = append(values, to)
				}
			}
		}
	}
	return values
}

// unnoticedEntries returns what an object may be that was not selected, once it has come to be without waking an agent
// that remembers this, nil if it does not.
func (f *footprints) unnoticedEntries(agent int, at sight, r transition.Remembered, selection *state.Selection) []state.Value {
	selected := func(value state.Value) bool {
		return value != 0 && f.vocabulary.Evaluate(selection, at.cell, value)
	}
	var values []state.Value
	for was, all := range f.woken[at] {
		for _, known := range all {
			if was.remembered == r && !known.woken.Has(agent) && !selected(was.from) && selected(known.to) {
				values = append(values, f.become(at, known.to)...)
			}
		}
	}
	slices.Sort(values)
	return f.goOn(agent, at, r, slices.Compact(values))
}

// become returns what may be seen in place of a value although nothing has changed.
func (f *footprints) become(at sight, value state.Value) []state.Value {
	if at.projection == nil {
		return f.vocabulary.Renamed(at.cell, value)
	}
	return []state.Value{value}
}
