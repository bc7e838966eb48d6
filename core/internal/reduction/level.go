package reduction

import (
	"errors"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// level is the part of an explorer that finds an agent which may be followed alone, as its step does nothing and whatever changes what it looked at
// wakes it: see [Chooser.Alone].
type level struct {
	// Level tells that one was found in the state for which agents were chosen last.
	Level bool
	// way is how its step may go.
	way  Way
	fits bool
}

// errUnfit ends the visit of the ways in which a step may go.
var errUnfit = errors.New("the agent cannot be followed alone")

// alone finds an agent that may be followed alone in the state of the walker.
func (w *Explorer) alone() (agent int, found bool, err error) {
	if w.Machine.Conditions.Granularity != transition.PerReconcile {
		return 0, false, nil
	}
	for _, it := range w.Machine.Items {
		if it.Actor.Atomic || it.Actor.User || !w.Pending(it) {
			continue
		}
		w.fits = false
		if err := w.StepsOf(fitting{w}, it); err != nil && !errors.Is(err, errUnfit) {
			return 0, false, err
		}
		if w.fits {
			return it.Agent, true, nil
		}
	}
	return 0, false, nil
}

// fitting asks about the ways in which the step of an agent may go.
type fitting struct{ *Explorer }

// Took implements [transition.Visitor].
func (w fitting) Took(t *transition.Taken) error {
	w.describe(t)
	if w.fits = w.chooser.Alone(&w.way); !w.fits {
		return errUnfit
	}
	return nil
}

// Stopped implements [transition.Visitor]. Who cannot be followed to the end of a step is not followed alone.
func (w fitting) Stopped(_ *transition.Taken, err error) error {
	w.fits = false
	var unsupported *core.Unsupported
	if errors.Is(err, transition.ErrStopped) || errors.As(err, &unsupported) {
		return errUnfit
	}
	return err
}

// describe describes the step that the walker has taken.
func (w *Explorer) describe(t *transition.Taken) {
	way := &w.way
	*way = Way{Agent: t.Agent(), Faulty: t.Faulty(), Changes: w.Wrote || t.Crashes(), Wakes: len(w.wakes.woken) > 0, Looks: way.Looks[:0]}
	now := w.Value(t.Item.Cell)
	was := now
	for i, touched := range w.Touched {
		switch {
		case touched.Cell == w.Machine.Failures:
		case touched.Cell != t.Item.Cell:
			way.Changes = true
		case !transition.Touches(w.Touched[:i], touched.Cell):
			was = touched.Was
		}
	}
	way.Again = now&state.Queued != 0
	way.Timed = now&^was&state.Timed != 0
	for _, answered := range w.Asked {
		way.Looks = append(way.Looks, w.Footprints.looks[answered]...)
	}
}

// sight is an object or a part of it as somebody sees it: through a view that may lag behind, or as it is.
type sight struct {
	cell, view state.Cell
	viewed     bool
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
		c.seen = append(c.seen, change{sight{cell: write.Cell}, from, write.To})
	}
}

// each calls a function with all that is seen to change: objects, and the parts of them that somebody looks at. It returns false where it is
// not known whether a part changes; with what finds that out, it always is.
func (c *changes) each(vocabulary *state.Vocabulary, learns bool, call func(sight)) bool {
	sure := true
	for _, seen := range c.seen {
		call(seen.sight)
		key, _ := vocabulary.Key(seen.cell)
		for _, p := range vocabulary.Projections(key.Kind) {
			if learns {
				vocabulary.Project(p, seen.cell, seen.from)
				vocabulary.Project(p, seen.cell, seen.to)
			}
			differ, known := differs(p, seen.cell, seen.from, seen.to)
			sure = sure && known
			if differ && known {
				part := seen.sight
				part.projection = p
				call(part)
			}
		}
	}
	return sure
}

// wakeful returns the agents that a step wakes or whose work it makes anew: the one that takes it, and those of a controller that starts again.
func (w *Explorer) wakeful(s *transition.Taken) *bitset.Set[int] {
	awake := &w.wakes.awake
	awake.Clear()
	awake.Add(s.Agent())
	for _, c := range w.wakes.woken {
		awake.Add(w.Machine.ItemAt[c].Agent)
	}
	if s.Kind == core.Restart || s.Crashes() {
		for _, it := range w.Machine.Items {
			if it.Actor == s.Actor {
				awake.Add(it.Agent)
			}
		}
	}
	return awake
}

// coversWakes reports whether it is known that what the walker's step changes does not wake more agents than it does.
func (f *footprints) coversWakes(w *Explorer, s *transition.Taken) bool {
	if len(w.wakes.seen) == 0 {
		return true
	}
	covered, awake := true, w.wakeful(s)
	sure := w.wakes.each(w.Machine.Vocabulary, false, func(at sight) {
		known := f.woken[at]
		covered = covered && known != nil && awake.HasAll(*known)
	})
	return sure && covered
}

// noteWakes notes which agents are not woken by what the walker's step changes.
func (f *footprints) noteWakes(w *Explorer, s *transition.Taken) {
	awake := w.wakeful(s)
	w.wakes.each(w.Machine.Vocabulary, true, func(at sight) {
		known := f.woken[at]
		switch {
		case known == nil:
			known = &bitset.Set[int]{}
			known.AddAll(*awake)
			f.woken[at] = known
			f.growth++
		case !awake.HasAll(*known):
			known.KeepAll(*awake)
			f.growth++
		}
	})
}

// look notes what the answer to a call of an agent was made from, as the agent sees it.
func (f *footprints) look(s *transition.ClientView, answered *behavior.Answered, reads []behavior.Read) {
	known := f.agents[s.Walker.Current().Agent()]
	var places []Place
	for _, r := range reads {
		place := f.place(f.sightOf(s, r))
		grow(f, known.looks, place)
		places = append(places, place)
	}
	f.looks[answered] = places
}

// sightOf names what a read looks at, as it is seen.
func (f *footprints) sightOf(s *transition.ClientView, r behavior.Read) placeName {
	kind := r.Kind
	name := placeName{listed: true, kind: r.Kind, namespace: r.Namespace, selection: r.Selection}
	if !r.Listed {
		key, _ := s.Walker.Machine.Vocabulary.Key(r.Cell)
		kind, name = key.Kind, placeName{cell: r.Cell, held: r.Held, projection: r.Projection}
	}
	if s.Actor != nil {
		if v := s.Actor.View(kind); v != nil {
			name.view, name.viewed = v.Cell(), true
		}
	}
	return name
}

// missed returns the places that an agent looks at and that somebody else may change without waking it: those that it sees as they are, and
// those that it sees through views.
func (f *footprints) missed(vocabulary *state.Vocabulary, agent int) (missed, inViews []Place) {
	for _, place := range sorted(f.agents[agent].looks) {
		name := f.names[place]
		switch {
		case !f.misses(vocabulary, agent, name):
		case name.viewed:
			inViews = append(inViews, place)
		default:
			missed = append(missed, place)
		}
	}
	return missed, inViews
}

// misses reports whether somebody may change what is seen in a place without waking an agent. Who holds which versions changes without waking
// anybody.
func (f *footprints) misses(vocabulary *state.Vocabulary, agent int, name placeName) bool {
	at := func(c state.Cell) bool {
		known := f.woken[sight{cell: c, view: name.view, viewed: name.viewed, projection: name.projection}]
		return known != nil && !known.Has(agent)
	}
	switch {
	case name.held:
		return true
	case !name.listed:
		return at(name.cell)
	}
	for _, c := range vocabulary.Kind(name.kind) {
		key, _ := vocabulary.Key(c)
		if name.namespace != "" && name.namespace != key.Namespace || name.selection != nil && !vocabulary.May(name.selection, c) {
			continue
		}
		if at(c) {
			return true
		}
	}
	return false
}
