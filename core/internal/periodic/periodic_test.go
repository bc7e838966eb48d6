package periodic

import "testing"

// TestRecurs checks small systems, whose states are rests by their letters: capitals if time passes from there, the
// same letter where only the time differs.
func TestRecurs(t *testing.T) {
	for _, test := range []struct {
		name   string
		states string // a point is no rest, and shows what all rests do; a mark shows something else
		steps  map[int][]int
		want   bool
	}{
		{"a heartbeat", "A.Bb", map[int][]int{0: {1}, 1: {2}, 2: {3}}, true},
		{"a heartbeat by steps", "A.B..b", map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {4}, 4: {3, 5}}, true},
		{"something else once", "A.!Bb", map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {4}}, true},
		{"something else on the way", "A.!.a", map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {4}}, false},
		{"something else before", "!A.a", map[int][]int{0: {1}, 1: {2}, 2: {3}}, true},
		{"the last is new", "A.B.c", map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {4}}, false},
		{"to and fro", "A.B.a", map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {4}}, false},
		{"to and fro, from either side", "AB..ab", map[int][]int{0: {2}, 1: {3}, 2: {5}, 3: {4}}, false},
		{"one of two", "AB..aab", map[int][]int{0: {2}, 1: {3}, 2: {4}, 3: {5, 6}}, false},
		{"both stay", "AB..ab", map[int][]int{0: {2}, 1: {3}, 2: {4}, 3: {5}}, true},
		{"what goes on comes to what stays", "ABb", map[int][]int{0: {1}, 1: {2}}, true},
		{"twins go different ways", "AA..ab", map[int][]int{0: {2}, 1: {3}, 2: {4}, 3: {5}}, false},
		{"it never rests again", "AA.a", map[int][]int{0: {2}, 1: {2}, 2: {2}}, false},
		{"it may never rest again", "A.a", map[int][]int{0: {1}, 1: {1, 2}}, true}, // which is for others to judge
		{"time passes everywhere", "AB", map[int][]int{0: {1}, 1: {1}}, false},
		{"nothing rests", "..", map[int][]int{0: {1}, 1: {0}}, false},
	} {
		rests := make([]Rest, len(test.states))
		for i, letter := range test.states {
			switch {
			case letter == '!':
				rests[i].Shows = 1
			case letter != '.':
				rests[i] = Rest{Is: true, Open: letter <= 'Z', Class: int(letter) % 32}
			}
		}
		if got := Recurs(rests, func(state int) []int { return test.steps[state] }); got != test.want {
			t.Errorf("%s: it recurs: %t", test.name, got)
		}
	}
}
