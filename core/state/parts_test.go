package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// long selects and projects texts, and counts how often it is asked.
type long struct {
	than  int
	asked *int
}

func (l long) Identity() string { return fmt.Sprint("longer than ", l.than) }

func (l long) Selects(o core.Object) bool {
	*l.asked++
	return len(o.Content.(named)) > l.than
}

func (l long) Project(o core.Object) core.Content {
	*l.asked++
	return named(o.Key.Name + " " + string(o.Content.(named)[:l.than]))
}

// TestProjections has parts of objects be numbered by what is shown, and be looked at once.
func TestProjections(t *testing.T) {
	v := plainVocabulary()
	asked := 0
	other := v.Projection("kind", long{1, &asked})
	p := v.Projection("kind", long{2, &asked})
	if v.Projection("kind", long{2, new(int)}) != p || v.Projection("thing", long{2, &asked}) == p || other == p || !slices.Equal(v.Projections("kind"), []*Projection{other, p}) || p.Kind != "kind" {
		t.Errorf("the projections are %v", v.Projections("kind"))
	}
	v.Note("before")
	c, d := v.Object(core.Key{Kind: "kind", Name: "a"}), v.Object(core.Key{Kind: "kind", Name: "b"})
	values := map[string]Value{}
	for _, text := range []string{"other", "abc", "abd", "xyz"} {
		values[text] = v.Intern(c, named(text))
		v.Intern(d, named(text))
	}
	for _, test := range []struct {
		c     Cell
		text  string
		want  Value
		shows string
		asked int
	}{
		{d, "abd", 1, "b ab", 1}, {c, "abd", 2, "a ab", 2}, {c, "abc", 2, "a ab", 3}, {c, "abd", 2, "a ab", 3}, {c, "xyz", 3, "a xy", 4}, {d, "abc", 1, "b ab", 5}, {d, "abc", 1, "b ab", 5},
	} {
		value := values[test.text]
		before, known := p.Shown(test.c, value)
		if got := v.Project(p, test.c, value); got != test.want || p.Content(got) != named(test.shows) || asked != test.asked || known != (before == test.want) || !known && before != 0 {
			t.Errorf("of %q, number %d is shown: %v after %d questions; before, it was %d, %t", test.text, got, p.Content(got), asked, before, known)
		}
		if after, known := p.Shown(test.c, value); !known || after != test.want {
			t.Errorf("of %q, it is known that %d is shown, %t", test.text, after, known)
		}
	}
	if got, known := p.Shown(c, 0); got != 0 || !known || v.Project(p, c, 0) != 0 || p.Content(0) != nil || asked != 5 {
		t.Errorf("of nothing, %d is shown, %t", got, known)
	}
	for _, place := range []Place{{c, values["other"]}, {d, values["xyz"]}, {d, values["xyz"] + 1}, {d + 1, 1}} {
		if got, known := p.Shown(place.Cell, place.Value); got != 0 || known {
			t.Errorf("of %v, %d is shown, and that is known", place, got)
		}
	}
}

// TestSelections has each object be looked at once, in the namespace that is meant.
func TestSelections(t *testing.T) {
	v := plainVocabulary()
	asked := 0
	all, one := v.Selection("kind", "", long{2, &asked}), v.Selection("kind", "one", long{2, &asked})
	if v.Selection("kind", "one", long{2, new(int)}) != one || v.Selection("kind", "one", long{3, &asked}) == one || v.Selection("thing", "one", long{2, &asked}) == one || all == one {
		t.Error("two selections are one, or one is two")
	}
	if got := v.Selections("kind"); len(got) != 3 || got[0] != all || got[1] != one || one.Namespace != "one" || one.Kind != "kind" {
		t.Errorf("the selections are %v", got)
	}
	v.Note("before")
	here, there := v.Object(core.Key{Kind: "kind", Namespace: "one", Name: "a"}), v.Object(core.Key{Kind: "kind", Namespace: "two", Name: "a"})
	for _, c := range []Cell{here, there} {
		v.Intern(c, named("x"))
		v.Intern(c, named("xyz"))
	}
	for i, test := range []struct {
		s     *Selection
		c     Cell
		value Value
		want  bool
		asked int
	}{
		{all, there, 2, true, 1}, {all, there, 2, true, 1}, {all, there, 1, false, 2}, {all, there, 1, false, 2}, {all, there, 0, false, 2}, {all, here, 2, true, 3},
		{one, there, 2, false, 3}, {one, here, 2, true, 4}, {one, here, 1, false, 5}, {one, here, 0, false, 5},
	} {
		before, known := test.s.Selected(test.c, test.value)
		if got := v.Evaluate(test.s, test.c, test.value); got != test.want || asked != test.asked || known && before != test.want || !known && before {
			t.Errorf("%d: it is selected: %t, after %d questions; before, it was %t, %t", i, got, asked, before, known)
		}
		if got, known := test.s.Selected(test.c, test.value); !known || got != test.want {
			t.Errorf("%d: it is known that it is selected: %t, %t", i, got, known)
		}
	}
	if got, known := all.Selected(here, 1); got || known {
		t.Errorf("of what nobody asked for, it is known that it is selected: %t", got)
	}
	if got, known := (*Selection)(nil).Selected(here, 1); !got || !known {
		t.Error("without a selection not all is selected")
	}
	if got, known := one.Selected(there+1, 0); got || known {
		t.Error("it is known of an object that was never met")
	}
	if !v.May(all, here) || !v.May(one, here) || v.May(one, there) || v.May(v.Selection("kind", "", long{3, &asked}), here) {
		t.Error("what may be selected is not what has a value that is")
	}
}

// TestSigned has the signature of a list tell what is in it, until somebody has seen enough.
func TestSigned(t *testing.T) {
	places := []Place{{0, 1}, {127, 128}, {128, 127}, {5000, 70000}}
	signature := []byte("before")
	for _, p := range places {
		signature = AppendSigned(signature, p.Cell, p.Value)
	}
	for n := range len(places) + 1 {
		var got []Place
		for c, value := range Signed(string(signature[len("before"):])) {
			if got = append(got, Place{c, value}); len(got) == n {
				break
			}
		}
		if want := places[:n]; n > 0 && !slices.Equal(got, want) || n == 0 && !slices.Equal(got, places) {
			t.Errorf("the first %d are %v", n, got)
		}
	}
}

// TestPrints compares prints with what they are made of: they are the same in every search, of every version of the
// program.
func TestPrints(t *testing.T) {
	v := plainVocabulary()
	c := v.Object(core.Key{Kind: "kind", Namespace: "n", Name: "a"})
	item := v.Item(core.Item{Strategy: "s", Request: "r"})
	note := v.Note("crashes")
	value, one := v.Intern(c, named("text")), v.Extend(note, "1")
	point := v.Park(item, "a get")
	print := func(cell, value string) Fingerprint {
		text := append(binary.LittleEndian.AppendUint64(nil, uint64(len(cell))), cell+value...)
		sum := sha256.Sum256(text)
		return Fingerprint{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
	}
	for _, test := range []struct {
		c           Cell
		value       Value
		cell, means string
	}{
		{c, value, "object\x00kind\x00n\x00a", "text"}, {note, one, "note\x00crashes", "1"}, {item, Queued, "item\x00s\x00r", "1"}, {item, Queued | Timed | Behind, "item\x00s\x00r", "7"},
		{item, (Queued | Behind).ParkedAt(point), "item\x00s\x00r", "5 in flight after a get"},
	} {
		if got, want := v.Print(test.c, test.value), print(test.cell, test.means); got != want {
			t.Errorf("the print of %q in %q is %s, want %s", test.means, test.cell, got, want)
		}
	}
	f := print("x", "y")
	g := f
	if f.Toggle(print("a", "b")); f.Hi == g.Hi || f.Lo == g.Lo || f.Hi != g.Hi^print("a", "b").Hi {
		t.Error("a print changes one half only")
	}
	if got, want := (Fingerprint{1, 0xff}).String(), "000000000000000100000000000000ff"; got != want {
		t.Errorf("a fingerprint is shown as %s", got)
	}
	for c, want := range map[Cell]string{c: "kind n/a", item: "the work of s(r)", note: "note crashes", v.View("s", "kind"): "view s kind"} {
		if got := v.Describe(c); got != want {
			t.Errorf("a cell is described as %q, want %q", got, want)
		}
	}
	if v.Values(c) != 2 {
		t.Errorf("there are %d values", v.Values(c))
	}
	if got := NewLook(v, Vector{0, Queued.ParkedAt(point)}).InFlight(); len(got) != 1 || got[0].Request != "r" || len(NewLook(v, Vector{0, Queued}).InFlight()) > 0 {
		t.Errorf("in flight is %v", got)
	}
}

// TestUnpack has rows from elsewhere be read if they are of states that there may be.
func TestUnpack(t *testing.T) {
	v := plainVocabulary()
	for range 3 {
		c := v.Note(fmt.Sprint(v.Cells()))
		for n := range 199 {
			v.Extend(c, fmt.Sprint(n))
		}
	}
	for _, test := range []struct {
		name string
		row  []byte
		want Vector
		is   bool
	}{
		{"nothing", nil, nil, true},
		{"a state", Vector{1, 0, 199}.AppendRow(nil), Vector{1, 0, 199}, true},
		{"a short one", Vector{128}.AppendRow(nil), Vector{128}, true},
		{"zeros at the end", []byte{1, 0}, nil, false},
		{"one cell too many", Vector{1, 1, 1, 1}.AppendRow(nil), nil, false},
		{"a value that there is not", Vector{1, 200}.AppendRow(nil), nil, false},
		{"half a value", []byte{1, 0x80}, nil, false},
		{"a value that is no number", bytes.Repeat([]byte{0xff}, 11), nil, false},
	} {
		got, f, is := v.Unpack(test.row, Vector{7, 7, 7, 7, 7})
		if is != test.is || is && (!slices.Equal(got, test.want) || f != v.Fingerprint(test.want)) {
			t.Errorf("%s: %v, %s, %t", test.name, got, f, is)
		}
	}
}

// TestRenamed has a value be all that it may become by what is known of canonical forms, one after the other.
func TestRenamed(t *testing.T) {
	v := NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content {
		settled := slices.Clone(versions)
		for i, c := range versions {
			if text := c.Canonical(); len(versions) > 1 && len(text) > 1 {
				settled[i] = named(text[1:])
			}
		}
		return settled
	})
	c := v.Object(core.Key{Kind: "kind", Name: "a"})
	var values []Value
	for _, text := range []string{"c", "bc", "abc", "x"} {
		values = append(values, v.Intern(c, named(text)))
	}
	if got := v.Renamed(c, values[2]); !slices.Equal(got, values[2:3]) || v.Normalizations() != 0 {
		t.Errorf("nothing is known, and it may become %v", got)
	}
	v.Normalize(c, []Value{values[1], values[3]}, nil)
	v.Normalize(c, []Value{values[2], values[3]}, nil)
	v.Normalize(c, []Value{values[2], values[3]}, nil)
	if got, want := v.Renamed(c, values[2]), []Value{values[2], values[1], values[0]}; !slices.Equal(got, want) || v.Normalizations() != 2 {
		t.Errorf("it may become %v, want %v; %d canonical forms are known", got, want, v.Normalizations())
	}
	if got := v.Renamed(c, values[3]); !slices.Equal(got, values[3:]) {
		t.Errorf("what stays as it is may become %v", got)
	}
}

// TestFanForms has a fan have the form that suits what is in it.
func TestFanForms(t *testing.T) {
	for _, test := range []struct {
		name               string
		values             []Value
		few, dense, sparse int
	}{
		{"nothing", nil, 0, 0, 0},
		{"a few", []Value{1, 1_000_000, 3, 3, 2}, 4, 0, 0},
		{"close together", []Value{0, 1, 2, 3, 4}, 0, 5, 0},
		{"one beyond", []Value{0, 1, 2, 3, 4, 9}, 0, 10, 0},
		{"a little apart", []Value{0, 1, 2, 3, 39}, 0, 40, 0},
		{"too far apart", []Value{0, 1, 2, 3, 40}, 4, 0, 1},
		{"the first ones far away", []Value{1_000, 1, 2, 3, 4}, 4, 0, 1},
		{"too far apart, and then filled", []Value{0, 1, 2, 3, 40, 41}, 0, 42, 0},
		{"close together, and then one far away", []Value{0, 1, 2, 3, 4, 1_000}, 0, 0, 6},
		{"far away, and back again", []Value{0, 1, 2, 3, 4, 60, 5, 6}, 0, 61, 0},
	} {
		var f Fan[*int]
		for _, value := range test.values {
			f.Put(value, new(int))
		}
		if len(f.few) != test.few || len(f.dense) != test.dense || len(f.sparse) != test.sparse {
			t.Errorf("%s: %d are in a list, %d in a table, %d in a map", test.name, len(f.few), len(f.dense), len(f.sparse))
		}
	}
}

// TestRowBytes has values be written in as many bytes as they need, and be counted when they are read.
func TestRowBytes(t *testing.T) {
	for _, test := range []struct {
		vector Vector
		row    []byte
	}{
		{Vector{1, 127, 0}, []byte{1, 127}}, {Vector{128, 1}, []byte{0x80, 1, 1}}, {Vector{0, 129}, []byte{0, 0x81, 1}}, {Vector{16383}, []byte{0xff, 0x7f}}, {Vector{16384, 2}, []byte{0x80, 0x80, 1, 2}},
	} {
		row := test.vector.AppendRow(nil)
		if !bytes.Equal(row, test.row) {
			t.Errorf("the row of %v is %x", test.vector, row)
		}
		got := Vector{9, 9, 9, 9, 9}
		if n := got.ReadRow(row); !slices.Equal(got[:n], test.vector[:n]) || n == 0 || got[n-1] == 0 || slices.ContainsFunc(got[n:], func(v Value) bool { return v != 0 }) {
			t.Errorf("%x is read as %v with %d cells", row, got, n)
		}
	}
}

// TestOrders has objects and items be in the order of their names, in whatever order they came up.
func TestOrders(t *testing.T) {
	for _, names := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		v := plainVocabulary()
		var vector Vector
		for _, name := range names {
			v.Object(core.Key{Kind: "kind", Name: name})
			v.Item(core.Item{Strategy: "s", Request: core.Request(name)})
			vector = append(vector, 0, Queued)
		}
		var kinds, items string
		for _, c := range v.Kind("kind") {
			key, _ := v.Key(c)
			kinds += key.Name
		}
		for _, item := range NewLook(v, vector).Work() {
			items += string(item.Request)
		}
		if kinds != "abc" || items != "abc" {
			t.Errorf("the objects are %s, and the items %s", kinds, items)
		}
	}
}
