package transition

import (
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestOtherNames has versions get the names of others, of a kind each, so that all that was older is newer; where the order within an object is known, only objects change places.
func TestOtherNames(t *testing.T) {
	a, b, other := core.Key{Kind: "Note", Name: "a"}, core.Key{Kind: "Note", Name: "b"}, core.Key{Kind: "Page", Name: "a"}
	for about, test := range map[string]struct {
		shown           tags
		within, between map[string]string
	}{
		"nothing":                  {tags{}, nil, nil},
		"one":                      {tags{a: {"7"}}, nil, nil},
		"one of each kind":         {tags{a: {"7"}, other: {"8"}}, nil, nil},
		"two of an object":         {tags{a: {"9", "10"}}, map[string]string{"9": "10", "10": "9"}, nil},
		"two objects":              {tags{a: {"9"}, b: {"10"}}, map[string]string{"9": "10", "10": "9"}, map[string]string{"9": "10", "10": "9"}},
		"three":                    {tags{a: {"3", "1", "2"}}, map[string]string{"1": "3", "2": "2", "3": "1"}, nil},
		"two of one and one of b":  {tags{a: {"5", "1"}, b: {"3"}}, map[string]string{"1": "5", "3": "3", "5": "1"}, map[string]string{"3": "1", "1": "3", "5": "5"}},
		"two kinds, one of a kind": {tags{a: {"1", "2"}, other: {"3"}}, map[string]string{"1": "2", "2": "1"}, nil},
	} {
		for ordered, want := range map[bool]map[string]string{false: test.within, true: test.between} {
			shown := maps.Clone(test.shown)
			if got := shown.otherwise(ordered); !maps.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("%s, in order: %t: %v, want %v", about, ordered, got, want)
			}
			if !maps.EqualFunc(shown, test.shown, slices.Equal) {
				t.Errorf("%s: what was shown is %v", about, shown)
			}
		}
	}
	for about, test := range map[string]struct {
		shown, all tags
		want       []map[string]string
	}{
		"no more":                  {tags{a: {"1", "2"}}, tags{a: {"1", "2"}}, nil},
		"one that is the only one": {tags{}, tags{a: {"1"}}, nil},
		"one that is older":        {tags{a: {"2"}}, tags{a: {"2", "1"}}, []map[string]string{{"1": "2", "2": "1"}}},
		"one that is newer":        {tags{a: {"1"}}, tags{a: {"1", "2"}}, []map[string]string{{"1": "2", "2": "1"}}},
		"one in between":           {tags{a: {"3"}, b: {"1"}}, tags{a: {"3", "2"}, b: {"1"}}, []map[string]string{{"1": "1", "3": "2", "2": "3"}, {"2": "1", "1": "2", "3": "3"}}},
		"two":                      {tags{a: {"10"}}, tags{a: {"10", "9", "8"}}, []map[string]string{{"10": "8", "9": "9", "8": "10"}, {"10": "10", "9": "8", "8": "9"}}},
		"two that are the only":    {tags{other: {"3"}}, tags{other: {"3"}, a: {"1"}, b: {"2"}}, []map[string]string{{"1": "2", "2": "1"}}},
	} {
		var got []map[string]string
		for _, others := range test.shown.beside(test.all) {
			if !slices.ContainsFunc(got, func(known map[string]string) bool { return maps.Equal(known, others) }) {
				got = append(got, others)
			}
		}
		if !slices.EqualFunc(got, test.want, maps.Equal) {
			t.Errorf("%s: %v, want %v", about, got, test.want)
		}
	}
	if got := (tags{a: {"9", "v-19", "none"}, b: {"007"}}).shifted(); !maps.Equal(got, map[string]string{"9": "10", "v-19": "v-20", "007": "8"}) {
		t.Errorf("one later they are %v", got)
	}
	if names := slices.SortedFunc(slices.Values([]string{"10", "9", "11", "8"}), byNumber); !slices.Equal(names, []string{"8", "9", "10", "11"}) {
		t.Errorf("in order they are %v", names)
	}
}
