package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// machine is a system as a transition relation. It grows while it is explored; only
// the learning walker may make it grow.
type machine struct {
	system     *core.System
	vocabulary *state.Vocabulary
	actors     []*actor
	byName     map[string]*actor
	watchers   map[core.Kind][]*actor

	// items are in the order of core.Item.Compare, but for actors, which keep the order of the system: it
	// is the order of the steps of a state.
	items []*item
	// itemAt finds the item of a cell, nil for the cell of an object.
	itemAt []*item
	// deliveries remembers per cell of an object who handles which change.
	deliveries []map[transition]*delivery
}

// actor is a strategy with what is known of its requests.
type actor struct {
	core.Description
	index    int
	strategy core.Strategy
	// divergences counts how often the strategy was found not to be deterministic.
	divergences int
	items       map[core.Request]*item
}

// item is a request of an actor.
type item struct {
	core.Item
	actor *actor
	// standing items are always in the work queue and have no cell.
	standing bool
	cell     state.Cell
	root     *behavior.Node
}

// step names the step that runs the item.
func (it *item) step() core.Step {
	if it.standing {
		return core.Step{Kind: core.Act, Item: it.Item}
	}
	return core.Step{Kind: core.Reconcile, Item: it.Item}
}

// transition is a change of one cell.
type transition struct{ from, to state.Value }

// delivery is who handles a change, and how.
type delivery []handling

type handling struct {
	actor *actor
	event core.Event
	root  *behavior.Node
}

// newMachine returns the machine of a valid system. It sets up every controller once, within the deadline. An
// error says what to change.
func newMachine(system *core.System, deadline time.Duration) (*machine, error) {
	m := &machine{
		system:     system,
		vocabulary: state.NewVocabulary(system.Store.Settle),
		byName:     map[string]*actor{},
		watchers:   map[core.Kind][]*actor{},
	}
	for i, strategy := range system.Strategies {
		if _, err := behavior.NewInstance(strategy, deadline); err != nil {
			return nil, err
		}
		a := &actor{
			Description: strategy.Describe(),
			index:       i,
			strategy:    strategy,
			items:       map[core.Request]*item{},
		}
		m.actors = append(m.actors, a)
		m.byName[a.Name] = a
		for _, kind := range a.Watches {
			m.watchers[kind] = append(m.watchers[kind], a)
		}
		for _, request := range a.Standing {
			m.addItem(&item{Item: core.Item{Strategy: a.Name, Request: request}, actor: a, standing: true, root: &behavior.Node{}})
		}
	}
	return m, nil
}

// addItem puts an item at its place in the order of steps. Whoever goes through the
// items while that happens goes on with the list as it was.
func (m *machine) addItem(it *item) {
	at, _ := slices.BinarySearchFunc(m.items, it, compareItems)
	m.items = slices.Insert(slices.Clip(m.items), at, it)
	it.actor.items[it.Request] = it
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
	it := &item{Item: core.Item{Strategy: a.Name, Request: request}, actor: a, root: &behavior.Node{}}
	it.cell = m.vocabulary.Item(it.Item)
	m.addItem(it)
	for len(m.itemAt) <= int(it.cell) {
		m.itemAt = append(m.itemAt, nil)
	}
	m.itemAt[it.cell] = it
	return it
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
		Key: key,
		Old: m.vocabulary.Content(cell, change.from),
		New: m.vocabulary.Content(cell, change.to),
	}
	d := delivery{}
	for _, a := range m.watchers[key.Kind] {
		d = append(d, handling{actor: a, event: event, root: &behavior.Node{}})
	}
	m.deliveries[cell][change] = &d
	return &d
}

// matters tells whether people want to see an object: those without an outcome are
// records that a store keeps for itself.
func (m *machine) matters(o core.Object) bool {
	return o.Content != nil && m.system.Store.Outcome(o.Key, o.Content) != nil
}
