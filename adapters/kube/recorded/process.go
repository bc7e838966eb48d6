package recorded

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// process is what a recorded process was doing at a moment.
type process struct {
	header live.Header
	cut    cut
	// last is the time of its last entry, number that of the last numbered one, and ended tells that the recording of
	// it was ended there.
	last   time.Duration
	number uint64
	ended  bool
	// reached is the number of the entry that was taken last, and since when that was complete.
	reached uint64
	since   time.Duration
	// missing says which entries are missing before the moment, and missingLater which after it.
	missing, missingLater string
	unseen                []string

	// controllers are those that had been at work, and known are all that are in the recording of the process.
	controllers map[string]*controller
	known       map[string]bool
	// shown is the newest version of each kind that its caches had shown, and told are the kinds whose changes its
	// handlers are told of.
	shown map[core.Kind]uint64
	told  map[core.Kind]bool
	// later are the versions that its caches showed after the moment, each object in the order in which that happened.
	later []sighting
	// laterEvents are the events after the moment, by number.
	laterEvents map[uint64]sighting
	// starting tells that the initial objects were not all handed out.
	starting bool
	// newest is the newest version that the process had been shown of anything.
	newest uint64
	// alive is the newest version that it had been shown of each object that had not been deleted.
	alive alive
	// deleted are the objects that it had deleted, with what alive was then.
	deleted []sighting
}

// controller is what a controller of the process was doing.
type controller struct {
	// pending are why requests wait, with the times until which they do.
	pending map[string]map[live.Cause]time.Duration
	running map[uint64]*attempt
	// handled is when it last was told of something or reconciled.
	handled time.Duration
}

// attempt is a reconcile that was under way.
type attempt struct {
	live.Begin
	asked, wrote int
}

func newProcess(header live.Header) *process {
	return &process{
		header: header, controllers: map[string]*controller{}, known: map[string]bool{}, shown: map[core.Kind]uint64{}, told: map[core.Kind]bool{}, laterEvents: map[uint64]sighting{},
		alive: alive{},
	}
}

// name is how the process is called in reports.
func (p *process) name() string { return p.header.Process.Name + "/" + p.header.Process.Replica }

// when returns the number of an entry, 0 if it has none, and when it was complete.
func when(entry live.Entry) (n uint64, at time.Duration) {
	switch e := entry.(type) {
	case live.Event:
		return e.N, e.At
	case live.Queued:
		return e.N, e.At
	case live.Begin:
		return e.N, e.At
	case live.Call:
		return e.N, e.At + e.Took
	case live.Done:
		return e.N, e.At
	case live.Gap:
		return 0, e.Until
	case live.End:
		return 0, e.At
	}
	return 0, 0
}

// extend notes how far the recording of the process goes.
func (p *process) extend(entry live.Entry) {
	n, at := when(entry)
	if end, is := entry.(live.End); is {
		p.ended = !end.Rotated
	}
	p.number, p.last = max(p.number, n), max(p.last, at)
}

func (p *process) controller(name string) *controller {
	if p.controllers[name] == nil {
		p.controllers[name] = &controller{pending: map[string]map[live.Cause]time.Duration{}, running: map[uint64]*attempt{}}
	}
	return p.controllers[name]
}

// queue notes that a request waits for a reason, up to a time.
func (c *controller) queue(request string, cause live.Cause, due time.Duration) {
	request = strings.TrimPrefix(request, "/")
	if c.pending[request] == nil {
		c.pending[request] = map[live.Cause]time.Duration{}
	}
	c.pending[request][cause] = due
}

// begin takes what a reconcile was queued for out of the queue.
func (c *controller) begin(e live.Begin) {
	c.running[e.N], c.handled = &attempt{Begin: e}, e.At
	waiting := c.pending[strings.TrimPrefix(e.Request, "/")]
	for _, cause := range e.Causes {
		delete(waiting, cause)
	}
	if len(e.Causes) > 0 && e.MoreCauses == 0 {
		return
	}
	for cause, due := range waiting {
		if due <= e.At {
			delete(waiting, cause)
		}
	}
}

// done puts the request into the queue again if the reconcile asked for that.
func (c *controller) done(e live.Done) {
	began := c.running[e.Reconcile]
	if delete(c.running, e.Reconcile); began == nil {
		return
	}
	switch {
	case e.Panicked || e.Error != "" && !e.Terminal:
		c.queue(began.Request, live.Cause{By: live.ByFailure, N: e.Reconcile}, e.At)
	case e.Error != "":
	case e.After > 0:
		c.queue(began.Request, live.Cause{By: live.ByResult, N: e.Reconcile}, e.At+e.After)
	case e.Requeue:
		c.queue(began.Request, live.Cause{By: live.ByResult, N: e.Reconcile}, e.At)
	}
}

// shows notes that a cache has shown versions of a kind.
func (p *process) shows(o live.Object) {
	rv := number(o.ResourceVersion)
	p.shown[o.Kind], p.newest = max(p.shown[o.Kind], rv), max(p.newest, rv)
}

// take follows an entry, with the objects of its file.
func (p *process) take(entry live.Entry, objects []live.Object) {
	p.follow(entry)
	switch e := entry.(type) {
	case live.Event:
		p.known[e.Controller] = true
		p.event(e, objects[e.Object-1])
	case live.Queued:
		if p.cut.before(e.N, e.At) {
			c := p.controller(e.Controller)
			cause := live.Cause{By: live.ByCode, N: e.N}
			if e.Event > 0 {
				cause = live.Cause{By: live.ByEvent, N: e.Event}
			}
			c.queue(e.Request, cause, e.At+e.After)
		} else if seen, is := p.laterEvents[e.Event]; is && seen.rv <= p.shown[seen.key.Kind] {
			// A cache had shown the change before its handlers were told of it: in the model both are one step.
			p.controller(e.Controller).queue(e.Request, live.Cause{By: live.ByEvent, N: e.Event}, p.cut.at+e.After)
		}
	case live.Begin:
		p.known[e.Controller] = true
		if p.cut.before(e.N, e.At) {
			p.controller(e.Controller).begin(e)
		}
	case live.Done:
		if p.cut.before(e.N, e.At) {
			for _, c := range p.controllers {
				c.done(e)
			}
		}
	case live.Call:
		p.call(e, objects)
	case live.Gap:
		text := fmt.Sprintf("from %.3fs to %.3fs (%s)", e.At.Seconds(), e.Until.Seconds(), e.Reason)
		if e.At <= p.cut.at {
			p.missing = cmp.Or(p.missing, text)
		} else {
			p.missingLater = cmp.Or(p.missingLater, text)
		}
	case live.Unseen:
		if !slices.Contains(p.unseen, e.Reason) {
			p.unseen = append(p.unseen, e.Reason)
		}
	}
}

func (p *process) event(e live.Event, o live.Object) {
	p.told[o.Kind] = true
	if e.Type != live.Deleted {
		p.alive.met(o)
	}
	rv := number(o.ResourceVersion)
	if !p.cut.before(e.N, e.At) {
		p.starting = p.starting || e.Initial
		p.laterEvents[e.N] = sighting{o.Key, rv}
		return
	}
	if c := p.controller(e.Controller); e.Controller != "" {
		c.handled = e.At
	}
	if !e.Missed {
		p.shows(o)
	}
}

func (p *process) call(e live.Call, objects []live.Object) {
	deleted := p.alive.deletes(e)
	for _, n := range e.Answer {
		p.alive.met(objects[n-1])
	}
	if !p.cut.before(e.N, e.At+e.Took) {
		for _, n := range e.Answer {
			if e.Cached {
				p.later = append(p.later, sighting{objects[n-1].Key, number(objects[n-1].ResourceVersion)})
			}
		}
		return
	}
	for _, c := range p.controllers {
		if r := c.running[e.Reconcile]; r != nil {
			r.asked++
			if e.Writes() {
				r.wrote++
			}
		}
	}
	p.deleted = append(p.deleted, deleted...)
	for _, n := range e.Answer {
		o := objects[n-1]
		if e.Cached {
			p.shows(o)
		} else {
			p.newest = max(p.newest, number(o.ResourceVersion))
		}
	}
	if !e.Cached {
		p.newest = max(p.newest, number(e.ListVersion))
	}
}

// follow notices where numbers are missing.
func (p *process) follow(entry live.Entry) {
	n, at := when(entry)
	if n == 0 {
		return
	}
	if p.reached != 0 && n > p.reached+1 {
		text := fmt.Sprintf("between entry %d and entry %d", p.reached, n)
		if p.cut.before(p.reached, p.since) {
			p.missing = cmp.Or(p.missing, text)
		} else {
			p.missingLater = cmp.Or(p.missingLater, text)
		}
	}
	p.reached, p.since = n, at
}

// over reports whether the process had ended by the moment: its recording has an end, or another process took its
// place.
func (p *process) over() bool { return p.ended && p.last < p.cut.at }
