package behavior

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/core"
)

// Path is the way from the root of a tree to one of its nodes.
type Path []*Edge

// Asked returns the calls on the path.
func (p Path) Asked() []core.Call {
	calls := make([]core.Call, len(p))
	for i, edge := range p {
		calls[i] = edge.From.Call
	}
	return calls
}

// Pass notes that runs have come along the path.
func (p Path) Pass() {
	for _, edge := range p {
		edge.From.Passed = true
	}
}

// Calls returns the calls on the path, in the user's words.
func (p Path) Calls() []string {
	calls := make([]string, len(p))
	for i, edge := range p {
		calls[i] = fmt.Sprintf("%s → %s", edge.From.Call, edge.Response)
	}
	return calls
}

// Divergence is where a second run of the same strategy, with the same responses,
// went another way than the first.
type Divergence struct {
	// Recorded and Observed are what the two runs did from where they part, one entry each.
	Recorded, Observed string
	// After is how many calls they had in common.
	After int
	// Call is what the second run asked there, and Ended how it ended, if it did: then there is no call.
	Call  core.Call
	Ended *Leaf
	// Slept tells that time had passed in the second run before they part.
	Slept bool
	// Left is what the second run left in memory, if that is where they part.
	Left map[string]string
	// ByChance tells that the second run does what the code was seen to do there by chance.
	ByChance bool
	// Exchanged tells that it has put the words that it draws to use in another order.
	Exchanged bool
}

// Replay runs the session along a path: it answers each call with the recorded
// response. It returns where the run leaves the path, nil if it does not. Then the
// session stands behind the last response.
func (s *Session) Replay(ctx context.Context, path Path) (*Divergence, error) {
	return s.replay(ctx, path, false)
}

// replay is as [Session.Replay]. A run that has put the words that it draws to use in another order stays on the path if
// that is allowed: what it has said comes back as it has said it.
func (s *Session) replay(ctx context.Context, path Path, mayExchange bool) (*Divergence, error) {
	var calls []core.Call
	other := false
	at := newProgress(s, path)
	for range path {
		i := at.next()
		edge := path[i]
		call, leaf, err := s.NextAs(ctx, edge.From.Call)
		if err != nil {
			return nil, err
		}
		if early := at.early(call, identical); early > i {
			s.locate(path[early].From)
			s.Answer(path[early].Response)
			continue
		}
		calls = append(calls, call)
		if call == nil || other || !identical(call, edge.From.Call) {
			exchanged := call != nil && s.overtook < 0 && s.exchangesAlong(path[:i+1], calls)
			if !exchanged || !mayExchange {
				s.Abort()
				parting := parting(edge.From.Call, call, leaf, i)
				parting.Slept, parting.ByChance, parting.Exchanged = s.slept, edge.From.Point().Chance.Has(call, leaf, identical), exchanged
				return parting, nil
			}
			other = true
		}
		at.answered[i] = true
		s.locate(edge.From)
		response := edge.Response
		if other {
			response = s.limits.Randomness.Echo(response, textsOf(path[:i+1].Asked()), textsOf(calls))
		}
		s.Answer(response)
	}
	return nil, nil
}

// progress is how far a run has come along a path. Where its code may make calls in any order that have nothing to do
// with each other, such as those that it takes out of a map, it may be ahead of itself.
type progress struct {
	session  *Session
	path     Path
	answered []bool
	first    int
}

func newProgress(s *Session, path Path) *progress {
	return &progress{session: s, path: path, answered: make([]bool, len(path))}
}

// next returns the number of the first call that was not answered.
func (p *progress) next() int {
	for p.answered[p.first] {
		p.first++
	}
	return p.first
}

// early returns the number of the call that the run makes if it comes later along the path and may as well come now: it
// is to be answered then, as it was there. It returns -1 if it does not.
func (p *progress) early(call core.Call, like func(call, recorded core.Call) bool) int {
	s := p.session
	if call == nil || !s.reordering || len(s.pending) > 1 || like(call, p.path[p.first].From.Call) {
		return -1
	}
	for later := p.first + 1; later < len(p.path); later++ {
		if p.answered[later] || !like(call, p.path[later].From.Call) {
			continue
		}
		for before := p.first; before < later; before++ {
			if p.answered[before] {
				continue
			}
			chance := p.path[before].From.Point().Chance // by which a call that comes early may be a way of its own
			if !p.path[before].commutes(p.path[later]) || chance != nil && len(chance.Ways) > 1 && chance.Has(call, nil, like) {
				return -1
			}
		}
		p.answered[later] = true
		if s.overtook < 0 {
			s.overtook = p.first
		}
		return later
	}
	return -1
}

// MayBegin reports whether a call is made along the path, at first or where it may as well come first, as the calls
// before it have nothing to do with it.
func (p Path) MayBegin(call core.Call) bool {
	at := slices.IndexFunc(p, func(e *Edge) bool { return identical(e.From.Call, call) })
	return at >= 0 && !slices.ContainsFunc(p[:at], func(e *Edge) bool { return !e.commutes(p[at]) })
}

// Overtook returns the number of the first call along the path of the last run that another one was made before, -1 if
// there is none.
func (s *Session) Overtook() int { return s.overtook }

// parting returns where a run, which had so many calls in common with a recorded one, makes another call than that, or
// ends. Calls that read the same are told with what they write.
func parting(recorded, observed core.Call, leaf *Leaf, after int) *Divergence {
	d := &Divergence{Recorded: recorded.String(), Observed: saying(observed, leaf), After: after, Call: observed, Ended: leaf}
	if observed != nil && d.Recorded == d.Observed {
		one, other := apart(telling(recorded), telling(observed))
		d.Recorded += " with " + one
		d.Observed += " with " + other
	}
	return d
}

// Reorders reports whether a run does the same as a recorded one where it parts from it, in another order: it makes a
// call that comes later there, or writes the same fields.
func (d *Divergence) Reorders(path Path) bool {
	if d.Call == nil || d.After >= len(path) {
		return false
	}
	recorded := path[d.After].From.Call
	if Aim(d.Call) != Aim(recorded) {
		return slices.ContainsFunc(path[d.After+1:], func(e *Edge) bool { return e.From.Call.Identity() == d.Call.Identity() })
	}
	fields := func(call core.Call) []string {
		all := strings.FieldsFunc(contents(call), func(r rune) bool { return strings.ContainsRune("{}[],", r) })
		return slices.Sorted(slices.Values(all))
	}
	return slices.Equal(fields(d.Call), fields(recorded))
}

// apart returns what two texts have where they differ: the field if they are JSON, or a little of it.
func apart(a, b string) (string, string) {
	const before, after = 48, 64
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-before)
	from += strings.LastIndexAny(a[from:at], ",{") + 1
	excerpt := func(text string) string {
		rest := text[min(len(text), at):min(len(text), at+after)]
		if end := strings.IndexAny(rest, ",}"); end >= 0 {
			rest = rest[:end]
		}
		if found := text[from:at] + rest; strings.HasPrefix(found, `"`) && strings.Count(found, `"`)%2 == 0 && utf8.ValidString(found) {
			return found
		}
		return strconv.Quote(text[from:at] + rest)
	}
	return excerpt(a), excerpt(b)
}

// telling returns what a call writes, or all that tells it apart if it writes nothing.
func telling(c core.Call) string { return cmp.Or(contents(c), c.Identity()) }

// Run is a run that was recorded.
type Run struct {
	Activation Activation
	Path       Path
	// Leaf is how it ended, nil if it was given up behind the path.
	Leaf *Leaf
}

// Faulty reports whether a call of the run fails because it was made to.
func (r Run) Faulty() bool {
	return slices.ContainsFunc(r.Path, func(edge *Edge) bool {
		return slices.ContainsFunc(edge.From.Faults, func(f Fault) bool { return f.Edge == edge })
	})
}

// Odds returns how likely it is, by what was seen, that chance leads along the run.
func (r Run) Odds() float64 {
	odds := 1.0
	for _, edge := range r.Path {
		odds *= edge.From.Odds()
	}
	if r.Leaf != nil {
		odds *= r.Leaf.odds()
	}
	return odds
}

// Beside returns the run as it is on an instance that has also done something for other requests: whether event
// handlers enqueue these does not count.
func (r Run) Beside(requests ...core.Request) Run {
	if r.Activation.Event == nil || r.Leaf == nil {
		return r
	}
	leaf := *r.Leaf
	leaf.Unordered, leaf.Beside = true, requests
	r.Leaf = &leaf
	return r
}

// Audit takes the instance through a recorded run so many times, one after the other. It returns where the
// instance goes another way, nil if it does not. Then the session is between two runs.
func (s *Session) Audit(ctx context.Context, run Run, times int) (*Divergence, error) {
	for range times {
		if divergence, err := s.Repeat(ctx, run); divergence != nil || err != nil {
			return divergence, err
		}
	}
	return nil, nil
}

// Repeat begins a run, takes it along a recorded one and compares how they end. If they differ, and where
// the recorded run was given up, the session is over.
func (s *Session) Repeat(ctx context.Context, run Run) (*Divergence, error) {
	s.Begin(run.Activation)
	return s.follow(ctx, run)
}

// follow takes the run that was begun along a recorded one.
func (s *Session) follow(ctx context.Context, run Run) (*Divergence, error) {
	divergence, err := s.replay(ctx, run.Path, true)
	if divergence != nil || err != nil {
		return divergence, err
	}
	if run.Leaf == nil {
		if s.logs.Load() != nil {
			// What it logs on the way to its next call is a part of the run.
			_, _, err = s.Next(ctx)
		}
		s.Abort()
		return nil, err
	}
	call, observed, err := s.Next(ctx)
	if err != nil {
		return nil, err
	}
	if call != nil || !observed.agrees(run.Leaf) {
		s.Abort()
		parting := run.endsOtherwise(call, observed, identical)
		parting.Slept = s.slept
		return parting, nil
	}
	return nil, nil
}

// endsOtherwise returns that another run does not end as the recorded one does: it makes a call, or ends in another
// way.
func (r Run) endsOtherwise(call core.Call, observed *Leaf, like func(call, recorded core.Call) bool) *Divergence {
	parting := Way{Leaf: r.Leaf}.Parting(Way{Call: call, Leaf: observed}, len(r.Path))
	parting.ByChance = r.Leaf.Chance.Has(call, observed, like)
	return parting
}

// identical reports whether two calls are the same.
func identical(call, recorded core.Call) bool { return call.Identity() == recorded.Identity() }

// agrees reports whether two leaves mean the same to a system. How long a controller
// asks to wait does not matter, nor does the wording of an error or a failure.
func (l *Leaf) agrees(other *Leaf) bool {
	return l.Failure == other.Failure &&
		(l.Result.Err == nil) == (other.Result.Err == nil) &&
		l.Result.Requeue == other.Result.Requeue &&
		(l.Result.RequeueAfter > 0) == (other.Result.RequeueAfter > 0) &&
		l.Result.Blocked == other.Result.Blocked &&
		(slices.Equal(l.Requests, other.Requests) || other.Unordered && l.AsksAlike(other, other.Beside...))
}

func saying(call core.Call, leaf *Leaf) string {
	if call != nil {
		return call.String()
	}
	return leaf.String()
}

// String says the end of a run in a few words.
func (l *Leaf) String() string {
	switch {
	case l.Failure == Panicked:
		return "panics: " + l.Message
	case l.Failure != None:
		return l.Message
	case len(l.Requests) > 0:
		return fmt.Sprintf("enqueues %v", l.Requests)
	case l.Result.Err != nil:
		return "returns the error: " + l.Result.Err.Error()
	case l.Result.Requeue:
		return "asks to be run again"
	case l.Result.RequeueAfter > 0:
		return "asks to be run again in " + l.Result.RequeueAfter.String()
	case l.Result.Blocked:
		return "is blocked"
	}
	return "returns"
}
