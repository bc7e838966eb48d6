// Package calendar has the moments that a search comes to when time passes.
package calendar

import (
	"fmt"
	"slices"
	"time"
)

// Calendar are the moments at which time can get to if spans pass: a long one, and shorter ones until that has passed
// the last time. Each passes so often at most. Moments are numbered from 0, which is the start; those after one have
// greater numbers.
type Calendar struct {
	// spans are the shorter ones, and then the long one.
	spans   []time.Duration
	moments []Moment
	// steps are the numbers of the moments after each one, by the span that passes, and 0 for a span that does not pass
	// any more.
	steps [][]int
}

// Moment is when as much time has passed, and by which span it did the last time.
type Moment struct {
	// Passed is how much time has passed since the start, and Before how much had before it did the last time.
	Passed, Before time.Duration
	// First is the first moment when as much time has passed, whichever way it did.
	First int
	// passed is how often each span has.
	passed []int
}

// New returns the moments that there are if a long span and shorter ones pass so often at most. No two spans may be as
// long, nor some of them together as others are.
func New(long time.Duration, shorter []time.Duration, most int) *Calendar {
	c := &Calendar{spans: append(slices.Clip(shorter), long)}
	c.moments = []Moment{{passed: make([]int, len(c.spans))}}
	last := len(shorter)
	for n := 0; n < len(c.moments); n++ {
		at, steps := c.moments[n], make([]int, len(c.spans))
		for i, span := range c.spans {
			if at.passed[last] == most || at.passed[i] == most {
				continue
			}
			passed := slices.Clone(at.passed)
			passed[i]++
			steps[i] = c.number(Moment{Passed: at.Passed + span, Before: at.Passed, passed: passed})
		}
		c.steps = append(c.steps, steps)
	}
	return c
}

// number returns the number of a moment, which is added if it is new.
func (c *Calendar) number(m Moment) int {
	if i := slices.IndexFunc(c.moments, func(known Moment) bool { return known.Passed == m.Passed && known.Before == m.Before }); i >= 0 {
		return i
	}
	if m.First = c.When(m.Passed); m.First < 0 {
		m.First = len(c.moments)
	}
	c.moments = append(c.moments, m)
	return len(c.moments) - 1
}

// Len returns how many moments there are.
func (c *Calendar) Len() int { return len(c.moments) }

// At returns a moment by its number.
func (c *Calendar) At(n int) Moment { return c.moments[n] }

// Spans returns the spans that pass from a moment on.
func (c *Calendar) Spans(n int) []time.Duration {
	var spans []time.Duration
	for i, span := range c.spans {
		if c.steps[n][i] > 0 {
			spans = append(spans, span)
		}
	}
	return spans
}

// After returns the number of the moment after one when a span has passed that does from there on.
func (c *Calendar) After(n int, span time.Duration) int {
	return c.steps[n][slices.Index(c.spans, span)]
}

// Ends reports whether no time passes any more from a moment on.
func (c *Calendar) Ends(n int) bool {
	return !slices.ContainsFunc(c.steps[n], func(to int) bool { return to > 0 })
}

// Open reports whether all spans still pass from a moment on.
func (c *Calendar) Open(n int) bool { return !slices.Contains(c.steps[n], 0) }

// When returns the number of the first moment when so much time has passed, -1 if there is none.
func (c *Calendar) When(passed time.Duration) int {
	return slices.IndexFunc(c.moments, func(m Moment) bool { return m.Passed == passed })
}

// Last returns by which of the spans the time may have passed the last time when so much has.
func (c *Calendar) Last(passed time.Duration) []time.Duration {
	var spans []time.Duration
	for _, m := range c.moments[1:] {
		if m.Passed == passed {
			spans = append(spans, m.Passed-m.Before)
		}
	}
	return spans
}

// Spans are how long after a moment controllers are asked whether they do something else than at once, and than much
// later. They are some seconds longer than what people call them: what is to be waited for so long is over then, and of
// a time that is written it can be told when that was: an hour after something, or now, as an hour has passed.
func Spans() []time.Duration {
	const day, second = 24 * time.Hour, time.Second
	return []time.Duration{time.Minute + 5*second, time.Hour + 11*second, day + 17*second, 30*day + 23*second, 365*day + 31*second}
}

// Amid is a span in the middle of two: of whole seconds, and some milliseconds, so that it is no sum of those that
// people have names for.
func Amid(from, until time.Duration) time.Duration {
	return (from + (until-from)/2).Truncate(time.Second) + 9*time.Millisecond
}

// Late is how much longer times are than what people call them, and after when a timer is due: so that no two spans are
// as long as others by accident.
const Late = 8*time.Second + 7*time.Millisecond

// Hours are how long after a moment those are looked at who may look at any time: at another hour on each day of a
// week, three hours apart.
func Hours() []time.Duration {
	var times []time.Duration
	for day := range 7 {
		times = append(times, time.Duration(24*day+3*(day+1))*time.Hour+Late)
	}
	return times
}

// Noon is the one of these that is at noon on a workday.
func Noon() []time.Duration { return Hours()[3:4] }

// Around are how long after a moment those look who look again every so often, once at each other hour of a day, at
// noon on each day of a week, and in each month of a year, as far as they come to it then, and some seconds late. Those
// who look less than once an hour come to other hours on other days.
func Around(every time.Duration) []time.Duration {
	const hour = time.Hour
	every = max(every.Truncate(time.Second), time.Second)
	var times []time.Duration
	for h := range 24 {
		times = append(times, time.Duration(h)*max(hour, every))
	}
	for day := range 7 {
		times = append(times, time.Duration(day)*24*hour+12*hour)
	}
	for month := range 12 {
		times = append(times, time.Duration(month+1)*30*24*hour+18*hour)
	}
	for i, at := range times {
		times[i] = at + (every-at%every)%every + Late
	}
	slices.Sort(times)
	times = slices.Compact(times[1:]) // at once is what is compared with
	return slices.DeleteFunc(times, func(at time.Duration) bool { return at > 365*24*hour })
}

// NameOf is what people call a span; it is empty for the long one, which is longer than whatever is waited for.
func NameOf(span, long time.Duration) string {
	switch at := slices.Index(Spans(), span); {
	case at >= 0:
		return []string{"a minute", "an hour", "a day", "a month", "a year"}[at]
	case span == long:
		return ""
	}
	return span.Truncate(time.Second).String()
}

// Wait is how a controller waits for a time that is not searched, empty if it does not as far as is known, and what it
// does later if it is told by that.
type Wait struct{ Why, Later string }

// Is notes what becomes known first.
func (w *Wait) Is(later, format string, args ...any) {
	if w.Why == "" {
		*w = Wait{fmt.Sprintf(format, args...), later}
	}
}
