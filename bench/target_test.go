package bench

import (
	"slices"
	"testing"
)

// TestTargets spoils what each target is about, and wants just that one to be missed.
func TestTargets(t *testing.T) {
	slower := func(times float64, when func(Trial) bool) func(Trial, *Sample) {
		return func(t Trial, s *Sample) {
			if when(t) {
				s.Seconds *= times
			}
		}
	}
	fast := func(t Trial, s *Sample) {
		if t.System == tenants {
			s.Seconds /= 100
		}
	}
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
		{"as slow as half of SPIN", slower(2.5, func(t Trial) bool { return t.System == Counters && t.Tool == Orrery }), []int{2}},
		{"workers in each other's way", slower(1.1, func(t Trial) bool { return t.Workers == 2 }), []int{3}},
		{"memory", func(t Trial, s *Sample) { s.PeakBytes += 5 * int64(s.States) }, []int{4}},
		{"slow trees", slower(120, func(t Trial) bool { return t.System == tenants }), []int{5}},
		{"dear reduction", slower(1.4, func(t Trial) bool { return t.System == contended && t.Reduction == reduced }), []int{6}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spoil := func(trial Trial, s *Sample) {
				fast(trial, s)
				test.spoil(trial, s)
			}
			b := Bench{Orrery: pretender{spoil: spoil}, Spin: pretender{}, Systems: everything()}
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
