package transition

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// TestStepCacheIsAFunction has runs of two agents be cached that look at one cell after the other, where what they look
// at next follows from what they saw, and compares what is found with what the runs do.
func TestStepCacheIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells = 4
		salt := rapid.IntRange(0, 1000).Draw(t, "salt")
		// look returns what a run looks at in a state, and a text that follows from that.
		look := func(agent int, vector state.Vector) (trace []Touch, does string) {
			at := (salt + agent) % cells
			for range 1 + (salt+agent)%3 {
				trace = append(trace, Touch{Cell: state.Cell(at), Was: vector[at]})
				at = (at*3 + int(vector[at])*(1+salt%5) + 1) % cells
			}
			return trace, fmt.Sprint(agent, trace)
		}
		var s StepCache
		s.forget()
		known := map[string]bool{}
		draw := rapid.Custom(func(t *rapid.T) state.Vector {
			var v state.Vector
			for range cells {
				v = append(v, state.Value(rapid.IntRange(0, 2).Draw(t, "value")))
			}
			return v
		})
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			agent, vector := rapid.IntRange(0, 2).Draw(t, "agent"), draw.Draw(t, "vector")
			trace, does := look(agent, vector)
			found := s.Find(agent, vector)
			if (found != nil) != known[does] || found != nil && found.leaf.Message != does {
				t.Fatalf("in %v agent %d does %q, known %t: found %+v", vector, agent, does, known[does], found)
			}
			if found != nil {
				continue
			}
			s.Trace = s.Trace[:0]
			for _, touch := range trace {
				s.depend(touch.Cell, touch.Was)
				s.depend(touch.Cell, touch.Was+1) // what was seen first counts
			}
			room := s.Room
			s.add(agent, &effect{leaf: &behavior.Leaf{Message: does}})
			known[does] = true
			if s.Room >= room {
				t.Fatal("a cached step takes no room")
			}
		}
		s.forget()
		for agent := range 3 {
			if s.Find(agent, make(state.Vector, cells)) != nil {
				t.Fatal("what was forgotten is found")
			}
		}
		if s.Room != mostDecisions {
			t.Fatalf("there is room for %d", s.Room)
		}
	})
}

// TestStepCacheRemembers has what is looked at come in any order: what is found is what was remembered of a state in
// which as much is the same.
func TestStepCacheRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells = 5
		var s StepCache
		s.forget()
		var all []state.Vector
		var traces [][]Touch
		for range rapid.IntRange(1, 10).Draw(t, "times") {
			vector := make(state.Vector, rapid.IntRange(3, cells).Draw(t, "length"))
			for c := range vector {
				vector[c] = state.Value(rapid.IntRange(0, 1).Draw(t, "value"))
			}
			var trace []Touch
			for _, c := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(vector)-1), 0, 3, rapid.ID[int]).Draw(t, "looks at") {
				trace = append(trace, Touch{Cell: state.Cell(c), Was: vector[c]})
			}
			full := append(slices.Clone(vector), make(state.Vector, cells-len(vector))...)
			if s.Find(1, full) != nil {
				continue
			}
			s.Remember(1, vector, trace)
			all, traces = append(all, full), append(traces, trace)
			if s.Find(0, full) != nil {
				t.Fatal("it is remembered of another agent")
			}
			if s.Find(1, full) == nil {
				t.Fatalf("%v is not remembered with %v", vector, trace)
			}
		}
		for n := range 1 << cells {
			vector := make(state.Vector, cells)
			for c := range vector {
				vector[c] = state.Value(n >> c & 1)
			}
			if s.Find(1, vector) == nil {
				continue
			}
			if !slices.ContainsFunc(traces, func(trace []Touch) bool {
				return !slices.ContainsFunc(trace, func(seen Touch) bool { return vector[seen.Cell] != seen.Was })
			}) {
				t.Fatalf("%v is remembered, and nothing like it was seen: %v in %v", vector, traces, all)
			}
		}
	})
}

// TestJump has a cached step change the state as the step did that was cached.
func TestJump(t *testing.T) {
	m := noted(4, 5)
	w := NewWalker(m, nil)
	start := state.Vector{1, 2, 0, 3}
	w.Load(start.AppendRow(nil))
	w.Set(0, 4)
	w.Set(2, 1)
	w.Set(0, 5)
	w.Set(3, 0)
	w.Wrote = true
	leaf := &behavior.Leaf{}
	e, after, print := w.effect(leaf), slices.Clone(w.Vector), w.Fingerprint
	if e.leaf != leaf || !e.wrote || len(e.to) != 3 {
		t.Errorf("the effect is %+v", e)
	}
	w.undo()
	if w.jump(e); !slices.Equal(w.Vector, after) || w.Fingerprint != print || !w.Wrote || len(w.Touched) != 3 {
		t.Errorf("it jumps to %v, want %v, and has touched %v", w.Vector, after, w.Touched)
	}
	if w.undo(); !slices.Equal(w.Vector, start) {
		t.Errorf("back, it is in %v", w.Vector)
	}
}

// TestTakesShortcuts has the calls of a run be left out by nobody who learns, has somebody to tell of them, or notes
// what the run does, and nowhere where it matters who holds what: an effect says nothing of that.
func TestTakesShortcuts(t *testing.T) {
	m, w := desk("web")
	if !w.takesShortcuts() {
		t.Error("the calls of a run are not left out")
	}
	for name, change := range map[string]func(w *Walker){
		"it learns":               func(w *Walker) { w.Learn = learning(t, m) },
		"somebody listens":        func(w *Walker) { w.Listener = &ear{} },
		"it notes what is done":   func(w *Walker) { w.noted = true },
		"somebody holds versions": func(w *Walker) { w.Machine = &Machine{Holds: true} },
	} {
		changed := *w
		if change(&changed); changed.takesShortcuts() {
			t.Errorf("%s, and the calls of a run are left out", name)
		}
	}
}

// TestNoRoom has no step be cached for which there is no room: it would be found where other cells differ.
func TestNoRoom(t *testing.T) {
	f := explored(t, users()[0].system(), Conditions{})
	for _, room := range []int{0, 1, mostDecisions} {
		again := found{rows: f.rows, histories: f.histories}
		w := NewWalker(f.learner.Machine, nil)
		w.Load(f.rows[0])
		w.StepCache.Room = room
		for at := range f.rows {
			if err := again.visit(w, at, func(map[*Process][]behavior.Run, ran, *Taken) {}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(again.steps, f.steps) {
			t.Errorf("with room for %d, there are these steps besides: %q, and these are missing: %q", room, less(again.steps, f.steps), less(f.steps, again.steps))
		}
	}
}

// TestForgotten has cached steps be forgotten when there are new cells, which lists depend on, and not before.
func TestForgotten(t *testing.T) {
	m := noted(2, 2)
	w := NewWalker(m, nil)
	w.fit()
	w.StepCache.Remember(0, w.Vector, []Touch{{Cell: 1}})
	if w.fit(); w.StepCache.Find(0, w.Vector) == nil {
		t.Error("a step is forgotten although there is nothing new")
	}
	m.Vocabulary.Note("another")
	if w.fit(); w.StepCache.Find(0, w.Vector) != nil || w.StepCache.Room != mostDecisions {
		t.Errorf("a step is cached from before, with room for %d", w.StepCache.Room)
	}
}

// TestTraced has a step depend on the objects that it looks at, or at parts of, and one that lists objects on all that
// there may be in the list, whether they are there or not.
func TestTraced(t *testing.T) {
	m, w := desk("web")
	var cells []state.Cell
	for _, key := range []core.Key{{Kind: "Pod", Namespace: "n", Name: "a"}, {Kind: "Pod", Namespace: "m", Name: "a"}, {Kind: "Pod", Name: "a"}, {Kind: "Job", Namespace: "n", Name: "a"}} {
		cells = append(cells, m.Vocabulary.Object(key))
	}
	w.fit()
	p := m.Vocabulary.Projection("Pod", firstLetter{})
	traced{w.Live}.Value(cells[0])
	traced{w.Live}.Project(p, cells[1])
	if trace := w.StepCache.Trace; len(trace) != 2 || trace[0].Cell != cells[0] || trace[1].Cell != cells[1] {
		t.Errorf("what looks at an object, and at a part of one, depends on %v", trace)
	}
	for namespace, want := range map[string][]state.Cell{"": cells[:3], "n": cells[:1], "m": cells[1:2], "o": nil} {
		w.StepCache.Trace = nil
		traced{w.Live}.AppendSignature(nil, "Pod", namespace, nil)
		var got []state.Cell
		for _, touch := range w.StepCache.Trace {
			got = append(got, touch.Cell)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("a list of namespace %q depends on %v, want %v", namespace, got, want)
		}
	}
}
