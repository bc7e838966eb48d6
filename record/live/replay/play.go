package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/record/live"
)

// host is an instance of a process of the system at work, in place of the one that was recorded.
type host struct {
	session  *behavior.Session
	instance core.Instance
	fresh    map[string]string
	// clock is where its clock stands at least, since the start of the recording.
	clock time.Duration
	// since tells why what it remembers may not be what the recorded one did, empty if it is.
	since string
}

// host returns the instance that stands for the process of a strategy.
func (r *replayer) host(strategy core.Strategy) (*host, error) {
	process := strategy.Describe().ProcessName()
	if h := r.hosts[process]; h != nil {
		return h, nil
	}
	h, err := r.open(strategy)
	if err != nil {
		return nil, err
	}
	h.since = r.script.since
	if r.hosts == nil {
		r.hosts = map[string]*host{}
	}
	r.hosts[process] = h
	return h, nil
}

// open puts a fresh instance to work.
func (r *replayer) open(strategy core.Strategy) (*host, error) {
	d := strategy.Describe()
	session, instance, err := behavior.OpenFresh(r.ctx, strategy, behavior.Manner{Sequential: d.Sequential}, r.limits)
	if err != nil {
		return nil, err
	}
	return &host{session: session, instance: instance, fresh: r.memory(instance, d.Name)}, nil
}

// drop gives up the instance of a strategy, which went another way: what it remembers from then on is not known.
func (r *replayer) drop(strategy core.Strategy) {
	process := strategy.Describe().ProcessName()
	r.hosts[process].session.Abort()
	delete(r.hosts, process)
	r.script.since = cmp.Or(r.script.since, "an earlier reconcile of the process was not replayed to its end")
}

// memory returns what a strategy remembers, without what makes no difference. Nil is not known.
func (r *replayer) memory(instance core.Instance, of string) map[string]string {
	var all map[string]string
	if divided, ok := instance.(core.Divided); ok {
		all = divided.MemoryOf(of)
	} else if introspective, ok := instance.(core.Introspective); ok {
		all = introspective.Memory()
	}
	maps.DeleteFunc(all, func(way, _ string) bool {
		return slices.ContainsFunc(r.ignored, func(field string) bool { return strings.HasPrefix(way, field) })
	})
	return all
}

// remembers reports whether a strategy may have changed what it remembers since it was fresh.
func (h *host) remembers(r *replayer, strategy core.Strategy) bool {
	now := r.memory(h.instance, strategy.Describe().Name)
	return now == nil || !maps.Equal(now, h.fresh)
}

// activation is what a run is about that begins at a time of the recording. Clocks do not go backwards: it returns how
// far the clock is ahead.
func (r *replayer) activation(h *host, strategy core.Strategy, at time.Duration) (behavior.Activation, time.Duration) {
	var a behavior.Activation
	if d := strategy.Describe(); d.Process != "" {
		a.Of = d.Name
	}
	h.clock = max(h.clock, at)
	turn := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	a.Clock = r.script.time(h.clock).Sub(turn) - behavior.Tick
	return a, h.clock - at
}

// way is how a replayed run went.
type way struct {
	// parting is where it goes another way, nil if it does not, and unknown why that is not known.
	parting *Parting
	unknown string
	// redacted tells that it was given something that is redacted, and more that it makes a call that was not made.
	redacted, more bool
}

// String tells ways apart.
func (w way) String() string {
	if w.parting == nil {
		return w.unknown
	}
	return fmt.Sprintf("%d %s %v", w.parting.Step, w.parting.Now, w.parting.Fields)
}

// playFresh plays a recorded reconcile on an instance that remembers nothing.
func (r *replayer) playFresh(strategy core.Strategy, one *run) (way, error) {
	h, err := r.open(strategy)
	if err != nil {
		return way{}, err
	}
	defer h.session.Abort()
	return r.play(h, strategy, one)
}

// play runs a recorded reconcile on an instance.
func (r *replayer) play(h *host, strategy core.Strategy, one *run) (way, error) {
	a, ahead := r.activation(h, strategy, one.begin.At)
	a.Request = core.Request(requestOf(one.begin))
	loose := r.script.looseWithin(one.begin.At, one.done.At)
	h.session.Begin(a)
	var out way
	parts := func(step int, recorded, now string, fields []Difference) (way, error) {
		out.parting = &Parting{
			Process: r.script.name(), Controller: one.begin.Controller, Request: requestOf(one.begin), At: one.begin.At, Number: one.begin.N,
			Step: step, Recorded: recorded, Now: now, Fields: fields,
		}
		if out.more {
			out.parting.Hint = "It may make this call with a client that is not the manager's: a recording does not have those."
		}
		return out, nil
	}
	unknown := func(reason string) (way, error) {
		out.unknown = reason
		return out, nil
	}
	for next := 0; ; {
		asked, leaf, err := h.session.Next(r.ctx)
		if err != nil {
			return out, err
		}
		if leaf != nil {
			if next < len(one.calls) {
				return parts(next+1, words(one.calls[next].Call), ending(leaf), nil)
			}
			if was, is, same := r.sameEnd(*one.done, leaf, one.done.At-one.begin.At); !same {
				return parts(next+1, was, is, nil)
			}
			return out, nil
		}
		response, passes, err := r.unrecorded(h.session, asked)
		if err != nil {
			return unknown("a call cannot be held against the recording: " + err.Error())
		}
		if passes {
			h.session.Answer(response)
			continue
		}
		var recorded *call
		if next < len(one.calls) {
			recorded = &one.calls[next]
		}
		found, which, nearest := r.match(h.session.Pending(), recorded, loose, one.begin.At, ahead)
		switch {
		case found == nil && recorded == nil:
			out.more = true
			return parts(next+1, r.endOf(*one.done), words(nearest.now), nil)
		case found == nil:
			out.more = aim(nearest.now) != aim(recorded.Call)
			return parts(next+1, words(recorded.Call), words(nearest.now), nearest.fields)
		case which == recorded:
			next++
		default:
			which.used = true
		}
		out.redacted = out.redacted || which.redacted()
		h.session.TurnTo(found)
		if response, err = r.reads.Answered(found, which.Call, which.answer); err != nil {
			return unknown(err.Error())
		}
		h.session.Answer(response)
	}
}

// unrecorded returns the response to a call that recordings do not have, and lets it be answered next. The error says
// that one of the calls that wait cannot be read.
func (r *replayer) unrecorded(s *behavior.Session, asked core.Call) (core.Response, bool, error) {
	for _, pending := range append([]core.Call{asked}, s.Pending()...) {
		_, response, err := r.reads.Recorded(pending)
		if err != nil {
			return nil, false, err
		}
		if response != nil {
			s.TurnTo(pending)
			return response, true, nil
		}
	}
	return nil, false, nil
}

// near is a call that is not the recorded one.
type near struct {
	now    live.Call
	fields []Difference
}

// match returns the one of the calls that wait that is the recorded one, or one of those that belong to no reconcile,
// with the one that it is. If there is none, it returns the one that is the most like the recorded one.
func (r *replayer) match(pending []core.Call, recorded *call, loose []*call, began, ahead time.Duration) (core.Call, *call, near) {
	var best near
	for i, candidate := range pending {
		now, _, _ := r.reads.Recorded(candidate) // those that cannot be read were sorted out
		if recorded == nil {
			if i == 0 {
				best = near{now: now}
			}
			continue
		}
		fields := differences(recorded.Call, now, clockOf(recorded, began, ahead))
		if len(fields) == 0 {
			return candidate, recorded, near{}
		}
		if i == 0 || aim(now) == aim(recorded.Call) && aim(best.now) != aim(recorded.Call) {
			best = near{now, fields}
		}
	}
	for _, candidate := range pending {
		now, _, _ := r.reads.Recorded(candidate)
		for _, other := range loose {
			if !other.used && len(differences(other.Call, now, clockOf(other, began, ahead))) == 0 {
				return candidate, other, near{}
			}
		}
	}
	return nil, nil, best
}

// clockOf returns how far times may lie apart that a call names: it was made at some time since the reconcile began,
// and is made today when that begins, or as far ahead as the clock is. Times are often written in whole seconds.
func clockOf(c *call, began, ahead time.Duration) span {
	return span{least: -time.Second - ahead, most: c.At + c.Took - began + time.Second - ahead}
}

// handle delivers an event to the handlers of its controller. One that cannot be delivered leaves it open what the
// process remembers.
func (r *replayer) handle(e *told) error {
	strategy, known := r.strategies[e.Controller]
	if !known {
		return nil
	}
	event := core.Event{Key: e.object.Key, Initial: e.Initial, Missed: e.Missed}
	object, err := r.reads.Kept(e.object)
	if err == nil && e.Old > 0 {
		event.Old, err = r.reads.Kept(e.old)
	}
	if err != nil {
		r.script.since = "an event was not delivered: " + err.Error()
		return nil //nolint:nilerr // it is said where it makes a difference
	}
	if event.New = object; e.Type == live.Deleted {
		event.Old, event.New = object, nil
	}
	h, err := r.host(strategy)
	if err != nil {
		return err
	}
	a, ahead := r.activation(h, strategy, e.At)
	a.Event = &event
	h.session.Begin(a)
	for {
		asked, leaf, err := h.session.Next(r.ctx)
		if err != nil {
			return err
		}
		if leaf != nil {
			if leaf.Failure != behavior.None {
				r.drop(strategy)
			}
			return nil
		}
		response, passes, err := r.unrecorded(h.session, asked)
		if err == nil && !passes {
			found, which, _ := r.match(h.session.Pending(), nil, r.script.looseWithin(e.At, e.At+time.Minute), e.At, ahead)
			if found == nil {
				r.drop(strategy)
				return nil
			}
			which.used = true
			h.session.TurnTo(found)
			response, err = r.reads.Answered(found, which.Call, which.answer)
		}
		if err != nil {
			r.drop(strategy)
			return nil //nolint:nilerr // it is said where it makes a difference
		}
		h.session.Answer(response)
	}
}

// requestOf returns the request of a reconcile. A recording names those of no namespace with a slash before them.
func requestOf(b live.Begin) string { return strings.TrimPrefix(b.Request, "/") }

// sameEnd reports whether a run ends as it was recorded, and says both.
func (r *replayer) sameEnd(done live.Done, leaf *behavior.Leaf, took time.Duration) (was, is string, same bool) {
	was, is = r.endOf(done), ending(leaf)
	switch {
	case done.Panicked:
		return was, is, leaf.Failure == behavior.Panicked || leaf.Failure == behavior.Exited
	case leaf.Failure != behavior.None:
		return was, is, false
	case done.Terminal: // what is not tried again leaves no trace in a result
		return was, is, leaf.Result.Err == nil && !leaf.Result.Requeue && leaf.Result.RequeueAfter == 0
	case done.Error != "" || leaf.Result.Err != nil:
		return was, is, leaf.Result.Err != nil && leaf.Result.Err.Error() == done.Error
	case done.After > 0 || leaf.Result.RequeueAfter > 0:
		// A time that is left until something is due is the shorter the later it is taken.
		left := leaf.Result.RequeueAfter - done.After
		return was, is, done.After > 0 && leaf.Result.RequeueAfter > 0 && left >= 0 && left <= took
	}
	return was, is, done.Requeue == leaf.Result.Requeue
}

// endOf says how a reconcile ended.
func (r *replayer) endOf(d live.Done) string {
	switch {
	case d.Panicked:
		return "it panics"
	case d.Terminal:
		return "it fails for good: " + d.Error
	case d.Error != "":
		return "it fails: " + d.Error
	}
	return returns(d.Requeue, d.After)
}

// ending says how a run ends.
func ending(l *behavior.Leaf) string {
	switch {
	case l.Failure != behavior.None:
		return "it " + l.Message
	case l.Result.Err != nil:
		return "it fails: " + l.Result.Err.Error()
	}
	return returns(l.Result.Requeue, l.Result.RequeueAfter)
}

func returns(requeue bool, after time.Duration) string {
	switch {
	case after > 0:
		return "it returns, to be run again after " + after.String()
	case requeue:
		return "it returns, to be run again at once"
	}
	return "it returns"
}
