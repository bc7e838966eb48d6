package naive

import (
	"maps"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Remembering is a strategy whose instances keep memory that can be told and given.
type Remembering interface {
	core.Strategy

	// Remember returns an instance that remembers something, which is what [mindful.Remembers] returned.
	Remember(memory string) core.Instance
}

// apart is a strategy that tells by a name that it does not share memory with others of its process.
type apart interface{ Apart() string }

// memory returns the name of the memory that a strategy shares with others, if it shares it.
func (p player) memory() string {
	if a, ok := p.strategy.(apart); ok && a.Apart() != "" {
		return p.ProcessName() + "/" + a.Apart()
	}
	return p.ProcessName()
}

// mindful is an instance that says what it remembers, empty if that is nothing.
type mindful interface{ Remembers() string }

// awake returns an instance with what the strategy remembers in the state.
func (t *turn) awake(p player) core.Instance {
	if r, ok := p.strategy.(Remembering); ok {
		memory, _, _ := strings.Cut(t.state.memories[p.memory()], later)
		return r.Remember(memory)
	}
	return p.fresh()
}

// later stands before how much time had passed when a memory was come to: no instance gets back from there.
const later = " later "

// since is a memory that was come to when so much time had passed.
func since(memory string, passed time.Duration) string { return memory + later + passed.String() }

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
	before, _, _ := strings.Cut(t.state.memories[p.memory()], later)
	switch now := m.Remembers(); {
	case now == "":
		delete(t.state.memories, p.memory())
		return
	case now != before:
		t.state.memories[p.memory()] = since(now, t.state.clock.passed(t.conditions.Shorter))
	}
	if !t.keeping[p.memory()] {
		panic(forgotten(p.memory()))
	}
}

// forgotten unwinds a search that did not know that memory is kept. Event handlers of the process are to wait for the
// end of its runs then.
type forgotten string

// withoutMemory returns the state after a crash of a process.
func (s State) withoutMemory(name string) State {
	s.memories = maps.Clone(s.memories)
	maps.DeleteFunc(s.memories, func(memory, _ string) bool { return memory == name || strings.HasPrefix(memory, name+"/") })
	return s
}

// keeps reports whether a process is known to keep memory.
func (t *turn) keeps(process string) bool {
	for memory := range t.keeping {
		if memory == process || strings.HasPrefix(memory, process+"/") {
			return true
		}
	}
	return false
}

// postponed are the changes that the event handlers of a strategy get once a run of its process is over.
type postponed struct {
	player player
	event  core.Event
}

// busy runs something on an instance of a strategy, and tells its handlers afterwards what has changed meanwhile, if
// its process is known to keep memory.
func (t *turn) busy(p player, run func(core.Instance)) {
	instance := t.awake(p)
	if !t.keeps(p.ProcessName()) {
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
