package bench

import (
	"slices"
	"strings"
	"testing"
)

// TestTargets spoils what each target is about, and wants just that one to be missed.
func TestTargets(t *testing.T) {
	slower := func(times float64, when func(Trial) bool) func(Trial, *Sample) {
		return func(t Trial, s *Sample) {
			if when(t) {
				s.Seconds *= times
				s.ProcessorSeconds *= times
			}
		}
	}
	fast := slower(0.01, func(t Trial) bool { return t.System == tenants })
	for _, test := range []struct {
		name   string
		spoil  func(Trial, *Sample)
		missed []int
	}{
		{"nothing", func(Trial, *Sample) {}, nil},
		{"counters", func(t Trial, s *Sample) {
			if t.Params == "n=50 k=2" {
				s.States++
			}
		}, []int{0}},
		{"tenants", func(t Trial, s *Sample) {
			if t.System == tenants && t.Params == "n=10" {
				s.States = 41
			}
		}, []int{1}},
		{"JobSets", func(t Trial, s *Sample) {
			if t.Params == "jobsets=8 groups=1" {
				s.States--
			}
		}, []int{2}},
		{"a restart", func(t Trial, s *Sample) {
			if t.Params == "restarts=1" {
				s.States *= 150
			}
		}, []int{3}},
		{"one condition", func(t Trial, s *Sample) {
			if t.System == jobset && t.Conditions == "crashes=1" && t.Reduction == reduced {
				s.States = 17
			}
		}, []int{4}},
		{"as slow as half of the others", slower(2.5, func(t Trial) bool { return t.System == Counters && t.Tool == Orrery }), []int{5, 6, 7}},
		{"half as slow as SPIN", slower(0.4, func(t Trial) bool { return t.Tool == Spin }), []int{5}},
		{"half as slow as two threads", slower(0.4, func(t Trial) bool { return t.Tool == Rumur && t.Workers == 2 }), []int{7}},
		{"workers in each other's way", slower(1.1, func(t Trial) bool { return t.Workers == 2 && t.Tool == Orrery }), []int{8}},
		{"memory", func(t Trial, s *Sample) {
			if !t.Compact {
				s.PeakBytes += 5 * int64(s.States)
			}
		}, []int{9}},
		{"compact memory", func(t Trial, s *Sample) {
			if t.Compact {
				s.PeakBytes += 5 * int64(s.States)
			}
		}, []int{10}},
		{"slow trees", slower(120, func(t Trial) bool { return t.System == tenants }), []int{11}},
		{"dear reduction", slower(1.4, func(t Trial) bool { return t.System == contended && t.Reduction == reduced }), []int{12}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spoil := func(trial Trial, s *Sample) {
				fast(trial, s)
				test.spoil(trial, s)
			}
			b := pretending(pretender{spoil: spoil})
			report, err := b.Measure(t.Context(), FullPlan(2))
			if err != nil {
				t.Fatal(err)
			}
			for i, target := range report.Targets {
				want := Met
				if slices.Contains(test.missed, i) {
					want = Missed
				}
				if target.Met != want {
					t.Errorf("%s: measured %v, %s %v: got %s, want %s", target.Name, *target.Measured, target.Relation, target.Bound, target.Met, want)
				}
			}
			if report.Missed() != (len(test.missed) > 0) {
				t.Errorf("the report says that a target was missed: %t", report.Missed())
			}
		})
	}
}

// TestBusyMachine has every search wait for a processor half of the time. That bears on nothing but what a second
// worker is worth, which cannot be told then.
func TestBusyMachine(t *testing.T) {
	measure := func(waiting float64) *Report {
		b := pretending(pretender{spoil: func(_ Trial, s *Sample) { s.Seconds *= waiting }})
		report, err := b.Measure(t.Context(), FullPlan(2))
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	calm, busy := measure(1), measure(2)
	for i, want := range calm.Targets {
		got := busy.Targets[i]
		switch {
		case i == 8:
			if got.Met != Open || !strings.Contains(got.Why, "too busy") {
				t.Errorf("%s: got %s: %s", got.Name, got.Met, got.Why)
			}
		case got.Met != want.Met || *got.Measured != *want.Measured:
			t.Errorf("%s: got %v, %s, want %v, %s", got.Name, *got.Measured, got.Met, *want.Measured, want.Met)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 100}, 3.5},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("%v: got %v, want %v", test.values, got, test.want)
		}
	}
}

// TestRatios compares within a turn, and leaves out what is not known of both.
func TestRatios(t *testing.T) {
	runs := func(rates ...float64) []Run {
		var all []Run
		for i, rate := range rates {
			all = append(all, Run{Turn: i + 1, StatesPerSecond: rate})
		}
		return all
	}
	got := ratios(runs(10, 0, 9, 8), runs(5, 5, 3), func(r Run) float64 { return r.StatesPerSecond })
	if !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("got %v", got)
	}
}
