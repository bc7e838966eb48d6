package memories

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestUnlike tells what fresh instances do not have in common, and of lists in another order what may differ as well.
func TestUnlike(t *testing.T) {
	list := func(names ...string) map[string]string {
		shown := map[string]string{"r.all": "2", "r.n": "0"}
		for i, name := range names {
			shown["r.all["+string(rune('0'+i))+"].name"] = name
			shown["r.all["+string(rune('0'+i))+"].count"] = "0"
		}
		return shown
	}
	for _, test := range []struct {
		name string
		all  []map[string]string
		want []string
	}{
		{"all the same", []map[string]string{list("a", "b"), list("a", "b")}, nil},
		// The places 2 and 0 are the same in both: they are not always, and how much each counts is memory.
		{"another order", []map[string]string{list("a", "b", "c", "d"), list("a", "c", "b", "d")}, []string{"r.all[0].name", "r.all[1].name", "r.all[2].name", "r.all[3].name"}},
		{"something else", []map[string]string{list("a", "b", "c"), list("a", "x", "c")}, []string{"r.all[1].name"}},
		{"maps have no order", []map[string]string{{"m[a]": "1", "m[b]": "2", "m[c]": "3"}, {"m[a]": "2", "m[b]": "1", "m[c]": "3"}}, []string{"m[a]", "m[b]"}},
		{"lists in lists", []map[string]string{{"l[0][0]": "1", "l[0][1]": "2", "l[0][2]": "3", "l[1][0]": "4"}, {"l[0][0]": "2", "l[0][1]": "1", "l[0][2]": "3", "l[1][0]": "4"}}, []string{"l[0][0]", "l[0][1]", "l[0][2]"}},
		{"the order by itself", []map[string]string{{"l[]": "a b", "n": "1"}, {"l[]": "b a", "n": "1"}}, []string{"l[]"}},
	} {
		noise := map[string]bool{}
		Unlike(noise, test.all)
		if got := slices.Sorted(maps.Keys(noise)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestShuffled has no noise where elements are others, and the same noise by whichever two orders of them it is found.
func TestShuffled(t *testing.T) {
	for name, other := range map[string]map[string]string{
		"another element": {"l[0]": "b", "l[1]": "c"}, "one more": {"l[0]": "b", "l[1]": "a", "l[2]": "a"}, "another order of others": {"l[]": "a c"},
	} {
		noise := map[string]bool{}
		if Shuffled(noise, map[string]string{"l[0]": "a", "l[1]": "b", "l[]": "a b"}, other); len(noise) > 0 {
			t.Errorf("%s: %v", name, noise)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.MapOfN(rapid.SampledFrom([]string{".a", ".b", ".c"}), rapid.SampledFrom([]string{"0", "1"}), 1, 3), 2, 5).Draw(t, "elements")
		orders := rapid.Custom(func(t *rapid.T) map[string]string {
			shown := map[string]string{}
			for i, kind := range rapid.Permutation(kinds).Draw(t, "order") {
				for rest, value := range kind {
					shown["l["+string(rune('0'+i))+"]"+rest] = value
				}
			}
			return shown
		})
		one, other, third := orders.Draw(t, "one"), orders.Draw(t, "other"), orders.Draw(t, "third")
		noise := map[string]bool{}
		if Shuffled(noise, one, other); maps.Equal(one, other) != (len(noise) == 0) {
			t.Fatalf("%v and %v: %v", one, other, noise)
		}
		if len(noise) == 0 {
			return
		}
		for path := range Differences(one, third) {
			if !noise[path] {
				t.Fatalf("%s is no noise: %v", path, noise)
			}
		}
	})
}
