package reduction

import (
	"slices"

	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// level is the part of a chooser that tells who may be followed alone since controllers are level-triggered: a step
// that looks, changes nothing and goes back to sleep may come first if whatever changes what it looked at wakes its
// agent again.
//
// Take any run in which the agent does not step. Either some step in it wakes the agent: up to there it goes the same
// way behind the agent's step, as nothing but the agent reads whether its work is in the queue, and from there on
// nothing differs. Or none does, so none changes what the agent looked at, or only so that it finds nothing to do then,
// either: its step changes as little at the end of the run. Calls that fail are among the things that the agent may
// meet: if these steps, too, change nothing but its own work, the same holds for them.
type level struct {
	// missed are the places that an agent looks at and that somebody else may change without waking it, by agent.
	missed []places
}

// places is a set of places.
type places = bitset.Set[explore.Place]

func newLevel(footprints []explore.Footprint) level {
	l := level{missed: make([]places, len(footprints))}
	for i, f := range footprints {
		for _, missed := range [][]explore.Place{f.Missed, f.MissedInViews} {
			for _, place := range missed {
				l.missed[i].Add(place)
			}
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
	return way.Lasting && !way.Faulty || !slices.ContainsFunc(way.Looks, l.missed[way.Agent].Has)
}
