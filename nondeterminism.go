package orrery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// undetermined says what is known of a controller that is not deterministic, as a reason.
func undetermined(incident core.Incident) string {
	ways := incident.Details[max(0, len(incident.Details)-2):]
	return fmt.Sprintf("%s is not deterministic, so some of its behavior may have been missed: %s, %s (%s)%s", incident.Strategy, incident.Doing(), incident.Message, strings.Join(ways, "; "), remedy(incident))
}

// remedy says what to change so that all of the behavior of a controller can be searched.
func remedy(incident core.Incident) string {
	switch incident.Cause {
	case core.Chance:
		how := "names, passwords, UUIDs, keys and certificates may be random, if whole words of them are, but nothing that decides what is done, and no number or word of a few letters; " +
			"what is drawn with math/rand/v2, or a rand.Rand of its own, cannot be set, nor what counts on in UUIDs of versions 1, 6 and 7: let the set-up give the controller a function without chance; and sort what is taken out of a map, if that is more than a few things"
		if incident.Slept {
			return ". Time had passed in that reconcile: where a tick and a deadline come at the same moment, either may be the first, as on a cluster. So it is with wait.PollUntilContextTimeout, and with wait.PollUntilContextCancel below a context.WithTimeout, if the timeout is a multiple of the interval: " +
				"let the two not meet, as with a timeout that is half an interval longer. If it is something else, " + how
		}
		if incident.Reordered {
			return ". Have it searched: sort what is taken out of a map, and what goroutines come to"
		}
		return ". Have it searched: " + how
	case core.Memory:
		return ". Have it searched: keep what the controller remembers in fields that can be reached from its reconciler, and not in functions, rate limiters or package variables"
	}
	return ""
}

// demandsDeterminism reports whether a property is that controllers are deterministic. What breaks it warns: the
// controller may be right, but what is said of it is not certain.
func demandsDeterminism(p core.Property) bool {
	deterministic := properties.Deterministic()
	return p.Name == deterministic.Name && p.Doc == deterministic.Doc
}

// byChance says on whose chance a finding in a space rests, empty if on nobody's.
func (v *verdict) byChance(space *explore.Space, p core.Property, finding core.Finding) string {
	if who := restsOn(slices.Concat(v.space.Incidents(), space.Incidents()), p, finding); who != "" {
		return who + ", which is not deterministic: make the controller deterministic, and check again"
	}
	if !conducts(p) {
		if who := anyOf(finding, v.space.Connected(), space.Connected()); who != "" {
			return who + ", which asks somebody who is no part of the system: give it a client for a part of the world that is (docs/external.md), or one that answers in the process, and check again"
		}
	}
	if !p.Compares {
		return "" // whatever was drawn, it was done
	}
	// Where the same is drawn again, the outcome might be the same.
	if who := anyOf(finding, v.space.Gambling(), space.Gambling()); who != "" {
		return who + ", which decides by random values: let it decide by what is not random, and check again"
	}
	return ""
}

// anyOf returns the first of some controllers that takes part in one of the runs of a finding, empty if none does.
func anyOf(finding core.Finding, controllers ...[]string) string {
	for _, who := range slices.Concat(controllers...) {
		if rests(finding, core.Incident{Strategy: who}) {
			return who
		}
	}
	return ""
}

// restsOn names a controller that is not deterministic, as the incidents say, on whose runs a finding rests, empty if
// there is none. What such a controller did in a finding it did once; that it has to, or that the order of steps is the
// reason, cannot be said.
func restsOn(incidents []core.Incident, p core.Property, finding core.Finding) string {
	if demandsDeterminism(p) {
		return ""
	}
	conduct := conducts(p)
	for _, incident := range incidents {
		switch {
		case incident.Kind != core.Nondeterministic:
		case conduct && incident.Cause == core.Chance:
			// What went wrong in its code did go wrong, whatever the chance.
		case rests(finding, incident):
			return incident.Strategy
		}
	}
	return ""
}

// conducts reports whether a property is one of code, which does wrong whoever has answered it.
func conducts(p core.Property) bool {
	return slices.ContainsFunc(properties.Conduct(), func(q core.Property) bool { return p.Name == q.Name && p.Doc == q.Doc })
}

// rests reports whether a controller that is not deterministic takes part in one of the runs of a finding.
func rests(finding core.Finding, incident core.Incident) bool {
	return involves(finding.Trace, incident) || finding.Other != nil && involves(*finding.Other, incident)
}

// involves reports whether a controller that is not deterministic takes part in a run.
func involves(trace core.Trace, incident core.Incident) bool {
	return slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool {
		handles := incident.Handling != nil && slices.ContainsFunc(step.Enqueued, func(item string) bool {
			return strings.HasPrefix(item, incident.Strategy+"(")
		})
		return handles || step.Controller == incident.Strategy && step.Kind != core.Fire.Name() ||
			slices.ContainsFunc(step.Calls, func(call core.TraceCall) bool { return call.Handler == incident.Strategy })
	})
}
