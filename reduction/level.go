package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// level is the part of a chooser that tells who may be followed alone since controllers are level-triggered: a step that looks, changes nothing and goes
// back to sleep may come first if whatever changes what it looked at wakes its agent again.
//
// Take any run in which the agent does not step. Either some step in it wakes the agent: up to there it goes the same way behind the agent's step,
// as nothing but the agent reads whether its work is in the queue, and from there on nothing differs. Or none does, so none changes what the
// agent looked at, but for what it looks at first, where it finds nothing to do then: its step changes as little at the end of the run. Calls that fail are
// among the things that the agent may meet: if these steps, too, change nothing but its own work, the same holds for them.
type level struct {
	// missed are the places that an agent looks at and that somebody else may change without waking it, by agent.
	missed []places
	// harmless are such places where every change leaves it with nothing to do, unless calls fail.
	harmless []places
}

// places is a set of places.
type places = bitset.Set[explore.Place]

func newLevel(footprints []explore.Footprint) level {
	l := level{missed: make([]places, len(footprints)), harmless: make([]places, len(footprints))}
	for i, f := range footprints {
		for _, missed := range [][]explore.Place{f.Missed, f.MissedInViews} {
			for _, place := range missed {
				l.missed[i].Add(place)
			}
		}
		for _, place := range f.Harmless {
			l.harmless[i].Add(place)
		}
	}
	return l
}

// Alone implements [explore.Chooser].
func (l *level) Alone(way *explore.Way) bool {
	if way.Changes || way.Wakes || !way.Faulty && (way.Again || way.Timed) {
		return false
	}
	if way.Agent >= len(l.missed) {
		return true // nobody was seen to change what it looks at
	}
	missed, harmless := &l.missed[way.Agent], &l.harmless[way.Agent]
	return !slices.ContainsFunc(way.Looks, func(at explore.Place) bool { return missed.Has(at) || way.Faulty && harmless.Has(at) })
}
