package properties

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// CrashSafety holds if faults do not show in the end: whatever controllers crash and calls fail, as often as the
// check allows, the system ends in a way in which it can end without faults, too. It finds
// creations of several objects that are not taken up again, and duplicates after a lost answer. It says nothing about
// systems that never settle, and nothing where the check allows no faults.
func CrashSafety() core.Property {
	return core.Property{
		Name: "crash safety",
		Doc:  "Whatever crashes and calls fail, the system ends as it can end without.",
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeSafety(ctx, g, func(d disturbance) bool { return len(d.faults) > 0 })
		},
	}
}

// StalenessSafety holds if old views do not show in the end: however late controllers are told of changes, as far as the check
// allows, the system ends in a way in which it can end if they always know them. It finds decisions on
// old data that are never taken back. It says nothing about systems that never settle.
func StalenessSafety() core.Property {
	return core.Property{
		Name: "staleness safety",
		Doc:  "However late controllers are told of changes, the system ends as it can end without delays.",
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeSafety(ctx, g, func(d disturbance) bool { return len(d.faults) == 0 })
		},
	}
}

// Undisturbed returns the properties that compare a system with itself in a world without faults and
// delays. They are checked wherever there are any.
func Undisturbed() []core.Property {
	return []core.Property{CrashSafety(), StalenessSafety()}
}

// judgeSafety tells of the ends that need a disturbance, of those whose least one is wanted: for each history the one that needs least.
func judgeSafety(ctx context.Context, g core.Graph, wanted func(disturbance) bool) ([]core.Violation, error) {
	outcomes, err := Outcomes(ctx, g)
	if err != nil || len(outcomes) < 2 {
		return nil, err
	}
	calm := undisturbed(g)
	var found causes
	for _, group := range byHistory(outcomes) {
		var expected, others []Outcome
		for _, o := range group {
			if calm.reaches(o) {
				expected = append(expected, o)
			} else {
				others = append(others, o)
			}
		}
		if len(expected) == 0 {
			continue // it never settles by itself: that is for other properties
		}
		if a, disturbed := leastDisturbed(g, calm, expected, others, wanted); disturbed && !found.known(a.why, a.what) {
			found.tell(a.why, a.what, a.violation)
		}
	}
	return found.violations(), nil
}

// leastDisturbed tells of the end that is reached with the least disturbance that is wanted.
func leastDisturbed(g core.Graph, calm calm, expected, others []Outcome, wanted func(disturbance) bool) (account, bool) {
	for len(others) > 0 {
		stem, found := g.Shortest(func(id core.StateID) bool {
			return slices.ContainsFunc(others, func(o Outcome) bool { return o.has(id) })
		})
		if !found {
			return account{}, false
		}
		at := slices.IndexFunc(others, func(o Outcome) bool { return o.has(stem.End(0)) })
		if d := disturbanceOf(stem); wanted(d) {
			return tellDisturbed(g, calm, expected, others[at], stem, d, len(others)), true
		}
		others = slices.Delete(slices.Clone(others), at, at+1)
	}
	return account{}, false
}

// tellDisturbed shows a disturbed run beside one that is not and has the same beginning.
func tellDisturbed(g core.Graph, calm calm, expected []Outcome, other Outcome, stem core.Run, d disturbance, ends int) account {
	second, end := counterpart(g, calm, expected, stem)
	differences, fields := outcomeDiff(other, end)
	parted := commonSteps(stem, second)
	v := core.Violation{
		Summary: fmt.Sprintf("with %s the system ends as it cannot end without: it differs in %s", d.brief(), changesText(namesOf(fields))),
		Details: append(differences, sayParting(stem, second, parted)),
		Fields:  namesOf(fields),
		Stem:    stem,
		State:   stem.End(0),
		Other:   &second,
	}
	v.OtherState = second.End(end.States[0])
	if ends > 1 {
		v.Details = append(v.Details, fmt.Sprintf("There are %d such ends; this is the one that takes the least.", ends))
	}
	v.Controllers = d.controllers
	return account{causeOf(append(slices.Clone(d.controllers), patterns(fields))...), objectOf(fields), v}
}

// counterpart returns a run without disturbances to an expected end that goes along with a disturbed one as far
// as it can.
func counterpart(g core.Graph, calm calm, expected []Outcome, disturbed core.Run) (core.Run, Outcome) {
	endOf := func(id core.StateID) int {
		return slices.IndexFunc(expected, func(o Outcome) bool { return o.has(id) })
	}
	ends := func(id core.StateID) bool { return endOf(id) >= 0 }
	common := slices.IndexFunc(disturbed, core.Edge.Disturbed)
	for ; common > 0; common-- {
		from := disturbed[common].From
		if rest, found := calm.toward(from, ends); found {
			return slices.Concat(disturbed[:common:common], rest), expected[endOf(rest.End(from))]
		}
	}
	for _, start := range slices.Concat([]core.StateID{disturbed[0].From}, g.Initial()) {
		if run, found := calm.toward(start, ends); found {
			return run, expected[endOf(run.End(start))]
		}
	}
	return nil, expected[0]
}

// has tells whether the outcome is that of a state.
func (o Outcome) has(id core.StateID) bool {
	_, found := slices.BinarySearch(o.States, id)
	return found
}
