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
// stored one in some arrangement, and at the end the very state that the run leads to. It may begin in any arrangement, as the system does.
func (s *Space) unfoldMerged(start core.StateID, run core.Run) ([]leg, error) {
	if len(run) == 0 {
		return nil, nil
	}
	w := s.scholar
	arranged := s.machine.symmetry.Identity()
	arrangements := []state.Arrangement{arranged}
	for _, edge := range run {
		w.load(bytes.Clone(s.row(edge.From)))
		switch chosen, err := w.choose(edge.Step); {
		case err != nil:
			return nil, fmt.Errorf("the step %q: %w", edge.Step, err)
		case chosen == nil:
			return nil, fmt.Errorf("the step %q is not enabled any more", edge.Step)
		}
		stored, _, err := w.pack(nil)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(stored, s.row(s.standIns.representative(edge.To))) {
			return nil, fmt.Errorf("the step %q leads to another state than before", edge.Step)
		}
		arranged = arranged.After(w.arrangement.Inverse())
		arrangements = append(arrangements, arranged)
	}
	turn := arranged.Inverse()
	if end, known := s.standIns.by[run.End(start)]; known {
		turn = end.After(turn)
	}
	rows := make([][]byte, len(arrangements))
	for i := range arrangements {
		at := start
		if i > 0 {
			at = s.standIns.representative(run[i-1].To)
		}
		arrangements[i] = turn.After(arrangements[i])
		w.load(bytes.Clone(s.row(at)))
		image, err := w.image(w.vector, arrangements[i])
		if err != nil {
			return nil, err
		}
		rows[i] = image.AppendRow(nil)
	}
	var legs []leg
	for i, edge := range run {
		legs = append(legs, leg{row: rows[i], step: s.renamed(edge.Step, arrangements[i]), to: rows[i+1]})
	}
	return legs, nil
}

// renamed returns a step with names exchanged.
func (s *Space) renamed(step core.Step, a state.Arrangement) core.Step {
	renaming := s.machine.symmetry.Renaming(a)
	step.Item.Strategy = renaming(step.Item.Strategy)
	step.Item.Request = core.Request(renaming(string(step.Item.Request)))
	return step
}
