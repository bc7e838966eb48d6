package recorded

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Moment is a point in recordings, as users name it. The zero value is the end.
type Moment struct {
	// Entry is the number of the last entry before it, 0 if a time is given.
	Entry uint64
	// At is how long it is after the beginning of the recordings, and Time the time of the clocks that the recorded
	// processes had, if one is given.
	At    time.Duration
	Time  time.Time
	given bool
}

// ParseMoment reads a moment: "12.5s" after the beginning of the recordings, a time such as "2026-11-25T08:00:00Z", or
// the number of an entry, such as "#134".
func ParseMoment(text string) (Moment, error) {
	fail := func() (Moment, error) {
		return Moment{}, fmt.Errorf("%q is no moment of a recording: write 12.5s for so long after its beginning, a time such as 2026-11-25T08:00:00Z, or #134 for what is just behind entry 134", text)
	}
	if number, is := strings.CutPrefix(text, "#"); is {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 {
			return fail()
		}
		return Moment{Entry: n, given: true}, nil
	}
	if at, err := time.ParseDuration(text); err == nil {
		if at < 0 {
			return Moment{}, fmt.Errorf("%s is before the recording began: write a time after its beginning", text)
		}
		return Moment{At: at, given: true}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fail()
	}
	return Moment{Time: at, given: true}, nil
}

// SplitMoment reads "RECORDING" or "RECORDING@MOMENT". A file or folder whose name has an at sign is found under its
// whole name.
func SplitMoment(text string) (name string, at Moment, err error) {
	i := strings.LastIndex(text, "@")
	if i < 0 {
		return text, Moment{}, nil
	}
	if _, err := os.Stat(text); err == nil {
		return text, Moment{}, nil
	}
	at, err = ParseMoment(text[i+1:])
	return text[:i], at, err
}

// String says the moment in words.
func (m Moment) String() string {
	switch {
	case !m.given:
		return "the end"
	case m.Entry > 0:
		return fmt.Sprintf("entry %d", m.Entry)
	case !m.Time.IsZero():
		return m.Time.UTC().Format(time.RFC3339Nano)
	}
	return m.At.String()
}

// cut is a moment in the recording of one process.
type cut struct {
	entry uint64
	at    time.Duration
}

// before reports whether an entry is before the moment.
func (c cut) before(n uint64, at time.Duration) bool {
	if c.entry > 0 {
		return n <= c.entry
	}
	return at <= c.at
}
