package observe

import (
	"strings"
	"testing"
	"time"
)

// weighed has something of each kind that refers to something, and of each that does not.
type weighed struct {
	Text    string
	Flat    struct{ A, B int }
	At      time.Time
	Numbers []int
	Texts   []string
	Flats   []struct{ A, B int }
	Array   [2]string
	Map     map[string]string
	Pointer *weighed
	Any     any
}

// TestWeight counts what is behind fields of all kinds, and stops at the limit.
func TestWeight(t *testing.T) {
	types := &typesOf{}
	const much, limit = 10_000, 1 << 20
	text := strings.Repeat("x", much)
	empty := types.bytesOf(&weighed{At: time.Now()}, limit)
	if empty > 1000 {
		t.Errorf("nothing weighs %d bytes", empty)
	}
	for name, o := range map[string]*weighed{
		"text": {Text: text}, "numbers": {Numbers: make([]int, much/8)}, "texts": {Texts: []string{"", text}}, "flats": {Flats: make([]struct{ A, B int }, much/16)}, "array": {Array: [2]string{"", text}},
		"map": {Map: map[string]string{"a": text}}, "key": {Map: map[string]string{text: ""}}, "pointer": {Pointer: &weighed{Pointer: &weighed{Text: text}}}, "any": {Any: map[string]any{"a": []any{text}}},
	} {
		for range 2 { // the second time, the types are known
			if got := types.bytesOf(o, limit); got < much || got > empty+much+3000 {
				t.Errorf("%s: %d bytes, want some more than %d", name, got, much)
			}
		}
	}
	circle := &weighed{}
	circle.Pointer = circle
	if got := types.bytesOf(circle, limit); got != limit {
		t.Errorf("what refers to itself weighs %d bytes, want the limit", got)
	}
}
