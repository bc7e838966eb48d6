package behavior

import (
	"context"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// Made is a call that a run made, with what it touched.
type Made struct {
	// Number is the number of the call in the run, from 0.
	Number   int
	Node     *Node
	Response core.Response
	// Answers are the call's own, and those to the calls of the event handlers that it set off.
	Answers []*Answered
}

// Effects reports whether the call itself changed anything or sent a message.
func (m Made) Effects() bool { return m.Answers[0].Effects() }

// Reversal is another order in which concurrent calls may be answered.
type Reversal struct {
	// Call is the number of the first call of the run that is another one in that order, and Turn the node of the call
	// that is answered in its stead.
	Call int
	Turn *Node
	// First and Second are the calls because of which it may matter, in the order in which they were answered.
	First, Second core.Call
}

// Reversals returns the other orders for pairs of concurrent calls of a run that do not commute, as in dynamic
// partial-order reduction (Flanagan and Godefroid, 2005): each answers, in the place of the earlier call of a pair, the
// later one or one that the later one follows. The run goes on from there as it likes, and has reversals of its own. A
// reversal without a turn cannot be made, as the two calls are equal.
//
// The calls are those from the first one on that was not made alone. Of the leaf it is known which calls overtake
// others.
func Reversals(made []Made, leaf *Leaf, commute func(a, b Made) bool) []Reversal {
	var reversals []Reversal
	heeds := leaf.heeds()
	parents := make([]int, len(made))
	for i, m := range made {
		parents[i] = i - 1
		for parents[i] >= 0 && made[parents[i]].Node.parks(m.Node.Call) {
			parents[i]--
		}
	}
	for j := range made {
		at := j // the first call after i that call j is or came up after
		for i := j - 1; i >= 0; i-- {
			turn := made[i].Node.turnOf(made[at].Node.Call)
			if parents[at] == i {
				at, turn = i, made[i].Node.other()
			}
			if !leaf.overtakes(made[j].Number, made[i].Number, at != i) || !heeds && commute(made[i], made[j]) || made[i].same(made[j]) {
				continue
			}
			r := Reversal{Call: made[i].Number, First: made[i].Node.Call, Second: made[j].Node.Call}
			if turn != made[i].Node {
				r.Turn = turn
			}
			reversals = append(reversals, r)
		}
	}
	return reversals
}

// Overtaking says which later calls of a run can be answered before an earlier one.
type Overtaking struct {
	// by are the numbers of the calls. If the code goes another way, there may be more.
	by []int
	// heeded tells that the code goes another way then, with the same responses.
	heeded bool
}

// overtakes reports whether one call can be answered before an earlier one. If that was not found out, it is as it
// seems.
func (l *Leaf) overtakes(later, earlier int, seems bool) bool {
	if l.Overtaking == nil {
		return seems
	}
	o := l.Overtaking[earlier]
	return slices.Contains(o.by, later) || o.heeded && seems
}

// heeds reports whether the code goes another way if calls are answered in another order with the same answers. Then
// any order may be one that it heeds.
func (l *Leaf) heeds() bool {
	for _, o := range l.Overtaking {
		if o.heeded {
			return true
		}
	}
	return false
}

// Postpone begins a run, and takes it along a recorded one with the answer to one of its calls given as late as
// possible. It returns what comes of it. The session is over if the code goes another way.
func (s *Session) Postpone(ctx context.Context, run Run, call int) (Overtaking, error) {
	var o Overtaking
	rest := make([]int, len(run.Path))
	for i := range rest {
		rest[i] = i
	}
	s.Begin(run.Activation)
	for len(rest) > 0 {
		if next, _, err := s.Next(ctx); next == nil {
			return Overtaking{by: o.by, heeded: true}, err
		}
		at := s.ready(run.Path, rest, call)
		if at < 0 {
			s.Abort()
			return Overtaking{by: o.by, heeded: true}, nil
		}
		edge := run.Path[rest[at]]
		s.TurnTo(edge.From.Call)
		s.Answer(edge.Response)
		if rest[at] > call && slices.Contains(rest, call) {
			o.by = append(o.by, rest[at])
		}
		rest = slices.Delete(rest, at, at+1)
	}
	next, leaf, err := s.Next(ctx)
	if err != nil {
		return o, err
	}
	if next != nil {
		s.Abort()
	}
	o.heeded = next != nil || !leaf.agrees(run.Leaf)
	return o, nil
}

// ready returns the place of the first of some calls of a path that waits for its answer, with one of them put last; -1
// if none of them does.
func (s *Session) ready(path Path, rest []int, last int) int {
	waits := func(call int) bool {
		identity, needed := path[call].From.Call.Identity(), 1
		if call > last && slices.Contains(rest, last) && path[last].From.Call.Identity() == identity {
			needed = 2
		}
		for _, pending := range s.pending {
			if pending.Identity() == identity {
				needed--
			}
		}
		return needed <= 0
	}
	if at := slices.IndexFunc(rest, func(call int) bool { return call != last && waits(call) }); at >= 0 {
		return at
	}
	if waits(last) {
		return slices.Index(rest, last)
	}
	return -1
}

// same reports whether two calls and their answers are the same, so that nobody knows which of them came first.
func (m Made) same(other Made) bool {
	return m.Node.Call.Identity() == other.Node.Call.Identity() && m.Response.Identity() == other.Response.Identity()
}

// turnOf returns the turn of a call.
func (n *Node) turnOf(call core.Call) *Node {
	if i := slices.IndexFunc(n.Turns, func(turn *Node) bool { return turn.Call.Identity() == call.Identity() }); i >= 0 {
		return n.Turns[i]
	}
	return n
}

// parks reports whether a call waits for its answer while the one of the node is answered.
func (n *Node) parks(call core.Call) bool {
	return slices.ContainsFunc(n.Parked, identicalTo(call))
}

// other returns another turn than the node, the node itself if there is none.
func (n *Node) other() *Node {
	if i := slices.IndexFunc(n.Turns, func(turn *Node) bool { return turn != n }); i >= 0 {
		return n.Turns[i]
	}
	return n
}

// Selects reports whether a value of a cell is selected.
type Selects func(s *state.Selection, c state.Cell, value state.Value) bool

// Commute reports whether the state and the answers are the same whichever of two calls is answered first.
func Commute(a, b Made, selects Selects) bool {
	for _, one := range a.Answers {
		for _, other := range b.Answers {
			if one.disturbs(other, selects) || other.disturbs(one, selects) {
				return false
			}
		}
	}
	return true
}

// disturbs reports whether a call writes what another one reads or writes.
func (a *Answered) disturbs(other *Answered, selects Selects) bool {
	for _, w := range a.Writes {
		if slices.ContainsFunc(other.Writes, func(also Write) bool { return also.Cell == w.Cell }) ||
			slices.ContainsFunc(other.Reads, func(r Read) bool { return r.sees(w, a.before(w), selects) }) {
			return true
		}
	}
	return false
}

// before returns the values that the cell of a write had before it. Whatever is written was looked at.
func (a *Answered) before(w Write) []state.Value {
	var values []state.Value
	for _, r := range a.Reads {
		if !r.Listed && !r.Held && r.Projection == nil && r.Cell == w.Cell {
			values = append(values, r.Value)
		}
	}
	return values
}

// sees reports whether a read looks at what is written in place of other values: a list does not look at objects that
// it selects neither before nor after.
func (r Read) sees(w Write, before []state.Value, selects Selects) bool {
	switch {
	case !r.Covers(w.Cell, w.Key):
		return false
	case !r.Listed, r.Selection == nil, selects(r.Selection, w.Cell, w.To):
		return true
	}
	return len(before) == 0 || slices.ContainsFunc(before, func(value state.Value) bool { return selects(r.Selection, w.Cell, value) })
}

// Of the calls that several goroutines of a run make at the same time, one is answered at a time. Which one that is,
// the owner of the session says.

// NextAs is as [Session.Next], but of concurrent calls it returns the one that is identical to another call, or
// else has the same aim. If there is none, it returns what Next does.
func (s *Session) NextAs(ctx context.Context, other core.Call) (core.Call, *Leaf, error) {
	call, leaf, err := s.Next(ctx)
	if call == nil || len(s.pending) == 1 {
		return call, leaf, err
	}
	return s.turnTo(identicalTo(other), func(c core.Call) bool { return Aim(c) == Aim(other) }), nil, nil
}

// TurnTo lets the first of the pending calls that is identical to a call be answered next. If there is none, the one is
// that was to be answered anyway.
func (s *Session) TurnTo(call core.Call) { s.turnTo(identicalTo(call)) }

// identicalTo returns what reports whether a call is the same as another one.
func identicalTo(other core.Call) func(core.Call) bool {
	return func(c core.Call) bool { return identical(c, other) }
}

// turnTo lets the first of the pending calls that meets one of the conditions be answered next, and returns it. An
// earlier condition counts more than a later one. If no call meets any, it returns the call that was to be answered
// anyway.
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
