package kube

import (
	"fmt"
	"strconv"
	"strings"
)

// indexes are numbers of the Pods of a Job, as intervals from the first to the last, both
// of which belong to them. They are written like "1,3-5,7".
type indexes [][2]int32

// parseIndexes reads the indexes of a Job with so many completions. What is written must
// be in order. With an error there are none.
func parseIndexes(text string, completions int32) (indexes, error) {
	if text == "" {
		return nil, nil
	}
	var all indexes
	for part := range strings.SplitSeq(text, ",") {
		interval, err := parseInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && all[n-1][1] >= interval[0] {
			return nil, notIncreasing(all[n-1][1], interval[0])
		}
		all = append(all, interval)
	}
	return all, nil
}

func notIncreasing(previous, current int32) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, current)
}

func parseInterval(text string, completions int32) (interval [2]int32, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > len(interval) {
		return interval, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	for i, end := range ends {
		n, err := strconv.Atoi(end)
		switch {
		case err != nil:
			return interval, fmt.Errorf("cannot convert string to integer for index: %q", end)
		case n >= int(completions):
			return interval, fmt.Errorf("too large index: %q", end)
		}
		interval[i] = int32(n)
	}
	switch {
	case len(ends) == 1:
		interval[1] = interval[0]
	case interval[0] >= interval[1]:
		return interval, notIncreasing(interval[0], interval[1])
	}
	return interval, nil
}

// count is how many indexes there are.
func (x indexes) count() int32 {
	var n int32
	for _, interval := range x {
		n += interval[1] - interval[0] + 1
	}
	return n
}

// common returns the first index that is among both.
func (x indexes) common(other indexes) (int32, bool) {
	for i, j := 0, 0; i < len(x) && j < len(other); {
		switch a, b := x[i], other[j]; {
		case a[0] <= b[1] && b[0] <= a[1]:
			return max(a[0], b[0]), true
		case a[0] <= b[0]:
			i++
		default:
			j++
		}
	}
	return 0, false
}
