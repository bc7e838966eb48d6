package calendar_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core/internal/calendar"
)

// TestOneSpan checks that without shorter spans the moments are counted as the long one passes.
func TestOneSpan(t *testing.T) {
	c := calendar.New(time.Hour, nil, 2)
	for i := range 3 {
		at := c.At(i)
		if at.Passed != time.Duration(i)*time.Hour || at.Before != time.Duration(max(0, i-1))*time.Hour || at.First != i || c.When(at.Passed) != i {
			t.Errorf("moment %d is %+v", i, at)
		}
		if c.Ends(i) != (i == 2) || c.Open(i) != (i < 2) || i < 2 && c.After(i, time.Hour) != i+1 {
			t.Errorf("another moment than %d is the last one", 2)
		}
	}
	if c.Len() != 3 || calendar.New(time.Hour, nil, 0).Len() != 1 {
		t.Errorf("there are %d moments", c.Len())
	}
}

// TestSpans checks all ways in which a minute and an hour pass: the order does not matter, but for the last one.
func TestSpans(t *testing.T) {
	c := calendar.New(time.Hour, []time.Duration{time.Minute}, 2)
	var ways func(n int, way string) []string
	ways = func(n int, way string) []string {
		m, ends := c.At(n), ""
		if c.Ends(n) {
			ends = "."
		} else if !c.Open(n) {
			ends = "!"
		}
		all := []string{fmt.Sprint(way, ends, " ", m.Passed, " after ", m.Before)}
		if first := c.At(m.First); first.Passed != m.Passed || m.First != c.When(m.Passed) {
			all = append(all, "first at "+first.Passed.String())
		}
		for _, span := range c.Spans(n) {
			all = append(all, ways(c.After(n, span), way+map[time.Duration]string{time.Minute: "m", time.Hour: "h"}[span])...)
		}
		return all
	}
	want := []string{
		" 0s after 0s", "m 1m0s after 0s", "mm! 2m0s after 1m0s", "mmh! 1h2m0s after 2m0s", "mmhh. 2h2m0s after 1h2m0s",
		"mh 1h1m0s after 1m0s", "mhm! 1h2m0s after 1h1m0s", "mhmh. 2h2m0s after 1h2m0s", "mhh. 2h1m0s after 1h1m0s",
		"h 1h0m0s after 0s", "hm 1h1m0s after 1h0m0s", "hmm! 1h2m0s after 1h1m0s", "hmmh. 2h2m0s after 1h2m0s", "hmh. 2h1m0s after 1h1m0s", "hh. 2h0m0s after 1h0m0s",
	}
	if got := ways(0, ""); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := c.Last(time.Hour + time.Minute); !slices.Equal(got, []time.Duration{time.Hour, time.Minute}) || c.Last(0) != nil {
		t.Errorf("the last to pass are %v", got)
	}
}

// TestAround has who looks again every so often come to each other hour and to each day, as far as he does.
func TestAround(t *testing.T) {
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	for every, want := range map[time.Duration]struct{ times, hours, days int }{
		time.Second:               {41, 23, 7}, // each hour of the first day but its first, noon of the next six, and each month
		40 * time.Minute:          {41, 23, 7},
		time.Hour:                 {41, 23, 7},
		5 * time.Hour:             {37, 23, 7},
		24 * time.Hour:            {35, 1, 7},
		7 * 24 * time.Hour:        {30, 1, 1},
		30 * 24 * time.Hour:       {12, 1, 7},
		10 * 365 * 24 * time.Hour: {0, 0, 0},
	} {
		hours, days := map[int]bool{}, map[time.Weekday]bool{}
		times := calendar.Around(every)
		for _, at := range times {
			if left := at % every; left > time.Minute {
				t.Errorf("every %s: nobody looks after %s", every, at)
			}
			hours[start.Add(at).Hour()], days[start.Add(at).Weekday()] = true, true
		}
		if got := (struct{ times, hours, days int }{len(times), len(hours), len(days)}); got != want || !slices.IsSorted(times) {
			t.Errorf("every %s: %+v, want %+v: %v", every, got, want, times)
		}
	}
}

// TestHours has who is looked at at any time be looked at on each day of a week, at another hour each.
func TestHours(t *testing.T) {
	hours, days := map[int]bool{}, map[time.Weekday]bool{}
	for _, by := range calendar.Hours() {
		at := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(by)
		hours[at.Hour()], days[at.Weekday()] = true, true
	}
	if noon := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(calendar.Noon()[0]); noon.Hour() != 12 || noon.Weekday() != time.Tuesday {
		t.Errorf("noon is %s, a %s", noon, noon.Weekday())
	}
	if len(hours) != 7 || len(days) != 7 || hours[0] {
		t.Errorf("the hours are %v, the days %v", hours, days)
	}
}

// TestAmid has the middle of two spans be between them, as long as they are seconds apart, and of no span that has a
// name.
func TestAmid(t *testing.T) {
	for _, until := range append(calendar.Spans(), 3*time.Second) {
		if by := calendar.Amid(time.Second, until); by <= time.Second || by >= until || by%time.Second == 0 {
			t.Errorf("amid a second and %s is %s", until, by)
		}
	}
}
