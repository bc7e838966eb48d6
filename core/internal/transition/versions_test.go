package transition

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/random"
)

// raw is a store whose versions are their own canonical forms.
type raw struct{ core.Store }

func (raw) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }

// unversioned returns texts without the names of versions, each once.
func unversioned(texts []string) []string {
	var all []string
	for _, text := range texts {
		parts := strings.Split(text, "@")
		for i := 1; i < len(parts); i++ {
			parts[i] = strings.TrimLeft(parts[i], "0123456789")
		}
		all = append(all, strings.Join(parts, "@"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// normal has all states be in their canonical forms: whatever a step has to do with, nothing is named afresh any more.
func (f *found) normal(t *testing.T) {
	t.Helper()
	w := NewWalker(f.learner.Machine, f.learner)
	for i, row := range f.rows {
		w.Load(row)
		for c, value := range slices.Clone(w.Vector) {
			w.Set(state.Cell(c), 0)
			w.Set(state.Cell(c), value)
		}
		if err := w.normalize(); err != nil || string(w.AppendRow(nil)) != string(row) {
			t.Errorf("a state is not in its canonical form: %s, %v", f.states[i], err)
		}
	}
}

// editions is a store of notes of which each write makes a new version: behind the text is its number.
type editions struct{ notes }

func (editions) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	e := call.(errand)
	now := s.Get(key(e.name))
	if e.verb == "get" {
		if now == nil {
			return core.Answer{Response: reply("")}, nil
		}
		return core.Answer{Response: shows{reply(now.Canonical()), []core.Object{{Key: key(e.name), Content: now}}}}, nil
	}
	if e.verb == "drop" {
		return core.Answer{Response: reply("done"), Writes: []core.Write{{Key: key(e.name)}}}, nil
	}
	newest := 0
	for _, held := range append(s.Held(key(e.name)), now) {
		if held != nil {
			newest = max(newest, edition(held))
		}
	}
	return core.Answer{Response: reply("done"), Writes: []core.Write{{Key: key(e.name), Content: content(fmt.Sprintf("%s@%d", e.text, newest+1))}}}, nil
}

func edition(c core.Content) int {
	_, number, _ := strings.Cut(c.Canonical(), "@")
	n, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return n
}

func (editions) Normalize(_ core.Key, versions []core.Content, pinned []bool) []core.Content {
	stays := map[int]bool{}
	for i, v := range versions {
		stays[edition(v)] = stays[edition(v)] || pinned != nil && pinned[i]
	}
	becomes, next := map[int]int{}, 1
	for _, number := range slices.Sorted(maps.Keys(stays)) {
		if stays[number] {
			next = number
		}
		becomes[number] = next
		next++
	}
	var all []core.Content
	for _, v := range versions {
		text, _, _ := strings.Cut(v.Canonical(), "@")
		all = append(all, content(fmt.Sprintf("%s@%d", text, becomes[edition(v)])))
	}
	return all
}

// toggles is a controller that looks at a note, in its cache or not, and puts its text back with the other letter.
func toggles(name string, cached bool) *trade {
	c := simple(name, func(w world, _ core.Request) core.Result {
		seen := w.get("a")
		if cached {
			seen = w.look("a")
		}
		text, _, _ := strings.Cut(seen, "@")
		w.put("a", map[string]string{"x": "y", "y": "x", "": "x"}[text])
		return core.Result{Requeue: true}
	})
	if cached {
		c.Watches = []core.Kind{"note"}
	}
	return c
}

// drops is a controller that drops a note that there is, and makes it where there is none.
func drops() *trade {
	return simple("d", func(w world, _ core.Request) core.Result {
		if w.get("a") == "" {
			w.put("a", "x")
		} else {
			w.ask(errand{verb: "drop", name: "a"})
		}
		return core.Result{Requeue: true}
	})
}

// watches is one that watches notes, and does nothing.
func watches() *trade {
	c := sequential(controller("c", func() core.Instance {
		return hand{nil, func(world, core.Event) []core.Request { return nil }}
	}))
	c.Watches, c.Initial = []core.Kind{"note"}, nil
	return c
}

// TestEditions has controllers that write new versions for ever come to few states, as versions are named afresh once
// nobody holds the old ones: with two texts, one has two states, or four times as many with those of its runs in
// flight. A cache that lags behind by a change has seen either text before.
func TestEditions(t *testing.T) {
	for _, test := range []struct {
		name       string
		strategies []core.Strategy
		c          Conditions
		states     int
	}{
		{"one", []core.Strategy{toggles("c", false)}, Conditions{}, 2},
		{"one, call by call", []core.Strategy{toggles("c", false)}, Conditions{Granularity: PerCall}, 8},
		{"one with a cache", []core.Strategy{toggles("c", true)}, Conditions{Staleness: []Staleness{{Rule: view.Lag(2)}}}, 12},
		{"two, one with a cache", []core.Strategy{toggles("c", true), toggles("d", false)}, Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, 6},
		{"one with a cache, call by call", []core.Strategy{toggles("c", true)}, Conditions{Granularity: PerCall, Staleness: []Staleness{{Rule: view.Lag(1)}}}, 56},
		{"one that drops and makes, and one that watches", []core.Strategy{drops(), watches()}, Conditions{Staleness: []Staleness{{Rule: view.Lag(2)}}}, 6},
		{"one that starts again", []core.Strategy{toggles("c", true)}, Conditions{Crashes: 1, Staleness: []Staleness{{Rule: view.Restart(1)}}}, 12},
	} {
		system := lab(test.strategies, "a x@1")
		system.Store = editions{}
		f := explored(t, system, test.c)
		f.known(t)
		f.normal(t)
		f.ways(t)
		if len(f.states) != test.states {
			t.Errorf("%s: there are %d states, want %d", test.name, len(f.states), test.states)
		}
	}
}

// TestVersions compares systems with versions of objects with the same ones in which versions are never named afresh:
// but for the names of versions, the states and the steps are the same, and there are fewer where versions matter that
// somebody has held.
func TestVersions(t *testing.T) {
	for _, family := range []struct {
		generate     func(uint64) (*core.System, error)
		seeds, fewer []uint64
	}{{random.Loose, []uint64{82, 91, 139}, []uint64{196, 234}}, {random.Narrow, []uint64{12, 15, 60, 154, 178, 257}, []uint64{19}}} {
		for _, seed := range slices.Concat(family.fewer, family.seeds) {
			system, err := family.generate(seed)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
			f := explored(t, system, c)
			f.known(t)
			f.normal(t)
			plain := *system
			plain.Store = raw{system.Store}
			g := explored(t, &plain, c)
			if !slices.Equal(unversioned(f.states), unversioned(g.states)) || !slices.Equal(unversioned(f.steps), unversioned(g.steps)) {
				t.Errorf("seed %d: there are %d states and %d steps, and %d and %d where versions are not named afresh", seed, len(f.states), len(f.steps), len(g.states), len(g.steps))
			}
			if fewer := slices.Contains(family.fewer, seed); fewer != (len(f.states) < len(g.states)) {
				t.Errorf("seed %d: there are %d states, and %d where versions are not named afresh", seed, len(f.states), len(g.states))
			}
		}
	}
}

// TestNamesInMemory has the versions of an object be named afresh but for those that memory names, and who does not
// learn leave it to who does what nobody knows.
func TestNamesInMemory(t *testing.T) {
	for _, test := range []struct {
		name                     string
		there, remembered, waits string
		wantThere, wantWaits     string
	}{
		{"nobody remembers any", "x@5", "", "", "x@1", ""},
		{"a view shows another one", "x@5", "", "y@3", "x@2", "y@1"},
		{"one is remembered that keeps its name", "x@5", "w@1", "", "x@2", ""},
		{"one is remembered that keeps its name, and a view shows another one", "x@5", "w@1", "y@3", "x@3", "y@2"},
		{"one is remembered that would not keep its name", "x@5", "w@2", "y@3", "x@4", "y@3"},
		{"one is remembered that is newer than one that waits", "x@7", "w@5", "y@3", "x@6", "y@1"},
		{"one is remembered that leaves no other name", "x@5", "w@4", "y@1", "x@5", "y@1"},
	} {
		m, _ := desk("web", "db")
		m.Vocabulary, m.Views = state.NewVocabulary(editions{}.Normalize), map[core.Kind][]*view.View{}
		v, idle := lagging(m, "note"), view.New(m.Vocabulary, "db", "note", view.Lag(3))
		m.Views["note"] = append(m.Views["note"], idle)
		c := m.Vocabulary.Object(key("a"))
		cell := m.Vocabulary.Note("memory")
		m.Vocabulary.Extend(cell, "one")
		var held []version
		if test.remembered != "" {
			held = []version{{c, m.Vocabulary.Intern(c, content(test.remembered))}}
		}
		m.parts = []*part{naming(cell, nil, held)}
		w := NewWalker(m, nil)
		w.fit()
		w.Set(cell, 1)
		if test.waits != "" {
			w.Set(v.Cell(), v.Commit(0, view.Change{Cell: c, From: m.Vocabulary.Intern(c, content(test.waits)), To: m.Vocabulary.Intern(c, content(test.there))}))
		}
		w.Forget()
		w.Set(c, m.Vocabulary.Intern(c, content(test.there)))
		if err := w.normalize(); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: who does not learn names them: %v", test.name, err)
		}
		versions := append(w.visible(c), w.remembered(c)...)
		versions = slices.DeleteFunc(append(versions, w.Value(c)), func(v state.Value) bool { return v == 0 })
		slices.Sort(versions)
		m.Vocabulary.Normalize(c, slices.Compact(versions), w.remembered(c))
		// By now it is known how they are named, and not what comes to wait where one waits under another name.
		if err := w.normalize(); errors.Is(err, ErrUnknown) != (test.waits != "" && (test.wantWaits != test.waits || test.wantThere != test.there)) {
			t.Errorf("%s: who does not learn names those that wait: %v", test.name, err)
		}
		w.undo()
		w.Set(c, m.Vocabulary.Intern(c, content(test.there)))
		w.Learn = learning(t, m)
		if err := w.normalize(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		waits := ""
		if backlog := v.Backlog(w.Value(v.Cell())).Waiting; len(backlog) > 0 {
			waits = m.Vocabulary.Content(c, backlog[0].From).Canonical()
		}
		if got := m.Vocabulary.Content(c, w.Value(c)); got != content(test.wantThere) || waits != test.wantWaits {
			t.Errorf("%s: %v is there, and %q waits, want %s and %q", test.name, got, waits, test.wantThere, test.wantWaits)
		}
	}
}
