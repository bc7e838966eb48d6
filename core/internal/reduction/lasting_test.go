package reduction

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// look is a call that reads from a source.
type look core.Source

func (look) Identity() string      { return "look" }
func (look) String() string        { return "look" }
func (l look) Source() core.Source { return core.Source(l) }

// tester is a test of the testing package or of rapid.
type tester interface {
	Helper()
	Fatal(...any)
	Context() context.Context
}

// watching returns the machine of a controller with a view that may be old of the kind of a variable, and the cell of
// that.
func watching(t tester) (*transition.Machine, state.Cell) {
	t.Helper()
	x := plain.NewVar[int]("x")
	system, err := plain.Model{
		Name: "watching", Initial: []core.Initial{plain.Start(x.Is(0))},
		Controllers: []plain.Controller{{
			Name: "web", Requests: []core.Request{"r"}, Watches: []plain.Watch{{Kind: x.Key().Kind}},
			Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} },
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	lag := transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	l, err := transition.NewLearner(t.Context(), system, lag, behavior.Limits{Deadline: time.Second, Calls: 10}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l.Machine, l.Machine.Vocabulary.Object(x.Key())
}

// plot is a behavior tree that is made by hand: reads of objects, and ends.
type plot struct {
	*footprints
	it   *transition.Item
	root *behavior.Node
}

// newPlot returns an empty tree, of which parts are learned in the first search.
func newPlot(t tester) plot {
	t.Helper()
	m, _ := watching(t)
	f := NewFootprints()
	f.Record(m)
	f.searches = 1
	actor, err := m.Actor("web")
	if err != nil {
		t.Fatal(err)
	}
	it := m.Item(actor, "r")
	return plot{f, it, m.Root(it, transition.Begun{})}
}

// objects returns the cells of some objects of a kind.
func (p plot) objects(names ...string) []state.Cell {
	var cells []state.Cell
	for _, name := range names {
		c := p.vocabulary.Object(core.Key{Kind: "thing", Name: name})
		for _, content := range "abc" {
			p.vocabulary.Intern(c, text(content))
		}
		cells = append(cells, c)
	}
	return cells
}

// sees returns the place where a value of an object is seen.
func (p plot) sees(c state.Cell, value state.Value) Place {
	return p.place(placeName{sight: sight{cell: c}, value: value, valued: true})
}

// learns notes that a node reads something, with where the run goes on then.
func (p plot) learns(t tester, n *behavior.Node, reads []behavior.Read, places ...Place) *behavior.Node {
	t.Helper()
	n.Call = look(core.Live)
	answered := &behavior.Answered{Edge: &behavior.Edge{To: &behavior.Node{}}}
	if err := n.Remember(reads, answered); err != nil {
		t.Fatal(err)
	}
	p.looks[answered] = looked{places, p.searches}
	return answered.Edge.To
}

// ends ends a run.
func (p plot) ends(n *behavior.Node, leaf *behavior.Leaf) { n.Leaf, p.ended[leaf] = leaf, p.searches }

// lasting reports whether the run that looks at some places is lasting in the second search.
func (p plot) lasting(m missed, looks ...Place) bool {
	return p.judge(idleRun{it: p.it, looks: looks}, &m, 2)
}

// decision is a run that reads one object after the other: it reads a variable and goes on by its value, or ends.
type decision struct {
	ends, idle bool
	reads      int
	on         [3]*decision
	known      [3]bool
}

// decide draws a decision of a run that has read some variables.
func decide(t *rapid.T, read []int) *decision {
	d := &decision{}
	open := slices.DeleteFunc([]int{0, 1, 2}, func(v int) bool { return slices.Contains(read, v) })
	if len(open) == 0 || len(read) > 0 && rapid.IntRange(0, 2).Draw(t, "ends") == 0 {
		d.ends, d.idle = true, rapid.IntRange(0, 5).Draw(t, "idle") > 0
		return d
	}
	d.reads = rapid.SampledFrom(open).Draw(t, "reads")
	for value := range d.on {
		d.known[value] = rapid.IntRange(0, 5).Draw(t, "known") > 0
		d.on[value] = decide(t, append(slices.Clone(read), d.reads))
	}
	return d
}

// TestJudge compares what is found out about random runs with what each of the values that they may see leads to.
func TestJudge(t *testing.T) {
	yes, no := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPlot(t)
		cells := p.objects("x", "y", "z")
		program := decide(t, nil)
		var plant func(n *behavior.Node, d *decision)
		plant = func(n *behavior.Node, d *decision) {
			if d.ends {
				leaf := &behavior.Leaf{}
				leaf.Result.Requeue = !d.idle
				p.ends(n, leaf)
				return
			}
			c := cells[d.reads]
			for value, then := range d.on {
				if v := state.Value(value + 1); d.known[value] {
					plant(p.learns(t, n, []behavior.Read{{Cell: c, Value: v}}, p.sees(c, v)), then)
				}
			}
		}
		plant(p.root, program)
		var seen [3]int
		var may [3][]int
		for v := range seen {
			seen[v] = rapid.IntRange(0, 2).Draw(t, "seen")
			may[v] = []int{seen[v]}
			for value := range 3 {
				if value != seen[v] && rapid.IntRange(0, 2).Draw(t, "may") == 0 {
					may[v] = append(may[v], value)
				}
			}
		}
		var looks []Place
		m := missed{become: map[Place][]state.Value{}}
		var read []int
		for d := program; !d.ends; d = d.on[seen[d.reads]] {
			at := p.sees(cells[d.reads], state.Value(seen[d.reads]+1))
			if looks, read = append(looks, at), append(read, d.reads); len(may[d.reads]) > 1 {
				for _, value := range may[d.reads] {
					m.become[at] = append(m.become[at], state.Value(value+1))
				}
			}
		}
		var idles func(d *decision) bool
		idles = func(d *decision) bool {
			if d.ends {
				return d.idle
			}
			return slices.Contains(read, d.reads) && !slices.ContainsFunc(may[d.reads], func(value int) bool { return !d.known[value] || !idles(d.on[value]) })
		}
		want := idles(program)
		if got := p.lasting(m, looks...); got != want {
			t.Fatalf("a run that sees %v of %v, and may see %v, is lasting: %t", seen, read, may, got)
		}
		if want {
			yes++
		} else {
			no++
		}
	})
	if yes == 0 || no == 0 {
		t.Errorf("%d runs are lasting, and %d are not", yes, no)
	}
}

// TestEndsThatAreNotIdle has a run last only if it ends with nothing done, and nothing to wait for, whatever it sees.
func TestEndsThatAreNotIdle(t *testing.T) {
	for _, test := range []struct {
		name string
		leaf behavior.Leaf
		want bool
	}{
		{"it is done", behavior.Leaf{}, true},
		{"it is blocked", behavior.Leaf{Result: core.Result{Blocked: true}}, false},
		{"it is tried again", behavior.Leaf{Result: core.Result{Requeue: true}}, false},
		{"it waits", behavior.Leaf{Result: core.Result{RequeueAfter: time.Hour}}, false},
		{"it panics", behavior.Leaf{Failure: behavior.Panicked}, false},
		{"it leaves work behind", behavior.Leaf{Late: look(core.Live)}, false},
		{"it changes what its cache showed", behavior.Leaf{Mutated: "a label"}, false},
		{"it remembers something", behavior.Leaf{Memory: 1}, false},
	} {
		p := newPlot(t)
		c := p.objects("x")[0]
		sees := p.sees(c, 1)
		p.ends(p.learns(t, p.root, []behavior.Read{{Cell: c, Value: 1}}, sees), &behavior.Leaf{})
		p.ends(p.learns(t, p.root, []behavior.Read{{Cell: c, Value: 2}}, p.sees(c, 2)), &test.leaf)
		if got := p.lasting(missed{become: map[Place][]state.Value{sees: {1, 2}}}, sees); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
}

// TestWhatIsNotKnown has no run last of which something is not known, or was not when the search began.
func TestWhatIsNotKnown(t *testing.T) {
	type change struct {
		p       plot
		c       state.Cell
		n, then *behavior.Node
		end     *behavior.Leaf
	}
	for _, test := range []struct {
		name   string
		change func(*change)
		want   bool
	}{
		{"all of it is known", func(*change) {}, true},
		{"the end is new", func(c *change) { c.p.ended[c.end] = 2 }, false},
		{"nobody noted the end", func(c *change) { delete(c.p.ended, c.end) }, false},
		{"the answer is new", func(c *change) {
			for answered := range c.p.looks {
				if answered.Edge.To == c.then {
					c.p.looks[answered] = looked{nil, 2}
				}
			}
		}, false},
		{"something is written", func(c *change) {
			for answered := range c.p.looks {
				answered.Writes = make([]behavior.Write, 1)
			}
		}, false},
		{"something is sent", func(c *change) {
			for answered := range c.p.looks {
				answered.Enqueue = make([]state.Cell, 1)
			}
		}, false},
		{"the run has no end yet", func(c *change) { c.then.Leaf = nil }, false},
		{"other calls wait", func(c *change) { c.n.Parked = []core.Call{look(core.Live)} }, false},
		{"it is another call a tick earlier", func(c *change) { c.n.Earlier = look(core.Live) }, false},
		{"something is drawn", func(c *change) { c.then.Vary(0) }, false},
		{"the first call may fail", func(c *change) { c.n.Faults = make([]behavior.Fault, 1) }, true},
		{"a call may fail to which the run has not come", func(c *change) {
			c.then.Faults, c.then.Call = make([]behavior.Fault, 1), look(core.Live)
			c.then.Leaf = nil
		}, false},
		{"it is seen through a view", func(c *change) { c.n.Call = look(core.Cached) }, true},
	} {
		p := newPlot(t)
		c := p.objects("x")[0]
		sees := p.sees(c, 1)
		p.ends(p.learns(t, p.root, []behavior.Read{{Cell: c, Value: 1}}, sees), &behavior.Leaf{})
		end := &behavior.Leaf{}
		then := p.learns(t, p.root, []behavior.Read{{Cell: c, Value: 2}}, p.sees(c, 2))
		p.ends(then, end)
		test.change(&change{p, c, p.root, then, end})
		if got := p.lasting(missed{become: map[Place][]state.Value{sees: {1, 2}}}, sees); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
}

// TestLastingLists has what a list shows change, and what it does not show come to be there.
func TestLastingLists(t *testing.T) {
	for _, test := range []struct {
		name string
		// changes is what becomes of the object that is listed, enters what the other one may be once it is listed, and
		// again tells that the same may come to be listed.
		changes, enters []state.Value
		again           bool
		want            bool
	}{
		{"nothing changes", nil, nil, false, true},
		{"it changes and is known", []state.Value{1, 2}, nil, false, true},
		{"it changes and is not known", []state.Value{1, 3}, nil, false, false},
		{"it goes and is known", []state.Value{1, 0}, nil, false, true},
		{"another one enters and is known", nil, []state.Value{1}, false, true},
		{"another one enters and is not known", nil, []state.Value{3}, false, false},
		{"another one enters, and makes it go on", nil, []state.Value{2}, false, false},
		{"another one enters, and later makes it go on", nil, []state.Value{1, 2}, false, false},
		{"another one enters, and it goes", []state.Value{1, 0}, []state.Value{1}, false, true},
		{"another one enters, and it changes, which is not known", []state.Value{1, 2}, []state.Value{1}, false, false},
		{"the same comes back", nil, nil, true, true},
	} {
		p := newPlot(t)
		cells := p.objects("x", "y")
		list := p.place(placeName{listed: true, kind: "thing", entering: true})
		for _, value := range []state.Value{0, 1, 2} {
			var signature []byte
			if value > 0 {
				signature = state.AppendSigned(nil, cells[0], value)
			}
			read := behavior.Read{Listed: true, Kind: "thing", Signature: string(signature)}
			p.ends(p.learns(t, p.root, []behavior.Read{read}, list, p.sees(cells[0], value)), &behavior.Leaf{})
		}
		for _, both := range [][2]state.Value{{1, 1}, {0, 1}, {1, 2}} {
			var signature []byte
			for i, value := range both {
				if value > 0 {
					signature = state.AppendSigned(signature, cells[i], value)
				}
			}
			read := behavior.Read{Listed: true, Kind: "thing", Signature: string(signature)}
			p.ends(p.learns(t, p.root, []behavior.Read{read}, list), &behavior.Leaf{Result: core.Result{Requeue: both[1] == 2}})
		}
		sees := p.sees(cells[0], 1)
		m := missed{become: map[Place][]state.Value{}, enter: map[Place][]entering{}}
		if test.changes != nil {
			m.become[sees] = test.changes
		}
		if test.enters != nil {
			m.enter[list] = append(m.enter[list], entering{sight{cell: cells[1]}, test.enters})
		}
		if test.again {
			m.enter[list] = append(m.enter[list], entering{sight{cell: cells[0]}, []state.Value{1}})
		}
		if got := p.lasting(m, list, sees); got != test.want {
			t.Errorf("%s: it lasts: %t", test.name, got)
		}
	}
}

// text is a content that is a text.
type text string

func (t text) Canonical() string { return string(t) }
func (t text) Fields() any       { return string(t) }

// TestChangesOfACall has each write of a call change what the one before has left there.
func TestChangesOfACall(t *testing.T) {
	m, one := watching(t)
	other := m.Vocabulary.Object(core.Key{Kind: "x", Name: "other"})
	for _, c := range []state.Cell{one, other} {
		for _, content := range "abcdefg" {
			m.Vocabulary.Intern(c, text(content))
		}
	}
	w := &transition.Walker{Machine: m}
	w.Set(one, 1)
	w.Set(other, 5)
	var c changes
	c.wrote(w, []behavior.Write{{Cell: one, To: 2}, {Cell: other, To: 6}, {Cell: one, To: 3}, {Cell: one, To: 0}, {Cell: other, To: 7}})
	want := []change{{sight{cell: one}, 1, 2}, {sight{cell: other}, 5, 6}, {sight{cell: one}, 2, 3}, {sight{cell: one}, 3, 0}, {sight{cell: other}, 6, 7}}
	for i := range want {
		if c.seen[i] != want[i] {
			t.Errorf("change %d is %+v, want %+v", i, c.seen[i], want[i])
		}
	}
}
