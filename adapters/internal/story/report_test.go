package story

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestRungs has a reason be said once, with the first condition that has it.
func TestRungs(t *testing.T) {
	rungs := []core.RungReport{
		{Name: "nothing goes wrong", Verdict: core.Inconclusive, States: 1, Reasons: []string{"a", "b"}},
		{Name: "a crash", Verdict: core.Inconclusive, States: 2000, Reasons: []string{"b"}},
		{Name: "a call fails", Verdict: core.Inconclusive, States: 3, Reasons: []string{"a", "c"}},
		{Name: "two instances", Reasons: []string{"d"}},
		{Name: "stale caches"},
	}
	want := []string{
		"inconclusive  nothing goes wrong: 1 state", "a", "b", "inconclusive  a crash: 2,000 states", "as above",
		"inconclusive  a call fails: 3 states", "c", "and as above", "not searched  two instances", "d", "not searched  stale caches",
	}
	var got []string
	for line, reasons := range Rungs(rungs) {
		got = append(append(got, line), reasons...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it says\n%q\nwant\n%q", got, want)
	}
	for range Rungs(rungs) {
		break
	}
}
