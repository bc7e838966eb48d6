package naive

import (
	"maps"

	"github.com/orrery-dev/orrery/core"
)

// Remembering is a strategy whose instances keep memory that can be told and given.
type Remembering interface {
	core.Strategy

	// Remember returns an instance that remembers something, which is what [mindful.Remembers] returned.
	Remember(memory string) core.Instance
}

// mindful is an instance that says what it remembers, empty if that is nothing.
type mindful interface{ Remembers() string }

// awake returns an instance with what the process of the strategy remembers in the state.
func (t *turn) awake(p player) core.Instance {
	if r, ok := p.strategy.(Remembering); ok {
		return r.Remember(t.state.memories[p.ProcessName()])
	}
	return p.fresh()
}

// remember notes what an instance remembers after a run.
func (t *turn) remember(p player, instance core.Instance) {
	m, ok := instance.(mindful)
	if !ok {
		return
	}
	t.state.memories = maps.Clone(t.state.memories)
	if t.state.memories == nil {
		t.state.memories = map[string]string{}
	}
	t.state.memories[p.ProcessName()] = m.Remembers()
	if m.Remembers() == "" {
		delete(t.state.memories, p.ProcessName())
		return
	}
	if !t.keeping[p.ProcessName()] {
		panic(forgotten(p.ProcessName()))
	}
}

// forgotten unwinds a search that did not know that a process keeps memory. Its event handlers are to wait for the end of its runs then.
type forgotten string

// withoutMemory returns the state after a crash of a process.
func (s State) withoutMemory(name string) State {
	s.memories = maps.Clone(s.memories)
	delete(s.memories, name)
	return s
}

// postponed are the changes that the event handlers of a strategy get once a run of its process is over.
type postponed struct {
	player player
	event  core.Event
}

// busy runs something on an instance of a strategy, and tells its handlers afterwards what has changed meanwhile, if its process keeps memory.
func (t *turn) busy(p player, run func(core.Instance)) {
	instance := t.awake(p)
	if !t.keeping[p.ProcessName()] {
		run(instance)
		t.remember(p, instance)
		return
	}
	outer := t.late[p.ProcessName()]
	t.late[p.ProcessName()] = &[]postponed{}
	run(instance)
	t.remember(p, instance)
	waiting := *t.late[p.ProcessName()]
	t.late[p.ProcessName()] = outer
	for _, w := range waiting {
		t.deliver(w.event, crew{w.player})
	}
}
