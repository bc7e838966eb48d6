package state_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// text is a content that is its own canonical text: a word, and behind a "!" how often it was written.
type text string

func (c text) Canonical() string { return string(c) }
func (c text) Fields() any       { return string(c) }

// settle brings the numbers behind each word to the smallest ones that keep their order.
func settle(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	counts := map[string][]int{}
	for _, v := range versions {
		word, count := counted(v)
		counts[word] = append(counts[word], count)
	}
	settled := make([]core.Content, len(versions))
	for i, v := range versions {
		word, count := counted(v)
		ordered := slices.Compact(slices.Sorted(slices.Values(counts[word])))
		settled[i] = writing(word, slices.Index(ordered, count))
	}
	return settled
}

func counted(c core.Content) (word string, count int) {
	word, number, _ := strings.Cut(c.Canonical(), "!")
	count, _ = strconv.Atoi(number) // without a number it is the first
	return word, count
}

// writing is the content of a word that was written that often before.
func writing(word string, count int) text {
	if count == 0 {
		return text(word)
	}
	return text(fmt.Sprintf("%s!%d", word, count))
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
	place
	word string      // of an object or a note; of an item, what its run in flight has done; empty for nothing
	mark state.Value // of an item
}

// place is where an entry is: in the cell of an object, of an item, or of a note.
type place struct {
	key  core.Key
	item core.Item
	note string
}

// world is a state with its fingerprint, kept step by step, and what a twin of it holds.
type world struct {
	vocabulary  *state.Vocabulary
	vector      state.Vector
	fingerprint state.Fingerprint
	// values are the values of words in the cells that the vocabulary keeps no words of.
	values map[place]map[string]int
	twin   map[place]entry
}

func newWorld() *world {
	return &world{vocabulary: state.NewVocabulary(settle), values: map[place]map[string]int{}, twin: map[place]entry{}}
}

// put puts an entry into the state.
func (w *world) put(e entry) {
	var c state.Cell
	var value state.Value
	switch {
	case e.item != (core.Item{}):
		c = w.vocabulary.Item(e.item)
		value = e.mark.ParkedAt(w.value(e, func() int { return w.vocabulary.Park(c, e.word) }))
	case e.note != "":
		c = w.vocabulary.Note(e.note)
		value = state.Value(w.value(e, func() int { return int(w.vocabulary.Extend(c, e.word)) }))
	default:
		c = w.vocabulary.Object(e.key)
		if e.word != "" {
			value = w.vocabulary.Intern(c, text(e.word))
		}
	}
	for len(w.vector) <= int(c) {
		w.vector = append(w.vector, 0)
	}
	w.fingerprint.Toggle(w.vocabulary.Print(c, w.vector[c]))
	w.fingerprint.Toggle(w.vocabulary.Print(c, value))
	w.vector[c] = value
	w.twin[e.place] = e
	if e.word == "" && e.mark == 0 {
		delete(w.twin, e.place)
	}
}

// value returns the value of an entry's word, which it adds if it is new.
func (w *world) value(e entry, add func() int) int {
	if e.word == "" {
		return 0
	}
	if w.values[e.place] == nil {
		w.values[e.place] = map[string]int{}
	}
	value, known := w.values[e.place][e.word]
	if !known {
		value = add()
		w.values[e.place][e.word] = value
	}
	return value
}

func drawEntry(t *rapid.T) entry {
	e := entry{word: rapid.SampledFrom([]string{"", "x", "y", "x!1"}).Draw(t, "word")}
	switch rapid.IntRange(0, 3).Draw(t, "place") {
	case 0:
		e.note = rapid.SampledFrom([]string{"m", "n"}).Draw(t, "note")
	case 1, 2:
		e.item = core.Item{Strategy: rapid.SampledFrom([]string{"c", "d"}).Draw(t, "strategy"), Request: core.Request(rapid.SampledFrom([]string{"q", "r"}).Draw(t, "request"))}
		e.mark = state.Value(rapid.IntRange(0, 3).Draw(t, "mark"))
	default:
		e.key = core.Key{Kind: core.Kind(rapid.SampledFrom([]string{"K", "L"}).Draw(t, "kind")), Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
	}
	return e
}

// TestFingerprints checks that a fingerprint kept step by step is the one computed from
// scratch, that it does not depend on the order in which anything was met, and that
// different states have different ones.
func TestFingerprints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(drawEntry), 1, 12).Draw(t, "entries")
		one, other := newWorld(), newWorld()
		for _, e := range entries {
			one.put(e)
			if scratch := one.vocabulary.Fingerprint(one.vector); scratch != one.fingerprint {
				t.Fatalf("kept %s, from scratch %s", one.fingerprint, scratch)
			}
		}
		for _, e := range rapid.Permutation(entries).Draw(t, "order") {
			other.put(e)
		}
		for _, e := range entries {
			other.put(e)
		}
		if other.fingerprint != one.fingerprint {
			t.Fatalf("%s in one order of interning, %s in another", one.fingerprint, other.fingerprint)
		}
		changed := drawEntry(t)
		other.put(changed)
		if same := maps.Equal(one.twin, other.twin); same != (other.fingerprint == one.fingerprint) {
			t.Fatalf("after %+v: the same state %t, the same fingerprint %t", changed, same, other.fingerprint == one.fingerprint)
		}
		if same := maps.Equal(one.twin, other.twin); same != (string(one.rowIn(other)) == string(other.vector.AppendRow(nil))) {
			t.Fatalf("after %+v: the same state %t, but not so the rows", changed, same)
		}
	})
}

// rowIn returns the row of the state in the vocabulary of another world.
func (w *world) rowIn(other *world) []byte {
	translated := &world{vocabulary: other.vocabulary, values: other.values, twin: map[place]entry{}}
	for _, e := range w.twin {
		translated.put(e)
	}
	return translated.vector.AppendRow(nil)
}

func TestFingerprintText(t *testing.T) {
	f := state.Fingerprint{Hi: 1, Lo: 0xff}
	if got, want := f.String(), "000000000000000100000000000000ff"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
