package behavior

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/cputime"
)

// A run sees a clock that stands still while code is at work and moves where code sleeps. The clock begins at the turn
// of the year 2000, in UTC, a tick before the runs do: so a time that was written a tick earlier, and one that the
// world gave when it began, is in the past of every run.
const (
	// Tick is more than a second: whatever form a time is written in, it is another one a tick later.
	Tick = time.Second + time.Millisecond + time.Microsecond + time.Nanosecond
	// Epoch is longer than whatever controllers wait for: what was to be waited for is over an epoch later.
	Epoch = 20*365*24*time.Hour + 7*time.Hour + 7*time.Minute + Tick

	// latest is as far as the clock goes: timers of the runtime end with the nanoseconds that a number of 64 bits
	// counts since 1970, in 2262, and the process would end with them.
	latest = 240 * 365 * 24 * time.Hour
)

// Follow begins a run and takes it along a recorded one although its clock may be another one: it answers each call
// with the recorded response, as long as the calls have the aims of the recorded ones. It returns the calls, and where
// the run does more than to write other contents, nil if it does not. Where the recorded run was given up, this one
// waits to go on.
func (s *Session) Follow(ctx context.Context, run Run) ([]core.Call, *Divergence, error) {
	return s.along(ctx, run, func(call, recorded core.Call) bool { return Aim(call) == Aim(recorded) }, nil, (*Leaf).agrees)
}

// along takes a run along a recorded one as long as its calls are like the recorded ones. The answer is given to the last
// of the calls that it made; nil gives the recorded one. It returns the calls in the order of the recorded ones.
func (s *Session) along(ctx context.Context, run Run, like func(call, recorded core.Call) bool, answer func(calls []core.Call, recorded core.Response) core.Response, ends func(observed, recorded *Leaf) bool) ([]core.Call, *Divergence, error) {
	s.Begin(run.Activation)
	calls := make([]core.Call, len(run.Path))
	at := newProgress(s, run.Path)
	for range run.Path {
		i := at.next()
		edge := run.Path[i]
		call, leaf, err := s.NextAs(ctx, edge.From.Call)
		if err != nil {
			return nil, nil, err
		}
		if answer == nil {
			if early := at.early(call, like); early > i {
				calls[early] = call
				s.Answer(run.Path[early].Response)
				continue
			}
		}
		if call == nil || !like(call, edge.From.Call) {
			return calls[:i], &Divergence{
				Recorded: edge.From.Call.String(), Observed: saying(call, leaf), After: i, Call: call, Ended: leaf,
				ByChance:  edge.From.Point().Chance.Has(call, leaf, like),
				Exchanged: call != nil && s.overtook < 0 && s.exchangesAlong(run.Path[:i+1], append(slices.Clone(calls[:i]), call)),
			}, nil
		}
		calls[i], at.answered[i] = call, true
		response := edge.Response
		if answer != nil {
			response = answer(calls[:i+1], response)
		}
		s.Answer(response)
	}
	if run.Leaf == nil {
		return calls, nil, nil
	}
	call, observed, err := s.Next(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case call == nil && ends(observed, run.Leaf):
		return calls, nil, nil
	}
	return calls, run.endsOtherwise(call, observed, like), nil
}

// Aim identifies what a call does and to what, without the contents that it writes.
func Aim(call core.Call) string {
	if aimed, ok := call.(core.Aimed); ok {
		return aimed.Aim()
	}
	return call.String()
}

// Writes reports whether a call says what it writes, see [core.Aimed].
func (e *Edge) Writes() bool {
	aimed, ok := e.From.Call.(core.Aimed)
	return ok && aimed.Contents() != ""
}

// Dated reports whether two calls of equal aims differ in nothing but the times that they name.
func Dated(one, other core.Call) bool {
	return undated(contents(one)) == undated(contents(other))
}

// OtherContents returns that a call writes something else than a recorded one of the same aim, besides the times that
// both name, and the field where it does.
func OtherContents(recorded, observed core.Call, after int) *Divergence {
	one, other := contents(recorded), contents(observed)
	a, b := parts(one), parts(other)
	for i := range min(len(a), len(b)) {
		if undated(a[i]) != undated(b[i]) {
			one, other = a[i], b[i]
			break
		}
	}
	one, other = apart(one, other)
	return &Divergence{Recorded: recorded.String() + " with " + one, Observed: observed.String() + " with " + other, After: after, Call: observed}
}

// parts returns what stands in a text in JSON between braces and commas: fields, mostly.
func parts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{},", r) })
}

// Alike reports whether two runs go on in the same way where they part from a third one, whatever times they name.
func (d *Divergence) Alike(other *Divergence) bool {
	switch {
	case d.After != other.After || (d.Call == nil) != (other.Call == nil):
		return false
	case d.Ended != nil && other.Ended != nil && d.Ended.Later() && other.Ended.Later():
		return true // how long it waits does not matter
	case d.Call == nil:
		return d.Observed == other.Observed && maps.EqualFunc(d.Left, other.Left, SameButForTimes)
	}
	return SameButForTimes(Undated(d.Call), Undated(other.Call)) // an object may be named by the time
}

// OnlyDates reports whether a run does nothing else than a recorded one, from which it parts, but to name another time.
func (d *Divergence) OnlyDates(recorded Run) bool {
	if d.Call == nil || d.After >= len(recorded.Path) {
		return false
	}
	call := recorded.Path[d.After].From.Call
	return Aim(d.Call) == Aim(call) && Dated(d.Call, call)
}

// Undated identifies what a call does, whatever times it names.
func Undated(call core.Call) string { return Aim(call) + "\n" + undated(contents(call)) }

// Plain identifies a call by the text that it writes, whatever its identity makes of that.
func Plain(call core.Call) string {
	if aimed, ok := call.(core.Aimed); ok {
		return aimed.Aim() + " " + aimed.Contents()
	}
	return call.Identity()
}

// contents returns what a call writes.
func contents(call core.Call) string {
	if aimed, ok := call.(core.Aimed); ok {
		return aimed.Contents()
	}
	return call.Identity()
}

// SameButForTimes reports whether two texts are the same whatever times they name.
func SameButForTimes(one, other string) bool { return undated(one) == undated(other) }

// WithoutTimes returns a text with the same word in place of each time.
func WithoutTimes(text string) string { return undated(text) }

// Relative returns a text with its times as what they are seen from a moment on the clock that runs see, which is so
// far from its beginning: texts of two moments are then the same if time has gone by and nothing else. Of times and
// durations that are far away it only keeps that they are, as numbers that follow from the clock would never be the
// same again else.
func Relative(text string, since time.Duration) string {
	now := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(since)
	text = moments.ReplaceAllStringFunc(text, func(found string) string {
		at, known := momentOf(found, now)
		if !known {
			return found
		}
		switch away := at.Sub(now); {
		case away > Epoch/2:
			return "<far ahead>"
		case away < -Epoch/2:
			return "<long ago>"
		default:
			return "<now " + away.String() + ">"
		}
	})
	return long.ReplaceAllLiteralString(text, "<long>")
}

// Aligned returns texts with all their dates as what they are seen from a moment on the clock that runs see, which is
// so far from its beginning. Of those that are long ago it keeps how they lie to each other: texts of two moments are
// then the same if all that happened is as long ago, or longer ago than anything that is waited for. Times are whole
// seconds, and numbers stay as they are.
func Aligned(texts []string, since time.Duration) []string {
	now := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(since)
	var past []time.Duration
	away := func(found string) (time.Duration, bool) {
		at, known := dateOf(found)
		return at.Sub(now).Round(time.Second), known
	}
	for _, text := range texts {
		for _, found := range moments.FindAllString(text, -1) {
			if by, known := away(found); known && by < -Epoch/2 {
				past = append(past, by)
			}
		}
	}
	slices.Sort(past)
	names := map[time.Duration]string{}
	group, first := 0, time.Duration(0)
	for i, by := range past {
		if i == 0 || by-past[i-1] > Epoch/2 {
			group, first = group+1, by
		}
		names[by] = fmt.Sprintf("<long ago %d, %s>", group, by-first)
	}
	aligned := make([]string, len(texts))
	for i, text := range texts {
		aligned[i] = moments.ReplaceAllStringFunc(text, func(found string) string {
			by, known := away(found)
			switch name, longAgo := names[by]; {
			case !known:
				return found
			case longAgo:
				return name
			}
			return "<now " + by.String() + ">"
		})
	}
	return aligned
}

// long is a duration or a number that is as large as those that only come from a clock: more than eleven years, and
// hundreds of millions.
var long = regexp.MustCompile(`[0-9]{6,}h([0-9]+m)?([0-9.]+s)?|[0-9](\.[0-9]+)?e\+(0[89]|[1-9][0-9])|[0-9]{9,}(\.[0-9]+)?`)

// momentOf returns the time that a text stands for, if it stands for one that is not far beyond a moment.
func momentOf(text string, now time.Time) (time.Time, bool) {
	if at, known := dateOf(text); known {
		return at, true
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	for _, at := range []time.Time{time.Unix(number, 0), time.UnixMilli(number), time.UnixMicro(number), time.Unix(0, number)} {
		if away := at.Sub(now); away < Epoch/2 && away > -Epoch/2 {
			return at, true
		}
	}
	return time.Time{}, false
}

// dateOf returns the time that a text stands for as a date.
func dateOf(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// undated replaces what may be a time in a text: a date with its time, as for computers, as for people, or as in
// labels, which must not have colons; or a number as large as the seconds since 1970.
func undated(text string) string { return moments.ReplaceAllLiteralString(text, "time") }

var moments = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T _-][0-9]{2}[:.-][0-9]{2}[:.-][0-9]{2}(\.[0-9]+)?( ?(Z|[+-][0-9]{2}:?[0-9]{2}))?( UTC)?( m=[+-][0-9.]+)?` +
	`|[0-9]{8}[T_-][0-9]{6}Z?` +
	`|([A-Z][a-z]{2,8},? )?([0-9]{1,2}[ -][A-Z][a-z]{2}[ -][0-9]{2,4}|[A-Z][a-z]{2} +[0-9]{1,2}) [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?( [A-Z]{3,4}| [+-][0-9]{4})?( [0-9]{4})?` +
	`|[0-9]{9,}`)

// slowness tells from how long strides take whether something ticks in them. It has to be so for some of them in a row,
// as others may keep the machine busy.
type slowness struct {
	// costly is how long a stride takes at least in which something ticks, and inARow how many did so up to now.
	costly time.Duration
	inARow int
}

// lasts notes how long a stride took, and reports whether the last ones all took long.
func (s *slowness) lasts(took time.Duration) bool {
	const often = 3
	if took < s.costly {
		s.inARow = 0
		return false
	}
	s.inARow++
	return s.inARow >= often
}

// stopwatch tells how long something takes.
type stopwatch struct{ clock, work time.Duration }

// start starts a stopwatch.
func start() stopwatch { return stopwatch{machineTime(), cputime.Used()} }

// took returns how long it took: no longer than by the clock of the machine, nor than the process has worked meanwhile,
// as others may keep the machine busy. It starts the stopwatch again.
func (s *stopwatch) took() time.Duration {
	before := *s
	*s = start()
	return min(s.clock-before.clock, s.work-before.work)
}

// machineTime is the time on the clock of the machine, also in a bubble.
func machineTime() time.Duration {
	var now syscall.Timeval
	_ = syscall.Gettimeofday(&now)
	return time.Duration(now.Nano())
}
