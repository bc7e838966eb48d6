package plain

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// exchange exchanges the words a and b, where there are spaces around them.
func exchange(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		switch word {
		case "a":
			words[i] = "b"
		case "b":
			words[i] = "a"
		}
	}
	return strings.Join(words, " ")
}

type phase string

type named struct {
	Name  string
	owner string
}

func TestRename(t *testing.T) {
	for _, test := range []struct {
		name      string
		from, to  core.Content
		key, want core.Key
	}{
		{"the key, and not its kind", newContent(1), newContent(1), core.Key{Kind: "a", Namespace: "b", Name: "a x"}, core.Key{Kind: "a", Namespace: "a", Name: "b x"}},
		{"no content", nil, nil, core.Key{Name: "a"}, core.Key{Name: "b"}},
		{"a string", newContent("a of b"), newContent("b of a"), core.Key{}, core.Key{}},
		{"a string of a type of its own", newContent(phase("a")), newContent(phase("b")), core.Key{}, core.Key{}},
		{"a slice", newContent([]string{"a", "c", "b"}), newContent([]string{"b", "c", "a"}), core.Key{}, core.Key{}},
		{"an array", newContent([2]string{"a", "c"}), newContent([2]string{"b", "c"}), core.Key{}, core.Key{}},
		{"keys and values of a map", newContent(map[string]phase{"a": "b", "b": "c"}), newContent(map[string]phase{"b": "a", "a": "c"}), core.Key{}, core.Key{}},
		{"a key of several fields", newContent(map[named]bool{{Name: "a"}: true}), newContent(map[named]bool{{Name: "b"}: true}), core.Key{}, core.Key{}},
		{"a field", newContent(named{Name: "a"}), newContent(named{Name: "b"}), core.Key{}, core.Key{}},
		{"no field that is not exported", newContent(named{"a", "a"}), newContent(named{"b", "a"}), core.Key{}, core.Key{}},
		{"what is below", newContent(map[int][]named{1: {{Name: "a"}}}), newContent(map[int][]named{1: {{Name: "b"}}}), core.Key{}, core.Key{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&store{}).Rename(core.Object{Key: test.key, Content: test.from}, exchange)
			if got.Key != test.want {
				t.Errorf("the key is %s, want %s", got.Key, test.want)
			}
			if !reflect.DeepEqual(got.Content, test.to) {
				t.Errorf("the content is %v, want %v", got.Content, test.to)
			}
		})
	}
}

// Renaming makes a value that is stored as any other is, leaves the one before as it was, and is undone by
// renaming back.
func TestRenamingBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := newContent(outers().Draw(t, "value"))
		before := string(encode(nil, reflect.ValueOf(given.value)))
		renamed := (&store{}).Rename(core.Object{Content: given}, exchange)
		if after := string(encode(nil, reflect.ValueOf(given.value))); after != before {
			t.Fatalf("the value that was renamed changed from\n%s to\n%s", before, after)
		}
		value := renamed.Content.(*content[outer]).value
		if want := newContent(value); !reflect.DeepEqual(renamed.Content, core.Content(want)) {
			t.Fatalf("stored as %v, want %v", renamed.Content, want)
		}
		if a := (&store{}).Rename(renamed, exchange); a.Content.Canonical() != before {
			t.Fatalf("renamed back it is\n%s, want\n%s", a.Content.Canonical(), before)
		}
	})
}
