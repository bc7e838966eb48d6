package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// alike returns a model of processes a, b and c of which each has a variable called as it is, and does the same.
func alike(actions func(x plain.Family[int], holder plain.Var[string], name string) []plain.Action) plain.Model {
	x, holder := plain.NewFamily[int]("x"), plain.NewVar[string]("holder")
	m := plain.Model{Name: "alike", Interchangeable: [][]string{{"a", "b", "c"}}}
	start := []core.Object{holder.Is("")}
	for _, name := range m.Interchangeable[0] {
		start = append(start, x.Named(name).Is(0))
		m.Processes = append(m.Processes, plain.Process{Name: name, Actions: actions(x, holder, name)})
	}
	m.Initial = []core.Initial{plain.Start(start...)}
	return m
}

// count lets a process count to a number.
func count(to int) func(plain.Family[int], plain.Var[string], string) []plain.Action {
	return func(x plain.Family[int], _ plain.Var[string], name string) []plain.Action {
		return []plain.Action{{Name: "count", Do: func(w *plain.World) {
			now := x.Named(name).Get(w)
			w.Require(now < to)
			x.Named(name).Set(w, now+1)
		}}}
	}
}

// take lets a process take what only one can have.
func take(_ plain.Family[int], holder plain.Var[string], name string) []plain.Action {
	return []plain.Action{{Name: "take", Do: func(w *plain.World) {
		w.Require(holder.Get(w) == "")
		holder.Set(w, name)
	}}}
}

// leave lets a process remove its variable, unless it is the only one left.
func leave(x plain.Family[int], _ plain.Var[string], name string) []plain.Action {
	return []plain.Action{{Name: "leave", Do: func(w *plain.World) {
		_, there := x.Named(name).Lookup(w)
		w.Require(there && len(x.All(w)) > 1)
		x.Named(name).Delete(w)
	}}}
}

// TestMergedStatesByHand counts states that are merged up to which of three names is which, as they are counted by
// hand, and has each end be judged and be the end of a run that happens again.
func TestMergedStatesByHand(t *testing.T) {
	for _, test := range []struct {
		name string
		plain.Model
		// states are those that are stored: one of those that are equal up to names, and all that ends stand for.
		// Transitions are the steps from the former, and full are all states.
		states, transitions, ends, full int
	}{
		// How many of three have counted to 0, 1 and 2; from each, all go on that have not come to 2.
		{"counters", alike(count(2)), 10, 20, 1, 27},
		{"one takes it", alike(take), 4, 3, 3, 4},
		// One, two or three are left.
		{"they leave", alike(leave), 5, 5, 3, 7},
	} {
		for workers := 1; workers <= 2; workers++ {
			system, err := test.System()
			if err != nil {
				t.Fatal(err)
			}
			o := options(workers)
			o.Merge = true
			space := search(t, system, o)
			if merged, why := space.Merged(); len(space.Reasons()) > 0 || !merged {
				t.Fatalf("%s: %v, %s", test.name, space.Reasons(), why)
			}
			ends := map[string]bool{}
			for _, id := range space.Quiescent() {
				objects := fmt.Sprint(space.Objects(id))
				ends[objects] = true
				run, found := space.Shortest(func(at core.StateID) bool { return at == id })
				trace, err := space.Trace(t.Context(), start(run, id), run, nil)
				if err != nil || !found {
					t.Fatalf("%s: %v", test.name, err)
				}
				if d, err := explore.Replay(t.Context(), system, o.Conditions, trace, o.Run, nil); d != nil || err != nil {
					t.Errorf("%s: %+v, %v", test.name, d, err)
				}
				now := map[core.Key]string{}
				for _, object := range trace.Initial {
					now[object.Key()] = fmt.Sprint(object)
				}
				for _, step := range trace.Steps {
					for _, change := range step.Changes {
						if delete(now, change.Key()); change.Verb != "deleted" {
							now[change.Key()] = fmt.Sprint(core.TraceObject{Kind: change.Kind, Name: change.Name, Fields: change.Fields[0].To})
						}
					}
				}
				var told []string
				for _, text := range now {
					told = append(told, text)
				}
				if slices.Sort(told); "["+strings.Join(told, " ")+"]" != objects {
					t.Errorf("%s: the run leads to %q, and the end is %s", test.name, told, objects)
				}
			}
			if space.States() != test.states || space.Stats.Transitions != test.transitions || len(ends) != test.ends || len(space.Quiescent()) != test.ends {
				t.Errorf("%s, %d workers: %d states, %d steps, %d ends, want %d, %d, %d", test.name, workers, space.States(), space.Stats.Transitions, len(ends), test.states, test.transitions, test.ends)
			}
			o.Merge = false
			if full := search(t, system, o); full.States() != test.full {
				t.Errorf("%s: in full there are %d states, want %d", test.name, full.States(), test.full)
			}
		}
	}
}

// TestNamesThatAreNotAlikeByHand has states not be merged where one name is treated in another way than the others,
// with what shows it.
func TestNamesThatAreNotAlikeByHand(t *testing.T) {
	for name, test := range map[string]struct {
		model func() plain.Model
		want  string
	}{
		"one starts elsewhere": {func() plain.Model {
			m := alike(count(2))
			m.Initial[0].Objects[1] = plain.NewFamily[int]("x").Named("a").Is(1)
			return m
		}, "the initial state is different with names exchanged"},
		"one counts on": {func() plain.Model {
			return alike(func(x plain.Family[int], holder plain.Var[string], name string) []plain.Action {
				return count(2+strings.Count(name, "c"))(x, holder, name)
			})
		}, "do not have the same possible steps in the same state with names exchanged"},
		"one counts in twos": {func() plain.Model {
			return alike(func(x plain.Family[int], _ plain.Var[string], name string) []plain.Action {
				return []plain.Action{{Name: "count", Do: func(w *plain.World) {
					now := x.Named(name).Get(w)
					w.Require(now < 2)
					x.Named(name).Set(w, min(2, now+1+strings.Count(name, "b")))
				}}}
			})
		}, "do not change x b in the same way"},
		"one does not act": {func() plain.Model {
			m := alike(count(1))
			m.Processes = m.Processes[:2]
			return m
		}, `there is no controller "c" to enqueue for`},
	} {
		system, err := test.model().System()
		if err != nil {
			t.Fatal(err)
		}
		o := options(1)
		o.Merge = true
		if merged, why := search(t, system, o).Merged(); merged || !strings.Contains(why, test.want) {
			t.Errorf("%s: states are not merged as %q, want %q", name, why, test.want)
		}
	}
}
