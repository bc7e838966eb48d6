package transition

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Process is what runs as one program: the strategies that share a memory, a cache of each kind, and crashes.
type Process struct {
	Name string
	// Members are the strategies at work in it, in the order of the system. Where it stands for all of them, the first does.
	Members []*Actor
	// Views are those of its views that may lag behind: of the kinds that members watch, and of those that they only read through the cache.
	Views []*view.View
	// Deliveries are the agents that deliver to the views, by their order, and Restarts is the one that crashes the process.
	Deliveries []int
	Restarts   int
	memory
	// manner is how its instances are put to work, and background the member that stands for what an active one does between activations.
	manner     behavior.Manner
	background *Actor
	// rest is how it rests, by memory, and turns how many items stand for calls that may wait.
	rest  []behavior.Rest
	turns int
	// edges are runs of an active process, by the memory in which they begin, and lapped tells in which memories time was let pass round a lap.
	edges  map[state.Value][]edge
	lapped map[state.Value]bool
	// unordered tells that what members do between the event handlers of each other is known to be left out.
	unordered bool
}

// together returns strategies by the processes that they run in, each where its first one is.
func together(strategies []core.Strategy) [][]core.Strategy {
	var processes [][]core.Strategy
	at := map[string]int{}
	for _, strategy := range strategies {
		name := strategy.Describe().ProcessName()
		if _, known := at[name]; !known {
			at[name] = len(processes)
			processes = append(processes, nil)
		}
		processes[at[name]] = append(processes[at[name]], strategy)
	}
	return processes
}

// setUp sets up each of some strategies that share a process, and a lone one twice, to see that it can be. It returns what fresh instances remember,
// if they show it. The error says what to change.
func (c Conditions) setUp(ctx context.Context, strategies []core.Strategy, deadline time.Duration) (fresh []map[string]string, err error) {
	manner := c.manner(strategies)
	for i := range max(2, len(strategies)) {
		strategy := strategies[i%len(strategies)]
		session, instance, err := behavior.OpenFresh(ctx, strategy, manner, behavior.Limits{Deadline: deadline})
		if err != nil {
			return nil, err
		}
		memory := session.Memory()
		ticks := session.Ticks()
		session.Abort()
		if ticks && !manner.Ticks {
			return nil, &unexpectedBackground{Process: strategy.Describe().ProcessName(), ticks: true}
		}
		shows := memory != nil
		if !shows && manner.Active && ctx.Err() == nil {
			return nil, fmt.Errorf("what controller %q does in the background while time passes could not be seen within %s: let it tick less often, or leave it out", strategy.Describe().Name, deadline)
		}
		if shows {
			fresh = append(fresh, memory)
		}
		d := strategy.Describe()
		if d.Process == "" {
			if !shows {
				return nil, nil
			}
			continue
		}
		plural, ok := instance.(core.Plural)
		for _, other := range strategies {
			if name := other.Describe().Name; !ok || plural.Of(name) == nil {
				return nil, fmt.Errorf("controller %q says that it shares the process %q with %q, but its instances do not have that one: implement core.Plural, or leave Description.Process empty", d.Name, d.Process, name)
			}
		}
	}
	return fresh, nil
}

// manner returns how instances of the process of some strategies are put to work, as far as is known of it.
func (c Conditions) manner(strategies []core.Strategy) behavior.Manner {
	name := strategies[0].Describe().ProcessName()
	m := behavior.Manner{Sequential: true, Active: slices.Contains(c.Active, name), Ticks: slices.Contains(c.ticking, name)}
	for _, s := range strategies {
		d := s.Describe()
		m.Sequential, m.Active = m.Sequential && d.Sequential, m.Active || d.Active
	}
	return m
}

// as names the only instance of a strategy, or the first one.
func as(name string) string { return name }

// Unfair reports whether nobody forces the process to go on.
func (p *Process) Unfair() bool {
	return !slices.ContainsFunc(p.Members, func(a *Actor) bool { return !a.Unfair })
}

// fallible reports whether the process may crash, as far as the conditions allow it.
func (p *Process) fallible() bool {
	return slices.ContainsFunc(p.Members, func(a *Actor) bool { return a.fallible })
}

// caches reports whether a member is known to watch a kind or to read it through the cache.
func (p *Process) caches(kind core.Kind) bool {
	return slices.ContainsFunc(p.Members, func(a *Actor) bool {
		return slices.Contains(a.Watches, kind) || slices.Contains(a.Caches, kind) || slices.Contains(a.Cached, kind)
	})
}

// of returns the member that an activation is about.
func (p *Process) of(activation behavior.Activation) *Actor {
	if activation.Own != behavior.Asked {
		return p.background
	}
	return p.Members[slices.IndexFunc(p.Members, func(a *Actor) bool { return a.of == activation.Of })]
}

// view returns the process's view of a kind that may lag behind, nil if it has none.
func (p *Process) view(kind core.Kind) *view.View {
	for _, v := range p.Views {
		if v.Kind() == kind {
			return v
		}
	}
	return nil
}

// addProcess adds the process of some strategies, which share it, with the views that they have and what fresh instances remember. How it is named tells the
// second of two instances apart.
func (m *Machine) addProcess(strategies []core.Strategy, fresh []map[string]string, named func(string) string) *Process {
	d := strategies[0].Describe()
	p := &Process{Name: named(d.ProcessName()), manner: m.Conditions.manner(strategies), edges: map[state.Value][]edge{}, lapped: map[state.Value]bool{}}
	for _, kind := range m.Conditions.viewed(strategies) {
		rule := m.Conditions.rule(d.ProcessName(), kind)
		if rule == view.Fresh() {
			continue
		}
		v := view.New(m.Vocabulary, p.Name, kind, rule)
		p.Views, p.Deliveries = append(p.Views, v), append(p.Deliveries, m.addAgent())
		m.Views[kind] = append(m.Views[kind], v)
		m.lags = true
	}
	if p.memory = m.newMemory(p.Name, p.manner.Active, fresh); p.remembers() {
		m.remembering = append(m.remembering, p)
	}
	p.rest = []behavior.Rest{{}}
	if len(fresh) > 0 {
		p.rest[0] = behavior.RestIn(fresh[0])
	}
	if pristine, knows := strategies[0].(core.Pristine); knows && p.fresh != nil && !p.manner.Active {
		m.outlives(p, pristine.Pristine())
	}
	p.Restarts = m.addAgent()
	m.Processes = append(m.Processes, p)
	for _, strategy := range strategies {
		m.addActor(p, strategy, named(strategy.Describe().Name))
	}
	if p.manner.Active {
		m.addBackground(p)
	}
	if p.remembers() && m.Conditions.Granularity == PerCall {
		// What several runs of one process make of one memory, call by call, is not searched.
		for _, a := range p.Members {
			a.Atomic = true
		}
		m.doubt("%s keeps memory from one run to the next, and what else it does between the single calls of a run was not searched", p.Name)
	}
	return p
}

// waits reports whether calls wait in a memory, nil for that of a fresh instance.
func (p *Process) waits(in *behavior.Memory) bool {
	return p.manner.Active && len(p.rest[p.valueOf(in)].Calls) > 0
}

// within returns the actor of a name, and of several the one that shares its process with another: who is active twice has two of each.
func (m *Machine) within(other *Actor, name string) (*Actor, error) {
	for _, a := range other.Process.Members {
		if a.Strategy.Describe().Name == name && !a.Background {
			return a, nil
		}
	}
	return m.Actor(name)
}

// Elapses reports whether an item stands for the passing of time in a process.
func (it *Item) Elapses() bool { return it.own == behavior.Waits }
