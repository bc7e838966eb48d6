package behavior

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Of the calls that several goroutines of a run make at the same time, one is answered at a time. Which one that is, the owner of the session says.

// NextAs is as [Session.Next], but of concurrent calls it returns the one that is identical to another call, or
// else has the same aim. If there is none, it returns what Next does.
func (s *Session) NextAs(ctx context.Context, other core.Call) (core.Call, *Leaf, error) {
	call, leaf, err := s.Next(ctx)
	if call == nil || len(s.pending) == 1 {
		return call, leaf, err
	}
	return s.turnTo(identicalTo(other), func(c core.Call) bool { return Aim(c) == Aim(other) }), nil, nil
}

// TurnTo lets the first of the pending calls that is identical to a call be answered next. If there is none, the one is that was to be
// answered anyway.
func (s *Session) TurnTo(call core.Call) { s.turnTo(identicalTo(call)) }

// identicalTo returns what reports whether a call is the same as another one.
func identicalTo(other core.Call) func(core.Call) bool {
	identity := other.Identity()
	return func(c core.Call) bool { return c.Identity() == identity }
}

// turnTo lets the first of the pending calls that meets one of the conditions be answered next, and returns it. An earlier
// condition counts more than a later one. If no call meets any, it returns the call that was to be answered anyway.
func (s *Session) turnTo(conditions ...func(core.Call) bool) core.Call {
	for _, condition := range conditions {
		if i := slices.IndexFunc(s.pending, condition); i >= 0 {
			s.turn = i
			break
		}
	}
	return s.pending[s.turn]
}

// Pending returns the concurrent calls that wait for their answers, in the order of their identities: the one that Next
// returned last, and those that other goroutines of the run made at the same time.
func (s *Session) Pending() []core.Call { return s.pending }
