package record

import (
	"errors"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// accept checks that an entry may follow those before it, and that everything
// it refers to is there, so that users of the entries need not.
func (r *Reader) accept(t tag, entry Entry) error {
	if err := r.inOrder(t); err != nil {
		return err
	}
	switch entry := entry.(type) {
	case Report:
		r.findings = entry.Findings
		for i, finding := range r.findings {
			if finding.ID != i+1 {
				return fmt.Errorf("finding %d of the report has the number %d", i+1, finding.ID)
			}
		}
	case Finding:
		r.count.Findings++
		return r.acceptFinding(entry)
	case Outcome:
		r.count.Outcomes++
		return acceptTrace(entry.Trace)
	case Extent:
		if entry.Recorded < 0 || entry.Recorded > entry.States {
			return fmt.Errorf("%d of %d states cannot be recorded", entry.Recorded, entry.States)
		}
		r.extent = entry
		if r.farthest >= int64(entry.States) {
			return fmt.Errorf("a step leads to state %d, which does not exist", r.farthest)
		}
	case Object:
		r.count.Objects++
	case Item:
		r.count.Items++
		r.items = append(r.items, entry)
	case Step:
		r.count.StepNames++
		r.steps = append(r.steps, entry)
		return acceptStep(entry)
	case State:
		r.count.States++
		r.count.Steps += len(entry.Steps)
		return r.acceptState(entry)
	case packed:
		id := core.StateID(r.count.States)
		r.count.States++
		if err := r.numbers.unpack(entry, id, r.count.Objects, len(r.items), len(r.steps)); err != nil {
			return err
		}
		r.count.Steps += len(r.numbers.Steps)
		for _, step := range r.numbers.Steps {
			r.farthest = max(r.farthest, int64(step.To))
		}
	case counts:
		if entry != r.count {
			return fmt.Errorf("it should hold %+v but holds %+v", entry, r.count)
		}
		if entry.Findings != len(r.findings) || entry.States != r.extent.Recorded {
			return errors.New("findings or states are missing")
		}
	}
	return nil
}

// inOrder checks the order of the entries: objects and states come mixed, with what else states refer to, and the
// header, the report, the extent and the end exactly once. The extent of the first version comes before the objects.
func (r *Reader) inOrder(t tag) error {
	wanted := func() bool {
		switch t {
		case headerTag:
			return r.last == 0
		case reportTag:
			return r.last == headerTag
		case findingTag:
			return r.last == reportTag || r.last == findingTag
		case outcomeTag:
			return r.last >= reportTag && r.last <= outcomeTag
		case extentTag:
			return r.last >= reportTag && (!r.first && r.last != extentTag || r.last <= outcomeTag)
		case objectTag:
			return r.last >= reportTag && (r.first && r.last >= extentTag || !r.first && r.last != extentTag)
		case stateTag:
			return r.first && r.last >= extentTag
		case itemTag, stepTag, packedTag:
			return !r.first && r.last >= reportTag && r.last != extentTag
		case endTag:
			return r.first && r.last >= extentTag || r.last == extentTag
		}
		return false
	}
	if !wanted() {
		return fmt.Errorf("an entry of kind %d cannot follow one of kind %d", t, r.last)
	}
	r.last = t
	return nil
}

func (r *Reader) acceptFinding(finding Finding) error {
	if finding.ID != r.count.Findings || finding.ID > len(r.findings) {
		return fmt.Errorf("the story of finding %d is not expected here", finding.ID)
	}
	if err := acceptTrace(finding.Trace); err != nil {
		return err
	}
	if finding.Other == nil {
		return nil
	}
	return acceptTrace(*finding.Other)
}

func acceptTrace(trace core.Trace) error {
	if trace.CycleStart < -1 || trace.CycleStart >= max(len(trace.Steps), 1) {
		return fmt.Errorf("a run of %d steps cannot repeat from step %d on", len(trace.Steps), trace.CycleStart)
	}
	return nil
}

// acceptState checks a state of the first version.
func (r *Reader) acceptState(state State) error {
	if int64(state.ID) != int64(r.count.States-1) {
		return fmt.Errorf("state %d is not expected here", state.ID)
	}
	for _, number := range state.Objects {
		if number < 0 || number >= r.count.Objects {
			return fmt.Errorf("state %d refers to object %d, which does not come before it", state.ID, number)
		}
	}
	for _, step := range state.Steps {
		if int64(step.To) >= int64(r.extent.States) {
			return fmt.Errorf("a step leads from state %d to state %d, which does not exist", state.ID, step.To)
		}
		if err := acceptStep(step); err != nil {
			return err
		}
	}
	return nil
}

func acceptStep(step Step) error {
	if _, known := core.StepKindOf(step.Kind); !known {
		return fmt.Errorf("a step is of the kind %q, which there is not", step.Kind)
	}
	return nil
}
