package reduction

import (
	"slices"
	"testing"
)

// TestGroups ties the components to each other of which some member may write what is looked at, and no others.
func TestGroups(t *testing.T) {
	for _, test := range []struct {
		component, watched, want []int
	}{
		{[]int{0, 1, 2, 3}, nil, []int{0, 1, 2, 3}},
		{[]int{0, 1, 2, 3}, []int{2}, []int{0, 1, 2, 3}},
		{[]int{0, 1, 2, 3}, []int{3, 1}, []int{0, 1, 2, 1}},
		{[]int{0, 1, 1, 0, 4}, []int{2, 4}, []int{0, 1, 1, 0, 1}},
		{[]int{0, 1, 1, 0, 4}, []int{4, 3}, []int{0, 1, 1, 0, 0}},
	} {
		d := &independence{agents: len(test.component), component: test.component}
		for _, agent := range test.watched {
			d.watched.Add(agent)
		}
		if got := d.groups(); !slices.Equal(got, test.want) {
			t.Errorf("of %v with %v watched the groups are %v, want %v", test.component, test.watched, got, test.want)
		}
	}
}
