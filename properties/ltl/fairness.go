package ltl

import (
	"iter"

	"github.com/orrery-dev/orrery/properties/internal/fair"
)

// Fairness is what is assumed of runs. Strategies that are declared unfair are left out of it.
type Fairness uint8

const (
	// Weak fairness: a step that stays possible from some point on is taken again and again, and so is a timer that may
	// fire again and again: it stays set until it does.
	Weak Fairness = iota
	// Strong fairness: a step that is possible again and again is taken again and again.
	Strong
	// Unfair assumes nothing: a run may also stay for ever in any state.
	Unfair
)

// String names the kind of runs.
func (f Fairness) String() string {
	switch f {
	case Weak:
		return "weakly fair run"
	case Strong:
		return "strongly fair run"
	}
	return "run, fair or not"
}

// assumption says what is assumed of runs, empty if it is what is assumed everywhere.
func (f Fairness) assumption() string {
	switch f {
	case Strong:
		return "A step that is possible again and again is eventually taken (strong fairness)."
	case Unfair:
		return "No fairness is assumed: unfair runs count, too."
	}
	return ""
}

// fairness is a product as fair runs are searched in it. It implements [fair.Space].
type fairness struct {
	*product
	strong bool
}

// Arcs implements [fair.Space]. The label of an arc is that of its step.
func (f *fairness) Arcs(node uint32) iter.Seq[fair.Arc] {
	return func(yield func(fair.Arc) bool) {
		var c cursor
		for to, more := f.cross(node, &c); more; to, more = f.cross(node, &c) {
			if !yield(fair.Arc{To: to.node, Step: f.labels[to.label].step, Marks: to.marks, Label: to.label}) {
				return
			}
		}
	}
}

// Enabled implements [fair.Space].
func (f *fairness) Enabled(node uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		id := f.at(node).id
		row := f.row(id)
		var m move
		for at := 0; at < len(row); {
			at = m.next(row, at)
			if step := f.labels[m.label].step; f.steps[step].fair && !yield(step) {
				return
			}
		}
		for _, step := range f.waiting(id) {
			if !yield(step) {
				return
			}
		}
	}
}

// Recurs implements [fair.Space].
func (f *fairness) Recurs(step int) bool { return f.strong || fair.Recurs(f.steps[step].Step) }

// Recurring implements [fair.Space].
func (f *fairness) Recurring() bool { return f.strong || f.timed }
