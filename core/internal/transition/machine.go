package transition

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// Machine is a system under conditions as a transition relation. It grows while it is explored; only
// the learning walker may make it grow.
type Machine struct {
	System     *core.System
	Conditions Conditions
	Vocabulary *state.Vocabulary
	Processes  []*Process
	Actors     []*Actor
	byName     map[string]*Actor
	// watchers are who is told of the changes of a kind, or has a view of it that may lag behind.
	watchers map[core.Kind][]*Actor
	// Views are the views of a kind that may lag behind.
	Views map[core.Kind][]*view.View

	// Items are in the order of core.Item.Compare, but for actors, which keep the order of the system: it
	// is the order of the steps of a state.
	Items []*Item
	// ItemAt finds the item of a cell, nil for the cell of an object.
	ItemAt []*Item
	// deliveries remembers per cell of an object who handles which change, and changes counts them.
	deliveries []map[transition]*delivery
	changes    int

	// Agents is how many there are: what takes steps one after the other. A work item is one, the delivery to a view, and the
	// restarts of a controller.
	Agents int
	// Recorder, if set, records what steps read and write.
	Recorder recorder
	// lags tells that some view may lag behind, and holds that somebody may hold a version of an object from one step to the next.
	lags, Holds bool
	// Fails tells that a call was met that can fail.
	Fails bool
	// Crashes and Failures are the cells that count faults, History that of the actions of users.
	Crashes, Failures, History state.Cell
	// Clock is the cell that counts how often a long time has passed, nowhere if that makes no difference.
	Clock state.Cell
	// Recurs tells that whatever controllers do after the last of the times that pass in the search is as after the one before.
	Recurs bool
	// writings is the cell that counts how often something was written with its time, nowhere if all is written at one time.
	writings state.Cell
	// calendar are the moments that there may be.
	calendar *calendar.Calendar
	// stores is the store of the system as it answers when so much time has passed, and orders tells that it can name versions in the order of their age.
	stores map[time.Duration]core.Store
	orders bool
	// notes are the versions that controllers have noted in objects, and presumed the objects that the store has taken to be there.
	notes    notedVersions
	presumed map[core.Key]bool
	// aging is the store if it shows when objects were created, nil if it does not.
	aging core.Aging
	// counting is the store if it shows what it counts of objects, nil if it does not. What stays as it was counted is not shown otherwise.
	counting core.Counting
	// Compared are the kinds of which controllers were found to compare when their objects were created, in groups, and Comparing are these controllers.
	Compared  [][]core.Kind
	Comparing []string
	// Dated are the kinds of which controllers were found to compare other times in objects, and Dating are these controllers.
	Dated  []core.Kind
	Dating []string
	// Histories are what users have done, by value of the cell.
	Histories []history
	// remembering are the memories that are known to be put to use, in the order of the system, and parts their parts, in the order in which they came to be
	// known.
	remembering []*domain
	parts       []*part
	// identities are those of objects, which memories may note.
	identities identities
	// Heeded counts what was found of which event handlers heed what they remember of which requests, and Searches the searches that make use of what was found
	// before.
	Heeded, Searches int
	// outlived is what instances were found to have in common that they should not.
	outlived []string
	// Unbounded says why there may be no end to the states, empty if nothing is known of that.
	Unbounded string
	// late tells that the time did not move on any more when something was written.
	late bool
	// Files says who looks for files or reads them, and where in the code.
	Files []string
	// Doubts are what is known not to be searched of the code of controllers, whichever search learned it.
	Doubts []string
}

// doubt notes something that the code of a controller does and that is not searched, once.
func (m *Machine) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.Doubts, text) {
		m.Doubts = append(m.Doubts, text)
	}
}

// doubtFirst notes the first thing of a sort that the code of a controller does and that is not searched.
func (m *Machine) doubtFirst(sort, format string, args ...any) {
	if !slices.ContainsFunc(m.Doubts, func(known string) bool { return strings.HasPrefix(known, sort) }) {
		m.doubt("%s %s", sort, fmt.Sprintf(format, args...))
	}
}

// read notes that a controller looks for a file or reads one, once for each place in its code.
func (m *Machine) read(controller, where string) {
	if text := controller + " reads in " + where; !slices.Contains(m.Files, text) {
		m.Files = append(m.Files, text)
	}
}

// history is what users have done, with where each further action leads.
type history struct {
	Actions []core.Request
	next    map[*Item]state.Value
}

// newMachine returns the machine of a valid system. It sets up every controller once, within the deadline. An
// error says what to change.
func newMachine(ctx context.Context, system *core.System, conditions Conditions, limits behavior.Limits) (*Machine, error) {
	if err := conditions.Validate(system); err != nil {
		return nil, err
	}
	system = conditions.adopted(system)
	store := system.Store
	ordering, orders := store.(core.Ordering)
	if orders && conditions.Ordered {
		store = ordering.Ordered()
	}
	if counting, counts := store.(core.Counting); counts && len(conditions.Counted) > 0 {
		store = counting.Counted(conditions.Counted)
	}
	counting, _ := store.(core.Counting)
	aging, _ := store.(core.Aging)
	m := &Machine{
		System:     system,
		Conditions: conditions.shared(system),
		Vocabulary: state.NewVocabulary(store.Normalize),
		orders:     orders,
		notes:      notedVersions{map[string]core.Key{}, map[core.Kind]string{}, map[core.Kind]core.Key{}},
		presumed:   map[core.Key]bool{},
		aging:      aging,
		counting:   counting,
		byName:     map[string]*Actor{},
		watchers:   map[core.Kind][]*Actor{},
		Views:      map[core.Kind][]*view.View{},
		Histories:  []history{{next: map[*Item]state.Value{}}},
		Doubts:     slices.Clone(conditions.outlived),
	}
	m.calendar = calendar.New(behavior.Epoch, conditions.Spans, m.longTimes())
	if m.Clock = nowhere; len(conditions.Awaiting) > 0 {
		m.Clock = m.counter("clock", m.calendar.Len()-1)
	}
	if aging == nil {
		m.Conditions.Apart = nil
	}
	m.writings = m.counter("instant", m.instants())
	m.stores = storesOf(store, m.calendar, m.instants())
	m.Crashes, m.Failures, m.History = m.counter("crashes", conditions.Crashes), m.counter("failures", conditions.Failures), nowhere
	if len(system.Scenario.Actions) > 0 {
		m.History = m.Vocabulary.Note("history")
		users := []core.Strategy{behavior.User{Scenario: system.Scenario}}
		user := m.addProcess(users, []*sharing{{name: users[0].Describe().Name, strategies: users}}, as).Members[0]
		user.User = true
		for _, action := range system.Scenario.Actions {
			m.Item(user, core.Request(action.Name))
		}
	}
	for _, strategies := range together(system.Strategies) {
		// If the context has ended, no code is run, and the machine is that of a search that ends at its start.
		memories, err := conditions.setUp(ctx, strategies, limits)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		m.addProcess(strategies, memories, as)
		if conditions.doubled(strategies) {
			m.addProcess(strategies, memories, core.SecondInstance)
		}
	}
	m.Holds = m.lags || conditions.Granularity == PerCall || len(m.remembering) > 0
	return m, nil
}

// nowhere is the cell of what the states of a machine do not have. It always holds 0.
const nowhere = state.Cell(math.MaxUint32)

// counter returns a cell that can count up to a number, nowhere if that is 0.
func (m *Machine) counter(name string, most int) state.Cell {
	if most == 0 {
		return nowhere
	}
	c := m.Vocabulary.Note(name)
	for n := range most {
		m.Vocabulary.Extend(c, strconv.Itoa(n+1))
	}
	return c
}

func (m *Machine) addActor(d *domain, strategy core.Strategy, name string) {
	a := &Actor{
		Description: strategy.Describe(),
		Index:       len(m.Actors),
		Strategy:    strategy,
		Process:     d.Process,
		domain:      d,
		items:       map[core.Request]*Item{},
	}
	if a.Description.Process != "" {
		a.of = a.Name
	}
	a.Atomic = indivisible(a.Description)
	a.fallible = !a.Atomic && m.Conditions.faultsIn(a.Description)
	a.Caches = m.Conditions.caches(a.Description)
	a.awaits, a.long = slices.Contains(m.Conditions.Awaiting, a.Description.Name), m.Conditions.Long[a.Description.Name]
	kinds := a.Watches
	for _, kind := range a.Caches {
		if a.View(kind) != nil {
			kinds = append(slices.Clip(kinds), kind)
		}
	}
	a.Name = name
	d.Members, d.Process.Members = append(d.Members, a), append(d.Process.Members, a)
	m.Actors = append(m.Actors, a)
	m.byName[a.Name] = a
	for _, kind := range kinds {
		m.watchers[kind] = append(m.watchers[kind], a)
	}
	for _, request := range a.Standing {
		m.addItem(&Item{Item: core.Item{Strategy: a.Name, Request: request}, Actor: a, Standing: true, roots: []*behavior.Node{{}}})
	}
}

// recorder records what steps read and write, beyond the cells that a walker touches.
type recorder interface {
	// added is called when the machine has another agent.
	Added()
	// read is called for what the answer to the call of a node depends on, as a client shows it.
	Read(s *ClientView, node *behavior.Node, answered *behavior.Answered, reads []behavior.Read)
	// ended is called when a run has come to an end that was not known.
	Ended(leaf *behavior.Leaf)
	// block is called when a run of an agent was blocked.
	Block(agent int)
}

// addAgent numbers a new agent.
func (m *Machine) addAgent() int {
	m.Agents++
	if m.Recorder != nil {
		m.Recorder.Added()
	}
	return m.Agents - 1
}

// addItem puts an item at its place in the order of steps. Whoever goes through the
// items while that happens goes on with the list as it was.
func (m *Machine) addItem(it *Item) {
	at, _ := slices.BinarySearchFunc(m.Items, it, compareItems)
	m.Items = slices.Insert(slices.Clip(m.Items), at, it)
	it.Actor.items[it.Request] = it
	it.Agent = m.addAgent()
}

func compareItems(a, b *Item) int {
	if a.Actor != b.Actor {
		return a.Actor.Index - b.Actor.Index
	}
	return a.Compare(b.Item)
}

// Item returns the item of a request, which it adds if it is new.
func (m *Machine) Item(a *Actor, request core.Request) *Item {
	if it, known := a.items[request]; known {
		return it
	}
	it := &Item{Item: core.Item{Strategy: a.Name, Request: request}, Actor: a, roots: []*behavior.Node{{}}, parked: make([]point, 1)}
	it.draws = m.newDraws(it)
	it.settled = a.User && behavior.User{Scenario: m.System.Scenario}.Settled(request)
	it.Cell = m.Vocabulary.Item(it.Item)
	m.addItem(it)
	if d := a.domain; d.byRequest && !a.Background && d.requests[request] == nil {
		m.addPart(d, request)
	}
	for len(m.ItemAt) <= int(it.Cell) {
		m.ItemAt = append(m.ItemAt, nil)
	}
	m.ItemAt[it.Cell] = it
	return it
}

// park returns the number of the point behind a path that began at a moment, which it adds if it is new.
func (m *Machine) park(it *Item, node *behavior.Node, path behavior.Path, at moment) int {
	if n, known := it.at[node]; known {
		return n
	}
	p := point{item: it, Node: node, Path: slices.Clone(path)}
	var text strings.Builder
	if at != (moment{}) {
		fmt.Fprintf(&text, "%+v ", at)
	}
	if node.Drawn {
		fmt.Fprintf(&text, "draw %d ", node.Draw)
	}
	for _, edge := range path {
		fmt.Fprintf(&text, "%q %q ", edge.From.Call.Identity(), edge.Response.Identity())
		for _, object := range shownBy(edge.Response) {
			c := m.Vocabulary.Object(object.Key)
			v := version{cell: c, value: m.Vocabulary.Intern(c, object.Content)}
			if !slices.Contains(p.held, v) {
				p.held = append(p.held, v)
			}
		}
	}
	n := m.Vocabulary.Park(it.Cell, text.String())
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
func (m *Machine) parkBlocked(it *Item) int {
	if it.blockedAt == 0 {
		it.blockedAt = m.Vocabulary.Park(it.Cell, "a run that was blocked")
		for len(it.parked) <= it.blockedAt {
			it.parked = append(it.parked, point{})
		}
		it.parked[it.blockedAt] = point{item: it, Node: it.roots[0], Blocked: true}
	}
	return it.blockedAt
}

// Belongings returns which part of the state each cell belongs to, and what these are in words.
func (m *Machine) Belongings() (of []int, names []string) {
	number := map[string]int{}
	of = make([]int, m.Vocabulary.Cells())
	belongs := func(c state.Cell, part string) {
		if c == nowhere {
			return
		}
		if _, known := number[part]; !known {
			number[part], names = len(names), append(names, part)
		}
		of[c] = number[part]
	}
	for c := range of {
		switch key, isObject := m.Vocabulary.Key(state.Cell(c)); {
		case !isObject:
			belongs(state.Cell(c), "what else there is")
		case key.Kind == "":
			belongs(state.Cell(c), "the value of "+key.String())
		default:
			belongs(state.Cell(c), "the objects of kind "+string(key.Kind))
		}
	}
	for _, it := range m.Items {
		if !it.Standing {
			belongs(it.Cell, "what is queued for "+it.Actor.Name)
		}
		if it.draws != nil {
			belongs(it.draws.cell, "what "+it.Actor.Name+" has drawn")
		}
	}
	for _, p := range m.parts {
		belongs(p.cell, "what "+p.Name+" keeps in memory")
	}
	for _, p := range m.Processes {
		for _, v := range p.Views {
			belongs(v.Cell(), "the cache of "+p.Name)
		}
	}
	belongs(m.Crashes, "how many crashes there were")
	belongs(m.Failures, "how many calls failed")
	belongs(m.History, "what users have done")
	belongs(m.Clock, "how much time has passed")
	belongs(m.writings, "how often something was written")
	return of, names
}

// shownBy returns the versions of objects that a response shows.
func shownBy(response core.Response) []core.Object {
	if versioned, ok := response.(core.Versioned); ok {
		return versioned.Versions()
	}
	return nil
}

// Unfair reports whether nobody forces the step of a name to be taken that stays possible: that of an actor, or of the process of several.
func (m *Machine) Unfair(step core.Step) bool {
	if step.Kind == core.Pass {
		return false
	}
	if a, known := m.byName[step.Item.Strategy]; known {
		return a.Unfair
	}
	return !slices.ContainsFunc(m.Processes, func(p *Process) bool { return p.Name == step.Item.Strategy && !p.Unfair() })
}

// strategies names the strategies of some actors, each once, in the order of the system.
func (m *Machine) strategies(of func(*Actor) bool) []string {
	var names []string
	for _, a := range m.Actors {
		if name := a.Strategy.Describe().Name; of(a) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Knows reports whether there is an actor or a process of a name.
func (m *Machine) Knows(name string) bool {
	return m.byName[name] != nil || slices.ContainsFunc(m.Processes, func(p *Process) bool { return p.Name == name })
}

// Actor returns the actor of a name.
func (m *Machine) Actor(name string) (*Actor, error) {
	if a, known := m.byName[name]; known {
		return a, nil
	}
	return nil, fmt.Errorf("there is no controller %q to enqueue for", name)
}

// delivery returns who handles a change of a cell, nil if it is not known yet.
func (m *Machine) delivery(cell state.Cell, change transition) *delivery {
	if int(cell) >= len(m.deliveries) {
		return nil
	}
	return m.deliveries[cell][change]
}

// deliver returns who handles a change of a cell.
func (m *Machine) deliver(cell state.Cell, change transition) *delivery {
	if d := m.delivery(cell, change); d != nil {
		return d
	}
	for len(m.deliveries) <= int(cell) {
		m.deliveries = append(m.deliveries, nil)
	}
	if m.deliveries[cell] == nil {
		m.deliveries[cell] = map[transition]*delivery{}
	}
	key, _ := m.Vocabulary.Key(cell)
	event := core.Event{
		Key:     key,
		Old:     m.Vocabulary.Content(cell, change.from),
		New:     m.Vocabulary.Content(cell, change.to),
		Missed:  change.missed,
		Initial: change.initial,
	}
	m.changes++
	d := delivery{}
	for _, a := range m.watchers[key.Kind] {
		h := handling{actor: a, event: event, change: m.changes}
		if slices.Contains(a.Watches, key.Kind) {
			h.roots = []*behavior.Node{{}}
		}
		d = append(d, h)
	}
	m.deliveries[cell][change] = &d
	return &d
}

// Matters reports whether people want to see an object: those without an outcome are
// records that a store keeps for itself.
func (m *Machine) Matters(o core.Object) bool {
	return o.Content != nil && m.System.Store.Outcome(o.Key, o.Content) != nil
}

// Disturbs reports whether anything may go wrong or be late in the machine.
func (m *Machine) Disturbs() bool {
	return m.lags || m.Conditions.Crashes > 0 || m.Conditions.Failures > 0
}

// Batches returns how many changes of a kind one run commits at most, as far as is known.
func (m *Machine) Batches() map[core.Kind]int {
	counts := map[core.Kind]int{}
	for _, it := range m.Items {
		for _, root := range it.roots {
			if root != nil {
				root.Most(counts)
			}
		}
	}
	return counts
}
