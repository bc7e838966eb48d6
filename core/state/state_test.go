package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// text is a content that is its own canonical text. Settling cuts it at the first "!".
type text string

func (c text) Canonical() string { return string(c) }
func (c text) Fields() any       { return string(c) }

func settle(_ core.Key, c core.Content) core.Content {
	before, _, _ := strings.Cut(c.Canonical(), "!")
	return text(before)
}

func drawVector(t *rapid.T) state.Vector {
	value := rapid.OneOf(
		rapid.Just(uint32(0)), rapid.Uint32Range(0, 3), rapid.Uint32Range(120, 140), rapid.Uint32(),
	)
	var v state.Vector
	for _, n := range rapid.SliceOfN(value, 0, 20).Draw(t, "values") {
		v = append(v, state.Value(n))
	}
	return v
}

// TestRows checks that a row says the vector, whatever was in the vector it is read into,
// and that equal states have equal rows.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawVector(t)
		row := v.AppendRow([]byte("before"))
		if string(row[:6]) != "before" {
			t.Fatal("packing changed what was there before")
		}
		row = row[6:]
		longer := append(slices.Clone(v), make(state.Vector, rapid.IntRange(0, 3).Draw(t, "zeros"))...)
		if got := longer.AppendRow(nil); string(got) != string(row) {
			t.Fatalf("with zeros at the end the row is %x, want %x", got, row)
		}
		got := make(state.Vector, len(longer))
		for i := range got {
			got[i] = 99
		}
		got.ReadRow(row)
		if !slices.Equal(got, longer) {
			t.Fatalf("got %v, want %v", got, longer)
		}
		other := drawVector(t)
		if same := slices.Equal(trimmed(v), trimmed(other)); same != (string(other.AppendRow(nil)) == string(row)) {
			t.Fatalf("%v and %v: that their rows are equal is %t", v, other, !same)
		}
	})
}

func trimmed(v state.Vector) state.Vector {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// entry is something that a state holds, by content.
type entry struct {
	key  core.Key
	word string
	item core.Item
	mark state.Value
}

// put puts the entry into a vector, which it makes long enough, and keeps a fingerprint of it.
func (e entry) put(vocabulary *state.Vocabulary, v state.Vector, f *state.Fingerprint) state.Vector {
	var c state.Cell
	var value state.Value
	if e.item != (core.Item{}) {
		c, value = vocabulary.Item(e.item), e.mark
	} else {
		c = vocabulary.Object(e.key)
		if e.word != "" {
			value = vocabulary.Intern(c, text(e.word))
		}
	}
	for len(v) <= int(c) {
		v = append(v, 0)
	}
	f.Toggle(vocabulary.Print(c, v[c]))
	f.Toggle(vocabulary.Print(c, value))
	v[c] = value
	return v
}

func drawEntry(t *rapid.T) entry {
	if rapid.Bool().Draw(t, "item") {
		return entry{
			item: core.Item{Strategy: rapid.SampledFrom([]string{"c", "d"}).Draw(t, "strategy"), Request: core.Request(rapid.SampledFrom([]string{"q", "r"}).Draw(t, "request"))},
			mark: state.Value(rapid.IntRange(0, 3).Draw(t, "mark")),
		}
	}
	return entry{
		key:  core.Key{Kind: core.Kind(rapid.SampledFrom([]string{"K", "L"}).Draw(t, "kind")), Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")},
		word: rapid.SampledFrom([]string{"", "x", "y", "x!1"}).Draw(t, "word"),
	}
}

// TestFingerprints checks that a fingerprint kept step by step is the one computed from
// scratch, that it does not depend on the order in which anything was met, and that
// different states have different ones.
func TestFingerprints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(drawEntry), 1, 12).Draw(t, "entries")
		vocabulary := state.NewVocabulary(settle)
		var v state.Vector
		var kept state.Fingerprint
		for _, e := range entries {
			v = e.put(vocabulary, v, &kept)
			if scratch := vocabulary.Fingerprint(v); scratch != kept {
				t.Fatalf("kept %s, from scratch %s", kept, scratch)
			}
		}
		other := state.NewVocabulary(settle)
		var w state.Vector
		var f state.Fingerprint
		for _, e := range rapid.Permutation(entries).Draw(t, "order") {
			w = e.put(other, w, &f)
		}
		for _, e := range entries {
			w = e.put(other, w, &f)
		}
		if f != kept {
			t.Fatalf("%s in one order of interning, %s in another", kept, f)
		}
		changed := drawEntry(t)
		before := describe(state.NewLook(other, w))
		w = changed.put(other, w, &f)
		if same := describe(state.NewLook(other, w)) == before; same != (f == kept) {
			t.Fatalf("after %+v: the same state %t, the same fingerprint %t", changed, same, f == kept)
		}
	})
}

func describe(l state.Look) string { return fmt.Sprint(l.Objects(), l.Work(), l.Timers()) }

func TestFingerprintText(t *testing.T) {
	f := state.Fingerprint{Hi: 1, Lo: 0xff}
	if got, want := f.String(), "000000000000000100000000000000ff"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
