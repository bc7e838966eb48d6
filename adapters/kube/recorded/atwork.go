package recorded

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// running returns the recorded process in which a controller was at work at the moment, nil if it was in none.
func (b *beginning) running(name string) *process {
	var found *process
	var since time.Time
	for _, p := range b.processes {
		c := p.controllers[name]
		if c == nil || p.cut.at < 0 || p.over() || p.replaced(b.processes) {
			continue
		}
		if handled := p.header.Started.Add(c.handled); found == nil || handled.After(since) {
			found, since = p, handled
		}
	}
	return found
}

// replaced reports whether the recording of a process breaks off before the moment, and a later process of the same
// name had started by then: it was killed.
func (p *process) replaced(all []*process) bool {
	if p.last > p.cut.at {
		return false
	}
	return slices.ContainsFunc(all, func(other *process) bool {
		return other != p && other.header.Process.Name == p.header.Process.Name && other.header.Started.After(p.header.Started.Add(p.last)) && other.cut.at >= 0
	})
}

// recordedAnywhere reports whether a controller is in the recordings.
func (b *beginning) recordedAnywhere(name string) bool {
	return slices.ContainsFunc(b.processes, func(p *process) bool { return p.known[name] })
}

// atWork returns what the processes of the system were doing that are recorded.
func (b *beginning) atWork() ([]core.AtWork, error) {
	var names []string
	members := map[string][]core.Description{}
	for _, strategy := range b.system.Strategies {
		d := strategy.Describe()
		if members[d.ProcessName()] == nil {
			names = append(names, d.ProcessName())
		}
		members[d.ProcessName()] = append(members[d.ProcessName()], d)
	}
	known := false
	var all []core.AtWork
	for _, name := range names {
		var found *process
		for _, d := range members[name] {
			known = known || b.recordedAnywhere(d.Name)
			p := b.running(d.Name)
			if p != nil && found != nil && p != found {
				return nil, fmt.Errorf("the controllers of %s were at work in two processes, %s and %s, and share one in the system: name the recording of one of them", name, found.name(), p.name())
			}
			if p != nil {
				found = p
			}
		}
		if found == nil {
			b.starts(name, members[name])
			continue
		}
		work, err := b.was(name, members[name], found)
		if err != nil {
			return nil, err
		}
		if work != nil {
			all = append(all, *work)
		}
	}
	if !known && len(b.controllers()) > 0 { // audit logs and traces have none: then all start here
		return nil, fmt.Errorf("no controller of the system %s is in the recording, which has %s: name the system whose controllers were recorded", b.system.Name, strings.Join(b.controllers(), ", "))
	}
	return all, nil
}

// controllers returns the names of those that were recorded, quoted.
func (b *beginning) controllers() []string {
	var names []string
	for _, p := range b.processes {
		for name := range p.known {
			if name != "" && !slices.Contains(names, strconv.Quote(name)) {
				names = append(names, strconv.Quote(name))
			}
		}
	}
	slices.Sort(names)
	return names
}

// starts says that a process starts where the search begins.
func (b *beginning) starts(name string, members []core.Description) {
	switch {
	case slices.ContainsFunc(members, func(d core.Description) bool { return b.recordedAnywhere(d.Name) }):
		b.assume("%s was not at work at that moment, and starts there.", name)
	case slices.ContainsFunc(members, func(d core.Description) bool { return !slices.Contains(b.system.Surroundings, d.Name) }):
		b.because("%s is not in the recording, so that its queue and caches are not known: it starts where the search begins. Record it as well.", name)
	default:
		b.assume("%s, which stands in for something around the controllers, starts there.", name)
	}
}

// was returns what a process of the system was doing, nil if it is to start.
func (b *beginning) was(name string, members []core.Description, p *process) (*core.AtWork, error) {
	if p.starting {
		b.because("%s was about to start, with objects that its handlers had not received: it starts where the search begins. Choose a later moment.", name)
		return nil, nil
	}
	work := &core.AtWork{Process: name}
	for _, d := range members {
		c := p.controllers[d.Name]
		if c == nil {
			b.assume("%s had received nothing, and has nothing in its queue.", d.Name)
			continue
		}
		for _, request := range slices.Sorted(maps.Keys(c.pending)) {
			item := core.Item{Strategy: d.Name, Request: core.Request(request)}
			queued, timed := false, false
			for _, due := range c.pending[request] {
				queued, timed = queued || due <= p.cut.at, timed || due > p.cut.at
			}
			if queued {
				work.Queued = append(work.Queued, item)
			}
			if timed {
				work.Timed = append(work.Timed, item)
			}
		}
		for _, n := range slices.Sorted(maps.Keys(c.running)) {
			work.Queued = b.again(work.Queued, d.Name, c.running[n])
		}
	}
	slices.SortFunc(work.Queued, core.Item.Compare)
	work.Queued = slices.Compact(work.Queued)
	var err error
	work.Behind, err = b.missing(p)
	return work, err
}

// again puts the request of a reconcile that was under way into the queue again.
func (b *beginning) again(queued []core.Item, controller string, r *attempt) []core.Item {
	item := core.Item{Strategy: controller, Request: core.Request(strings.TrimPrefix(r.Request, "/"))}
	asked := "1 call"
	if r.asked != 1 {
		asked = fmt.Sprintf("%d calls", r.asked)
	}
	switch {
	case r.wrote > 0:
		b.because("%s was under way since %.3fs and had made %s, some of which wrote: what they wrote is there, and the request is in the queue again, as if a later call had failed. What else the reconcile did is not searched; choose a moment when none is under way.", item, r.At.Seconds(), asked)
	case r.asked > 0:
		b.because("%s was under way since %.3fs and had made %s that wrote nothing: it counts as not begun, and the request is in the queue. What it made of what it had read is not searched; choose a moment when no reconcile is under way.", item, r.At.Seconds(), asked)
	default:
		b.assume("%s had begun at %.3fs and had made no call: it counts as not begun.", item, r.At.Seconds())
	}
	return append(queued, item)
}

// tell says where the search begins.
func (b *beginning) tell(underway *core.Underway) {
	after := fmt.Sprintf("%.3fs after it began", b.processes[0].cut.at.Seconds())
	where := "The search begins in a recording, " + after
	switch {
	case len(b.processes) > 1:
		where = "The search begins in recordings, at " + b.time.UTC().Format(time.RFC3339Nano)
	case !b.moment.given:
		where = "The search begins at the end of a recording, " + after
	case b.moment.Entry > 0:
		where += fmt.Sprintf(", just behind %s", b.moment)
	}
	texts := []string{where}
	for i := range underway.Processes {
		texts = append(texts, underway.Processes[i].String())
	}
	said := []string{strings.Join(texts, ". ") + "."}
	if len(underway.Processes) > 0 {
		said = append(said, "Objects that no recorded controller was shown are not there. Times in objects are moved, so that they are as long ago as they were.")
	}
	b.assumptions = append(said, b.assumptions...)
}
