package fair

import (
	"context"
	"iter"

	"github.com/orrery-dev/orrery/core/scc"
)

// Space is a graph of places, whose arcs take steps. Steps are numbered.
type Space interface {
	// Arcs returns the arcs from a place, in a fixed order.
	Arcs(place uint32) iter.Seq[Arc]
	// Enabled returns the steps that fairness is assumed of and that count as possible in a place.
	Enabled(place uint32) iter.Seq[int]
	// Recurs reports whether strong fairness is assumed of a step, and Recurring whether it is of any.
	Recurs(step int) bool
	Recurring() bool
}

// Arc leads from a place to another one.
type Arc struct {
	To   uint32
	Step int
	// Marks are what is seen on the way, one bit each.
	Marks uint64
	// Label is for whoever has the arcs.
	Label uint32
}

// Search finds parts of components.
type Search struct {
	Space
	// Marks are those that a run has to come by again and again.
	Marks uint64
	// Context ends what is done with a component that is large; nil ends nothing. Parts are missing then, so whoever
	// gives it must look whether it has ended.
	Context context.Context
	// Stops tells that a run may also stop in a place where no step is possible that fairness is assumed of.
	Stops bool
}

// Parts calls accept with the places of each part of a component in which a fair run can pass through every place and
// come by every mark again and again.
func (s *Search) Parts(whole scc.Component[uint32], accept func(places []uint32)) {
	if !whole.Cyclic && !s.Stops {
		return
	}
	// Whatever is never taken inside is neglected if it stays possible, so that it is possible in the first place, too,
	// or if it recurs.
	neglected, recurring := map[int]bool{}, map[int]bool{}
	for step := range s.Enabled(whole.Nodes[0]) {
		if !s.Recurs(step) {
			neglected[step] = true
		}
	}
	if s.Recurring() {
		for i, place := range whole.Nodes {
			if s.ended(i) {
				return
			}
			for step := range s.Enabled(place) {
				if s.Recurs(step) {
					recurring[step] = true
				}
			}
		}
	}
	if !s.take(whole, neglected, recurring) || s.staysPossible(whole.Nodes, neglected) {
		return
	}
	if len(recurring) == 0 {
		accept(whole.Nodes)
		return
	}
	s.without(whole, recurring, accept)
}

// ended reports whether the context has ended. It looks at some of the places only, as that takes time.
func (s *Search) ended(place int) bool {
	return place%1024 == 0 && s.Context != nil && s.Context.Err() != nil
}

// take removes the steps that are taken inside of a component, and reports whether all marks are there.
func (s *Search) take(whole scc.Component[uint32], steps, more map[int]bool) bool {
	var marks uint64
	for i, place := range whole.Nodes {
		if s.ended(i) {
			return false
		}
		for arc := range s.Arcs(place) {
			news := marks|arc.Marks != marks || steps[arc.Step] || more[arc.Step]
			if news && whole.Has(arc.To) {
				marks |= arc.Marks
				delete(steps, arc.Step)
				delete(more, arc.Step)
			}
		}
		if marks&s.Marks == s.Marks && len(steps) == 0 && len(more) == 0 {
			break // whatever comes, nothing is neglected
		}
	}
	return marks&s.Marks == s.Marks
}

// staysPossible reports whether some step is possible in all places.
func (s *Search) staysPossible(places []uint32, steps map[int]bool) bool {
	for i, place := range places {
		if s.ended(i) {
			return true
		}
		if len(steps) == 0 {
			return false
		}
		here := map[int]bool{}
		for step := range s.Enabled(place) {
			if steps[step] {
				here[step] = true
			}
		}
		steps = here
	}
	return len(steps) > 0
}

// without goes on with what is left of a component when the places are left out in which one of some steps is possible.
func (s *Search) without(whole scc.Component[uint32], neglected map[int]bool, accept func([]uint32)) {
	r := &remainder{Space: s.Space, local: map[uint32]uint32{}}
	for i, place := range whole.Nodes {
		if s.ended(i) {
			return
		}
		avoids := true
		for step := range s.Enabled(place) {
			avoids = avoids && !neglected[step]
		}
		if avoids {
			r.local[place] = uint32(len(r.places))
			r.places = append(r.places, place)
		}
	}
	ctx := s.Context
	if ctx == nil {
		ctx = context.Background()
	}
	// That the context has ended is for whoever gave it.
	_ = scc.Search(ctx, r, func(c scc.Component[uint32]) bool {
		places := make([]uint32, len(c.Nodes))
		for i, n := range c.Nodes {
			places[i] = r.places[n]
		}
		s.Parts(scc.Component[uint32]{Nodes: places, Cyclic: c.Cyclic, Has: func(place uint32) bool {
			n, remains := r.local[place]
			return remains && c.Has(n)
		}}, accept)
		return true
	})
}

// remainder is some places of a space, numbered anew. It implements [scc.Graph].
type remainder struct {
	Space
	places []uint32
	local  map[uint32]uint32
	begun  int
}

func (r *remainder) Root() (uint32, bool) {
	r.begun++
	return uint32(r.begun - 1), r.begun <= len(r.places)
}

func (r *remainder) Next(node uint32, at *scc.Targets[uint32]) (uint32, bool) {
	return at.Next(func() []uint32 {
		var targets []uint32
		for arc := range r.Arcs(r.places[node]) {
			if n, remains := r.local[arc.To]; remains {
				targets = append(targets, n)
			}
		}
		return targets
	})
}
