package transition

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/stepcache"
	"github.com/orrery-dev/orrery/core/state"
)

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
	for _, room := range []int{0, 1, stepcache.MostDecisions} {
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
	w.StepCache.Remember(0, w.Vector, []state.Touch{{Cell: 1}})
	if w.fit(); w.StepCache.Find(0, w.Vector) == nil {
		t.Error("a step is forgotten although there is nothing new")
	}
	m.Vocabulary.Note("another")
	if w.fit(); w.StepCache.Find(0, w.Vector) != nil || w.StepCache.Room != stepcache.MostDecisions {
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
