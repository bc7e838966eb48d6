package behavior

import (
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestOtherNames has versions get the names of others, of a kind each, so that all that was older is newer; where the
// order within an object is known, only objects change places.
func TestOtherNames(t *testing.T) {
	a, b, c, other := core.Key{Kind: "Note", Name: "a"}, core.Key{Kind: "Note", Name: "b"}, core.Key{Kind: "Note", Name: "c"}, core.Key{Kind: "Page", Name: "a"}
	for about, test := range map[string]struct {
		shown           Tags
		within, between map[string]string
	}{
		"nothing":                  {Tags{}, nil, nil},
		"one":                      {Tags{a: {"7"}}, nil, nil},
		"one of each kind":         {Tags{a: {"7"}, other: {"8"}}, nil, nil},
		"two of an object":         {Tags{a: {"9", "10"}}, map[string]string{"9": "10", "10": "9"}, nil},
		"two objects":              {Tags{a: {"9"}, b: {"10"}}, map[string]string{"9": "10", "10": "9"}, map[string]string{"9": "10", "10": "9"}},
		"three":                    {Tags{a: {"3", "1", "2"}}, map[string]string{"1": "3", "2": "2", "3": "1"}, nil},
		"two of one and one of b":  {Tags{a: {"5", "1"}, b: {"3"}}, map[string]string{"1": "5", "3": "3", "5": "1"}, map[string]string{"3": "1", "1": "3", "5": "5"}},
		"two kinds, one of a kind": {Tags{a: {"1", "2"}, other: {"3"}}, map[string]string{"1": "2", "2": "1"}, nil},
		"a name of two objects":    {Tags{a: {"1", "3"}, b: {"1"}}, map[string]string{"1": "3", "3": "1"}, nil},
		"a name of two objects, and a third one": {
			Tags{a: {"1", "3"}, b: {"1"}, c: {"2"}}, map[string]string{"1": "3", "2": "2", "3": "1"}, map[string]string{"2": "1", "1": "2", "3": "3"},
		},
		"a name of two kinds": {
			Tags{a: {"1"}, b: {"2"}, other: {"1", "3"}}, map[string]string{"1": "3", "2": "2", "3": "1"}, map[string]string{"2": "1", "1": "2", "3": "3"},
		},
		"names that lead from each to the next": {Tags{a: {"1", "2"}, b: {"2", "3"}, c: {"3", "4"}}, map[string]string{"1": "4", "2": "3", "3": "2", "4": "1"}, nil},
	} {
		for ordered, want := range map[bool]map[string]string{false: test.within, true: test.between} {
			shown := maps.Clone(test.shown)
			if got := shown.Exchanged(ordered); !maps.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("%s, in order: %t: %v, want %v", about, ordered, got, want)
			}
			if !maps.EqualFunc(shown, test.shown, slices.Equal) {
				t.Errorf("%s: what was shown is %v", about, shown)
			}
		}
	}
	for about, test := range map[string]struct {
		shown, all Tags
		want       []map[string]string
	}{
		"no more":                  {Tags{a: {"1", "2"}}, Tags{a: {"1", "2"}}, nil},
		"one that is the only one": {Tags{}, Tags{a: {"1"}}, nil},
		"one that is older":        {Tags{a: {"2"}}, Tags{a: {"2", "1"}}, []map[string]string{{"1": "2", "2": "1"}}},
		"one that is newer":        {Tags{a: {"1"}}, Tags{a: {"1", "2"}}, []map[string]string{{"1": "2", "2": "1"}}},
		"one in between":           {Tags{a: {"3"}, b: {"1"}}, Tags{a: {"3", "2"}, b: {"1"}}, []map[string]string{{"1": "1", "3": "2", "2": "3"}, {"2": "1", "1": "2", "3": "3"}}},
		"two":                      {Tags{a: {"10"}}, Tags{a: {"10", "9", "8"}}, []map[string]string{{"10": "8", "9": "9", "8": "10"}, {"10": "10", "9": "8", "8": "9"}}},
		"two that are the only":    {Tags{other: {"3"}}, Tags{other: {"3"}, a: {"1"}, b: {"2"}}, []map[string]string{{"1": "2", "2": "1"}}},
	} {
		var got []map[string]string
		for _, others := range test.shown.Beside(test.all) {
			if !slices.ContainsFunc(got, func(known map[string]string) bool { return maps.Equal(known, others) }) {
				got = append(got, others)
			}
		}
		if !slices.EqualFunc(got, test.want, maps.Equal) {
			t.Errorf("%s: %v, want %v", about, got, test.want)
		}
	}
	if got := (Tags{a: {"9", "v-19", "none"}, b: {"007"}}).Shifted(); !maps.Equal(got, map[string]string{"9": "10", "v-19": "v-20", "007": "008"}) {
		t.Errorf("one later they are %v", got)
	}
	if names := slices.SortedFunc(slices.Values([]string{"10", "9", "11", "8"}), byNumber); !slices.Equal(names, []string{"8", "9", "10", "11"}) {
		t.Errorf("in order they are %v", names)
	}
}
