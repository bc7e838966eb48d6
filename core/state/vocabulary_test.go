package state_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

func TestSettled(t *testing.T) {
	v := state.NewVocabulary(settle)
	c := v.Object(core.Key{Kind: "K", Name: "a"})
	raw := v.Intern(c, text("x!1"))
	again := v.Intern(c, text("x!2"))
	canonical := v.Intern(c, text("x"))
	for _, value := range []state.Value{raw, again, canonical} {
		if got := v.Normalized(c, value); got != canonical {
			t.Errorf("the canonical form of %q is %q", v.Content(c, value), v.Content(c, got))
		}
	}
	if raw == again || raw == canonical || v.Normalized(c, 0) != 0 {
		t.Errorf("the values are %d, %d and %d, and nothing settles to %d", raw, again, canonical, v.Normalized(c, 0))
	}
	item := v.Item(core.Item{Strategy: "c", Request: "r"})
	if got := v.Normalized(item, state.Queued); got != state.Queued {
		t.Errorf("a queued item settles to %d", got)
	}
}

func TestInterning(t *testing.T) {
	v := state.NewVocabulary(settle)
	key, item := core.Key{Kind: "K", Name: "a"}, core.Item{Strategy: "c", Request: "r"}
	object, queued, view := v.Object(key), v.Item(item), v.View("c", "K")
	if v.Object(key) != object || v.Item(item) != queued || v.View("c", "K") != view || v.Cells() != 3 {
		t.Errorf("what is known is added again: there are %d cells", v.Cells())
	}
	if v.View("c", "L") == view || v.View("d", "K") == view {
		t.Error("two views have one cell")
	}
	for _, test := range []struct {
		cell           state.Cell
		isItem, isView bool
	}{{object, false, false}, {queued, true, false}, {view, false, true}} {
		_, isObject := v.Key(test.cell)
		_, isItem := v.ItemAt(test.cell)
		if isItem != test.isItem || isObject == (test.isItem || test.isView) {
			t.Errorf("cell %d: it is an object: %t, an item: %t", test.cell, isObject, isItem)
		}
	}
	if got := v.Intern(object, nil); got != 0 {
		t.Errorf("no content has the value %d", got)
	}
	x := v.Intern(object, text("x"))
	if x == 0 || v.Intern(object, text("x")) != x || v.Content(object, x) != text("x") || v.Content(object, 0) != nil {
		t.Errorf("the content is interned as %d", x)
	}
	if _, known := v.Lookup(core.Key{Kind: "K", Name: "b"}); known {
		t.Error("an object is known that was never met")
	}
	if c, known := v.Lookup(key); !known || c != object {
		t.Errorf("the cell of a known object is %d, %t", c, known)
	}
}

func TestViewsAndNotes(t *testing.T) {
	v := state.NewVocabulary(settle)
	for _, test := range []struct {
		cell, other state.Cell
	}{
		{v.View("c", "K"), v.View("d", "K")},
		{v.Note("crashes"), v.Note("failures")},
		{v.View("c", "n"), v.Note("c\x00n")},
	} {
		one := v.Extend(test.cell, "one")
		two := v.Extend(test.cell, "two")
		if one != 1 || two != 2 || v.Extend(test.other, "one") != 1 {
			t.Errorf("the values are %d and %d", one, two)
		}
		if v.Normalized(test.cell, 0) != 0 || v.Normalized(test.cell, one) != one || v.Normalized(test.cell, two) != two {
			t.Error("a value settles to another")
		}
		if v.Print(test.cell, 0) != (state.Fingerprint{}) || v.Print(test.cell, one) == v.Print(test.cell, two) || v.Print(test.cell, one) == v.Print(test.other, 1) {
			t.Error("the prints do not tell the values apart")
		}
		if _, isObject := v.Key(test.cell); isObject {
			t.Error("it is taken for an object")
		}
		if _, isItem := v.ItemAt(test.cell); isItem {
			t.Error("it is taken for an item")
		}
		// It is neither work nor an object.
		vector := make(state.Vector, v.Cells())
		vector[test.cell] = 3
		look := state.NewLook(v, vector)
		if len(look.Work()) != 0 || len(look.Timers()) != 0 || len(look.Objects()) != 0 {
			t.Errorf("it is seen as work %v, timers %v, objects %v", look.Work(), look.Timers(), look.Objects())
		}
	}
	crashes := v.Note("crashes")
	if v.Note("failures") == crashes || v.Note("crashes") != crashes {
		t.Error("notes do not have a cell each")
	}
}

// TestParking checks that marks and points of runs in flight share a cell and leave each other alone.
func TestParking(t *testing.T) {
	v := state.NewVocabulary(settle)
	item := core.Item{Strategy: "c", Request: "r"}
	c, other := v.Item(item), v.Item(core.Item{Strategy: "c", Request: "s"})
	first, second := v.Park(c, "first"), v.Park(c, "second")
	if first != 1 || second != 2 || v.Park(other, "first") != 1 {
		t.Errorf("the points have the numbers %d and %d", first, second)
	}
	prints := map[state.Fingerprint]state.Value{}
	for marks := state.Value(0); marks <= state.Queued|state.Timed; marks++ {
		for point := range 3 {
			value := marks.ParkedAt(point)
			if value.Parked() != point || value&(state.Queued|state.Timed) != marks {
				t.Errorf("marks %d at point %d are %d: marks %d at point %d", marks, point, value, value&(state.Queued|state.Timed), value.Parked())
			}
			if again := value.ParkedAt(second).ParkedAt(point); again != value {
				t.Errorf("%d moved to another point and back is %d", value, again)
			}
			if known, met := prints[v.Print(c, value)]; met {
				t.Errorf("the values %d and %d have the same print", known, value)
			}
			prints[v.Print(c, value)] = value
			if got := v.Normalized(c, value); got != value {
				t.Errorf("%d settles to %d", value, got)
			}
			if point == first && v.Print(other, value) == v.Print(c, value) {
				t.Error("two items have the same print")
			}
			vector := make(state.Vector, v.Cells())
			vector[c] = value
			look := state.NewLook(v, vector)
			if queued := marks&state.Queued != 0; slices.Contains(look.Work(), item) != queued {
				t.Errorf("value %d: the work is %v", value, look.Work())
			}
			if timed := marks&state.Timed != 0; slices.Contains(look.Timers(), item) != timed {
				t.Errorf("value %d: the timers are %v", value, look.Timers())
			}
		}
	}
	// What the run did before tells points apart in every search, not their numbers.
	w := state.NewVocabulary(settle)
	d := w.Item(item)
	if w.Park(d, "second") != 1 || w.Print(d, state.Value(0).ParkedAt(1)) != v.Print(c, state.Value(0).ParkedAt(second)) {
		t.Error("the print of a point depends on its number")
	}
}

// TestSettlement compares joint settling with the twin that settles contents, and checks what a
// canonical form has to be: versions that differ stay different, and what is canonical stays as it is.
func TestSettlement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := state.NewVocabulary(settle)
		key := core.Key{Kind: "K", Name: "a"}
		c := v.Object(key)
		draw := rapid.Custom(func(t *rapid.T) text {
			return writing(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "word"), rapid.IntRange(0, 4).Draw(t, "count"))
		})
		for _, met := range rapid.SliceOfN(draw, 0, 6).Draw(t, "met before") {
			v.Intern(c, met)
		}
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			var versions []state.Value
			for _, content := range rapid.SliceOfNDistinct(draw, 1, 5, rapid.ID[text]).Draw(t, "versions") {
				versions = append(versions, v.Intern(c, content))
			}
			slices.Sort(versions)
			contents := make([]core.Content, len(versions))
			for i, value := range versions {
				contents[i] = v.Content(c, value)
			}
			before, known := v.Normalization(c, versions, nil, nil)
			s := v.Normalize(c, versions, nil)
			if known && before != s {
				t.Fatal("what is known is worked out again")
			}
			if again, known := v.Normalization(c, versions, nil, []byte("buffer")); !known || again != s || v.Normalize(c, versions, nil) != s {
				t.Fatal("what was worked out is not known")
			}
			same := true
			for i, want := range settle(key, contents, nil) {
				got := s.Of(versions[i])
				if v.Content(c, got) != want {
					t.Fatalf("of %v, %v becomes %v, want %v", contents, contents[i], v.Content(c, got), want)
				}
				same = same && got == versions[i]
			}
			if s.Same != same {
				t.Fatalf("that nothing changes of %v is %t", contents, s.Same)
			}
			settled := slices.Clone(s.To)
			slices.Sort(settled)
			if len(slices.Compact(slices.Clone(settled))) != len(versions) {
				t.Fatalf("different ones of %v become the same", contents)
			}
			if !v.Normalize(c, settled, nil).Same {
				t.Fatalf("the canonical forms of %v are not canonical", contents)
			}
			if len(versions) == 1 && v.Normalized(c, versions[0]) != s.To[0] {
				t.Fatalf("alone, %v becomes another", contents[0])
			}
			for value := range state.Value(20) {
				if !slices.Contains(versions, value) && s.Of(value) != value {
					t.Fatalf("value %d is not among the versions %d and becomes %d", value, versions, s.Of(value))
				}
			}
		}
	})
}

func TestLook(t *testing.T) {
	v := state.NewVocabulary(settle)
	var vector state.Vector
	put := func(c state.Cell, value state.Value) {
		for len(vector) <= int(c) {
			vector = append(vector, 0)
		}
		vector[c] = value
	}
	for _, key := range []core.Key{
		{Kind: "L", Name: "a"}, {Kind: "K", Namespace: "two", Name: "a"}, {Kind: "K", Namespace: "one", Name: "b"}, {Kind: "K", Namespace: "one", Name: "a"},
	} {
		c := v.Object(key)
		put(c, v.Intern(c, text(key.Namespace+key.Name)))
	}
	gone := core.Key{Kind: "K", Namespace: "one", Name: "gone"}
	put(v.Object(gone), 0)
	for request, value := range map[core.Request]state.Value{"b": state.Queued, "a": state.Queued | state.Timed, "t": state.Timed} {
		put(v.Item(core.Item{Strategy: "c", Request: request}), value)
	}
	unseen := core.Key{Kind: "K", Namespace: "one", Name: "later"}
	v.Intern(v.Object(unseen), text("beyond the end of the vector"))
	look := state.NewLook(v, vector)

	names := func(objects []core.Object) []string {
		var names []string
		for _, o := range objects {
			if o.Content != text(o.Key.Namespace+o.Key.Name) {
				t.Errorf("%s is shown as %v", o.Key, o.Content)
			}
			names = append(names, o.Key.String())
		}
		return names
	}
	for _, test := range []struct {
		got, want []string
	}{
		{names(look.List("K", "")), []string{"K one/a", "K one/b", "K two/a"}},
		{names(look.List("K", "two")), []string{"K two/a"}},
		{names(look.List("M", "")), nil},
		{names(look.Objects()), []string{"K one/a", "K one/b", "K two/a", "L a"}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	for _, key := range []core.Key{gone, unseen, {Kind: "K", Name: "never met"}} {
		if got := look.Get(key); got != nil {
			t.Errorf("%s is shown as %v", key, got)
		}
	}
	if got := look.Get(core.Key{Kind: "L", Name: "a"}); got != text("a") {
		t.Errorf("L a is shown as %v", got)
	}
	if got, want := look.Work(), []core.Item{{Strategy: "c", Request: "a"}, {Strategy: "c", Request: "b"}}; !slices.Equal(got, want) {
		t.Errorf("the work is %v, want %v", got, want)
	}
	if got, want := look.Timers(), []core.Item{{Strategy: "c", Request: "a"}, {Strategy: "c", Request: "t"}}; !slices.Equal(got, want) {
		t.Errorf("the timers are %v, want %v", got, want)
	}
}
