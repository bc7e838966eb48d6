package transition

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// Remembers reports whether what an actor does may depend on what its process is known to keep in memory.
func (a *Actor) Remembers() bool { return a.Process.remembers() }

// Recollection is what all processes keep in memory in a state, in the order of the system.
type Recollection []state.Value

// Recollection returns what the processes keep in memory in the state of the walker.
func (w *Walker) Recollection() Recollection {
	var r Recollection
	for _, p := range w.Machine.remembering {
		r = append(r, w.Value(p.cell))
	}
	return r
}

// Crashed is a process that crashes, with what was different in its memory then from that of a fresh instance.
type Crashed struct {
	process  *Process
	contents map[string]string
}

// MemoryChanges returns the difference between what processes keep in memory in two states, where one of them may have crashed in between. Without a
// state before, it is the difference from fresh instances.
func (m *Machine) MemoryChanges(before, after Recollection, crashed *Crashed) []core.MemoryChange {
	var changes []core.MemoryChange
	for i, p := range m.remembering {
		var was map[string]string
		if before != nil {
			was = p.contents[before[i]]
		}
		var lost map[string]string
		if crashed != nil && crashed.process == p {
			lost = crashed.contents
		}
		changes = append(changes, p.changes(was, p.contents[after[i]], lost)...)
	}
	return changes
}

// MemoryLeft returns the difference that a run of an actor made to what its process keeps in memory.
func (m *Machine) MemoryLeft(a *Actor, run behavior.Run) []core.MemoryChange {
	p := a.Process
	if !p.remembers() || run.Leaf == nil || run.Leaf.Failure.Stuck() {
		return nil
	}
	before := p.valueOf(run.Activation.Since)
	changes := p.changes(p.contents[before], p.contents[run.Leaf.Memory], nil)
	if event := run.Activation.Event; event != nil {
		for i := range changes {
			changes[i].Event = event.Key.String()
		}
	}
	return changes
}

// changes returns the difference between two memories. What was lost is what the process had when it crashed in between.
func (p *Process) changes(before, after, lost map[string]string) []core.MemoryChange {
	paths := map[string]bool{}
	for _, contents := range []map[string]string{before, after, lost} {
		for path := range contents {
			paths[path] = true
		}
	}
	var changes []core.MemoryChange
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if p.manner.Active && behavior.Unsaid(path) {
			continue
		}
		change := core.MemoryChange{Controller: p.Name, Field: path, From: p.value(before, path), To: p.value(after, path)}
		if had := p.value(lost, path); lost != nil && !equalValues(had, change.To) {
			change.From, change.Lost = had, had != nil
		}
		if !equalValues(change.From, change.To) {
			changes = append(changes, change)
		}
	}
	// How much there is of something says no more than what there is of it.
	return slices.DeleteFunc(slices.Clone(changes), func(c core.MemoryChange) bool {
		return slices.ContainsFunc(changes, func(other core.MemoryChange) bool {
			return other.Field != c.Field && leadsThrough(other.Field, []string{c.Field})
		})
	})
}

// value returns a value in a memory that differs so from that of a fresh instance, nil if there is none.
func (p *Process) value(contents map[string]string, path string) *string {
	value, differs := contents[path]
	if !differs {
		fresh, there := p.fresh[path]
		if !there {
			return nil
		}
		return brief(fresh)
	}
	if value == gone {
		return nil
	}
	return brief(value)
}

// brief returns what reports show of a value: of a call that waits, what it is about.
func brief(value string) *string {
	text, _, _ := strings.Cut(value, "\n")
	return &text
}

func equalValues(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Crash returns the process of an actor as it crashes between two runs, where it kept something before. It is nil if that process is not known to keep anything.
func (m *Machine) Crash(a *Actor, before Recollection) *Crashed {
	i := slices.Index(m.remembering, a.Process)
	if i < 0 {
		return nil
	}
	return &Crashed{a.Process, m.contentsOf(i, before)}
}

func (m *Machine) contentsOf(i int, r Recollection) map[string]string {
	if contents := m.remembering[i].contents[r[i]]; contents != nil {
		return contents
	}
	return map[string]string{}
}

// CrashIn returns the process of an actor as it crashes in a run, where the next call would have come. It is nil if nobody knows.
func (l *Learner) CrashIn(ctx context.Context, a *Actor, run behavior.Run) (*Crashed, error) {
	if !a.Process.remembers() || a.Process.fresh == nil {
		return nil, nil
	}
	session, instance, err := l.open(a, run.Activation.Since, 0)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	session.Begin(run.Activation)
	divergence, err := session.Replay(ctx, run.Path)
	if divergence != nil || err != nil {
		return nil, err
	}
	call, _, err := session.Next(ctx)
	introspective, shows := instance.(core.Introspective)
	if call == nil || err != nil || !shows {
		return nil, err
	}
	// The run waits where it is. An instance that locks its memory meanwhile does not show it.
	found := make(chan map[string]string, 1)
	go func() { found <- introspective.Memory() }()
	watch := time.NewTimer(l.limits.Deadline)
	defer watch.Stop()
	select {
	case memory := <-found:
		contents := l.contents(a.Process, memory)
		// What goes on in the background is not to be seen in the midst of a run.
		maps.DeleteFunc(contents, func(_, value string) bool { return value == gone && a.Process.manner.Active })
		return &Crashed{a.Process, contents}, nil
	case <-watch.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, nil
}
