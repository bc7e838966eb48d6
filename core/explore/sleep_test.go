package explore

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// TestSleepersWake compares who sleeps in states, and who is woken there, with sets of agents in a map.
func TestSleepersWake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const states, agents = 4, 5
		agentSet := rapid.Custom(func(t *rapid.T) []int {
			return slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.IntRange(0, agents-1), 0, 3, rapid.ID[int]).Draw(t, "agents")))
		})
		s := &search{Space: &Space{}, frontier: &spans{}}
		s.sleeps.needed = true
		asleep, woken := map[core.StateID][]int{}, map[core.StateID][]int{}
		for id := range core.StateID(states) {
			asleep[id] = agentSet.Draw(t, "asleep")
			s.sleeps.add(asleep[id])
		}
		// wake wakes agents in the twin: those of an expanded state are to be taken care of.
		wake := func(id core.StateID, who []int) {
			if len(who) > 0 && s.expanded.Has(id) {
				all := slices.Sorted(slices.Values(slices.Concat(woken[id], who)))
				woken[id] = slices.Compact(all)
			}
		}
		without := func(agents, others []int) (left []int) {
			for _, agent := range agents {
				if !slices.Contains(others, agent) {
					left = append(left, agent)
				}
			}
			return left
		}
		taken := map[core.StateID]bool{}
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			id := core.StateID(rapid.IntRange(0, states-1).Draw(t, "state"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0: // it is expanded for the first time, with some asleep
				if s.expanded.Has(id) {
					continue
				}
				with := agentSet.Draw(t, "with")
				s.slept(id, 3, with)
				s.expanded.Add(id)
				wake(id, without(with, asleep[id]))
				asleep[id] = without(with, without(with, asleep[id]))
			case 1: // it is reached once more
				with := agentSet.Draw(t, "with")
				s.wake(id, 3, with)
				wake(id, without(asleep[id], with))
				asleep[id] = without(asleep[id], without(asleep[id], with))
			case 2: // those who were woken are taken care of
				if got := s.sleeps.takeWoken(id); !slices.Equal(got, woken[id]) {
					t.Fatalf("in state %d %v are woken, want %v", id, got, woken[id])
				}
				delete(woken, id)
				delete(taken, id)
			case 3:
				s.sleeps.clear(id)
				delete(asleep, id)
				delete(woken, id)
			case 4: // all states in which somebody wakes up are to be expanded once more
				for _, w := range s.frontier.take(make([]waiting, 0, 9)) {
					taken[w.id] = true
				}
			}
			for id := range core.StateID(states) {
				if got := s.sleeps.at(id); !slices.Equal(got, asleep[id]) {
					t.Fatalf("in state %d %v sleep, want %v", id, got, asleep[id])
				}
				if got := s.sleeps.woken[id]; !slices.Equal(got, woken[id]) {
					t.Fatalf("in state %d %v are woken, want %v", id, got, woken[id])
				}
				with := agentSet.Draw(t, "with")
				if got := s.sleeps.wakes(id, with); got != (len(without(asleep[id], with)) > 0) {
					t.Fatalf("of %v in state %d somebody wakes up with %v asleep: %t", asleep[id], id, with, got)
				}
			}
		}
		known := map[core.StateID]bool{}
		for _, w := range s.frontier.take(make([]waiting, 0, 99)) {
			known[w.id] = true
		}
		maps.Copy(known, taken)
		for id := range woken {
			if !known[id] {
				t.Fatalf("%v are woken in state %d, which is not expanded once more", woken[id], id)
			}
		}
		s.sleeps.needed = false
		if s.sleeps.at(0) != nil || s.sleeps.wakes(0, nil) {
			t.Fatal("somebody sleeps where nobody does")
		}
	})
}

// TestDepths has a state be expanded once more when it is found less deep.
func TestDepths(t *testing.T) {
	d := depths{needed: true}
	d.add(5)
	d.add(2)
	for _, test := range []struct {
		id       core.StateID
		depth    uint32
		outdated bool
		shallow  bool
	}{
		{0, 6, true, false}, {0, 5, false, false}, {1, 2, false, false}, {1, 3, true, false}, {0, 4, false, true}, {0, 4, false, false}, {0, 5, true, false},
	} {
		if got := d.outdated(test.id, test.depth); got != test.outdated {
			t.Errorf("state %d at depth %d is outdated: %t", test.id, test.depth, got)
		}
		if got := d.shallower(test.id, test.depth); got != test.shallow {
			t.Errorf("state %d is found less deep at depth %d: %t", test.id, test.depth, got)
		}
	}
	var none depths
	if none.add(1); none.outdated(0, 9) || none.shallower(0, 0) || none.of.Len() > 0 {
		t.Error("depths are remembered that nobody needs")
	}
}

// TestFrontiers has states be taken in the order of the search, and be counted where walks find their own way.
func TestFrontiers(t *testing.T) {
	for order, want := range map[Order][]core.StateID{BreadthFirst: {0, 1, 2}, DepthFirst: {2, 1, 0}, RandomWalks: nil} {
		f := newFrontier(Options{Order: order})
		for id := range core.StateID(3) {
			f.push(waiting{id: id})
		}
		if f.len() != 3 {
			t.Errorf("order %d: %d wait", order, f.len())
		}
		var got []core.StateID
		for _, w := range f.take(append(make([]waiting, 0, 5), waiting{id: 9})) {
			got = append(got, w.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %d: %v are taken, want %v", order, got, want)
		}
	}
	deep := &stack{}
	for range 3 * depthFirstBatch {
		deep.push(waiting{})
	}
	if got := len(deep.take(make([]waiting, 0, 1000))); got != depthFirstBatch || deep.len() != 2*depthFirstBatch {
		t.Errorf("%d are taken at once, and %d left", got, deep.len())
	}
}

// TestOrbits has steps lead to all ends that the stored one stands for.
func TestOrbits(t *testing.T) {
	var o orbits
	edges := []core.Edge{{To: 1}, {To: 2}, {To: 1, Wrote: true}}
	if got := o.spread(edges); !slices.Equal(got, edges) || o.representative(7) != 7 {
		t.Errorf("without others, steps lead to %v", got)
	}
	a := state.Arrangement{1, 0}
	o.add(1, 7, a)
	o.add(1, 8, a)
	want := []core.Edge{{To: 1}, {To: 7}, {To: 8}, {To: 2}, {To: 1, Wrote: true}, {To: 7, Wrote: true}, {To: 8, Wrote: true}}
	if got := o.spread(edges); !slices.Equal(got, want) {
		t.Errorf("steps lead to %v, want %v", got, want)
	}
	if o.representative(7) != 1 || o.representative(8) != 1 || o.representative(1) != 1 || !slices.Equal(o.by[8], a) {
		t.Errorf("these are stood for: %v", o.is)
	}
}

// drowsy is a reducer that leaves out nobody, and takes all steps to commute. It puts off an agent where as many as it
// says are enabled.
type drowsy struct {
	agents, putOff int
	asked          *int
}

func (d drowsy) Learn([]Footprint, []Place) func() Chooser { return func() Chooser { return d } }

func (d drowsy) Choose(enabled []Enabled) Choice {
	*d.asked++
	if len(enabled) == d.agents {
		return Choice{PutOff: []int{d.putOff}}
	}
	return Choice{}
}

func (drowsy) Alone(*Way) bool       { return false }
func (drowsy) Commute(int, int) bool { return true }
func (drowsy) Group(int) int         { return 0 }

// TestSleepersSaveSteps counts the steps between states in which some of a few independent actions were taken. Each
// state is reached by one step, where there are as many as actions that led to it without sleep; behind the steps of an
// agent that is put off, others are taken in each order.
func TestSleepersSaveSteps(t *testing.T) {
	x := plain.NewFamily[int]("x")
	for _, test := range []struct {
		name                                 string
		actions, putOffWhere, putOff, sleeps int
		transitions                          int
	}{
		{"two", 2, 0, 0, 1, 3},
		{"three", 3, 0, 0, 1, 7},
		{"four", 4, 0, 0, 1, 15},
		{"four, and nobody sleeps", 4, 0, 0, 0, 32},
		{"two, and the first is put off", 2, 2, 0, 1, 3},
		{"two, and the second is put off", 2, 2, 1, 1, 4},
		// Once it is known that the third is put off, nobody sleeps behind its steps: only the first sleeps behind the
		// second, whose way to all three leads through the third then.
		{"three, and the third is put off later", 3, 2, 2, 1, 11},
	} {
		var processes []plain.Process
		var initial []core.Object
		for i := range test.actions {
			initial = append(initial, x.At(i).Is(0))
			processes = append(processes, plain.Process{Name: fmt.Sprint("p", i), Actions: []plain.Action{{Name: "take", Do: func(w *plain.World) {
				w.Require(x.At(i).Get(w) == 0)
				x.At(i).Set(w, 1)
			}}}})
		}
		system, err := plain.Model{Name: test.name, Initial: []core.Initial{plain.Start(initial...)}, Processes: processes}.System()
		if err != nil {
			t.Fatal(err)
		}
		for workers := 1; workers <= 2; workers++ {
			o := Options{Workers: workers, Run: behavior.Limits{Deadline: 10 * time.Second, Calls: 100}}
			asked := 0
			if test.sleeps > 0 {
				l, err := o.learner(t.Context(), system)
				if err != nil {
					t.Fatal(err)
				}
				o.Reducer = drowsy{agents: test.putOffWhere, putOff: l.Machine.Items[test.putOff].Agent, asked: &asked}
			}
			space, err := Search(t.Context(), system, o)
			if err != nil {
				t.Fatal(err)
			}
			edges := 0
			for id := range core.StateID(space.States()) {
				edges += len(space.Edges(id))
			}
			if space.States() != 1<<test.actions || space.Stats.Terminal != 1 || space.Stats.Transitions != test.transitions || edges != test.actions<<(test.actions-1) {
				t.Errorf("%s, %d workers: %d states, %d ends, %d of %d steps, want %d", test.name, workers, space.States(), space.Stats.Terminal, space.Stats.Transitions, edges, test.transitions)
			}
			if (asked > 0) != (test.sleeps > 0) {
				t.Errorf("%s: it was asked %d times who is followed", test.name, asked)
			}
		}
	}
}
