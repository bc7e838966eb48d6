package naive

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Graph is all that can be reached, numbered in breadth-first order.
type Graph struct {
	// States are the distinct states; a [core.StateID] is an index into them.
	States  []State
	Initial []core.StateID
	// Edges are the steps from each state, in the order of their items.
	Edges [][]core.Edge
	// Violations are the states that break an invariant of the system.
	Violations []Violation
}

// Violation is a state that breaks an invariant.
type Violation struct {
	Property string
	State    core.StateID
	Err      error
}

// Transitions counts all steps from all states.
func (g *Graph) Transitions() int {
	n := 0
	for _, edges := range g.Edges {
		n += len(edges)
	}
	return n
}

// Terminal returns the states in which nothing can happen.
func (g *Graph) Terminal() []core.StateID {
	var ids []core.StateID
	for id, edges := range g.Edges {
		if len(edges) == 0 {
			ids = append(ids, core.StateID(id))
		}
	}
	return ids
}

type explorer struct {
	system     *core.System
	conditions Conditions
	crews      []crew
	// keeping are the memories that are known to be kept.
	keeping map[string]bool
	graph   *Graph
	known   map[string]core.StateID
}

// Explore visits everything that the system can reach. It gives up with an error
// past the given number of states, and at a call that the store does not model.
func Explore(system *core.System, limit int) (*Graph, error) {
	return ExploreUnder(system, Conditions{}, limit)
}

// ExploreUnder visits everything that the system can reach under conditions.
func ExploreUnder(system *core.System, conditions Conditions, limit int) (*Graph, error) {
	if err := system.Validate(); err != nil {
		return nil, err
	}
	keeping := map[string]bool{}
	for {
		graph, unknown, err := exploreKeeping(system, conditions, limit, keeping)
		if unknown == "" {
			return graph, err
		}
		keeping[unknown] = true
	}
}

// exploreKeeping visits everything that the system can reach. It returns a process that was not known to keep memory,
// and does.
func exploreKeeping(system *core.System, conditions Conditions, limit int, keeping map[string]bool) (graph *Graph, unknown string, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			name, ok := reason.(forgotten)
			if !ok {
				panic(reason)
			}
			unknown = string(name)
		}
	}()
	graph, err = exploreOnce(system, conditions, limit, keeping)
	return graph, "", err
}

func exploreOnce(system *core.System, conditions Conditions, limit int, keeping map[string]bool) (*Graph, error) {
	e := &explorer{system: system, conditions: conditions, keeping: keeping, graph: &Graph{}, known: map[string]core.StateID{}}
	for _, s := range system.Strategies {
		p := player{Description: s.Describe(), strategy: s}
		if i := slices.IndexFunc(e.crews, func(c crew) bool { return c.name() == p.ProcessName() }); i >= 0 {
			e.crews[i] = append(e.crews[i], p)
		} else {
			e.crews = append(e.crews, crew{p})
		}
	}
	for i, c := range e.crews {
		e.crews[i] = c.withBackground(conditions)
		if r := c.restless(); r != nil {
			keeping[c.background(r).memory()] = true
		}
	}
	for _, initial := range system.Initial {
		state, err := e.start(initial)
		if err != nil {
			return nil, err
		}
		before := len(e.graph.States)
		if id := e.visit(state); int(id) == before {
			e.graph.Initial = append(e.graph.Initial, id)
		}
	}
	for id := 0; id < len(e.graph.States); id++ {
		if id >= limit {
			return nil, fmt.Errorf("more than %d states", limit)
		}
		if err := e.expand(core.StateID(id)); err != nil {
			return nil, err
		}
	}
	return e.graph, nil
}

// players returns all strategies, process by process.
func (e *explorer) players() []player { return slices.Concat(e.crews...) }

// player returns a strategy by its name.
func (e *explorer) player(name string) player {
	all := e.players()
	return all[slices.IndexFunc(all, func(p player) bool { return p.Name == name })]
}

// crewOf returns those that share a process with a strategy, itself included.
func (e *explorer) crewOf(p player) crew {
	return e.crews[slices.IndexFunc(e.crews, func(c crew) bool { return c.has(p.Name) })]
}

// start returns a state at start: each strategy has its initial requests, and
// what its handlers return for the list of all objects of the kinds it watches.
func (e *explorer) start(initial core.Initial) (State, error) {
	t := e.turn(State{})
	for _, o := range initial.Objects {
		t.state = t.state.with(o.Key, o.Content)
	}
	listed := t.state.objects
	err := answered(func() {
		for _, p := range e.players() {
			for _, request := range p.Initial {
				t.enqueue(core.Item{Strategy: p.Name, Request: request})
			}
			for _, o := range listed {
				t.deliver(core.Event{Key: o.Key, New: o.Content}, crew{p})
			}
		}
		t.settle()
	})
	return t.state, err
}

// visit returns the number of a state, which is judged if it is new.
func (e *explorer) visit(s State) core.StateID {
	text := s.Text()
	if id, ok := e.known[text]; ok {
		return id
	}
	id := core.StateID(len(e.graph.States))
	e.known[text] = id
	e.graph.States = append(e.graph.States, s)
	e.graph.Edges = append(e.graph.Edges, nil)
	for _, p := range e.system.Properties {
		if p.Invariant == nil {
			continue
		}
		if err := p.Invariant(s); err != nil {
			e.graph.Violations = append(e.graph.Violations, Violation{p.Name, id, err})
		}
	}
	return id
}

// expand takes every step from a state. Timers fire only where controllers can do nothing else, unless a call fails.
func (e *explorer) expand(id core.StateID) error {
	from := e.graph.States[id]
	var edges []core.Edge
	step := func(to State, kind core.StepKind, item core.Item, detail string) *core.Edge {
		edges = append(edges, core.Edge{From: id, To: e.visit(to), Step: core.Step{Kind: kind, Item: item, Detail: detail}})
		return &edges[len(edges)-1]
	}
	for _, c := range e.crews {
		for _, kind := range c.views() {
			of := stream{c.name(), kind}
			if len(from.backlogs[of].waiting) == 0 {
				continue
			}
			t := e.turn(from)
			if err := answered(func() { t.receive(c, of); t.settle() }); err != nil {
				return err
			}
			step(t.state, core.Deliver, core.Item{Strategy: c.name(), Request: core.Request(kind)}, "")
		}
	}
	for _, p := range e.players() {
		if err := e.work(from, p, step); err != nil {
			return err
		}
	}
	landed, idle, err := e.idle(from, edges)
	if err != nil {
		return err
	}
	if idle {
		for _, item := range from.timers {
			to := from
			to.timers, to.work = remove(from.timers, item), add(from.work, item)
			step(to, core.Fire, item, "")
		}
		e.passTime(landed, step) // no run goes on at a later time than it began
		for _, c := range e.crews {
			if to, rings := from.elapse(c); rings {
				step(to, core.Elapse, core.Item{Strategy: core.Background(c.name()), Request: "time"}, "")
			}
		}
	}
	for _, c := range e.crews {
		if from.crashes == e.conditions.Crashes {
			break
		}
		states, err := e.restarts(from, c)
		if err != nil {
			return err
		}
		for _, to := range states {
			step(to, core.Restart, core.Item{Strategy: c.name()}, "")
		}
	}
	e.graph.Edges[id] = edges
	return nil
}

// idle reports whether controllers do nothing, or nothing but to try again what comes to nothing, given the steps that
// they may take. Those in which a call fails or a process crashes do not count. Where calls are steps, the whole run
// that begins counts, and that of one that goes on: up to its end, and then once more.
func (e *explorer) idle(from State, edges []core.Edge) (landed State, is bool, err error) {
	again := func(at State, runs []reconciled) bool {
		return len(runs) > 0 && !slices.ContainsFunc(runs, func(r reconciled) bool {
			return r.to.Text() != at.Text() || r.wrote || r.result.Err == nil && !r.result.Requeue
		})
	}
	whole := func(at State, item core.Item) ([]reconciled, error) {
		all, err := e.reconcile(at, e.player(item.Strategy), item)
		return slices.DeleteFunc(all, func(r reconciled) bool { return r.to.failures != from.failures || r.to.crashes != from.crashes }), err
	}
	landed = from
	flown := []core.Item{}
	for _, edge := range edges {
		to := e.graph.States[edge.To]
		if to.failures != from.failures || to.crashes != from.crashes {
			continue
		}
		var runs []reconciled
		switch edge.Step.Kind {
		case core.Reconcile:
			runs = []reconciled{{to: to, result: core.Result{Requeue: edge.Requeued || edge.Failed != ""}, wrote: edge.Wrote}}
		case core.Begin:
			if runs, err = whole(from, edge.Step.Item); err != nil {
				return from, false, err
			}
		case core.Ask, core.Return:
			if slices.Contains(flown, edge.Step.Item) {
				continue
			}
			flown = append(flown, edge.Step.Item)
			after, nothing, err := e.lands(landed, edge.Step.Item)
			if !nothing || err != nil {
				return from, false, err
			}
			landed = after
			continue
		}
		if !again(from, runs) {
			return from, false, nil
		}
	}
	for _, item := range flown {
		runs, err := whole(landed, item)
		if err != nil || !again(landed, runs) {
			return from, false, err
		}
	}
	return landed, true, nil
}

// lands lets the run of an item go on to its end, and reports whether it does nothing but to be tried again. One that
// makes several calls at the same time is taken to do something.
func (e *explorer) lands(from State, item core.Item) (to State, nothing bool, err error) {
	p := e.player(item.Strategy)
	for at := from; ; {
		s := schedule{choices: at.flights[item].chosen}
		_, result, _, done, err := e.next(at, p, item, &s, false)
		switch {
		case err != nil:
			return from, false, err
		case done:
			t := e.turn(at.withFlight(item, flight{}, false))
			t.end(item, result)
			landed := from.withFlight(item, flight{}, false)
			landed.work = add(landed.work, item)
			return t.state, !result.Blocked && (result.Err != nil || result.Requeue) && t.state.Text() == landed.Text(), nil
		case len(s.widths) > len(at.flights[item].chosen):
			return from, false, nil
		}
		s = schedule{choices: append(slices.Clip(at.flights[item].chosen), 0)}
		to, _, wrote, _, err := e.next(at, p, item, &s, true)
		if wrote || err != nil {
			return from, false, err
		}
		at = to
	}
}

// passTime lets time pass, for all but the timers of those who wait for times, or for one of these.
func (e *explorer) passTime(from State, step func(State, core.StepKind, core.Item, string) *core.Edge) {
	for _, item := range from.behind {
		to := from
		to.behind, to.timers, to.work = remove(from.behind, item), remove(from.timers, item), add(from.work, item)
		step(to, core.Expire, item, "")
	}
	acts := slices.ContainsFunc(e.crews, func(c crew) bool { _, rings := from.elapse(c); return rings })
	expects := acts || len(from.timers) > 0 || from.crashes < e.conditions.Crashes || len(from.work) > 0 || len(from.flights) > 0
	if len(e.conditions.Awaiting) == 0 || len(from.behind) > 0 || !expects || from.clock.times[most] == e.conditions.Deadlines {
		return
	}
	waits := slices.ContainsFunc(from.timers, func(item core.Item) bool { return slices.Contains(e.conditions.Awaiting, item.Strategy) })
	for i, s := range e.conditions.Shorter {
		if from.clock.times[i] == e.conditions.Deadlines {
			continue
		}
		shorter := core.Everything()
		shorter.Request = core.Request(s.Name)
		e.pass(from, from.clock.after(i), shorter, step)
		if waits {
			return // nobody sleeps through the first of several deadlines
		}
	}
	hastens := func(item core.Item) bool { return slices.Contains(e.conditions.Sooner, item.Strategy) }
	if !slices.ContainsFunc(from.timers, hastens) {
		e.pass(from, from.clock.after(most), core.Everything(), step)
	}
}

// pass lets time pass until a moment.
func (e *explorer) pass(from State, after clock, item core.Item, step func(State, core.StepKind, core.Item, string) *core.Edge) {
	to := from
	to.clock = after
	for _, item := range from.timers {
		if e.conditions.Unnoticed {
			break
		}
		if slices.Contains(e.conditions.Awaiting, item.Strategy) && !e.keeping[e.player(item.Strategy).memory()] {
			to.behind = add(to.behind, item)
		} else {
			to.timers, to.work = remove(to.timers, item), add(to.work, item)
		}
	}
	step(to, core.Pass, item, "")
}

// work takes the steps that work items allow.
func (e *explorer) work(from State, p player, step func(State, core.StepKind, core.Item, string) *core.Edge) error {
	items := make([]core.Item, 0, len(p.Standing))
	for _, request := range p.Standing {
		items = append(items, core.Item{Strategy: p.Name, Request: request})
	}
	for _, item := range from.work {
		if item.Strategy == p.Name {
			items = append(items, item)
		}
	}
	for item, f := range from.flights {
		if item.Strategy == p.Name && f.blocked {
			items = add(items, item)
		}
	}
	whole := !e.conditions.PerCall || p.Messages || len(p.Standing) > 0 || e.keeping[p.memory()]
	for _, item := range items {
		if !whole {
			begins, err := e.mayBegin(from, p, item)
			if err != nil {
				return err
			}
			if begins {
				to := from
				to.work = remove(from.work, item)
				step(to.withFlight(item, flight{}, true), core.Begin, item, "")
			}
			continue
		}
		all, err := e.reconcile(from, p, item)
		if err != nil {
			return fmt.Errorf("%s: %w", item, err)
		}
		if len(all) == 0 {
			continue
		}
		for _, r := range all {
			finish(step(r.to, core.Reconcile, item, ""), r.result, r.wrote)
		}
		if from.crashes < e.conditions.Crashes && e.conditions.faulty(p) {
			states, err := e.crashes(from, p, item)
			if err != nil {
				return err
			}
			for _, to := range states {
				step(to, core.Reconcile, item, "crash")
			}
		}
	}
	for item, f := range from.flights {
		if item.Strategy != p.Name || f.blocked {
			continue
		}
		before := schedule{choices: f.chosen}
		_, result, _, done, err := e.next(from, p, item, &before, false)
		if err != nil {
			return err
		}
		if done {
			t := e.turn(from.withFlight(item, flight{blocked: true}, result.Blocked))
			t.end(item, result)
			finish(step(t.state, core.Return, item, ""), result, false)
			continue
		}
		turns := 1 // the calls of which one is answered
		if len(before.widths) > len(f.chosen) {
			turns = before.widths[len(f.chosen)]
		}
		for turn := range turns {
			chosen := f.chosen
			if turns > 1 {
				chosen = append(slices.Clip(chosen), turn)
			}
			for way, ways := 0, 1; way < ways; way++ {
				s := schedule{choices: append(slices.Clip(chosen), way)}
				to, _, wrote, _, err := e.next(from, p, item, &s, true)
				if err != nil {
					return err
				}
				ways = s.ways
				step(to, core.Ask, item, "").Wrote = wrote
			}
		}
	}
	return nil
}

// mayBegin reports whether a controller with one worker can begin a run: it is not at work, and if the last run of the
// item was blocked a whole one would not be.
func (e *explorer) mayBegin(s State, p player, item core.Item) (bool, error) {
	for other, f := range s.flights {
		if other.Strategy == p.Name && !f.blocked {
			return false, nil
		}
	}
	if !s.flights[item].blocked {
		return true, nil
	}
	s.failures = e.conditions.Failures // that it might go on after a failure does not count
	all, err := e.reconcile(s, p, item)
	return len(all) > 0, err
}

func finish(edge *core.Edge, result core.Result, wrote bool) {
	edge.Wrote, edge.Requeued = wrote, result.Requeue
	if result.Err != nil {
		edge.Failed = result.Err.Error()
	}
}
