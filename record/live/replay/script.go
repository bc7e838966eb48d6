package replay

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// run is a recorded reconcile.
type run struct {
	begin live.Begin
	calls []call
	// done is nil as long as its end is not known.
	done *live.Done
	// lost tells that the end will never be known.
	lost bool
	// overlaps tells that other reconciles or events of the process came while it ran.
	overlaps bool
	// missing tells that entries are missing that may have been its calls.
	missing bool
}

// call is a recorded call with the objects of its answer.
type call struct {
	live.Call
	answer []live.Object
	used   bool
}

// redacted reports whether something of the answer is not recorded.
func (c *call) redacted() bool {
	return slices.ContainsFunc(c.answer, func(o live.Object) bool { return bytes.Contains(o.Value, []byte(`"redacted:`)) }) ||
		c.Failed != nil && live.IsRedacted(c.Failed.Message)
}

// told is an event that a handler was told of.
type told struct {
	live.Event
	object, old live.Object
}

// step is a reconcile or an event of a process. One of them is nil.
type step struct {
	run   *run
	event *told
}

// version names a version of an object in some form.
type version struct {
	key     core.Key
	uid, rv string
	form    string
}

// script is a process on the way through its recording: what happened, until it can be run.
type script struct {
	header live.Header
	// objects are those of the current file by their numbers from 1. known are the values of its versions, and former
	// those of the file before, which it may leave out.
	objects       []live.Object
	known, former map[version]live.Object
	// steps wait to be run: from the first reconcile on whose end is not known yet.
	steps   []step
	running map[uint64]*run
	current map[[2]string]*run
	// loose are calls of no reconcile that is known.
	loose []*call
	// number is that of the last entry.
	number uint64
	// since tells why what the process remembers is not known, empty if it is.
	since string
	// unseen are what is not recorded of the process, by controller, empty for all.
	unseen map[string]string
}

func newScript(header live.Header) *script {
	s := &script{
		header: header, known: map[version]live.Object{}, running: map[uint64]*run{}, current: map[[2]string]*run{}, unseen: map[string]string{},
	}
	if header.Part > 1 {
		s.since = "the recording does not begin with the process"
	}
	if header.Share > 0 && header.Share < 1 {
		s.since = "a part of the objects is recorded only"
	}
	return s
}

// take takes an entry, and returns the steps that can be run now.
func (s *script) take(at analysis.Place, entry live.Entry) []step {
	switch e := entry.(type) {
	case live.Object:
		s.object(at.Object, e)
	case live.Event:
		s.follow(e.N)
		s.overlap(nil)
		event := &told{Event: e, object: s.objects[e.Object-1]}
		if e.Old > 0 {
			event.old = s.objects[e.Old-1]
		}
		if e.Controller != "" {
			s.steps = append(s.steps, step{event: event})
		}
	case live.Queued:
		s.follow(e.N)
	case live.Begin:
		s.follow(e.N)
		s.begin(e)
	case live.Call:
		s.follow(e.N)
		s.call(e)
	case live.Done:
		s.follow(e.N)
		if r := s.running[e.Reconcile]; r != nil {
			r.done = &e
			s.forget(r)
			return s.ready()
		}
	case live.Gap:
		s.gap(e.Reason)
	case live.Unseen:
		s.unseen[e.Controller] = e.Reason
	}
	return nil
}

// object notes a version. Where its value is in an earlier file, it is taken from there.
func (s *script) object(number int, o live.Object) {
	if number == 1 {
		s.objects = s.objects[:0]
		s.former, s.known = s.known, map[version]live.Object{}
	}
	name := version{o.Key, o.UID, o.ResourceVersion, o.Form}
	if len(o.Value) == 0 {
		if former, ok := s.former[name]; ok {
			o = former
		}
	} else if o.ResourceVersion != "" {
		s.known[name] = o
	}
	s.objects = append(s.objects, o)
}

// follow notices where numbers are missing.
func (s *script) follow(n uint64) {
	if s.number != 0 && n > s.number+1 {
		s.gap("entries are missing")
	}
	s.number = n
}

// gap notes that something is missing here.
func (s *script) gap(reason string) {
	s.since = "entries are missing before (" + reason + ")"
	for _, r := range s.running {
		r.missing = true
	}
}

// overlap notes that something happens while reconciles run.
func (s *script) overlap(but *run) {
	for _, r := range s.running {
		if r != but {
			r.overlaps = true
		}
	}
}

func (s *script) begin(e live.Begin) {
	which := [2]string{e.Controller, e.Request}
	if former := s.current[which]; former != nil { // its end is in a gap: a request is reconciled once at a time
		former.lost = true
		s.forget(former)
	}
	r := &run{begin: e, overlaps: len(s.running) > 0}
	s.overlap(r)
	s.current[which], s.running[e.N] = r, r
	s.steps = append(s.steps, step{run: r})
}

func (s *script) forget(r *run) {
	delete(s.running, r.begin.N)
	delete(s.current, [2]string{r.begin.Controller, r.begin.Request})
}

func (s *script) call(e live.Call) {
	c := call{Call: e}
	for _, number := range e.Answer {
		c.answer = append(c.answer, s.objects[number-1])
	}
	if r := s.running[e.Reconcile]; r != nil {
		r.calls = append(r.calls, c)
		return
	}
	if e.Reconcile == 0 {
		s.loose = append(s.loose, &c)
	}
}

// ready returns the steps before the first reconcile whose end is not known yet.
func (s *script) ready() []step {
	n := slices.IndexFunc(s.steps, func(one step) bool { return one.run != nil && one.run.done == nil && !one.run.lost })
	if n < 0 {
		n = len(s.steps)
	}
	ready := slices.Clone(s.steps[:n])
	s.steps = slices.Delete(s.steps, 0, n)
	return ready
}

// rest returns what is left when the recording of the process ends. Reconciles that were under way are lost.
func (s *script) rest() []step {
	for _, one := range s.steps {
		if one.run != nil && one.run.done == nil {
			one.run.lost = true
		}
	}
	return s.ready()
}

// looseWithin returns the calls of nobody that were made in a time, and forgets those that were over before.
func (s *script) looseWithin(from, until time.Duration) []*call {
	s.loose = slices.DeleteFunc(s.loose, func(c *call) bool { return c.used || c.At+c.Took < from })
	var within []*call
	for _, c := range s.loose {
		if c.At <= until {
			within = append(within, c)
		}
	}
	return within
}

// time returns when something happened, on the clock of the process.
func (s *script) time(at time.Duration) time.Time { return s.header.Started.Add(at) }

// name returns how the process is called.
func (s *script) name() string {
	return fmt.Sprintf("%s/%s", s.header.Process.Name, s.header.Process.Replica)
}
