package explore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// logged is a line behind so many calls.
func logged(calls int, message string, pairs ...any) behavior.Logged {
	return behavior.Logged{LogLine: core.LogLineOf("info", "", message, pairs...), Calls: calls}
}

// TestAgreed has of the lines of several runs those be kept which all of them log.
func TestAgreed(t *testing.T) {
	a, b, c := logged(0, "a"), logged(0, "b"), logged(0, "c")
	const unsorted, others = "the order of some lines, which is another one each time", "lines that are others each time"
	for _, test := range []struct {
		name string
		runs [][]behavior.Logged
		want []string
		left []string
	}{
		{"nothing", [][]behavior.Logged{nil, nil}, nil, []string{"before"}},
		{"the same", [][]behavior.Logged{{a, b}, {a, b}, {a, b}}, []string{"0 info a", "0 info b"}, []string{"before"}},
		{"another order", [][]behavior.Logged{{b, a}, {b, a}, {a, b}}, []string{"0 info a", "0 info b"}, []string{"before", unsorted}},
		{"another line", [][]behavior.Logged{{a}, {b}}, nil, []string{"before", others}},
		{"a line more", [][]behavior.Logged{{a}, {a, b}}, nil, []string{"before", others}},
		{"a line that one run does not log", [][]behavior.Logged{{a, b, c}, {a, b, c}, {a, c}}, nil, []string{"before", others}},
		{"another value", [][]behavior.Logged{{logged(0, "m", "k", 1, "l", 2)}, {logged(0, "m", "k", 1, "l", 3)}}, []string{"0 info m k=1 l=(varies)"}, []string{"before"}},
		{"another value in the last run", [][]behavior.Logged{{logged(0, "m", "k", 1)}, {logged(0, "m", "k", 1)}, {logged(0, "m", "k", 2)}}, []string{"0 info m k=(varies)"}, []string{"before"}},
		{"another key", [][]behavior.Logged{{logged(0, "m", "k", 1)}, {logged(0, "m", "l", 1)}}, nil, []string{"before", others}},
		{"between other calls", [][]behavior.Logged{
			{a, logged(1, "x"), logged(3, "y")}, {a, logged(1, "z"), logged(3, "y")},
		}, []string{"0 info a", "3 info y"}, []string{"before", others}},
		{"the first differs, and the order of the last", [][]behavior.Logged{
			{a, logged(2, "x"), logged(2, "y")}, {b, logged(2, "y"), logged(2, "x")},
		}, []string{"2 info x", "2 info y"}, []string{"before", unsorted, others}},
		{"the order of the first, and the last differs", [][]behavior.Logged{
			{a, b, logged(2, "x")}, {b, a, logged(2, "z")},
		}, []string{"0 info a", "0 info b"}, []string{"before", unsorted, others}},
		{"one that is later in one run", [][]behavior.Logged{{logged(1, "x")}, {logged(2, "x")}}, nil, []string{"before", others}},
		{"one that only the last run logs", [][]behavior.Logged{nil, nil, {logged(4, "x")}}, nil, []string{"before", others}},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := fmt.Sprint(test.runs)
			lines, left := agreed(test.runs, []string{"before"})
			var got []string
			for _, line := range lines {
				got = append(got, fmt.Sprintf("%d %s", line.Calls, line.LogLine))
			}
			if !slices.Equal(got, test.want) || !slices.Equal(left, test.left) {
				t.Errorf("the lines are %q, and %q is left out", got, left)
			}
			if fmt.Sprint(test.runs) != given {
				t.Error("the lines of the runs were changed")
			}
		})
	}
}

func TestHandlersLast(t *testing.T) {
	of := func(request core.Request) ranAs {
		return ranAs{Run: behavior.Run{Activation: behavior.Activation{Request: request}}}
	}
	handler := func(request core.Request) ranAs {
		r := of(request)
		r.Activation.Event = new(core.Event)
		return r
	}
	runs := []ranAs{handler("1"), of("2"), handler("3"), handler("4"), of("5")}
	var got []core.Request
	for _, r := range slices.SortedStableFunc(slices.Values(runs), handlersLast) {
		got = append(got, r.Activation.Request)
	}
	if want := []core.Request{"2", "5", "1", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("they are in the order %v", got)
	}
}
