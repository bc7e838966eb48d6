package core

import (
	"fmt"
	"slices"
)

// Underway says what controllers were doing in a state in which others have been at work before: what a start does not tell, but the state of a running system does.
//
// Of what controllers keep in memory it says nothing. A process that turns out to depend on its memory is started there instead, and that is a reason why the
// search is not conclusive.
type Underway struct {
	// Processes are those that are at work already: they are not told of the objects that are there. All others start.
	Processes []AtWork
}

// AtWork is a process that is at work.
type AtWork struct {
	// Process is its name, see [Description.ProcessName].
	Process string
	// Queued are the items in its work queues, and Timed those that wait for a timer.
	Queued, Timed []Item
	// Behind are the changes that its caches have not received, in the order of their commits. They are of kinds that it has views of.
	Behind []Missing
}

// Missing is a committed change that a cache has not received: From is nil if the object was created, and To if it was deleted.
type Missing struct {
	Key      Key
	From, To Content
}

// BehindIn returns how many changes of a kind the cache of a process has not received in some initial state, the most of all.
func (s *System) BehindIn(process string, kind Kind) int {
	most := 0
	for _, initial := range s.Initial {
		if initial.Underway == nil {
			continue
		}
		for _, p := range initial.Underway.Processes {
			if p.Process == process {
				most = max(most, p.behind(kind))
			}
		}
	}
	return most
}

// behind returns how many changes of a kind the process has not received.
func (p *AtWork) behind(kind Kind) int {
	n := 0
	for _, change := range p.Behind {
		if change.Key.Kind == kind {
			n++
		}
	}
	return n
}

// validate calls fail for what cannot be so in a system that has these strategies and is in a state with these objects.
func (u *Underway) validate(strategies []Strategy, objects []Object, fail func(string, ...any)) {
	processes, of := map[string]bool{}, map[string]string{}
	for _, strategy := range strategies {
		if strategy == nil {
			continue
		}
		d := strategy.Describe()
		processes[d.ProcessName()], of[d.Name] = true, d.ProcessName()
	}
	named := map[string]bool{}
	for _, p := range u.Processes {
		switch {
		case !processes[p.Process]:
			fail("there is no process %q that could be at work: give the name of a process of the system", p.Process)
		case named[p.Process]:
			fail("the process %q is at work twice: give each once", p.Process)
		}
		named[p.Process] = true
		for _, item := range slices.Concat(p.Queued, p.Timed) {
			if of[item.Strategy] != p.Process {
				fail("%s is in a queue of the process %q, which has no controller of that name", item, p.Process)
			}
		}
		p.validateChanges(objects, fail)
	}
}

// validateChanges calls fail unless the changes of each object follow each other up to what is there.
func (p *AtWork) validateChanges(objects []Object, fail func(string, ...any)) {
	next := map[Key]Content{}
	for _, o := range objects {
		next[o.Key] = o.Content
	}
	for _, change := range slices.Backward(p.Behind) {
		if !equal(change.To, next[change.Key]) {
			fail("the changes of %s that the caches of %q have not received do not lead to what is there: give all of them, in order", change.Key, p.Process)
			return
		}
		next[change.Key] = change.From
	}
}

func equal(a, b Content) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Canonical() == b.Canonical()
}

// String says in words what the process was doing.
func (p *AtWork) String() string {
	text := p.Process
	list := func(what string, items []Item) {
		for i, item := range items {
			if i == 0 {
				text += what
			} else {
				text += ", "
			}
			text += item.String()
		}
	}
	list(" has in its queue ", p.Queued)
	if len(p.Queued) == 0 {
		text += " has nothing in its queue"
	}
	list("; waits for a timer of ", p.Timed)
	var kinds []Kind
	for _, change := range p.Behind {
		if !slices.Contains(kinds, change.Key.Kind) {
			kinds = append(kinds, change.Key.Kind)
		}
	}
	for _, kind := range kinds {
		n := p.behind(kind)
		changes := "changes"
		if n == 1 {
			changes = "change"
		}
		text += fmt.Sprintf("; its cache of %s is %d %s behind", kind, n, changes)
	}
	return text
}
