package explore

import (
	"bytes"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/store"
	"github.com/orrery-dev/orrery/core/state"
)

// eachArranged calls a function with all states that differ from one only in which name is which, but for itself.
func (s *Space) eachArranged(row []byte, visit func(state.Vector, state.Arrangement) error) error {
	seen := map[string]bool{string(row): true}
	for _, a := range s.mirror.arrangements {
		w := s.mirror.walker
		w.load(row)
		image, err := w.image(w.vector, a)
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

// arrangeEnds puts the states that ends stand for on the frontier, so that they can be judged one by one. It returns false if there are no
// more.
func (s *search) arrangeEnds() bool {
	if s.mirror == nil || s.unarranged != nil {
		return false
	}
	s.arranging = true
	for ; s.arranged < len(s.quiescent); s.arranged++ {
		id := s.quiescent[s.arranged]
		if len(s.list(id, false)) > 0 {
			// What follows is compared with the end, and steps lead to states in which names may be exchanged.
			s.unarranged = apart("timers are set where the system comes to rest")
			break
		}
		depth, parent := s.depthOf(id), s.store.Parent(s.store.At(id))
		err := s.eachArranged(bytes.Clone(s.row(id)), func(image state.Vector, a state.Arrangement) error {
			row, tag := image.AppendRow(nil), s.machine.vocabulary.Fingerprint(image).Lo
			if _, known := s.store.Find(tag, row); known {
				return nil
			}
			of, err := s.insert(tag, row, parent, depth, nil)
			if err != nil {
				return err
			}
			s.standIns.add(id, of, a)
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

// standIns are stored ends that stand for others, which are stored only to be judged: with those for which they stand, and the other way
// round, and with the arrangement that makes the others of the one. Steps that lead to the one lead to the others as well.
type standIns struct {
	of map[core.StateID][]core.StateID
	is map[core.StateID]core.StateID
	by map[core.StateID]state.Arrangement
}

func (s *standIns) add(is, of core.StateID, by state.Arrangement) {
	if s.of == nil {
		s.of, s.is, s.by = map[core.StateID][]core.StateID{}, map[core.StateID]core.StateID{}, map[core.StateID]state.Arrangement{}
	}
	s.of[is] = append(s.of[is], of)
	s.is[of], s.by[of] = is, by
}

// representative returns the state that stands for a stored one.
func (s *standIns) representative(id core.StateID) core.StateID {
	if is, known := s.is[id]; known {
		return is
	}
	return id
}

// spread adds steps to the ends that others stand for.
func (s *standIns) spread(edges []core.Edge) []core.Edge {
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
