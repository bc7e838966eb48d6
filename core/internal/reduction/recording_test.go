package reduction

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// sameVersions is how a store brings contents to their canonical forms that has none.
func sameVersions(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }

// noting is a record of all that it is told.
type noting []string

func (n *noting) object(key core.Key) { *n = append(*n, "object "+key.String()) }
func (n *noting) kind(kind core.Kind, namespace string) {
	*n = append(*n, fmt.Sprint("kind ", kind, " in ", namespace))
}
func (n *noting) objects() { *n = append(*n, "objects") }
func (n *noting) items()   { *n = append(*n, "items") }

// shelf returns a state with objects and items, and its vocabulary.
func shelf() (*state.Vocabulary, state.Vector) {
	v := state.NewVocabulary(sameVersions)
	var vector state.Vector
	put := func(c state.Cell, value state.Value) {
		for len(vector) <= int(c) {
			vector = append(vector, 0)
		}
		vector[c] = value
	}
	for _, key := range []core.Key{{Kind: "Pod", Namespace: "n", Name: "a"}, {Kind: "Pod", Namespace: "m", Name: "a"}, {Kind: "Job", Name: "a"}} {
		c := v.Object(key)
		put(c, v.Intern(c, text(key.String())))
	}
	for request, value := range map[core.Request]state.Value{"queued": state.Queued, "timed": state.Timed, "flying": state.Value(0).ParkedAt(1)} {
		put(v.Item(core.Item{Strategy: "c", Request: request}), value)
	}
	put(v.Note("crashes"), 1)
	return v, vector
}

// TestRecordingState has a state show what it holds, and tell before what is looked at.
func TestRecordingState(t *testing.T) {
	v, vector := shelf()
	look := state.NewLook(v, vector)
	pod := core.Key{Kind: "Pod", Namespace: "n", Name: "a"}
	for _, test := range []struct {
		told string
		do   func(core.State) any
	}{
		{"object Pod n/a", func(s core.State) any { return s.Get(pod) }},
		{"kind Pod in n", func(s core.State) any { return s.List("Pod", "n") }},
		{"objects", func(s core.State) any { return s.(interface{ Objects() []core.Object }).Objects() }},
		{"items", func(s core.State) any { return s.Work() }},
		{"items", func(s core.State) any { return s.InFlight() }},
		{"items", func(s core.State) any { return s.Timers() }},
	} {
		var told noting
		got, want := test.do(&recordingState{look, &told}), test.do(look)
		if !reflect.DeepEqual(got, want) || reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: it shows %v, want %v", test.told, got, want)
		}
		if !slices.Equal(told, noting{test.told}) {
			t.Errorf("looking at %s tells %q", test.told, told)
		}
	}
}

// TestTrace has the cells be told that a predicate looks at, each once, with their values in the state.
func TestTrace(t *testing.T) {
	v, vector := shelf()
	cell := func(key core.Key) state.Cell { return v.Object(key) }
	pod, other, job := cell(core.Key{Kind: "Pod", Namespace: "n", Name: "a"}), cell(core.Key{Kind: "Pod", Namespace: "m", Name: "a"}), cell(core.Key{Kind: "Job", Name: "a"})
	var items []state.Cell
	for c := range state.Cell(v.Cells()) {
		if _, is := v.ItemAt(c); is {
			items = append(items, c)
		}
	}
	for _, test := range []struct {
		name string
		look func(*trace)
		want []state.Cell
	}{
		{"nothing", func(*trace) {}, nil},
		{"an object", func(r *trace) { r.object(core.Key{Kind: "Job", Name: "a"}) }, []state.Cell{job}},
		{"it twice", func(r *trace) { r.object(core.Key{Kind: "Job", Name: "a"}); r.object(core.Key{Kind: "Job", Name: "a"}) }, []state.Cell{job}},
		{"a kind", func(r *trace) { r.kind("Pod", "n") }, []state.Cell{pod, other}},
		{"all objects", func(r *trace) { r.objects() }, []state.Cell{pod, other, job}},
		{"all work", func(r *trace) { r.items() }, items},
		{"a new one", func(r *trace) { r.object(core.Key{Kind: "New", Name: "a"}) }, []state.Cell{state.Cell(v.Cells())}},
	} {
		r := &trace{vocabulary: v, vector: vector}
		test.look(r)
		var got []state.Cell
		for _, touch := range r.touched {
			got = append(got, touch.Cell)
			if touch.Was != vector.Value(touch.Cell) {
				t.Errorf("%s: it has seen %d in cell %d", test.name, touch.Was, touch.Cell)
			}
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: it has looked at %v, want %v", test.name, got, test.want)
		}
	}
}

// TestObserve has what predicates look at be known from then on, which counts as learned once.
func TestObserve(t *testing.T) {
	v, vector := shelf()
	f := NewFootprints()
	r := &Reductions{Footprints: f}
	s := r.Observe(state.NewLook(v, vector), v)
	job, unknown := core.Key{Kind: "Job", Name: "a"}, core.Key{Kind: "Job", Name: "never met"}
	for i, test := range []struct {
		look  func()
		place placeName
	}{
		{func() { s.Get(job) }, placeName{sight: sight{cell: v.Object(job)}}},
		{func() { s.Get(unknown) }, placeName{listed: true, kind: "Job"}},
		{func() { s.List("Pod", "n") }, placeName{listed: true, kind: "Pod", namespace: "n"}},
	} {
		for range 2 {
			test.look()
		}
		if f.growth != i+1 || !f.visible.reads[f.place(test.place)] || len(f.visible.reads) != i+1 || f.allVisible {
			t.Errorf("look %d: %d things are learned, and these places are visible: %v", i, f.growth, f.visible.reads)
		}
	}
	for _, look := range []func(core.State){func(s core.State) { s.Work() }, func(s core.State) { s.(*recordingState).Objects() }} {
		f := NewFootprints()
		for range 2 {
			look((&Reductions{Footprints: f}).Observe(state.NewLook(v, vector), v))
		}
		if !f.allVisible || f.growth != 1 {
			t.Errorf("all is visible: %t, and %d things are learned", f.allVisible, f.growth)
		}
	}
}
