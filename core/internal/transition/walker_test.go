package transition

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
)

// same is how a store brings contents to their canonical forms that has none.
func same(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }

// content is a content that is a text.
type content string

func (c content) Canonical() string { return string(c) }
func (c content) Fields() any       { return map[string]any{"text": string(c)} }

// noted returns a machine whose states have some notes, each with so many values, and nothing else.
func noted(cells, values int) *Machine {
	m := &Machine{Vocabulary: state.NewVocabulary(same)}
	for c := range cells {
		note := m.Vocabulary.Note(strconv.Itoa(c))
		for v := range values {
			m.Vocabulary.Extend(note, strconv.Itoa(v))
		}
	}
	return m
}

// TestWalkerKeepsAccount has a walker change cells, take that back, and begin anew, and compares its row, its
// fingerprint and what it says it has touched with those of its vector.
func TestWalkerKeepsAccount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cells, values = 6, 300
		m := noted(cells, values)
		w := NewWalker(m, nil)
		loaded := make(state.Vector, rapid.IntRange(0, cells).Draw(t, "length"))
		value := rapid.SampledFrom([]state.Value{0, 0, 1, 2, 127, 128, 299})
		for c := range loaded {
			loaded[c] = value.Draw(t, "value")
		}
		w.Load(loaded.AppendRow(nil))
		if rapid.Bool().Draw(t, "grows") { // the vocabulary, after the state was stored
			m.Vocabulary.Extend(m.Vocabulary.Note("later"), "1")
		}
		origin := slices.Clone(w.Vector)
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			switch rapid.IntRange(0, 5).Draw(t, "operation") {
			case 0:
				w.undo()
				if !slices.Equal(trim(w.Vector), trim(origin)) || len(w.Touched) > 0 || w.Wrote {
					t.Fatalf("taken back to %v, it was %v, and %v is touched", w.Vector, origin, w.Touched)
				}
			case 1:
				w.Forget()
				origin = slices.Clone(w.Vector)
			default:
				c := state.Cell(rapid.IntRange(0, m.Vocabulary.Cells()-1).Draw(t, "cell"))
				v := value.Draw(t, "value")
				if int(c) == cells {
					v = min(v, 1)
				}
				w.Set(c, v)
				w.Wrote = true
				if w.Value(c) != v {
					t.Fatalf("cell %d was set to %d and is %d", c, v, w.Value(c))
				}
			}
			if got := w.AppendRow([]byte("row")); !bytes.Equal(got, w.Vector.AppendRow([]byte("row"))) {
				t.Fatalf("the row of %v is %v", w.Vector, got)
			}
			if w.Fingerprint != m.Vocabulary.Fingerprint(w.Vector) {
				t.Fatalf("the fingerprint of %v is that of another state", w.Vector)
			}
			for c := range state.Cell(m.Vocabulary.Cells()) {
				was := w.Value(c)
				for _, touched := range slices.Backward(w.Touched) {
					if touched.Cell == c {
						was = touched.Was
					}
				}
				if was != origin.Value(c) {
					t.Fatalf("cell %d was %d, and it is said that it was %d: %v", c, origin.Value(c), was, w.Touched)
				}
				if !state.Touches(w.Touched, c) && w.Value(c) != origin.Value(c) {
					t.Fatalf("cell %d was changed and is not touched", c)
				}
			}
		}
		if w.Value(100) != 0 || w.Vector.Value(100) != 0 {
			t.Fatal("a cell beyond the state has a value")
		}
	})
}

func trim(v state.Vector) state.Vector {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// desk returns a machine with one controller, and a walker in the state in which there is nothing.
func desk(names ...string) (*Machine, *Walker) {
	m := &Machine{System: &core.System{}, Vocabulary: state.NewVocabulary(same), byName: map[string]*Actor{}, watchers: map[core.Kind][]*Actor{}, Crashes: nowhere, Failures: nowhere, History: nowhere, Clock: nowhere,
		calendar: calendar.New(behavior.Epoch, nil, 2)}
	for _, name := range names {
		p := &Process{Name: name}
		d := newDomain(name, p)
		d.memory = m.newMemory(name, false, nil, nil)
		m.Processes = append(m.Processes, p)
		m.addActor(d, described{Name: name}, name)
		p.Restarts = m.addAgent()
	}
	return m, NewWalker(m, nil)
}

// keep has a memory be put to use, as one for all requests, and returns its cell. It may hold some memories.
func keep(m *Machine, d *domain, identities ...string) state.Cell {
	d.used, m.remembering = true, append(m.remembering, d)
	m.addPart(d, "")
	c := d.part("").cell
	for _, identity := range identities {
		m.Vocabulary.Extend(c, identity)
	}
	return c
}

// TestMarks has items be pending, timed and in flight by what their cells say, and standing ones always be pending.
func TestMarks(t *testing.T) {
	m, w := desk("web")
	it := m.Item(m.Actors[0], "r")
	if m.Item(m.Actors[0], "r") != it || it.roots.at(0) == nil || m.ItemAt[it.Cell] != it {
		t.Error("the item is another one the second time")
	}
	node := &behavior.Node{}
	parked := m.park(it, node, nil, moment{})
	standing := &Item{Standing: true, Cell: it.Cell}
	for value := state.Value(0); value < 8; value++ {
		for _, at := range []int{0, parked} {
			w.Set(it.Cell, value.ParkedAt(at))
			if w.Pending(it) != (value&state.Queued != 0) || w.timed(it) != (value&state.Timed != 0) || w.behind(it) != (value&state.Behind != 0) {
				t.Errorf("of %d, it is pending: %t, timed: %t, behind: %t", value, w.Pending(it), w.timed(it), w.behind(it))
			}
			if p := w.Flight(it); (p != nil) != (at != 0) || p != nil && p.Node != node {
				t.Errorf("with %d it is in flight at %v", at, p)
			}
			if !w.Pending(standing) || w.timed(standing) || w.behind(standing) || w.Flight(standing) != nil {
				t.Errorf("a standing item is marked by %d", value)
			}
		}
	}
	w.Set(it.Cell, state.Timed|state.Behind)
	if w.fire(it); w.Value(it.Cell) != state.Queued|state.Behind {
		t.Errorf("after its timer has fired it is marked %d", w.Value(it.Cell))
	}
	for _, test := range []struct {
		before, after state.Value
		leaf          behavior.Leaf
	}{
		{0, 0, behavior.Leaf{}},
		{state.Behind, 0, behavior.Leaf{}},
		{state.Timed | state.Behind, state.Timed | state.Behind, behavior.Leaf{}},
		{0, state.Queued, behavior.Leaf{Result: core.Result{Requeue: true}}},
		{0, state.Queued, behavior.Leaf{Failure: behavior.Panicked}},
		{0, state.Timed, behavior.Leaf{Result: core.Result{RequeueAfter: 1}}},
		{state.Behind, state.Timed | state.Behind, behavior.Leaf{Result: core.Result{RequeueAfter: 1}}},
		{state.Queued, state.Queued | state.Timed, behavior.Leaf{Result: core.Result{RequeueAfter: 1}}},
	} {
		w.Set(it.Cell, test.before)
		if w.end(it, &test.leaf); w.Value(it.Cell) != test.after {
			t.Errorf("from %d, a run that ends with %+v leaves %d, want %d", test.before, test.leaf, w.Value(it.Cell), test.after)
		}
		if w.end(standing, &test.leaf); w.Value(it.Cell) != test.after {
			t.Error("the end of a run of a standing item marks it")
		}
	}
}
