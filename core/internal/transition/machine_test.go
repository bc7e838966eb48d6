package transition

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// member adds a strategy to the process of an actor, with a memory of its own if it is apart.
func member(m *Machine, p *Process, description core.Description, apart bool) *Actor {
	d := p.domains[0]
	if apart {
		d = newDomain(description.Name, p)
		d.memory = m.newMemory(description.Name, false, nil, nil)
	}
	m.addActor(d, described(description), description.Name)
	return m.Actors[len(m.Actors)-1]
}

// TestProcesses has a process be what its members are together.
func TestProcesses(t *testing.T) {
	m, _ := desk("both")
	p := m.Processes[0]
	m.Actors, p.Members, p.domains[0].Members = nil, nil, nil
	delete(m.byName, "both")
	if p.fallible() || p.remembers() {
		t.Error("a process of nobody can crash, or remembers something")
	}
	one := member(m, p, core.Description{Name: "one", Process: "both", Watches: []core.Kind{"Pod"}, Unfair: true}, false)
	two := member(m, p, core.Description{Name: "two", Process: "both", Caches: []core.Kind{"Job"}}, true)
	two.Cached = []core.Kind{"Cron"}
	for kind, want := range map[core.Kind]bool{"Pod": true, "Job": true, "Cron": true, "Node": false} {
		if got := p.caches(kind); got != want {
			t.Errorf("it caches %s: %t", kind, got)
		}
	}
	if !p.fallible() || p.Unfair() {
		t.Errorf("it may crash: %t, and nobody forces it to go on: %t", p.fallible(), p.Unfair())
	}
	two.Unfair, two.fallible = true, false
	if !p.fallible() || !p.Unfair() {
		t.Error("one member makes another process of it than the other")
	}
	if one.fallible = false; p.fallible() {
		t.Error("it may crash although no member may")
	}
	if p.of(behavior.Activation{Of: "two"}) != two || p.of(behavior.Activation{Of: "one"}) != one {
		t.Error("an activation is about another member")
	}
	back := &Actor{Description: core.Description{Name: "back"}, Background: true, Process: p, domain: two.domain, Strategy: two.Strategy}
	p.Members = append([]*Actor{back}, p.Members...)
	if p.of(behavior.Activation{Own: behavior.Works}) != back || p.of(behavior.Activation{Of: "one"}) != one {
		t.Error("what goes on in the background is about another member")
	}
	if a, err := m.within(one, "two"); a != two || err != nil {
		t.Errorf("two of the process is %v, %v", a, err)
	}
	if _, err := m.within(one, "three"); err == nil {
		t.Error("there is a third member")
	}
	p.Members = []*Actor{one, two, back}
	if p.shared() != one {
		t.Error("an instance is made of another one than the first")
	}
	two.domain.manner = behavior.Manner{Active: true, Ticks: true}
	if p.shared() != two {
		t.Error("an instance is made of one that is not active")
	}
	one.domain.manner.Sequential = true
	if got := p.manner(); got.Sequential || !got.Active || !got.Ticks {
		t.Errorf("it is put to work as %+v", got)
	}
	two.domain.manner = behavior.Manner{Sequential: true}
	if got := p.manner(); !got.Sequential || got.Active || got.Ticks {
		t.Errorf("it is put to work as %+v", got)
	}
	keep(m, two.domain)
	if !p.remembers() || one.Remembers() || !two.Remembers() {
		t.Error("what one member keeps is not kept by the process, or by the other")
	}
	v := view.New(m.Vocabulary, "both", "Pod", view.Lag(1))
	p.Views = []*view.View{v}
	if one.View("Pod") != v || two.View("Pod") != v || one.View("Job") != nil || m.viewAt(v.Cell()) != v || m.viewAt(v.Cell()+1) != nil {
		t.Error("the view is not that of the process")
	}
	waiting := &domain{manner: behavior.Manner{Active: true}, memory: memory{values: map[string]state.Value{"m": 1}}, rest: []behavior.Rest{{}, {Calls: []string{"get a"}}}}
	if waiting.waits(nil) || !waiting.waits(&behavior.Memory{Identity: "m"}) {
		t.Error("calls wait in another memory")
	}
	if waiting.manner.Active = false; waiting.waits(&behavior.Memory{Identity: "m"}) {
		t.Error("calls wait in what does nothing by itself")
	}
}

// TestTogether has strategies be grouped by processes, and share memory within one unless they can be told apart.
func TestTogether(t *testing.T) {
	in := func(name, process string, divided, active bool) core.Strategy {
		return described{Name: name, Process: process, Divided: divided, Active: active}
	}
	names := func(all [][]core.Strategy) string {
		var text []string
		for _, group := range all {
			var members []string
			for _, s := range group {
				members = append(members, s.Describe().Name)
			}
			text = append(text, fmt.Sprint(members))
		}
		return fmt.Sprint(text)
	}
	if got := names(together([]core.Strategy{in("a", "p", false, false), in("b", "", false, false), in("c", "p", false, false), in("d", "q", false, false)})); got != "[[a c] [b] [d]]" {
		t.Errorf("the processes are %s", got)
	}
	for _, test := range []struct {
		name       string
		c          Conditions
		strategies []core.Strategy
		want       string
	}{
		{"alone", Conditions{}, []core.Strategy{in("a", "p", true, false)}, "p[]"},
		{"told apart", Conditions{}, []core.Strategy{in("a", "p", true, false), in("b", "p", true, false), in("c", "p", true, true)}, "a[b c] b[a c] c[a b]"},
		{"one is not", Conditions{}, []core.Strategy{in("a", "p", true, false), in("b", "p", false, false)}, "p[]"},
		{"known to share", Conditions{Remembering: []string{"p"}}, []core.Strategy{in("a", "p", true, false), in("b", "p", true, false)}, "p[]"},
		{"two are active", Conditions{}, []core.Strategy{in("a", "p", true, true), in("b", "p", true, true)}, "p[]"},
		{"two are found to be active", Conditions{Active: []string{"a", "b"}}, []core.Strategy{in("a", "p", true, false), in("b", "p", true, false)}, "p[]"},
	} {
		var got []string
		for _, s := range test.c.apart(test.strategies) {
			got = append(got, fmt.Sprintf("%s%v", s.name, s.beside))
			if len(s.strategies) != len(test.strategies) && len(s.strategies) != 1 {
				t.Errorf("%s: %s has %d strategies", test.name, s.name, len(s.strategies))
			}
		}
		if text := fmt.Sprint(got); text != "["+test.want+"]" {
			t.Errorf("%s: the memories are %s", test.name, text)
		}
	}
	shares := &sharing{name: "p", strategies: []core.Strategy{described{Name: "a", Sequential: true}, described{Name: "b"}}}
	if got := (Conditions{}).manner(shares); got.Sequential || got.Active || got.Ticks || got.Of != "" {
		t.Errorf("they are put to work as %+v", got)
	}
	apart := &sharing{name: "a", strategies: []core.Strategy{described{Name: "a", Sequential: true, Active: true}}, beside: []string{"b"}}
	if got := (Conditions{ticking: []string{"a"}}).manner(apart); !got.Sequential || !got.Active || !got.Ticks || got.Of != "a" || !slices.Equal(got.Beside, []string{"b"}) {
		t.Errorf("one of two is put to work as %+v", got)
	}
}

// TestNames has actors and processes be found by their names, and nobody else.
func TestNames(t *testing.T) {
	m, _ := desk("web", "db")
	m.Processes[1].Name = "host"
	m.Actors[0].Unfair = true
	for name, want := range map[string]bool{"web": true, "db": true, "host": true, "nobody": false} {
		if got := m.Knows(name); got != want {
			t.Errorf("%s is known: %t", name, got)
		}
	}
	if a, err := m.Actor("db"); a != m.Actors[1] || err != nil {
		t.Errorf("db is %v, %v", a, err)
	}
	for _, test := range []struct {
		step core.Step
		want bool
	}{
		{core.Step{Item: core.Item{Strategy: "web"}}, true}, {core.Step{Item: core.Item{Strategy: "db"}}, false}, {core.Step{Item: core.Item{Strategy: "host"}}, false},
		{core.Step{Item: core.Item{Strategy: "nobody"}}, true}, {core.Step{Kind: core.Pass, Item: core.Item{Strategy: "web"}}, false},
	} {
		if got := m.Unfair(test.step); got != test.want {
			t.Errorf("nobody forces %+v: %t", test.step, got)
		}
	}
	m.Actors[1].Unfair = true
	if !m.Unfair(core.Step{Item: core.Item{Strategy: "host"}}) {
		t.Error("somebody forces a process whose controllers nobody forces")
	}
	second := &Actor{Description: core.Description{Name: core.SecondInstance("web")}, Strategy: m.Actors[0].Strategy}
	m.Actors = append(m.Actors, second)
	if got := m.strategies(func(a *Actor) bool { return a != m.Actors[1] }); !slices.Equal(got, []string{"web"}) {
		t.Errorf("the strategies are %v", got)
	}
	if got := m.strategies(func(*Actor) bool { return true }); !slices.Equal(got, []string{"web", "db"}) {
		t.Errorf("the strategies are %v", got)
	}
}

// TestItemsInOrder has the steps of a state come in the order of actors and of requests, in whatever order these were
// found, each with an agent of its own.
func TestItemsInOrder(t *testing.T) {
	m, _ := desk("web", "db")
	before := m.Agents
	var agents []int
	for _, request := range []core.Request{"c", "a", "b", "d"} {
		for _, a := range []int{1, 0} {
			agents = append(agents, m.Item(m.Actors[a], request).Agent)
		}
	}
	var got []string
	for _, it := range m.Items {
		got = append(got, it.String())
	}
	if want := []string{"web(a)", "web(b)", "web(c)", "web(d)", "db(a)", "db(b)", "db(c)", "db(d)"}; !slices.Equal(got, want) {
		t.Errorf("the items are %v", got)
	}
	if slices.Sort(agents); m.Agents != before+8 || agents[0] != before || len(slices.Compact(agents)) != 8 {
		t.Errorf("there are %d agents, and %d before: %v", m.Agents, before, agents)
	}
	recorded := &counting{}
	m.Recorder = recorded
	if m.Item(m.Actors[0], "e"); recorded.added != 1 {
		t.Errorf("%d agents are recorded", recorded.added)
	}
	if m.counter("none", 0) != nowhere {
		t.Error("what never happens is counted")
	}
	c := m.counter("three", 3)
	prints := map[state.Fingerprint]bool{}
	for n := range state.Value(4) {
		prints[m.Vocabulary.Print(c, n)] = true
	}
	if len(prints) != 4 {
		t.Errorf("it is counted to %d", len(prints)-1)
	}
	for _, disturb := range []func(*Machine){func(m *Machine) { m.lags = true }, func(m *Machine) { m.Conditions.Crashes = 1 }, func(m *Machine) { m.Conditions.Failures = 1 }} {
		other, _ := desk("web")
		if other.Disturbs() {
			t.Error("something may go wrong where nothing can")
		}
		if disturb(other); !other.Disturbs() {
			t.Error("nothing may go wrong where something can")
		}
	}
}

// counting is a recorder that counts agents.
type counting struct{ added int }

func (c *counting) Added() { c.added++ }

func (*counting) Read(*ClientView, *behavior.Node, *behavior.Answered, []behavior.Read) {}

func (*counting) Ended(*behavior.Leaf) {}

func (*counting) Block(int) {}

// shows is a response that shows versions of objects.
type shows struct {
	reply
	objects []core.Object
}

func (s shows) Versions() []core.Object { return s.objects }

func (s shows) Retagged(*core.Retagging) core.Response { return s }

// Earlier implements [core.Versioned]: it does not show ages.
func (s shows) Earlier(map[core.Key]map[string]int) core.Response { return s }

// TestParked has runs be parked at points that are told apart by what has happened in them, and hold what they were
// shown.
func TestParked(t *testing.T) {
	m, w := desk("web")
	it := m.Item(m.Actors[0], "r")
	a, b := core.Object{Key: core.Key{Kind: "Pod", Name: "a"}, Content: content("1")}, core.Object{Key: core.Key{Kind: "Pod", Name: "b"}, Content: content("1")}
	edge := &behavior.Edge{From: &behavior.Node{Call: query{"get", ""}}, Response: shows{"both", []core.Object{a, b, a}}}
	first, second := &behavior.Node{}, &behavior.Node{}
	path := behavior.Path{edge}
	n := m.park(it, first, path, moment{})
	if again := m.park(it, first, path, moment{}); again != n {
		t.Errorf("the same point has the numbers %d and %d", n, again)
	}
	path[0] = &behavior.Edge{From: edge.From, Response: reply("none")}
	other := m.park(it, second, path, moment{})
	prints := map[state.Fingerprint]bool{}
	for _, at := range []int{0, n, other, m.park(it, &behavior.Node{}, path, moment{now: 1}), m.park(it, &behavior.Node{}, path, moment{now: 2}), m.park(it, &behavior.Node{Drawn: true}, path, moment{}), m.park(it, &behavior.Node{Drawn: true, Draw: 1}, path, moment{}), m.parkBlocked(it)} {
		prints[m.Vocabulary.Print(it.Cell, state.Value(0).ParkedAt(at))] = true
	}
	if len(prints) != 8 {
		t.Errorf("of 8 points, %d are told apart", len(prints))
	}
	p := &it.parked[n]
	if p.Path[0] != edge || p.Node != first || p.item != it || p.Blocked || len(p.held) != 2 {
		t.Errorf("the point is %+v", p)
	}
	ca, cb := m.Vocabulary.Object(a.Key), m.Vocabulary.Object(b.Key)
	if !slices.Equal(p.cells(), []state.Cell{ca, cb}) || !slices.Equal(p.appendHeld([]state.Value{9}, cb), []state.Value{9, 1}) || p.appendHeld(nil, it.Cell) != nil {
		t.Errorf("it holds %v", p.held)
	}
	if m.parkBlocked(it) != it.blockedAt || !it.parked[it.blockedAt].Blocked || it.parked[it.blockedAt].Node != it.roots.at(0) {
		t.Errorf("a run that was blocked waits at %+v", it.parked[it.blockedAt])
	}
	w.fit()
	m.Holds = true
	if w.Set(it.Cell, state.Value(0).ParkedAt(n)); !w.pinned(ca) || w.pinned(it.Cell) || !slices.Equal(w.held(ca), []state.Value{1}) {
		t.Errorf("in flight it holds %v", w.held(ca))
	}
	if w.Set(ca, 1); len(w.held(ca)) != 0 || !w.pinned(ca) {
		t.Errorf("what is there is held besides: %v", w.held(ca))
	}
	m.Vocabulary.Intern(ca, content("2"))
	if w.Set(ca, 2); !slices.Equal(w.held(ca), []state.Value{1}) {
		t.Errorf("besides what is there it holds %v", w.held(ca))
	}
	if m.Holds = false; w.held(ca) != nil {
		t.Error("something is held where nobody holds anything")
	}
	if w.Set(it.Cell, state.Value(0).ParkedAt(other)); w.pinned(ca) {
		t.Error("a run holds what it was not shown")
	}
}

// TestDeliveries has changes be told to those who watch the kind, with what there was before and is then, and be
// numbered.
func TestDeliveries(t *testing.T) {
	m, _ := desk("web", "db", "idle")
	m.Actors[0].Watches = []core.Kind{"Pod"}
	m.watchers["Pod"] = []*Actor{m.Actors[0], m.Actors[1]} // of which one has a view only
	c := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
	one := m.Vocabulary.Intern(c, content("1"))
	change := transition{to: one, initial: true}
	if m.delivery(c, change) != nil {
		t.Error("it is known who handles what was never met")
	}
	d := *m.deliver(c, change)
	want := core.Event{Key: core.Key{Kind: "Pod", Name: "a"}, New: content("1"), Initial: true}
	if len(d) != 2 || d[0].event != want || d[1].event != want || len(d[0].roots) != 1 || len(d[1].roots) != 0 || d[0].actor != m.Actors[0] || d[0].change != d[1].change {
		t.Errorf("%+v handle it", d)
	}
	if m.delivery(c, change) == nil || m.deliver(c, change) != m.delivery(c, change) {
		t.Error("it is not known a second time")
	}
	gone := *m.deliver(c, transition{from: one, missed: true})
	if gone[0].event != (core.Event{Key: want.Key, Old: content("1"), Missed: true}) || gone[0].change == d[0].change {
		t.Errorf("%+v handle that it is gone", gone)
	}
	other := m.Vocabulary.Object(core.Key{Kind: "Job", Name: "a"})
	if d := *m.deliver(other, transition{to: m.Vocabulary.Intern(other, content("1"))}); len(d) != 0 {
		t.Errorf("%+v handle what nobody watches", d)
	}
}
