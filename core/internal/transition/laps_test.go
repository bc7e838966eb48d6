package transition

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
)

// TestLap compares a shortest way round on which time passes with what comes of trying all ways that are no longer.
func TestLap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const memories = 4
		const longest = 2 * memories
		d := &domain{edges: map[state.Value][]edge{}}
		memory := rapid.Uint32Range(0, memories-1)
		var last edge
		for range rapid.IntRange(1, 7).Draw(t, "edges") {
			last = edge{from: state.Value(memory.Draw(t, "from")), to: state.Value(memory.Draw(t, "to"))}
			if rapid.Bool().Draw(t, "waits") {
				last.Activation.Own = behavior.Waits
			}
			d.edges[last.from] = append(d.edges[last.from], last)
		}
		// shortest is the length of the shortest way from a memory back to where the last edge begins, by trying all;
		// very long if there is none.
		var shortest func(at state.Value, waited bool, steps int) int
		shortest = func(at state.Value, waited bool, steps int) int {
			if at == last.from && waited {
				return steps
			}
			best := longest + 2
			if steps > longest {
				return best
			}
			for _, e := range d.edges[at] {
				best = min(best, shortest(e.to, waited || e.waits(), steps+1))
			}
			return best
		}
		want := shortest(last.to, last.waits(), 1)
		lap := d.lap(last)
		if (lap == nil) != (want > longest+1) || lap != nil && len(lap) != want {
			t.Fatalf("of %v the lap is %v, want one of %d steps", d.edges, lap, want)
		}
		if lap == nil {
			return
		}
		if !slices.ContainsFunc(lap, edge.waits) || fmt.Sprint(lap[len(lap)-1]) != fmt.Sprint(last) {
			t.Fatalf("the lap %v does not end with %v, or no time passes", lap, last)
		}
		for i, e := range lap {
			if before := lap[(i+len(lap)-1)%len(lap)]; before.to != e.from {
				t.Fatalf("%v is no way round", lap)
			}
		}
	})
}

// TestBackground has a process be able to go on with as many calls as wait somewhere, and with time where that brings
// something.
func TestBackground(t *testing.T) {
	m, w := desk("web")
	web := m.Actors[0]
	d := web.domain
	cell := keep(m, d, "one", "two")
	m.awake(d.part(""))
	if len(m.Items) > 0 {
		t.Errorf("what does nothing by itself goes on with %v", m.Items)
	}
	d.manner.Active = true
	d.rest = []behavior.Rest{{}}
	web.fallible = true
	if m.addBackground(d); len(m.Items) > 0 {
		t.Errorf("where nothing waits in any memory, it goes on with %v", m.Items)
	}
	d.rest = []behavior.Rest{{}, {Time: true}, {Calls: []string{"get a", "get b"}}}
	m.awake(d.part(""))
	back := d.Members[len(d.Members)-1]
	if d.background != back || !back.Background || !back.Atomic || !back.fallible || back.Name != core.Background("web") || len(back.Watches)+len(back.Caches) > 0 {
		t.Errorf("%+v goes on", back)
	}
	var names []string
	for _, it := range m.Items {
		names = append(names, it.String())
		if !it.Standing || it.Actor != back || it.Elapses() != (it.Request == "time") {
			t.Errorf("it goes on with %+v", it)
		}
	}
	if want := []string{core.Background("web") + "(1)", core.Background("web") + "(2)", core.Background("web") + "(time)"}; !slices.Equal(names, want) {
		t.Errorf("it goes on with %v, want %v", names, want)
	}
	m.awake(d.part(""))
	if len(m.Items) != 3 {
		t.Error("it goes on twice with the same")
	}
	d.rest = append(d.rest, behavior.Rest{Calls: []string{"get a", "get b", "get c"}})
	if m.awake(d.part("")); len(m.Items) != 4 {
		t.Errorf("with three calls that wait, it goes on with %d", len(m.Items)-1)
	}
	asked := m.Item(web, "r")
	w.fit()
	for memory, want := range map[state.Value]string{0: "[r]", 1: "[r time]", 2: "[1 2 r]"} {
		w.Set(cell, memory)
		var possible []string
		for _, it := range m.Items {
			if w.possible(it) {
				possible = append(possible, string(it.Request))
			}
		}
		slices.Sort(possible)
		if got := fmt.Sprint(possible); got != want {
			t.Errorf("in memory %d it can go on with %s, want %s", memory, got, want)
		}
	}
	w.Set(cell, 0)
	w.renew()
	if leaf, err := w.reconcile(m.Items[1], plan{}); leaf != nil || err != nil || len(w.Recalled) > 0 {
		t.Errorf("what is not possible ends with %v, %v, and has looked at %v", leaf, err, w.Recalled)
	}
	w.recall(d.part(""))
	if !w.possible(asked) || !slices.Contains(w.Recalled, cell) {
		t.Error("what is asked for is not possible, or what goes on by itself does not depend on memory")
	}
}

// TestDigests has runs be told apart by all that somebody could tell.
func TestDigests(t *testing.T) {
	m, _ := desk("web", "db")
	m.Actors[0].Strategy, m.Actors[1].Strategy = &plainStrategy{}, &plainStrategy{}
	l := learning(t, m)
	web := m.Actors[0]
	a, b := query{"get a", ""}, query{"get b", ""}
	path := func(call core.Call, response reply, parked ...core.Call) behavior.Path {
		return behavior.Path{{From: &behavior.Node{Call: call, Parked: parked}, Response: response}}
	}
	event := func(e core.Event) behavior.Run { return behavior.Run{Activation: behavior.Activation{Event: &e}} }
	act := func(a behavior.Activation) behavior.Run { return behavior.Run{Activation: a} }
	leaf := func(leaf behavior.Leaf) behavior.Run { return behavior.Run{Leaf: &leaf} }
	key := core.Key{Kind: "Pod", Name: "a"}
	runs := [][]behavior.Run{
		nil, {{}}, {{}, {}},
		{act(behavior.Activation{Request: "r"})}, {act(behavior.Activation{Of: "r"})}, {act(behavior.Activation{Own: behavior.Works})}, {act(behavior.Activation{Turn: 1})},
		{act(behavior.Activation{Clock: 1})}, {act(behavior.Activation{Passed: 1})}, {act(behavior.Activation{Now: 1})}, {act(behavior.Activation{Seed: 1})},
		{act(behavior.Activation{Since: &behavior.Memory{}})}, {act(behavior.Activation{Since: &behavior.Memory{Identity: "m"}})},
		{event(core.Event{})}, {event(core.Event{Key: key})}, {event(core.Event{Old: content("1")})}, {event(core.Event{New: content("1")})}, {event(core.Event{New: content("2")})},
		{event(core.Event{Missed: true})}, {event(core.Event{Initial: true})},
		{{Path: path(query{"get a", "x"}, "")}}, {{Path: path(a, "x")}}, {{Path: path(b, "x")}}, {{Path: path(a, "y")}}, {{Path: path(a, "x", b)}}, {{Path: path(a, "x", a)}}, {{Path: slices.Concat(path(a, "x"), path(a, "x"))}},
		{leaf(behavior.Leaf{})}, {leaf(behavior.Leaf{Failure: behavior.Panicked})}, {leaf(behavior.Leaf{Message: "m"})}, {leaf(behavior.Leaf{Result: core.Result{Err: errUnfollowed}})},
		{leaf(behavior.Leaf{Result: core.Result{Requeue: true}})}, {leaf(behavior.Leaf{Result: core.Result{RequeueAfter: 1}})}, {leaf(behavior.Leaf{Result: core.Result{Blocked: true}})},
		{leaf(behavior.Leaf{Requests: []core.Request{"r"}})}, {leaf(behavior.Leaf{Requests: []core.Request{"s"}})}, {leaf(behavior.Leaf{Requests: []core.Request{"r", "s"}})},
	}
	seen := map[memo.Digest]string{{}: "nothing"}
	note := func(d memo.Digest, what string) {
		if other, taken := seen[d]; taken {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[d] = what
	}
	for i, run := range runs {
		d := l.Memo.Digest(web.Strategy, nil, run...)
		note(d, fmt.Sprintf("%d: %+v", i, run))
		if again := l.Memo.Digest(web.Strategy, nil, run...); again != d {
			t.Errorf("%d has another digest the second time", i)
		}
	}
	note(l.Memo.Digest(web.Strategy, query{"r", ""}, leaf(behavior.Leaf{})), "a call behind a run")
	note(l.Memo.Digest(web.Strategy, nil, leaf(behavior.Leaf{Requests: []core.Request{"r\n"}})), "a request of that name")
	note(l.Memo.Digest(web.Strategy, a), "a call")
	note(l.Memo.Digest(web.Strategy, b), "another call")
	note(l.Memo.Digest(m.Actors[1].Strategy, nil), "another controller")
	m.Actors[1].Strategy = web.Strategy
	if l.Memo.Digest(m.Actors[1].Strategy, a) != l.Memo.Digest(web.Strategy, a) {
		t.Error("two actors of one strategy are told apart")
	}
	// Of what cannot be told apart from others, nothing is remembered.
	web.Strategy = incomparable{}
	if l.Memo.Digest(web.Strategy, a) != (memo.Digest{}) {
		t.Error("a strategy that cannot be compared has a digest")
	}
	l.Memo.Earlier.Set(memo.Digest{}, a)
	if _, found := l.Memo.Earlier.Get(memo.Digest{}); found {
		t.Error("something is remembered of nobody")
	}
	one := l.Memo.Digest(m.Actors[1].Strategy, a)
	if _, found := l.Memo.Earlier.Get(one); found {
		t.Error("what nobody has found out is remembered")
	}
	l.Memo.Earlier.Set(one, a)
	if call, found := l.Memo.Earlier.Get(one); !found || call != core.Call(a) {
		t.Errorf("%v is remembered, %t", call, found)
	}
}

var errUnfollowed = fmt.Errorf("it failed")

// plainStrategy is a strategy that can be told apart from others, and does nothing.
type plainStrategy struct{ described }

// incomparable is a strategy that cannot.
type incomparable struct {
	described
	_ []int
}
