package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Edge returns the step that the walker has taken from a state, without where it leads.
func (w *Walker) Edge(from core.StateID, t *Taken) core.Edge {
	e := core.Edge{From: from, Step: t.Step(), Wrote: w.Wrote, Late: t.Late}
	if t.Leaf != nil {
		e.Failed, e.Requeued = errorOf(t.Leaf), t.Leaf.Result.Requeue
	}
	return e
}

// Signature stands for what [Walker.Edge] says of a step, but for where it leads. It can be compared.
type Signature struct {
	kind        core.StepKind
	actor       *Actor
	item        *Item
	view        *view.View
	leaf        *behavior.Leaf
	late, wrote bool
}

// Signature returns that of a step, and false if there is more to say: what is chosen in it, or goes wrong.
func (w *Walker) Signature(t *Taken) (Signature, bool) {
	plain := len(t.plan.turns)+len(t.plan.faults)+len(t.positions)+len(t.lost) == 0
	return Signature{t.Kind, t.Actor, t.Item, t.View, t.Leaf, t.Late, w.Wrote}, plain
}

// Effect returns what the step changes that the walker has taken.
func (w *Walker) Effect(t *Taken) core.Effect {
	effect := core.Effect{Order: t.Step().Order, Changes: w.Changes(), Wrote: w.Wrote}
	if t.Leaf != nil {
		effect.Failed = errorOf(t.Leaf)
	}
	return effect
}

// Changes returns how the objects differ from the state the step began in.
func (w *Walker) Changes() []core.Change {
	var changes []core.Change
	seen := map[state.Cell]bool{}
	for _, t := range w.Touched {
		key, isObject := w.Machine.Vocabulary.Key(t.Cell)
		if !isObject || seen[t.Cell] {
			continue
		}
		seen[t.Cell] = true
		now := w.Vector[t.Cell]
		if now == t.Was {
			continue
		}
		change := core.Change{
			Key:    key,
			Before: w.Machine.Vocabulary.Content(t.Cell, t.Was),
			After:  w.Machine.Vocabulary.Content(t.Cell, now),
		}
		if w.Machine.Matters(core.Object{Key: key, Content: change.Before}) || w.Machine.Matters(core.Object{Key: key, Content: change.After}) {
			changes = append(changes, change)
		}
	}
	slices.SortFunc(changes, func(a, b core.Change) int { return a.Key.Compare(b.Key) })
	return changes
}
