package transition

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Process is what runs as one program: the strategies that share a cache of each kind, and crashes.
type Process struct {
	Name string
	// Members are the strategies at work in it, in the order of the system. Where it stands for all of them, the first does.
	Members []*Actor
	// Views are those of its views that may lag behind: of the kinds that members watch, and of those that they only read through the cache.
	Views []*view.View
	// Deliveries are the agents that deliver to the views, by their order, and Restarts is the one that crashes the process.
	Deliveries []int
	Restarts   int
	// domains are its memories, each with the members that share it.
	domains []*domain
}

// domain is the memory that some of the strategies of a process share, with what they do between activations: in most processes, all of them share one.
// An instance of one domain has done nothing in the others.
type domain struct {
	// Name is that of the process if there is no other domain in it.
	Name    string
	Process *Process
	// Members are the strategies that share it, in the order of the system. Where it stands for all of them, the first does.
	Members []*Actor
	memory
	// parts are the parts of the memory, in the order of their requests: one for each if byRequest is set, or one for all. requests finds them.
	parts     []*part
	byRequest bool
	requests  map[core.Request]*part
	// owners are for which request each memory is held that is kept by request, by value, owned the other way round, and claimed for which one each place in
	// them is.
	owners  []core.Request
	owned   map[core.Request][]state.Value
	claimed map[string]core.Request
	// manner is how its instances are put to work, and background the member that stands for what an active one does between activations.
	manner     behavior.Manner
	background *Actor
	// rest is how it rests, by memory.
	rest []behavior.Rest
	// edges are runs of an active domain, by the memory in which they begin, and lapped tells in which memories time was let pass round a lap.
	edges  map[state.Value][]edge
	lapped map[state.Value]bool
	// together tells that the deadlines of several requests are known to have passed at once.
	together bool
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

// sharing is strategies of a process that share memory.
type sharing struct {
	name       string
	strategies []core.Strategy
	// beside are the names of the others in the process.
	beside []string
	// fresh is what fresh instances remember, if they show it, and besides what they show of the others.
	fresh, besides []map[string]string
}

// apart returns the strategies of a process by the memories that they share: all of them share one, unless they can be told apart and are not known to.
func (c Conditions) apart(strategies []core.Strategy) []*sharing {
	process := strategies[0].Describe().ProcessName()
	whole := []*sharing{{name: process, strategies: strategies}}
	undivided := func(s core.Strategy) bool { return !s.Describe().Divided }
	if len(strategies) == 1 || slices.ContainsFunc(strategies, undivided) || slices.Contains(c.Remembering, process) {
		return whole
	}
	var all []*sharing
	active := 0
	for i, strategy := range strategies {
		s := &sharing{name: strategy.Describe().Name, strategies: strategies[i : i+1]}
		for _, other := range strategies {
			if name := other.Describe().Name; name != s.name {
				s.beside = append(s.beside, name)
			}
		}
		if all = append(all, s); c.manner(s).Active {
			active++
		}
	}
	if active > 1 { // nobody could tell which of them goes on
		return whole
	}
	return all
}

// setUp sets up each of some strategies that share a process, and one that shares its memory with none twice, to see that it can be. It returns what fresh
// instances of each memory remember, as far as there is no error. The error says what to change.
func (c Conditions) setUp(ctx context.Context, strategies []core.Strategy, limits behavior.Limits) ([]*sharing, error) {
	all := c.apart(strategies)
	for _, s := range all {
		if err := c.setUpSharing(ctx, s, strategies, limits); err != nil {
			return all, err
		}
	}
	return all, nil
}

// setUpSharing sets up each of the strategies that share memory, which run in a process with some strategies.
func (c Conditions) setUpSharing(ctx context.Context, s *sharing, process []core.Strategy, limits behavior.Limits) error {
	manner, strategies := c.manner(s), s.strategies
	for i := 0; i < max(2, len(strategies)) || i < samples && s.varies(manner); i++ {
		strategy, began := strategies[i%len(strategies)], time.Now()
		session, instance, err := behavior.OpenFresh(ctx, strategy, manner, limits)
		if err != nil {
			return err
		}
		if beside := session.Beside(); beside != nil {
			s.besides = append(s.besides, beside)
		}
		memory := session.Memory()
		ticks := session.Ticks()
		session.Abort()
		if ticks && !manner.Ticks {
			return &unexpectedBackground{Memory: s.name, ticks: true}
		}
		if !manner.Active && keepsTime(memory, began) {
			return &unexpectedBackground{Memory: s.name}
		}
		shows := memory != nil
		if !shows && manner.Active && ctx.Err() == nil {
			return fmt.Errorf("what controller %q does in the background while time passes could not be seen within %s: let it tick less often, or leave it out", strategy.Describe().Name, limits.Deadline)
		}
		if shows {
			s.fresh = append(s.fresh, memory)
		}
		d := strategy.Describe()
		if d.Process == "" {
			if !shows {
				return nil
			}
			continue
		}
		plural, ok := instance.(core.Plural)
		for _, other := range process {
			if name := other.Describe().Name; !ok || plural.Of(name) == nil {
				return fmt.Errorf("controller %q says that it shares the process %q with %q, but its instances do not have that one: implement core.Plural, or leave Description.Process empty", d.Name, d.Process, name)
			}
		}
	}
	return nil
}

// keepsTime reports whether fresh instances, which were not set up before some moment, show a time that they have read off the clock. Set-ups look at that of
// the machine, and runs at a virtual one, by which it would take decades until a grace period of a minute is over. Only those of processes that work between
// activations have one clock with their runs.
func keepsTime(memory map[string]string, began time.Time) bool {
	now := time.Now()
	for _, shown := range memory {
		// That is how a time shows itself.
		if at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", shown); err == nil && !at.Before(began.Round(0)) && !at.After(now) {
			return true
		}
		number, err := strconv.ParseInt(shown, 10, 64)
		if err == nil && slices.ContainsFunc([]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}, func(unit time.Duration) bool {
			return began.UnixNano()/int64(unit) <= number && number <= now.UnixNano()/int64(unit)
		}) {
			return true
		}
	}
	return false
}

// varies reports whether the fresh instances that were looked at, and the one that was made before any had run, do not have all in common.
func (s *sharing) varies(manner behavior.Manner) bool {
	other := func(shown []map[string]string) bool {
		return slices.ContainsFunc(shown, func(memory map[string]string) bool { return len(memories.Differences(shown[0], memory)) > 0 })
	}
	if pristine, known := s.pristine(manner); known && len(memories.Differences(s.fresh[0], pristine)) > 0 {
		return true
	}
	return other(s.fresh) || other(s.besides)
}

// pristine returns what the instance showed that was made before any had run, if that is known, and fresh ones show anything.
func (s *sharing) pristine(manner behavior.Manner) (memory map[string]string, known bool) {
	strategy, knows := s.strategies[0].(core.Pristine)
	if !knows || len(s.fresh) == 0 || manner.Active {
		return nil, false
	}
	return strategy.Pristine(len(s.beside) > 0), true
}

// samples is how many fresh instances are looked at where two have not all in common: what a set-up leaves to chance, such as the order of what it takes from a map, may well be the same in two of them.
const samples = 8

// reaches ends a search in which a run has changed the memory of others in its process: it has to be begun again, with one memory for all of them.
func (l *Learner) reaches(a *Actor, session *behavior.Session) error {
	d := a.domain
	if d.beside == nil {
		return nil
	}
	changed := l.Machine.unignored(d, d.changedBeside(session.Beside()))
	if len(changed) == 0 {
		return nil
	}
	var shown []map[string]string
	for range 1 + samples {
		fresh, err := l.fresh(a, 0)
		if err != nil {
			return err
		}
		shown = append(shown, fresh.Beside())
		fresh.Abort()
	}
	memories.Unlike(d.besideNoise, shown)
	l.Machine.leaveOut(d, d.changedBeside(shown[0]), d.besideNoise)
	for path := range changed {
		if !d.besideNoise[path] {
			return &unexpectedSharing{d.Process.Name}
		}
	}
	return nil
}

// changedBeside is as [domain.changed] for the other memories of the process.
func (d *domain) changedBeside(memory map[string]string) map[string]string {
	found := memories.Differences(d.beside, memory)
	maps.DeleteFunc(found, func(path, _ string) bool { return d.besideNoise[path] })
	return found
}

// manner returns how instances of some strategies that share memory are put to work, as far as is known of them.
func (c Conditions) manner(s *sharing) behavior.Manner {
	m := behavior.Manner{Sequential: true, Active: slices.Contains(c.Active, s.name), Ticks: slices.Contains(c.ticking, s.name), Beside: s.beside}
	if len(s.beside) > 0 {
		m.Of = s.name
	}
	for _, strategy := range s.strategies {
		d := strategy.Describe()
		m.Sequential, m.Active = m.Sequential && d.Sequential, m.Active || d.Active
		m.Exchanges, m.Reorders = m.Exchanges || slices.Contains(c.exchanging, d.Name), m.Reorders || c.reorders(d.Name)
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
	own := activation.Own != behavior.Asked
	return p.Members[slices.IndexFunc(p.Members, func(a *Actor) bool { return a.Background == own && a.of == activation.Of })]
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

// addProcess adds the process of some strategies, with the views that they have and the memories that they share. How it is named tells the second of two
// instances apart.
func (m *Machine) addProcess(strategies []core.Strategy, memories []*sharing, named func(string) string) *Process {
	d := strategies[0].Describe()
	p := &Process{Name: named(d.ProcessName())}
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
	for _, s := range memories {
		m.addDomain(p, s, named)
	}
	p.Restarts = m.addAgent()
	m.Processes = append(m.Processes, p)
	for _, strategy := range strategies {
		name := strategy.Describe().Name
		at := max(0, slices.IndexFunc(memories, func(s *sharing) bool { return s.name == name }))
		m.addActor(p.domains[at], strategy, named(name))
	}
	for i, d := range p.domains {
		if d.manner.Active {
			m.addBackground(d)
		}
		if pristine, known := memories[i].pristine(d.manner); known && d.fresh != nil {
			m.outlives(d, pristine)
		}
		if d.remembers() && m.Conditions.Granularity == PerCall {
			// What several runs of one process make of one memory, call by call, is not searched.
			for _, a := range d.Members {
				a.Atomic = true
			}
			m.doubt("%s keeps memory from one run to the next, and what else it does between the single calls of a run was not searched: if what it keeps makes no difference to what it does, leave it out with --ignore-memory (Options.IgnoreMemory)", d.Name)
		}
		for _, a := range d.Members {
			if m.Conditions.Granularity == PerCall && m.forks(a) {
				a.Atomic = true
				m.doubt("%s leaves something to chance, and what others do between the single calls of a run was not searched", a.Name)
			}
		}
	}
	return p
}

// unexpectedKinds are kinds that are to be adopted.
type unexpectedKinds struct{ *core.Afresh }

func (u *unexpectedKinds) expect(c *Conditions) bool {
	adopted := withKinds(c.Adopted, u.Kinds)
	if len(adopted) == len(c.Adopted) {
		return false
	}
	c.Adopted = adopted
	return true
}

// unexpectedMaker is somebody who makes an object that was presumed.
type unexpectedMaker struct{ Of core.Key }

// Error implements error.
func (u *unexpectedMaker) Error() string { return "somebody makes " + u.Of.String() }

func (u *unexpectedMaker) expect(c *Conditions) bool {
	if slices.Contains(c.Made, u.Of) {
		return false
	}
	c.Made = append(slices.Clip(c.Made), u.Of)
	slices.SortFunc(c.Made, core.Key.Compare)
	return true
}

// presume records what the answer to a call of an actor presumes, and returns an error if somebody makes one of these objects, as far as the search has come to
// it. Users know what they may presume.
func (l *Learner) presume(a *Actor, answer core.Answer) error {
	m := l.Machine
	if !l.Searching && !l.Following {
		return nil
	}
	if !a.User {
		for _, key := range answer.Presumed {
			m.presumed[key] = true
			if c := m.Vocabulary.Object(key); m.Vocabulary.Values(c) > 1 {
				return &unexpectedMaker{key}
			}
		}
	}
	for _, write := range answer.Writes {
		if write.Content != nil && m.presumed[write.Key] {
			return &unexpectedMaker{write.Key}
		}
	}
	return nil
}

// adopted returns a system whose store and strategies know of the kinds that were adopted, and of what somebody makes.
func (c Conditions) adopted(system *core.System) *core.System {
	if len(c.Adopted) == 0 && len(c.Made) == 0 {
		return system
	}
	with := *system
	if store, presumes := system.Store.(core.Presuming); presumes {
		with.Store = store.Making(c.Made)
	}
	if store, adopts := with.Store.(core.Adopting); adopts {
		with.Store, _ = store.Adopted(c.Adopted).(core.Store)
	}
	with.Strategies = slices.Clone(system.Strategies)
	for i, s := range with.Strategies {
		if strategy, adopts := s.(core.Adopting); adopts {
			with.Strategies[i], _ = strategy.Adopted(c.Adopted).(core.Strategy)
		}
	}
	return &with
}

// newDomain adds a memory to a process.
func newDomain(name string, p *Process) *domain {
	d := &domain{
		Name: name, Process: p, edges: map[state.Value][]edge{}, lapped: map[state.Value]bool{},
		requests: map[core.Request]*part{}, owners: []core.Request{""}, owned: map[core.Request][]state.Value{}, claimed: map[string]core.Request{},
	}
	p.domains = append(p.domains, d)
	return d
}

// addDomain adds a memory that strategies of a process share.
func (m *Machine) addDomain(p *Process, s *sharing, named func(string) string) {
	d := newDomain(named(s.name), p)
	d.manner = m.Conditions.manner(s)
	if d.memory = m.newMemory(d.Name, d.manner.Active, s.fresh, s.besides); d.remembers() {
		m.remembering = append(m.remembering, d)
		if d.byRequest = m.keptByRequest(d, s.strategies); !d.byRequest {
			m.addPart(d, "")
		}
	}
	d.rest = []behavior.Rest{{}}
	if len(s.fresh) > 0 {
		d.rest[0] = behavior.RestIn(s.fresh[0])
	}
}

// remembers reports whether anything of the process is known to be kept.
func (p *Process) remembers() bool { return slices.ContainsFunc(p.domains, (*domain).remembers) }

// shared returns the member of a process to make an instance of that does all that the process does.
func (p *Process) shared() *Actor {
	return p.Members[max(0, slices.IndexFunc(p.Members, func(a *Actor) bool { return a.domain.manner.Active && !a.Background }))]
}

// manner returns how an instance is put to work that does all that the process does.
func (p *Process) manner() behavior.Manner {
	m := behavior.Manner{Sequential: true}
	for _, d := range p.domains {
		m.Sequential, m.Active, m.Ticks = m.Sequential && d.manner.Sequential, m.Active || d.manner.Active, m.Ticks || d.manner.Ticks
		m.Exchanges, m.Reorders = m.Exchanges || d.manner.Exchanges, m.Reorders || d.manner.Reorders
	}
	return m
}

// waits reports whether calls wait in a memory, nil for that of a fresh instance.
func (d *domain) waits(in *behavior.Memory) bool {
	return d.manner.Active && len(d.rest[d.valueOf(in)].Calls) > 0
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

// handed returns the items that an actor hands to work queues, but for those that are always there.
func (m *Machine) handed(a *Actor, items []core.Item) ([]*Item, error) {
	var handed []*Item
	for _, item := range items {
		to := a
		if item.Strategy != "" {
			var err error
			if to, err = m.within(a, item.Strategy); err != nil {
				return nil, err
			}
		}
		if it := m.Item(to, item.Request); !it.Standing {
			handed = append(handed, it)
		}
	}
	return handed, nil
}

// Elapses reports whether an item stands for the passing of time in a process.
func (it *Item) Elapses() bool { return it.own == behavior.Waits }
