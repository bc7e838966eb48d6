package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/reduction"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// merged searches with all states merged that differ only in which of interchangeable names is which. It says why that
// does not do, empty if it does: names that are not treated alike, something that was found and is to be told in full,
// or runs that can go on for ever, of which merged states do not show whether they are fair.
func merged(ctx context.Context, system *core.System, options Options, began time.Time) (space *Space, why string, err error) {
	l, err := options.learner(ctx, system)
	if err != nil {
		return nil, "", err
	}
	if why := unmergeable(l.Machine, options); why != "" {
		return nil, why, nil
	}
	if err := options.growth.lookFirst(l, &reduction.Reductions{}, began); err != nil {
		return nil, "", err
	}
	r := &reduction.Reductions{Symmetry: reduction.Interchange(l.Machine)}
	if r.Symmetry == nil {
		return nil, "the store of the system cannot rename objects (it does not implement core.Renamer)", nil
	}
	options.Reducer = nil
	space, err = explore(ctx, l.Machine, l, r, options, began, 0)
	options.earlier.collect(l, space)
	var not reduction.Apart
	if errors.As(err, &not) {
		return nil, string(not), nil
	}
	if err != nil {
		return nil, "", err
	}
	interrupted := space.Within(ctx, func() error {
		why = space.unmergedBecause()
		return nil
	})
	switch {
	case interrupted != nil:
		space.because(endOf(ctx, options.Bounds))
	case why != "":
		return nil, why, nil
	}
	return space, "", nil
}

// unmergeable says why the conditions do not allow to merge states, empty if they do.
func unmergeable(m *transition.Machine, options Options) string {
	c := m.Conditions
	switch {
	case len(c.Remembering) > 0:
		return "controllers keep memory, in which names cannot be exchanged"
	case len(c.Drawing) > 0:
		return "controllers draw random values, which depend on names"
	case len(c.Forking) > 0:
		return "controllers leave something to chance, which depends on names"
	case options.Order.Walks():
		return "walks do not merge states"
	case m.Holds:
		return "caches may be stale, or each call is a step"
	case c.Crashes+c.Failures+len(c.Doubles) > 0:
		return "faults or second instances are allowed"
	case len(m.System.Scenario.Actions) > 0:
		return "the scenario has actions of users"
	}
	for _, p := range m.System.Properties {
		if p.Invariant == nil && p.Merges == core.Apart {
			return fmt.Sprintf("%q judges states or steps on the way", p.Name)
		}
	}
	return ""
}

// unmergedBecause says why a search with merged states is not enough to tell what there is, empty if it is.
func (s *Space) unmergedBecause() string {
	for _, inv := range s.invariants {
		if inv.broken {
			return fmt.Sprintf("%q is violated, and its trace needs states that are not merged", inv.property.Name)
		}
	}
	for _, p := range s.machine.System.Properties {
		if p.Merges == core.WithoutLoops && len(s.reasons) == 0 && !s.acyclic && s.cyclic() {
			return fmt.Sprintf("there are infinite runs, and %q judges them", p.Name)
		}
	}
	if !s.rests() {
		return "in a quiescent state, some request would still change something"
	}
	if len(s.learner.Incidents) > 0 {
		return "the code of a controller failed, and the trace needs states that are not merged"
	}
	return ""
}

// rests reports whether no request would change anything in any end. Of one that would it matters whether it was in a
// work queue before, which merged states do not show.
func (s *Space) rests() bool {
	for _, id := range s.Quiescent() {
		for _, item := range s.Items() {
			if slices.ContainsFunc(s.Try(id, item), func(e core.Effect) bool { return e.Wrote }) {
				return false
			}
		}
	}
	return true
}

// cyclic reports whether there is a cycle.
func (s *Space) cyclic() bool {
	cyclic := false
	s.eachLoop(func([]core.StateID) bool {
		cyclic = true
		return false
	})
	s.acyclic = !cyclic
	return cyclic
}

// eachArranged calls a function with all states that differ from one only in which name is which, but for itself.
func (s *Space) eachArranged(row []byte, visit func(state.Vector, state.Arrangement) error) error {
	seen := map[string]bool{string(row): true}
	for _, a := range s.checker.Arrangements {
		w := s.checker.Walker
		w.Load(row)
		image, err := w.Image(w.Vector, a)
		if err != nil {
			return err
		}
		name := string(image.AppendRow(nil))
		if seen[name] {
			continue
		}
		seen[name] = true
		if err := visit(image, a); err != nil {
			return err
		}
	}
	return nil
}

// arrangeEnds puts the states that ends stand for on the frontier, so that they can be judged one by one. It returns
// false if there are no more.
func (s *search) arrangeEnds() bool {
	if s.checker == nil || s.unarranged != nil {
		return false
	}
	s.arranging = true
	for ; s.arranged < len(s.quiescent); s.arranged++ {
		id := s.quiescent[s.arranged]
		if len(s.list(id, reduction.Chosen)) > 0 {
			// What follows is compared with the end, and steps lead to states in which names may be exchanged.
			s.unarranged = reduction.Apart("timers are set in a quiescent state")
			break
		}
		depth, parent := s.depthOf(id), s.store.Parent(s.store.At(id))
		err := s.eachArranged(bytes.Clone(s.row(id)), func(image state.Vector, a state.Arrangement) error {
			row, tag := image.AppendRow(nil), s.machine.Vocabulary.Fingerprint(image).Lo
			if _, known := s.store.Find(tag, row); known {
				return nil
			}
			of, err := s.insert(tag, row, parent, depth, nil)
			if err != nil {
				return err
			}
			s.orbits.add(id, of, a)
			if s.rebuilder != nil {
				s.rebuilder.kept[of] = row // no step leads to it
			}
			if parent == store.NoParent {
				s.initial = append(s.initial, of)
			}
			return nil
		})
		if err != nil {
			s.unarranged = err
			break
		}
	}
	s.arranging = false
	return s.frontier.len() > 0
}

// orbits are stored ends that stand for others, which are stored only to be judged: with those for which they stand,
// and the other way round, and with the arrangement that makes the others of the one. Steps that lead to the one lead
// to the others as well.
type orbits struct {
	of map[core.StateID][]core.StateID
	is map[core.StateID]core.StateID
	by map[core.StateID]state.Arrangement
}

func (s *orbits) add(is, of core.StateID, by state.Arrangement) {
	if s.of == nil {
		s.of, s.is, s.by = map[core.StateID][]core.StateID{}, map[core.StateID]core.StateID{}, map[core.StateID]state.Arrangement{}
	}
	s.of[is] = append(s.of[is], of)
	s.is[of], s.by[of] = is, by
}

// representative returns the state that stands for a stored one.
func (s *orbits) representative(id core.StateID) core.StateID {
	if is, known := s.is[id]; known {
		return is
	}
	return id
}

// spread adds steps to the ends that others stand for.
func (s *orbits) spread(edges []core.Edge) []core.Edge {
	if len(s.of) == 0 {
		return edges
	}
	var all []core.Edge
	for _, e := range edges {
		all = append(all, e)
		for _, of := range s.of[e.To] {
			e.To = of
			all = append(all, e)
		}
	}
	return all
}

// inspectArranged checks the invariants in all states that a new one stands for.
func (s *Space) inspectArranged(id core.StateID, row []byte) error {
	for i := range s.invariants {
		inv := &s.invariants[i]
		if inv.broken {
			continue
		}
		err := s.checker.Show(i, row, func(look core.State) {
			if err := judge(inv.property, look); err != nil && !inv.broken {
				inv.broken, inv.state, inv.err = true, id, err
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judge evaluates an invariant. A panic of the user's predicate is a violation.
func judge(p core.Property, look core.State) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the predicate panicked: %v (at %s)", value, goroutine.Culprit())
		}
	}()
	return p.Invariant(look)
}
