package explore

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// sightings are what was found out about the code of controllers in searches that were begun again. A later search may not meet it once
// more: what is learned is kept, a coin falls otherwise, and what code keeps outside of its instances is not as it was.
type sightings []sighting

// sighting is an incident, with the fingerprint of the state that it is put down to.
type sighting struct {
	incident core.Incident
	at       state.Fingerprint
}

// collect adds what a search found. There is no space if it ended before its first state.
func (s *sightings) collect(l *learner, space *Space) {
	for _, incident := range l.incidents {
		if slices.ContainsFunc(*s, func(known sighting) bool { return wrongOf(known.incident) == wrongOf(incident) }) {
			continue
		}
		seen := sighting{incident: incident}
		if space != nil && int(incident.State) < space.States() {
			seen.at = space.Fingerprint(incident.State)
		}
		*s = append(*s, seen)
	}
}

// wrong is what an incident comes to: incidents of one are one controller's doing the same wrong.
type wrong struct {
	kind              core.IncidentKind
	strategy, message string
}

func wrongOf(i core.Incident) wrong { return wrong{i.Kind, i.Strategy, i.Message} }

// recall adds to what the last search found what the searches before it did. What is put down to a state that was not
// stored again is told without a run.
func (s *Space) recall(seen sightings) {
	var missing []sighting
	for _, before := range seen {
		if !slices.ContainsFunc(s.learner.incidents, func(known core.Incident) bool { return wrongOf(known) == wrongOf(before.incident) }) {
			missing = append(missing, before)
		}
	}
	if len(missing) == 0 {
		return
	}
	states := map[state.Fingerprint]core.StateID{}
	for id := range core.StateID(s.States()) {
		states[s.Fingerprint(id)] = id
	}
	for _, before := range missing {
		incident := before.incident
		if id, stored := states[before.at]; stored {
			incident.State = id
		} else {
			incident.State, incident.AtStart = 0, true
		}
		s.learner.incidents = append(s.learner.incidents, incident)
	}
}
