package tally

import "testing"

func TestOften(t *testing.T) {
	for _, test := range []struct {
		taken       []int
		ways, least int
		want        bool
	}{
		{[]int{0, 1, 0, 1}, 2, 2, true}, {[]int{0, 1, 0, 0}, 2, 2, false}, {[]int{0, 0, 0}, 2, 1, false}, {nil, 1, 1, false}, {[]int{0}, 1, 1, true},
	} {
		if got := Often(test.taken, test.ways, test.least); got != test.want {
			t.Errorf("%v of %d, %d times: %t", test.taken, test.ways, test.least, got)
		}
	}
}

func TestRegular(t *testing.T) {
	for _, test := range []struct {
		taken []int
		ways  int
		want  bool
	}{
		{[]int{0, 1, 0, 1, 0, 1}, 2, true},    // in turn
		{[]int{0, 0, 0, 1, 1, 1}, 2, true},    // each no more once the other one came
		{[]int{0, 1, 2, 0, 1, 2, 0}, 3, true}, // in turn
		{[]int{0, 0, 1, 0, 1, 1, 0}, 2, false},
		{[]int{0, 0, 0}, 1, false},
	} {
		if got := Regular(test.taken, test.ways); got != test.want {
			t.Errorf("%v: %t", test.taken, got)
		}
	}
}
