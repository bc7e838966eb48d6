package transition

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// turns are the nodes of concurrent calls that may be answered next.
func turns(names ...string) []*behavior.Node {
	node := &behavior.Node{}
	var calls []core.Call
	for _, name := range names {
		calls = append(calls, query{name, ""})
	}
	node.Ask(calls)
	return node.Turns
}

// TestPlans has plans say what is chosen at each call, and be told apart by that.
func TestPlans(t *testing.T) {
	first, second := turns("a", "b"), turns("c", "d")
	fault := func(call, fault int, node *behavior.Node) injectedFault {
		return injectedFault{call: call, fault: fault, node: node}
	}
	p := plan{}.failing(fault(1, 2, first[0])).turning(pick{call: 3, node: second[1]}).failing(fault(5, crash, first[1]))
	if p.turn(3, second[0]) != second[1] || p.turn(2, second[0]) != second[0] || p.turn(5, first[0]) != first[0] {
		t.Error("another call is answered than is planned")
	}
	for call, want := range map[int]int{0: harmless, 1: 2, 3: harmless, 5: crash} {
		if got := p.fault(call); got != want {
			t.Errorf("at call %d, %d goes wrong, want %d", call, got, want)
		}
	}
	for _, test := range []struct {
		plan plan
		want int
	}{
		{plan{}, 0}, {plan{}.failing(fault(1, 0, first[0])), 2}, {plan{}.turning(pick{call: 3, node: second[1]}), 3},
		{plan{}.failing(fault(1, 0, first[0])).turning(pick{call: 3, node: second[1]}), 3}, {p, 6},
	} {
		if got := test.plan.free(); got != test.want {
			t.Errorf("%+v is free from call %d on, want %d", test.plan, got, test.want)
		}
	}
	for _, test := range []struct {
		to   pick
		want plan
	}{
		{pick{call: 4, node: first[1]}, plan{turns: []pick{{3, second[1]}, {4, first[1]}}, faults: p.faults[:1]}},
		{pick{call: 3, node: second[0]}, plan{faults: p.faults[:1]}},
		{pick{call: 1, node: first[1]}, plan{turns: []pick{{1, first[1]}}}},
		{pick{call: 6, node: first[0]}, p},
		{pick{call: 5, node: first[1]}, plan{turns: []pick{{3, second[1]}, {5, first[1]}}, faults: p.faults[:1]}},
	} {
		if got := p.turning(test.to); !got.equal(test.want) {
			t.Errorf("with %v it is %+v, want %+v", test.to, got, test.want)
		}
	}
	for name, test := range map[string]struct {
		other        plan
		equal, alike bool
	}{
		"the same":        {plan{turns: p.turns, faults: p.faults}, true, true},
		"another turn":    {plan{turns: []pick{{3, second[0]}}, faults: p.faults}, false, true},
		"one fault less":  {plan{turns: p.turns, faults: p.faults[:1]}, false, false},
		"a later call":    {plan{turns: p.turns, faults: []injectedFault{fault(2, 2, first[0]), fault(5, crash, first[1])}}, false, true},
		"another fault":   {plan{turns: p.turns, faults: []injectedFault{fault(1, 1, first[0]), fault(5, crash, first[1])}}, false, false},
		"another call":    {plan{turns: p.turns, faults: []injectedFault{fault(1, 2, first[1]), fault(5, crash, first[1])}}, false, false},
		"nothing at all":  {plan{}, false, false},
		"one turn fewer":  {plan{faults: p.faults}, false, true},
		"a turn of c too": {plan{turns: append(p.turns[:1:1], pick{4, first[1]}), faults: p.faults}, false, true},
	} {
		if p.equal(test.other) != test.equal || test.other.alike(p) != test.alike || p.alike(test.other) != test.alike {
			t.Errorf("%s: equal %t, alike %t", name, p.equal(test.other), p.alike(test.other))
		}
	}
	if got, want := (pick{call: 2, node: first[1]}).String(), `call 3 is "b", the second of 2 that wait at the same time`; got != want {
		t.Errorf("it is said that %s", got)
	}
	for n, want := range map[int]string{2: "second", 3: "third", 4: "4th", 11: "11th"} {
		if got := ordinal(n); got != want {
			t.Errorf("the ordinal of %d is %s", n, got)
		}
	}
}

// TestOrders has plans be tried as often as there may be orders, for each of the faults.
func TestOrders(t *testing.T) {
	both := turns("a", "b")
	m := &Machine{Conditions: Conditions{Orders: 2}}
	it := &Item{Actor: &Actor{Description: core.Description{Name: "web"}, domain: &domain{}}, Item: core.Item{Strategy: "web", Request: "r"}}
	w := &Walker{Machine: m, Learn: &Learner{}}
	found := orders{plans: []plan{{}}}
	r := func(p plan) reversed {
		return reversed{p, behavior.Reversal{Turn: both[1], First: both[0].Call, Second: both[1].Call}}
	}
	turned := plan{}.turning(pick{call: 1, node: both[1]})
	failed := plan{}.failing(injectedFault{call: 0, fault: 0, node: both[0]})
	w.Reversed = []reversed{r(plan{}), r(turned), r(turned), r(failed), r(plan{}.turning(pick{call: 2, node: both[1]}))}
	if err := found.add(w, it); err != nil {
		t.Fatal(err)
	}
	if len(found.plans) != 3 || !found.plans[1].equal(turned) || !found.plans[2].equal(failed) || len(w.Reversed) != 0 {
		t.Errorf("the plans are %+v", found.plans)
	}
	if len(m.Doubts) != 1 || !it.Actor.raced {
		t.Errorf("the doubts are %q", m.Doubts)
	}
	if n := (Conditions{}).orders(); n != DefaultOrders {
		t.Errorf("%d orders where nothing is said", n)
	}
}
