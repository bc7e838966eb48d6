package state_test

import (
	"slices"
	"testing"

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
		if got := v.Settled(c, value); got != canonical {
			t.Errorf("the canonical form of %q is %q", v.Content(c, value), v.Content(c, got))
		}
	}
	if raw == again || raw == canonical || v.Settled(c, 0) != 0 {
		t.Errorf("the values are %d, %d and %d, and nothing settles to %d", raw, again, canonical, v.Settled(c, 0))
	}
	item := v.Item(core.Item{Strategy: "c", Request: "r"})
	if got := v.Settled(item, state.Queued); got != state.Queued {
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

func TestViewCells(t *testing.T) {
	v := state.NewVocabulary(settle)
	c, other := v.View("c", "K"), v.View("d", "K")
	canonical := v.Extend(c, "canonical", 0)
	raw := v.Extend(c, "raw", canonical)
	if canonical != 1 || raw != 2 || v.Extend(other, "canonical", 0) != 1 {
		t.Errorf("the values are %d and %d", canonical, raw)
	}
	if v.Settled(c, 0) != 0 || v.Settled(c, canonical) != canonical || v.Settled(c, raw) != canonical {
		t.Error("the values do not settle as they should")
	}
	if v.Print(c, 0) != (state.Fingerprint{}) || v.Print(c, raw) == v.Print(c, canonical) || v.Print(c, canonical) == v.Print(other, 1) {
		t.Error("the prints do not tell the values apart")
	}
	// A view is neither work nor an object.
	vector := make(state.Vector, v.Cells())
	vector[c] = 3
	look := state.NewLook(v, vector)
	if len(look.Work()) != 0 || len(look.Timers()) != 0 || len(look.Objects()) != 0 {
		t.Errorf("a view is seen as work %v, timers %v, objects %v", look.Work(), look.Timers(), look.Objects())
	}
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
