package reduction

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/internal/bitset"
)

// starting selects the contents that begin with a letter.
type starting byte

func (s starting) Identity() string           { return string(s) }
func (s starting) Selects(o core.Object) bool { return o.Content.Canonical()[0] == byte(s) }

// first projects contents to their first letters.
type first struct{}

func (first) Identity() string                   { return "first" }
func (first) Project(o core.Object) core.Content { return text(o.Content.Canonical()[:1]) }

// woke notes that a change was seen which woke some agents while this was remembered.
func (f *footprints) woke(c change, r transition.Remembered, agents ...int) {
	woken := &bitset.Set[int]{}
	for _, agent := range agents {
		woken.Add(agent)
	}
	if f.woken[c.sight] == nil {
		f.woken[c.sight] = map[changed][]waking{}
	}
	was := changed{c.from, r}
	f.woken[c.sight][was] = append(f.woken[c.sight][was], waking{c.to, woken})
}

// TestWakes has a change be known to wake those that it always did, for the object and for the parts of it that
// somebody looks at.
func TestWakes(t *testing.T) {
	w, f, web, c := observing(t)
	m := w.Machine
	key, _ := m.Vocabulary.Key(c)
	part := m.Vocabulary.Projection(key.Kind, first{})
	one, other, third := m.Item(web, "1"), m.Item(web, "2"), m.Item(web, "3")
	step := &transition.Taken{Kind: core.Reconcile, Actor: web, Item: one}
	aa, ab, ba := state.Value(1), state.Value(2), state.Value(3)
	take := func(from, to state.Value, wakes ...*transition.Item) {
		w.wakes.Began()
		w.wakes.seen = append(w.wakes.seen, change{sight{cell: c}, from, to})
		for _, it := range wakes {
			w.wakes.woken = append(w.wakes.woken, it.Cell)
		}
	}
	wakes := func(p *state.Projection, from, to state.Value) string {
		woken := f.wakingOf(change{sight{cell: c, projection: p}, from, to}, transition.Remembered{})
		if woken == nil {
			return "unknown"
		}
		return fmt.Sprint(slices.Collect(woken.All()))
	}
	shown := func(value state.Value) state.Value { return m.Vocabulary.Project(part, c, value) }
	if take(aa, ab, other); f.coversWakes(w, step) {
		t.Error("it is known what a change wakes that was never met")
	}
	grown := f.growth
	if f.noteWakes(w, step); f.growth == grown || !f.coversWakes(w, step) {
		t.Error("what was noted is not known")
	}
	agents := func(items ...*transition.Item) string {
		var all []int
		for _, it := range items {
			all = append(all, it.Agent)
		}
		slices.Sort(all)
		return fmt.Sprint(all)
	}
	if got := wakes(nil, aa, ab); got != agents(one, other) || wakes(nil, ab, aa) != "unknown" || wakes(part, shown(aa), shown(ab)) != "unknown" {
		t.Errorf("the change wakes %s", got)
	}
	// The first time that somebody more is woken says nothing: another time it was not.
	grown = f.growth
	if take(aa, ab, other, third); !f.coversWakes(w, step) {
		t.Error("one that is woken besides makes a difference")
	}
	if f.noteWakes(w, step); f.growth != grown || wakes(nil, aa, ab) != agents(one, other) {
		t.Errorf("the change wakes %s", wakes(nil, aa, ab))
	}
	if take(aa, ab); f.coversWakes(w, step) {
		t.Error("one that is not woken makes no difference")
	}
	if f.noteWakes(w, step); f.growth == grown || wakes(nil, aa, ab) != agents(one) || !f.coversWakes(w, step) {
		t.Errorf("the change wakes %s", wakes(nil, aa, ab))
	}
	// Of another part, it counts for the part, too.
	take(ab, ba, third)
	f.noteWakes(w, step)
	if got := wakes(part, shown(ab), shown(ba)); got != agents(one, third) || !f.coversWakes(w, step) {
		t.Errorf("the change of a part wakes %s", got)
	}
	if take(aa, ba, third); f.coversWakes(w, step) {
		t.Error("a change that was never met is known because that of the part is")
	}
	if w.wakes.Began(); !f.coversWakes(w, step) {
		t.Error("what changes nothing wakes somebody")
	}
	// A controller that starts again makes all of its work anew.
	restart := &transition.Taken{Kind: core.Restart, Actor: web}
	if awake := w.wakeful(restart); !awake.Has(one.Agent) || !awake.Has(other.Agent) || !awake.Has(web.Process.Restarts) {
		t.Errorf("a restart wakes %v", slices.Collect(awake.All()))
	}
	take(aa, ab, third)
	if got := fmt.Sprint(slices.Collect(w.wakeful(step).All())); got != agents(one, third) {
		t.Errorf("the step wakes %s", got)
	}
	var told []int
	w.wakes.woken = append(w.wakes.woken, one.Cell)
	if w.wakes.agents(step, func(agent int) { told = append(told, agent) }); !slices.Equal(told, []int{third.Agent}) {
		t.Errorf("besides itself it wakes %v", told)
	}
}

// TestMisses has an agent miss a change that was once seen not to wake it, of what it saw, or of what comes to be
// listed.
func TestMisses(t *testing.T) {
	const me, other = 3, 4
	m, c := watching(t)
	v := m.Vocabulary
	for _, content := range []text{"a", "b", "ab"} {
		v.Intern(c, content)
	}
	a, b, ab := state.Value(1), state.Value(2), state.Value(3)
	key, _ := v.Key(c)
	at, viewed := sight{cell: c}, sight{cell: c, view: 9, viewed: true}
	s := v.Selection(key.Kind, "", starting('a'))
	for _, test := range []struct {
		name    string
		changes []change
		woken   int
		place   placeName
		want    bool
	}{
		{"nothing changes", nil, other, placeName{sight: at, value: a, valued: true}, false},
		{"it changes", []change{{at, a, b}}, other, placeName{sight: at, value: a, valued: true}, true},
		{"it wakes me", []change{{at, a, b}}, me, placeName{sight: at, value: a, valued: true}, false},
		{"something else changes", []change{{at, b, a}}, other, placeName{sight: at, value: a, valued: true}, false},
		{"somebody else sees it", []change{{viewed, a, b}}, other, placeName{sight: at, value: a, valued: true}, false},
		{"who holds it", nil, me, placeName{sight: at, held: true}, true},
		{"it comes to be listed", []change{{at, 0, a}}, other, placeName{listed: true, entering: true, kind: key.Kind}, true},
		{"it is listed as before", []change{{at, a, b}}, other, placeName{listed: true, entering: true, kind: key.Kind}, false},
		{"it is no longer listed", []change{{at, a, 0}}, other, placeName{listed: true, entering: true, kind: key.Kind}, false},
		{"it comes to be listed, and wakes me", []change{{at, 0, a}}, me, placeName{listed: true, entering: true, kind: key.Kind}, false},
		{"another kind is listed", []change{{at, 0, a}}, other, placeName{listed: true, entering: true, kind: "y"}, false},
		{"another namespace is listed", []change{{at, 0, a}}, other, placeName{listed: true, entering: true, kind: key.Kind, namespace: "n"}, false},
		{"it comes to be selected", []change{{at, b, ab}}, other, placeName{listed: true, entering: true, kind: key.Kind, selection: s}, true},
		{"it comes, and is not selected", []change{{at, 0, b}}, other, placeName{listed: true, entering: true, kind: key.Kind, selection: s}, false},
		{"it stays selected", []change{{at, a, ab}}, other, placeName{listed: true, entering: true, kind: key.Kind, selection: s}, false},
		{"it comes to be listed in a view", []change{{viewed, 0, a}}, other, placeName{sight: sight{view: 9, viewed: true}, listed: true, entering: true, kind: key.Kind}, true},
		{"it comes to be listed in another view", []change{{viewed, 0, a}}, other, placeName{sight: sight{view: 8, viewed: true}, listed: true, entering: true, kind: key.Kind}, false},
	} {
		f := NewFootprints()
		f.vocabulary = v
		for range me + 1 {
			f.Added()
		}
		for _, c := range test.changes {
			f.woke(c, transition.Remembered{}, test.woken)
			f.woke(c, transition.Remembered{Value: 1}, other) // while something is remembered that is not before the run
		}
		place := f.place(test.place)
		f.agents[me].looks[place] = true
		missed := f.missed(me)
		if got := missed.has(place); got != test.want {
			t.Errorf("%s: it is missed: %t", test.name, got)
		}
		if got := slices.Contains(missed.places, place); got != (test.want && !test.place.viewed) || slices.Contains(missed.inViews, place) != (test.want && test.place.viewed) {
			t.Errorf("%s: missed %v, in views %v", test.name, missed.places, missed.inViews)
		}
	}
}

// TestMissesInNamespaces has an agent miss what comes to be listed in the namespace that it lists, or anywhere if it
// lists all of them.
func TestMissesInNamespaces(t *testing.T) {
	for _, test := range []struct {
		namespace string
		enters    core.Key
		want      bool
	}{{"", thingA, true}, {"", thingC, true}, {"n", thingA, true}, {"n", thingC, false}} {
		f := NewFootprints()
		f.vocabulary = state.NewVocabulary(sameVersions)
		c := f.vocabulary.Object(test.enters)
		f.vocabulary.Intern(c, text("a"))
		f.Added()
		f.woke(change{sight{cell: c}, 0, 1}, transition.Remembered{})
		place := f.place(placeName{listed: true, entering: true, kind: "thing", namespace: test.namespace})
		f.agents[0].looks[place] = true
		if missed := f.missed(0); missed.has(place) != test.want {
			t.Errorf("who lists %q misses that %s comes: %t", test.namespace, test.enters, missed.has(place))
		}
	}
}

// TestUnnoticed follows what may be seen by one change after the other that does not wake an agent while it remembers
// what it does.
func TestUnnoticed(t *testing.T) {
	const me, other = 3, 4
	m, c := watching(t)
	at := sight{cell: c}
	mine := transition.Remembered{Value: 1}
	f := NewFootprints()
	f.vocabulary = m.Vocabulary
	for _, content := range []text{"a", "b", "c", "d", "e"} {
		m.Vocabulary.Intern(c, content)
	}
	f.woke(change{at, 1, 2}, mine, other)
	f.woke(change{at, 2, 3}, mine, me, other)
	f.woke(change{at, 2, 4}, mine)
	f.woke(change{at, 4, 1}, mine)
	f.woke(change{at, 4, 5}, transition.Remembered{Value: 2})
	place := placeName{sight: at, value: 1, valued: true, begun: transition.Begun{Remembered: mine}}
	if got := f.unnoticed(me, place); !slices.Equal(got, []state.Value{1, 2, 4}) {
		t.Errorf("it may see %v", got)
	}
}
