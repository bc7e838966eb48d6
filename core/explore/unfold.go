package explore

import (
	"bytes"
	"fmt"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// leg is a step of a run as it can be told, between states in which names are as the steps before left them.
type leg struct {
	row  []byte
	step core.Step
	to   []byte
}

// unfold returns a run without merged states: it begins as the system does, and goes on from where each step led.
func (s *Space) unfold(start core.StateID, run core.Run) ([]leg, error) {
	if s.mirror != nil {
		return s.unfoldMerged(start, run)
	}
	var legs []leg
	at := start
	for _, edge := range run {
		legs = append(legs, leg{row: bytes.Clone(s.row(at)), step: edge.Step, to: bytes.Clone(s.row(edge.To))})
		at = edge.To
	}
	return legs, nil
}

// unfoldMerged follows a run through stored states together with what becomes of the names: the state that is told is always the
// stored one in that arrangement.
func (s *Space) unfoldMerged(start core.StateID, run core.Run) ([]leg, error) {
	row, arranged, err := s.begun(start)
	if err != nil {
		return nil, err
	}
	w := s.scholar
	var legs []leg
	for _, edge := range run {
		w.load(bytes.Clone(s.row(edge.From)))
		if chosen, err := w.choose(edge.Step); err != nil || chosen == nil {
			return nil, fmt.Errorf("the step %q is not enabled any more: %w", edge.Step, err)
		}
		stored, _, err := w.pack(nil)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(stored, s.row(s.standIns.representative(edge.To))) {
			return nil, fmt.Errorf("the step %q leads to another state than before", edge.Step)
		}
		back := w.arrangement.Inverse()
		image, err := w.image(w.vector, arranged)
		if err != nil {
			return nil, err
		}
		l := leg{row: row, step: s.renamed(edge.Step, arranged), to: image.AppendRow(nil)}
		legs = append(legs, l)
		row, arranged = l.to, arranged.After(back)
	}
	return legs, nil
}

// begun returns the row of an initial state for which a stored one stands, and the arrangement that makes the one of the other.
func (s *Space) begun(start core.StateID) ([]byte, state.Arrangement, error) {
	w, want := s.scholar, bytes.Clone(s.row(start))
	for _, initial := range s.machine.system.Initial {
		if err := w.start(initial); err != nil {
			if !s.stops(err) {
				return nil, nil, err
			}
			continue
		}
		row, _, err := w.pack(nil)
		if err != nil {
			return nil, nil, err
		}
		if bytes.Equal(row, want) {
			return w.vector.AppendRow(nil), w.arrangement.Inverse(), nil
		}
	}
	return nil, nil, fmt.Errorf("the system does not begin in state %d", start)
}

// renamed returns a step with names exchanged.
func (s *Space) renamed(step core.Step, a state.Arrangement) core.Step {
	renaming := s.machine.symmetry.Renaming(a)
	step.Item.Strategy = renaming(step.Item.Strategy)
	step.Item.Request = core.Request(renaming(string(step.Item.Request)))
	return step
}
