package transition

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
)

// keeping returns a memory with contents by value from 1, of which a fresh instance shows something.
func keeping(p *Process, name string, cell state.Cell, fresh map[string]string, contents ...map[string]string) *domain {
	d := newDomain(name, p)
	d.parts = []*part{{domain: d, cell: cell, number: int(cell)}}
	d.requests[""] = d.parts[0]
	d.memory = memory{used: true, fresh: fresh, contents: []map[string]string{nil}, memories: []*behavior.Memory{nil}, values: map[string]state.Value{"": 0}}
	for i, c := range contents {
		identity := memories.Identity(c)
		d.contents, d.memories = append(d.contents, c), append(d.memories, &behavior.Memory{Identity: identity})
		d.values[identity] = state.Value(i + 1)
	}
	return d
}

// texts are changes of memory as texts, with who is concerned and whether it is lost.
func texts(changes []core.MemoryChange) []string {
	var all []string
	for _, c := range changes {
		text := c.Controller + ": " + c.String()
		if c.Event != "" {
			text += " at " + c.Event
		}
		all = append(all, text)
	}
	return all
}

// TestMemoryChanges has changes of memory be told by what instances show, from one state to another, from a fresh
// instance, and across a crash.
func TestMemoryChanges(t *testing.T) {
	web, db := &Process{Name: "web"}, &Process{Name: "db"}
	first := keeping(web, "web", 0, map[string]string{"R.n": "0", "R.on": "true"}, map[string]string{"R.n": "1"}, map[string]string{"R.n": "2", "R.on": memories.Gone, "R.seen[a]": "x\nof which no more is told"})
	second := keeping(db, "db", 1, nil, map[string]string{"D.list": "2", "D.list[0]": "a", "D.list[1]": "b"}, map[string]string{"D.list": "1", "D.list[0]": "a"})
	one, other := first.parts[0], second.parts[0]
	m := &Machine{remembering: []*domain{first, second}, parts: []*part{one, other}}
	for _, test := range []struct {
		name          string
		before, after Recollection
		crashed       Crashed
		want          []string
	}{
		{"nothing", Recollection{1, 1}, Recollection{1, 1}, nil, nil},
		{"from the start", nil, Recollection{1, 0}, nil, []string{"web: R.n: 0 → 1"}},
		{"on", Recollection{1, 0}, Recollection{2, 0}, nil, []string{"web: R.n: 1 → 2", "web: R.on: true → (absent)", "web: R.seen[a] = x"}},
		{"back", Recollection{2, 0}, Recollection{0, 0}, nil, []string{"web: R.n: 2 → 0", "web: R.on = true", "web: R.seen[a]: x → (absent)"}},
		{"a list, without how long it is", Recollection{0, 0}, Recollection{0, 1}, nil, []string{"db: D.list[0] = a", "db: D.list[1] = b"}},
		{"shorter", Recollection{0, 1}, Recollection{0, 2}, nil, []string{"db: D.list[1]: b → (absent)"}},
		{"a crash", Recollection{2, 1}, Recollection{0, 1}, Crashed{one: {"R.n": "3"}}, []string{"web: loses R.n = 3, restarts with 0", "web: R.on = true", "web: R.seen[a]: x → (absent)"}},
		{"a crash that loses nothing", Recollection{1, 0}, Recollection{1, 0}, Crashed{one: {"R.n": "1"}}, nil},
		{"a crash of a fresh one", Recollection{0, 0}, Recollection{0, 0}, Crashed{one: {}}, nil},
		{"a crash, of which nobody knows what is lost", Recollection{1, 0}, Recollection{0, 0}, Crashed{other: {}}, []string{"web: R.n: 1 → 0"}},
	} {
		if got := texts(m.MemoryChanges(test.before, test.after, test.crashed)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	w := &Walker{Machine: m, Vector: state.Vector{2, 1}}
	if got := w.Recollection(); !slices.Equal(got, Recollection{2, 1}) {
		t.Errorf("it is recollected that %v", got)
	}
	crashed := m.Crash(&Actor{Process: web}, Recollection{2, 1})
	if len(crashed) != 1 || !maps.Equal(crashed[one], first.contents[2]) {
		t.Errorf("what crashes had %v", crashed)
	}
	if crashed := m.Crash(&Actor{Process: web}, Recollection{0, 1}); crashed[one] == nil || len(crashed[one]) > 0 {
		t.Errorf("what crashes before it has kept anything had %v", crashed)
	}
	if crashed := m.Crash(&Actor{Process: &Process{}}, Recollection{2, 1}); crashed != nil {
		t.Errorf("what keeps nothing crashes with %v", crashed)
	}
	// What an active process has set off is told with what it keeps, but for what nobody should have to read.
	active := keeping(web, "web", 0, nil, map[string]string{"R.n": "1"})
	active.manner.Active = true
	unsaid := map[string]string{"R.n": "1", "waiting goroutines[1]": "in select", "time[1h0m0s]": "R.n", "background[1]": "get a"}
	if got := texts(active.changes("", nil, unsaid, nil)); !slices.Equal(got, []string{"web: R.n = 1", "web: background[1] = get a"}) {
		t.Errorf("an active process changes %q", got)
	}
	// Of what is kept for each request, in whatever order the requests were met, calls that wait are told apart, and
	// all is told in order.
	active.byRequest, active.owners = true, []core.Request{"", "z", "b"}
	active.contents = []map[string]string{nil, {"background[1]": "get z", "R.kept[z]": "1"}, {"background[1]": "get b"}}
	active.parts = []*part{{domain: active, request: "z"}, {domain: active, request: "b", number: 1}}
	m = &Machine{remembering: []*domain{active}}
	want := []string{"web: R.kept[z] = 1", "web: background[1 for b] = get b", "web: background[1 for z] = get z"}
	if got := texts(m.MemoryChanges(nil, Recollection{1, 2}, nil)); !slices.Equal(got, want) {
		t.Errorf("for each request it changes %q, want %q", got, want)
	}
	active.memories = append(active.memories, &behavior.Memory{})
	for name, run := range map[string]behavior.Run{
		"web: background[1 for b] = get b":           {Leaf: &behavior.Leaf{Memory: 2}},
		"web: background[1 for b]: get b → (absent)": {Activation: behavior.Activation{Since: &behavior.Memory{Identity: "b"}}, Leaf: &behavior.Leaf{}},
	} {
		active.values["b"] = 2
		if got := texts(m.MemoryLeft(&Actor{domain: active}, run)); !slices.Equal(got, []string{name}) {
			t.Errorf("a run for a request changes %q, want %q", got, name)
		}
	}
}

// TestMemoryLeft has the changes of a run be those from the memory that it began with, and say which event they come
// of.
func TestMemoryLeft(t *testing.T) {
	web := &Process{Name: "web"}
	d := keeping(web, "web", 0, map[string]string{"n": "0"}, map[string]string{"n": "1"}, map[string]string{"n": "2"})
	m, a := &Machine{}, &Actor{domain: d}
	leaf := &behavior.Leaf{Memory: 2}
	for _, test := range []struct {
		name string
		run  behavior.Run
		want []string
	}{
		{"from the first", behavior.Run{Leaf: leaf}, []string{"web: n: 0 → 2"}},
		{"from the second", behavior.Run{Activation: behavior.Activation{Since: d.memories[1]}, Leaf: leaf}, []string{"web: n: 1 → 2"}},
		{"as it was", behavior.Run{Activation: behavior.Activation{Since: d.memories[2]}, Leaf: leaf}, nil},
		{"of an event", behavior.Run{Activation: behavior.Activation{Event: &core.Event{Key: core.Key{Kind: "Pod", Name: "a"}}}, Leaf: leaf}, []string{"web: n: 0 → 2 at Pod a"}},
		{"not at its end", behavior.Run{}, nil},
		{"never back", behavior.Run{Leaf: &behavior.Leaf{Memory: 2, Failure: behavior.Deadlock}}, nil},
	} {
		if got := texts(m.MemoryLeft(a, test.run)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	l := &Learner{}
	for name, test := range map[string]struct {
		d    domain
		leaf *behavior.Leaf
		want bool
	}{
		"it keeps something":  {domain{memory: memory{fresh: d.fresh, used: true}}, leaf, true},
		"nothing is shown":    {domain{memory: memory{used: true}}, leaf, false},
		"nothing is kept":     {domain{memory: memory{fresh: d.fresh}}, leaf, false},
		"it is active":        {domain{memory: memory{fresh: d.fresh, used: true}, manner: behavior.Manner{Active: true}}, leaf, false},
		"it never comes back": {domain{memory: memory{fresh: d.fresh, used: true}}, &behavior.Leaf{Failure: behavior.Overdue}, false},
		"it has not ended":    {domain{memory: memory{fresh: d.fresh, used: true}}, nil, false},
	} {
		if got := l.comparesMemory(&Actor{domain: &test.d}, behavior.Run{Leaf: test.leaf}); got != test.want {
			t.Errorf("%s: memory is compared: %t", name, got)
		}
	}
	if m.MemoryLeft(&Actor{domain: &domain{}}, behavior.Run{Leaf: leaf}) != nil {
		t.Error("what keeps nothing changes it")
	}
}

// TestKeepsAt has the first place be found at which two memories differ so, and how.
func TestKeepsAt(t *testing.T) {
	run := behavior.Run{Path: pathOf(query{"get a", ""}), Leaf: &behavior.Leaf{Memory: 1}}
	always := func(string, string, string) bool { return true }
	left := map[string]string{"a": "1", "c": "1"}
	for _, test := range []struct {
		name               string
		later              map[string]string
		holds              func(path, here, there string) bool
		recorded, observed string
	}{
		{"the same", map[string]string{"a": "1", "c": "1"}, always, "", ""},
		{"another value", map[string]string{"a": "1", "c": "2"}, always, "keeps c in memory", "changes c in memory"},
		{"one is gone", map[string]string{"c": "2"}, always, "keeps a in memory", "forgets a"},
		{"one is new", map[string]string{"a": "1", "b": "1", "c": "1"}, always, "keeps no b in memory", "keeps one"},
		{"it does not hold", map[string]string{"a": "2", "b": "1"}, func(string, string, string) bool { return false }, "", ""},
		{"it holds of another place", map[string]string{"a": "2", "c": "3"}, func(path, here, there string) bool { return path == "c" && here == "1" && there == "3" }, "keeps c in memory", "changes c in memory"},
		{"it holds of a new one", map[string]string{"a": "2", "b": "4", "c": "3"}, func(path, here, there string) bool { return path == "b" && here == "" && there == "4" }, "keeps no b in memory", "keeps one"},
	} {
		got := keepsAt(run, left, test.later, test.holds)
		if got == nil {
			got = &behavior.Divergence{}
		} else if got.After != 1 || !maps.Equal(got.Left, test.later) {
			t.Errorf("%s: it is said to part after %d, with %v", test.name, got.After, got.Left)
		}
		if got.Recorded != test.recorded || got.Observed != test.observed {
			t.Errorf("%s: first it %q, then it %q", test.name, got.Recorded, got.Observed)
		}
	}
	d := keeping(&Process{}, "web", 0, nil, map[string]string{"at": "since 2000-01-01T12:00:00Z", "n": "1"})
	l, a := &Learner{}, &Actor{domain: d}
	for name, test := range map[string]struct {
		contents map[string]string
		want     bool
	}{
		"nothing is shown": {nil, false}, "the same": {d.contents[1], false}, "a time that moves with the clock": {map[string]string{"at": "since " + night, "n": "1"}, false},
		"another value": {map[string]string{"at": "since " + night, "n": "2"}, true}, "a time is gone": {map[string]string{"n": "1"}, true},
	} {
		if got := l.keepsOther(a, run, followed{contents: test.contents}, shift{run: 11 * time.Hour}); (got != nil) != test.want {
			t.Errorf("%s: it keeps something else: %+v", name, got)
		}
	}
	moved := followed{contents: map[string]string{"at": "since " + night, "n": "1"}}
	if got := l.keepsOther(a, run, moved, shift{start: 11 * time.Hour}); got != nil {
		t.Errorf("a time that moves with the clock of the whole history is kept: %+v", got)
	}
	if got := l.keepsOther(a, run, moved, shift{start: -11 * time.Hour}); got == nil || got.at.start != -11*time.Hour || got.parting.Observed != "changes at in memory" {
		t.Errorf("a time that moves against the clock is kept as %+v", got)
	}
	// No time is noted anew where nothing but what the run has changed is another one later.
	began := behavior.Run{Activation: behavior.Activation{}, Path: run.Path, Leaf: run.Leaf}
	if got, err := l.renewsMemory(a, began, followed{contents: map[string]string{"at": "since " + night, "n": "1"}}); got != nil || err != nil {
		t.Errorf("a time that the run has noted is renewed: %+v, %v", got, err)
	}
	if got, err := l.renewsMemory(a, began, followed{}); got != nil || err != nil {
		t.Errorf("what is not shown is renewed: %+v, %v", got, err)
	}
}

// TestStirred has it be said once that event handlers which share memory both act on one change: in between, and in
// another order, it may come out otherwise.
func TestStirred(t *testing.T) {
	d, apart := keeping(&Process{}, "both", 0, nil, map[string]string{"R.seen[a]": "1", "R.n": "1"}), &domain{}
	one, two, three := &Actor{Description: core.Description{Name: "one"}, domain: d}, &Actor{Description: core.Description{Name: "two"}, domain: d}, &Actor{domain: apart}
	event := core.Event{Key: core.Key{Kind: "Pod", Name: "a"}}
	first := &handling{actor: one, event: event, change: 1}
	for _, test := range []struct {
		name            string
		then            *handling
		before, changed bool
		known, said     bool
	}{
		{"both change it", &handling{actor: two, event: event, change: 1}, true, true, false, true},
		{"the first changes it", &handling{actor: two, event: event, change: 1}, true, false, false, true},
		{"the second changes it", &handling{actor: two, event: event, change: 1}, false, true, false, true},
		{"neither changes it", &handling{actor: two, event: event, change: 1}, false, false, false, false},
		{"another change", &handling{actor: two, event: event, change: 2}, true, true, false, false},
		{"another memory", &handling{actor: three, event: event, change: 1}, true, true, false, false},
		{"the same controller", &handling{actor: one, event: event, change: 1}, true, true, false, false},
		{"it is known", &handling{actor: two, event: event, change: 1}, true, true, true, false},
	} {
		for _, learns := range []bool{true, false} {
			w := &Walker{Machine: &Machine{}, Vector: state.Vector{1}}
			if learns {
				w.Learn = &Learner{}
			}
			d.unordered = test.known
			if err := w.stir(first, test.before); err != nil {
				t.Errorf("%s: the first one: %v", test.name, err)
			}
			err := w.stir(test.then, test.changed)
			if w.renew(); w.stirred != (stirred{}) {
				t.Errorf("%s: another step begins with what was stirred in this one", test.name)
			}
			if test.said && learns && !strings.Contains(w.Machine.Doubts[0], "memory (R.n, R.seen), and") {
				t.Errorf("%s: it is said %q", test.name, w.Machine.Doubts)
			}
			if said := len(w.Machine.Doubts) == 1; said != (test.said && learns) || errors.Is(err, ErrUnknown) != (test.said && !learns) || d.unordered != (test.known || test.said && learns) {
				t.Errorf("%s, learning %t: it is said %q, %v", test.name, learns, w.Machine.Doubts, err)
			}
		}
	}
}
