package transition

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// firstLetter projects contents to their first letters.
type firstLetter struct{}

func (firstLetter) Identity() string                   { return "first" }
func (firstLetter) Project(o core.Object) core.Content { return o.Content.(content)[:1] }

// TestTracker has all be noted that a store looks at, each once, with what it saw: an answer depends on nothing else.
func TestTracker(t *testing.T) {
	m, w := desk("web")
	w.Learn = learning(t, m)
	key := func(name string) core.Key { return core.Key{Kind: "Pod", Namespace: "n", Name: name} }
	a, b := m.Vocabulary.Object(key("a")), m.Vocabulary.Object(key("b"))
	value := m.Vocabulary.Intern(a, content("xy"))
	w.fit()
	w.Set(a, value)
	p := m.Vocabulary.Projection("Pod", firstLetter{})
	s := m.Vocabulary.Selection("Pod", "n", selecting("xy"))
	all := string(state.AppendSigned(nil, a, value))
	for _, test := range []struct {
		name  string
		looks func(*tracker) any
		shows string
		want  behavior.Read
	}{
		{"an object", func(r *tracker) any { return r.Get(key("a")) }, "xy", behavior.Read{Cell: a, Value: value}},
		{"one that is not there", func(r *tracker) any { return r.Get(key("b")) }, "<nil>", behavior.Read{Cell: b}},
		{"a part", func(r *tracker) any { return r.Project(key("a"), firstLetter{}) }, "x", behavior.Read{Cell: a, Value: 1, Projection: p}},
		{"a part of what is not there", func(r *tracker) any { return r.Project(key("b"), firstLetter{}) }, "<nil>", behavior.Read{Cell: b, Projection: p}},
		{"a kind", func(r *tracker) any { return len(r.List("Pod", "")) }, "1", behavior.Read{Listed: true, Kind: "Pod", Signature: all}},
		{"a namespace", func(r *tracker) any { return len(r.List("Pod", "n")) }, "1", behavior.Read{Listed: true, Kind: "Pod", Namespace: "n", Signature: all}},
		{"another namespace", func(r *tracker) any { return len(r.List("Pod", "m")) }, "0", behavior.Read{Listed: true, Kind: "Pod", Namespace: "m"}},
		{"what is selected", func(r *tracker) any { return len(r.Select("Pod", "n", selecting("xy"))) }, "1", behavior.Read{Listed: true, Kind: "Pod", Namespace: "n", Selection: s, Signature: all}},
	} {
		r := &tracker{client: w.Live}
		for range 2 {
			if got := fmt.Sprint(test.looks(r)); got != test.shows {
				t.Errorf("%s: it is shown %s, want %s", test.name, got, test.shows)
			}
		}
		if !slices.Equal(r.reads, []behavior.Read{test.want}) {
			t.Errorf("%s: these are noted: %+v, want %+v", test.name, r.reads, test.want)
		}
	}
	// However many there are, each is noted once.
	r := &tracker{client: w.Live}
	for range 3 {
		for i := range 100 {
			r.Get(key(fmt.Sprint(i)))
		}
	}
	if len(r.reads) != 100 {
		t.Errorf("of 100 objects %d are noted", len(r.reads))
	}
	// Who holds versions matters where somebody may. What the run itself was shown does not have to be noted.
	r = &tracker{client: w.Live}
	shown := core.Object{Key: key("a"), Content: content("old")}
	w.path = behavior.Path{{Response: shows{"earlier", []core.Object{shown}}}, {Response: shows{"before", []core.Object{shown, {Key: key("b"), Content: content("other")}}}}}
	w.base = 1
	if got := r.Held(key("a")); !slices.Equal(got, []core.Content{content("old")}) || len(r.reads) > 0 {
		t.Errorf("%v are held, and these are noted: %+v", got, r.reads)
	}
	m.Holds = true
	r.Held(key("a"))
	if !slices.Equal(r.reads, []behavior.Read{{Held: true, Cell: a}}) {
		t.Errorf("where versions are held, these are noted: %+v", r.reads)
	}
}

// TestClientLearns has a client of a walker that learns find out what is shown of objects, and which of them are
// selected. Others only know what was found out.
func TestClientLearns(t *testing.T) {
	m, w := desk("web")
	a := m.Vocabulary.Object(core.Key{Kind: "Pod", Name: "a"})
	w.fit()
	w.Set(a, m.Vocabulary.Intern(a, content("xy")))
	p, s := m.Vocabulary.Projection("Pod", firstLetter{}), m.Vocabulary.Selection("Pod", "", selecting("xy"))
	for i, learner := range []*Learner{nil, learning(t, m), nil} {
		w.Learn = learner
		shown, known := w.Live.Project(p, a)
		if known != (i > 0) || known && p.Content(shown) != core.Content(content("x")) {
			t.Errorf("%d: it is known what is shown: %t, and that is %v", i, known, shown)
		}
		signature, known := w.Live.AppendSignature([]byte("so: "), "Pod", "", s)
		if known != (i > 0) || known && string(signature) != string(state.AppendSigned([]byte("so: "), a, w.Value(a))) {
			t.Errorf("%d: it is known what is selected: %t, and that is %q", i, known, signature)
		}
	}
}
