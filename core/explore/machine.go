package explore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// machine is a system under conditions as a transition relation. It grows while it is explored; only
// the learning walker may make it grow.
type machine struct {
	system     *core.System
	conditions Conditions
	vocabulary *state.Vocabulary
	actors     []*actor
	byName     map[string]*actor
	// watchers are who is told of the changes of a kind, or has a view of it that may lag behind.
	watchers map[core.Kind][]*actor

	// items are in the order of core.Item.Compare, but for actors, which keep the order of the system: it
	// is the order of the steps of a state.
	items []*item
	// itemAt finds the item of a cell, nil for the cell of an object.
	itemAt []*item
	// deliveries remembers per cell of an object who handles which change.
	deliveries []map[transition]*delivery

	// agents is how many there are: what takes steps one after the other. A work item is one, the delivery to a view, and the
	// restarts of a controller.
	agents int
	// recorder, if set, records what steps read and write.
	recorder recorder
	// lags tells that some view may lag behind, and holds that somebody may hold a version of an object from one step to the next.
	lags, holds bool
	// fails tells that a call was met that can fail.
	fails bool
	// crashes and failures are the cells that count faults, history that of the actions of users.
	crashes, failures, history state.Cell
	// histories are what users have done, by value of the cell.
	histories []history
	// doubts are what is known not to be searched of the code of controllers, whichever search learned it.
	doubts []string
}

// doubt notes something that the code of a controller does and that is not searched, once.
func (m *machine) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.doubts, text) {
		m.doubts = append(m.doubts, text)
	}
}

// history is what users have done, with where each further action leads.
type history struct {
	actions []core.Request
	next    map[*item]state.Value
}

// newMachine returns the machine of a valid system. It sets up every controller once, within the deadline. An
// error says what to change.
func newMachine(system *core.System, conditions Conditions, deadline time.Duration) (*machine, error) {
	if err := conditions.Validate(system); err != nil {
		return nil, err
	}
	m := &machine{
		system:     system,
		conditions: conditions,
		vocabulary: state.NewVocabulary(system.Store.Settle),
		byName:     map[string]*actor{},
		watchers:   map[core.Kind][]*actor{},
		histories:  []history{{next: map[*item]state.Value{}}},
	}
	m.crashes, m.failures, m.history = m.counter("crashes", conditions.Crashes), m.counter("failures", conditions.Failures), nowhere
	if len(system.Scenario.Actions) > 0 {
		m.history = m.vocabulary.Note("history")
		user := m.addActor(behavior.User{Scenario: system.Scenario}, core.User)
		user.user = true
		for _, action := range system.Scenario.Actions {
			m.item(user, core.Request(action.Name))
		}
	}
	for _, strategy := range system.Strategies {
		if _, err := behavior.NewInstance(strategy, deadline); err != nil {
			return nil, err
		}
		name := strategy.Describe().Name
		m.addActor(strategy, name)
		if slices.Contains(conditions.Doubles, name) {
			m.addActor(strategy, core.SecondInstance(name))
		}
	}
	m.holds = m.lags || conditions.Granularity == PerCall
	return m, nil
}

// nowhere is the cell of what the states of a machine do not have. It always holds 0.
const nowhere = state.Cell(math.MaxUint32)

// counter returns a cell that can count up to a number, nowhere if that is 0.
func (m *machine) counter(name string, most int) state.Cell {
	if most == 0 {
		return nowhere
	}
	c := m.vocabulary.Note(name)
	for n := range most {
		m.vocabulary.Extend(c, strconv.Itoa(n+1))
	}
	return c
}

func (m *machine) addActor(strategy core.Strategy, name string) *actor {
	a := &actor{
		Description: strategy.Describe(),
		index:       len(m.actors),
		strategy:    strategy,
		items:       map[core.Request]*item{},
	}
	a.atomic = indivisible(a.Description)
	a.fallible = !a.atomic && m.conditions.faultsIn(a.Name)
	a.Caches = m.conditions.caches(a.Description)
	kinds := a.Watches
	for i, kind := range slices.Concat(a.Watches, a.Caches) {
		rule := m.conditions.rule(a.Name, kind)
		if rule == view.Fresh() {
			continue
		}
		a.views = append(a.views, view.New(m.vocabulary, name, kind, rule))
		a.deliveries = append(a.deliveries, m.addAgent())
		m.lags = true
		if i >= len(a.Watches) {
			kinds = append(slices.Clip(kinds), kind)
		}
	}
	a.Name = name
	a.restarts = m.addAgent()
	m.actors = append(m.actors, a)
	m.byName[a.Name] = a
	for _, kind := range kinds {
		m.watchers[kind] = append(m.watchers[kind], a)
	}
	for _, request := range a.Standing {
		m.addItem(&item{Item: core.Item{Strategy: a.Name, Request: request}, actor: a, standing: true, root: &behavior.Node{}})
	}
	return a
}

// recorder records what steps read and write, beyond the cells that a walker touches.
type recorder interface {
	// added is called when the machine has another agent.
	added()
	// read is called for what the answer to the call of a node depends on, as a sight shows it.
	read(s *sight, node *behavior.Node, reads []behavior.Read)
	// block is called when a run of an agent was blocked.
	block(agent int)
}

// addAgent numbers a new agent.
func (m *machine) addAgent() int {
	m.agents++
	if m.recorder != nil {
		m.recorder.added()
	}
	return m.agents - 1
}

// addItem puts an item at its place in the order of steps. Whoever goes through the
// items while that happens goes on with the list as it was.
func (m *machine) addItem(it *item) {
	at, _ := slices.BinarySearchFunc(m.items, it, compareItems)
	m.items = slices.Insert(slices.Clip(m.items), at, it)
	it.actor.items[it.Request] = it
	it.agent = m.addAgent()
}

func compareItems(a, b *item) int {
	if a.actor != b.actor {
		return a.actor.index - b.actor.index
	}
	return a.Compare(b.Item)
}

// item returns the item of a request, which it adds if it is new.
func (m *machine) item(a *actor, request core.Request) *item {
	if it, known := a.items[request]; known {
		return it
	}
	it := &item{Item: core.Item{Strategy: a.Name, Request: request}, actor: a, root: &behavior.Node{}, parked: make([]point, 1)}
	it.cell = m.vocabulary.Item(it.Item)
	m.addItem(it)
	for len(m.itemAt) <= int(it.cell) {
		m.itemAt = append(m.itemAt, nil)
	}
	m.itemAt[it.cell] = it
	return it
}

// park returns the number of the point behind a path, which it adds if it is new.
func (m *machine) park(it *item, node *behavior.Node, path behavior.Path) int {
	if n, known := it.at[node]; known {
		return n
	}
	p := point{item: it, node: node, path: slices.Clone(path)}
	var text strings.Builder
	for _, edge := range path {
		fmt.Fprintf(&text, "%q %q ", edge.From.Call.Identity(), edge.Response.Identity())
		for _, object := range shownBy(edge.Response) {
			c := m.vocabulary.Object(object.Key)
			v := version{cell: c, value: m.vocabulary.Intern(c, object.Content)}
			if !slices.Contains(p.held, v) {
				p.held = append(p.held, v)
			}
		}
	}
	n := m.vocabulary.Park(it.cell, text.String())
	for len(it.parked) <= n {
		it.parked = append(it.parked, point{})
	}
	it.parked[n] = p
	if it.at == nil {
		it.at = map[*behavior.Node]int{}
	}
	it.at[node] = n
	return n
}

// parkBlocked returns the number of the point at which a run of an item waits that was blocked. What it was shown is forgotten: it
// begins anew.
func (m *machine) parkBlocked(it *item) int {
	if it.blockedAt == 0 {
		it.blockedAt = m.vocabulary.Park(it.cell, "a run that was blocked")
		for len(it.parked) <= it.blockedAt {
			it.parked = append(it.parked, point{})
		}
		it.parked[it.blockedAt] = point{item: it, node: it.root, blocked: true}
	}
	return it.blockedAt
}

// shownBy returns the versions of objects that a response shows.
func shownBy(response core.Response) []core.Object {
	if versioned, ok := response.(core.Versioned); ok {
		return versioned.Versions()
	}
	return nil
}

// actor returns the actor of a name.
func (m *machine) actor(name string) (*actor, error) {
	if a, known := m.byName[name]; known {
		return a, nil
	}
	return nil, fmt.Errorf("there is no controller %q to enqueue for", name)
}

// delivery returns who handles a change of a cell, nil if it is not known yet.
func (m *machine) delivery(cell state.Cell, change transition) *delivery {
	if int(cell) >= len(m.deliveries) {
		return nil
	}
	return m.deliveries[cell][change]
}

// deliver returns who handles a change of a cell.
func (m *machine) deliver(cell state.Cell, change transition) *delivery {
	if d := m.delivery(cell, change); d != nil {
		return d
	}
	for len(m.deliveries) <= int(cell) {
		m.deliveries = append(m.deliveries, nil)
	}
	if m.deliveries[cell] == nil {
		m.deliveries[cell] = map[transition]*delivery{}
	}
	key, _ := m.vocabulary.Key(cell)
	event := core.Event{
		Key:     key,
		Old:     m.vocabulary.Content(cell, change.from),
		New:     m.vocabulary.Content(cell, change.to),
		Missed:  change.missed,
		Initial: change.initial,
	}
	d := delivery{}
	for _, a := range m.watchers[key.Kind] {
		h := handling{actor: a, event: event}
		if slices.Contains(a.Watches, key.Kind) {
			h.root = &behavior.Node{}
		}
		d = append(d, h)
	}
	m.deliveries[cell][change] = &d
	return &d
}

// matters tells whether people want to see an object: those without an outcome are
// records that a store keeps for itself.
func (m *machine) matters(o core.Object) bool {
	return o.Content != nil && m.system.Store.Outcome(o.Key, o.Content) != nil
}
