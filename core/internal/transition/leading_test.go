package transition

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// minding returns a machine of a controller with memories, and a learner of it that runs no code: to it, runs of the
// controller depend on chance, and are not audited.
func minding(t *testing.T, memories int) (*Learner, *domain) {
	m, _ := desk("web")
	l := learning(t, m)
	d := m.Actors[0].domain
	for i := range memories {
		d.memories = append(d.memories, &behavior.Memory{Identity: string(rune('a' + i))})
		d.values[string(rune('a'+i))] = state.Value(i + 1)
	}
	l.Incidents = []core.Incident{{Kind: core.Nondeterministic, Strategy: "web"}}
	return l, d
}

// TestLead has a history that leads to a memory lead on to those behind it, to each with few others, and by no run that
// got stuck.
func TestLead(t *testing.T) {
	l, d := minding(t, 5)
	web := d.Members[0]
	run := func(to state.Value, failure behavior.Failure) begun {
		return begun{web, behavior.Run{Leaf: &behavior.Leaf{Memory: to, Failure: failure}}}
	}
	d.begun[1] = []begun{run(1, ""), run(2, ""), run(4, behavior.Deadlock)}
	d.begun[2] = []begun{run(3, "")}
	d.begun[3] = []begun{run(0, "")}
	history := func() []behavior.Run { return []behavior.Run{{}} }
	counts := func() (all [6]int) {
		for i, m := range d.memories {
			if m != nil {
				all[i] = len(m.Histories)
			}
		}
		return all
	}
	if err := l.lead(d, 0, history()); err != nil || counts() != [6]int{} {
		t.Errorf("to a fresh instance lead %v, %v", counts(), err)
	}
	for i, want := range [][6]int{{0, 1, 1, 1}, {0, 2, 2, 2}, {0, 3, 3, 3}, {0, 3, 3, 3}} {
		if err := l.lead(d, 1, history()); err != nil || counts() != want {
			t.Errorf("after %d histories, there are %v, want %v, %v", i+1, counts(), want, err)
		}
	}
	if got := len(d.memories[3].Histories[0]); got != 3 {
		t.Errorf("the history of the third memory has %d runs", got)
	}
	for _, m := range d.memories[1:] {
		m.Histories = nil
	}
	d.begun[3] = append(d.begun[3], run(1, "")) // and so it goes round
	if err := l.lead(d, 1, history()); err != nil || counts() != [6]int{0, 3, 3, 3} {
		t.Errorf("where a way leads back, there are %v histories, %v", counts(), err)
	}
	// What cannot be gone through again ends it, and so does what comes of one that leads on.
	l.Incidents = nil
	d.memories[2].Histories = nil
	if err := l.lead(d, 2, history()); err == nil {
		t.Error("a history that cannot be gone through again leads to a memory")
	}
	for range mostRetraced { // of which no more are audited
		d.begun[5] = append(d.begun[5], run(5, behavior.Deadlock))
	}
	d.begun[5] = append(d.begun[5], run(2, ""))
	for name, leads := range map[string]func(*domain, state.Value, []behavior.Run) error{"to": l.lead, "on from": l.leadOn} {
		if d.memories[2].Histories = nil; leads(d, 5, history()) == nil {
			t.Errorf("a history that cannot be gone through again leads %s a memory", name)
		}
	}
}

// TestLeadBy has a new run lead to a memory, and on from there, by each history that leads to where it begins.
func TestLeadBy(t *testing.T) {
	l, d := minding(t, 3)
	web := d.Members[0]
	d.begun[1] = []begun{{web, behavior.Run{Leaf: &behavior.Leaf{Memory: 2}}}}
	since := d.memories[3]
	since.Histories = [][]behavior.Run{{{}}, {{}, {}}}
	run := behavior.Run{Activation: behavior.Activation{Since: since}, Leaf: &behavior.Leaf{Memory: 1}}
	history := []behavior.Run{{}, run}
	if err := l.leadBy(d, 1, run, history); err != nil || len(d.memories[1].Histories) != 1 || len(d.memories[2].Histories) != 2 {
		t.Errorf("%d histories lead to the memory, and %d to the one behind it: %v", len(d.memories[1].Histories), len(d.memories[2].Histories), err)
	}
	if lengths := []int{len(d.memories[1].Histories[0]), len(d.memories[2].Histories[0]), len(d.memories[2].Histories[1])}; !slices.Equal(lengths, []int{3, 4, 3}) {
		t.Errorf("the histories have %v runs", lengths)
	}
	d.memories[2].Histories = nil
	run.Activation.Since = nil
	if err := l.leadBy(d, 1, run, history); err != nil || len(d.memories[1].Histories) != 1 || len(d.memories[2].Histories) != 1 {
		t.Errorf("of a fresh instance, %d histories lead to the memory behind it: %v", len(d.memories[2].Histories), err)
	}
	// What cannot be gone through again ends it.
	l.Incidents, d.memories[1].Histories, run.Activation.Since = nil, nil, since
	if err := l.leadBy(d, 1, run, history); err == nil {
		t.Error("a history that cannot be gone through again leads to a memory")
	}
}

// TestAmong has a run be gone through among others while the search goes on, where others of its process have memories,
// and none of them depends on chance.
func TestAmong(t *testing.T) {
	for _, test := range []struct {
		name                      string
		searching, others, fickle bool
		epoch                     int
		goes                      bool
	}{
		{"others have a memory", true, true, false, 0, true},
		{"others have none", true, false, false, 0, false},
		{"the search is over", false, true, false, 0, false},
		{"others depend on chance", true, true, true, 0, false},
		{"the others have come there later", true, true, false, 1, false},
	} {
		l, d := minding(t, 0)
		m := l.Machine
		two := member(m, d.Process, core.Description{Name: "two", Process: "web"}, true)
		if test.others {
			two.domain.memories = append(two.domain.memories, &behavior.Memory{Identity: "b", Histories: [][]behavior.Run{{{Activation: behavior.Activation{Of: "two", Passed: time.Duration(test.epoch) * time.Hour}}}}})
		}
		if l.Searching = test.searching; !test.fickle {
			l.Incidents = nil
		}
		if err := l.among(m.Actors[0], behavior.Run{Leaf: &behavior.Leaf{}}); (err != nil) != test.goes { // as it cannot be set up
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestHides has goroutines be able to keep what memory does not show only where they are at work, and the controller
// does not say that it shows all.
func TestHides(t *testing.T) {
	for _, active := range []bool{false, true} {
		for _, opaque := range []bool{false, true} {
			d := &domain{manner: behavior.Manner{Active: active}, Members: []*Actor{{Description: core.Description{Opaque: opaque}}}}
			if got := d.hides(); got != (active && opaque) {
				t.Errorf("active %t, opaque %t: it hides something: %t", active, opaque, got)
			}
		}
	}
}

// TestLaps has runs of an active process be gone round where they close a lap on which time passes, once from each
// memory, and of no controller that depends on chance.
func TestLaps(t *testing.T) {
	waits := behavior.Run{Activation: behavior.Activation{Own: behavior.Waits}, Leaf: &behavior.Leaf{}}
	asked := behavior.Run{Leaf: &behavior.Leaf{}}
	for _, test := range []struct {
		name         string
		idle, fickle bool
		change       func(d *domain)
		run          behavior.Run
		edges        int
		goes         bool
	}{
		{"time passes", false, false, nil, waits, 1, true},
		{"it does nothing by itself", true, false, nil, waits, 0, false},
		{"no time passes", false, false, nil, asked, 1, false},
		{"it is blocked", false, false, nil, behavior.Run{Activation: waits.Activation, Leaf: &behavior.Leaf{Result: core.Result{Blocked: true}}}, 0, false},
		{"it fails", false, false, nil, behavior.Run{Activation: waits.Activation, Leaf: &behavior.Leaf{Failure: behavior.Panicked}}, 0, false},
		{"it depends on chance", false, true, nil, waits, 1, false},
		{"it was gone round", false, false, func(d *domain) { d.lapped[1] = true }, waits, 1, false},
	} {
		l, d := minding(t, 1)
		d.manner.Active, d.edges, d.lapped = !test.idle, map[state.Value][]edge{}, map[state.Value]bool{}
		if !test.fickle {
			l.Incidents = nil
		}
		if test.change != nil {
			test.change(d)
		}
		if err := l.learnLap(d, test.run, 1, 1); (err != nil) != test.goes || len(d.edges[1]) != test.edges { // as it cannot be set up
			t.Errorf("%s: it comes to %v, and %d edges are known", test.name, err, len(d.edges[1]))
		}
		if err := l.learnLap(d, test.run, 1, 1); test.goes && err != nil {
			t.Errorf("%s: it is gone round again: %v", test.name, err)
		}
	}
}
