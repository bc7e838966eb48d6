package storage

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// creation is the field that says when an object was created.
const creation = "creationTimestamp"

// Created implements [core.Aged].
func (o *Object) Created() string {
	metadata, _ := o.Tree["metadata"].(map[string]any)
	created, _ := metadata[creation].(string)
	return created
}

// Written implements [core.Aged]: all values that are times of the clock, or whole minutes away from one as what is due
// later is.
func (o *Object) Written() map[string]string { return o.written() }

// Earlier implements [core.Aged]. The object keeps its resource version.
func (o *Object) Earlier(by map[string]int) core.Content {
	return o.ShownAs(Predated(o.Tree, by))
}

// Predated returns a tree as it would be if the times at some places (see [core.Aged]) were so many seconds earlier. It
// shares with the tree what is the same.
func Predated(tree map[string]any, by map[string]int) map[string]any {
	paths := maps.Clone(by)
	if seconds := by[core.Creation]; seconds != 0 {
		delete(paths, core.Creation)
		paths[core.FieldOf("metadata", creation)] = seconds
	}
	tree, _ = predated(tree, "", paths).(map[string]any)
	return tree
}

func predated(value any, path string, by map[string]int) any {
	switch value := value.(type) {
	case map[string]any:
		other := maps.Clone(value)
		for name, below := range value {
			other[name] = predated(below, core.FieldOf(path, name), by)
		}
		return other
	case []any:
		other := slices.Clone(value)
		for i, below := range value {
			other[i] = predated(below, core.ItemOf(path, i), by)
		}
		return other
	}
	if seconds := by[path]; seconds != 0 {
		if earlier, _, is := later(value, -time.Duration(seconds)*time.Second); is {
			return earlier
		}
	}
	return value
}

// written returns the times in a tree, by their places, but for when its object was created and who wrote which field
// when.
func written(tree map[string]any) map[string]string {
	found := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, below := range value {
				if path != "metadata" || name != creation && name != "managedFields" {
					walk(core.FieldOf(path, name), below)
				}
			}
		case []any:
			for i, below := range value {
				walk(core.ItemOf(path, i), below)
			}
		default:
			if text, at, is := later(value, 0); is && ofClock(at) {
				found[path] = textOf(text)
			}
		}
	}
	walk("", tree)
	return found
}

// ofClock reports whether a time may have been read off the clock, or is whole minutes after or before such a one.
func ofClock(at time.Time) bool {
	const together = 2 * time.Minute // what is written one after the other is so within minutes
	since := at.Sub(Now().Time)
	return since.Abs() < together || Minutely(since)
}

const (
	// Far is how far from the clock times are looked for.
	Far = 731 * 24 * time.Hour
	// Tick is more than what the clock shows at the start of a run beyond a whole number of long times.
	Tick = 2 * time.Second
)

// Minutely reports whether something is not far from the clock, and whole minutes from it.
func Minutely(since time.Duration) bool {
	return since.Abs() <= Far && (since%time.Minute+time.Minute)%time.Minute < Tick
}

// MovedText returns a time in the form of JSON that much later, with as many digits behind the second, and false if a
// text is none.
func MovedText(text string, by time.Duration) (string, bool) {
	if len(text) < len(time.DateTime) || text[0] < '0' || text[0] > '9' {
		return "", false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at.Add(by).Format(layoutOf(text)), err == nil
}

// layoutOf returns the layout of a time with as many digits behind the second as a text has.
func layoutOf(text string) string {
	_, fraction, found := strings.Cut(text, ".")
	if !found {
		return time.RFC3339
	}
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	return "2006-01-02T15:04:05." + strings.Repeat("0", digits) + "Z07:00"
}

// later returns a value that is a time in the same form that much later, and which time it is.
func later(value any, by time.Duration) (any, time.Time, bool) {
	switch value := value.(type) {
	case int64:
		at, unit := OfNumber(value)
		return value + int64(by/max(1, unit)), at, unit > 0
	case string:
		if number, err := strconv.ParseInt(value, 10, 64); err == nil {
			at, unit := OfNumber(number)
			return strconv.FormatInt(number+int64(by/max(1, unit)), 10), at, unit > 0
		}
		text, is := MovedText(value, by)
		if !is {
			return nil, time.Time{}, false
		}
		at, _ := time.Parse(time.RFC3339Nano, value)
		return text, at, true
	}
	return nil, time.Time{}, false
}

// textOf returns a text, or a number in digits.
func textOf(value any) string {
	if number, is := value.(int64); is {
		return strconv.FormatInt(number, 10)
	}
	text, _ := value.(string)
	return text
}

// OfNumber returns the time that a number names if it counts seconds, milliseconds or nanoseconds since 1970, as its
// length tells, and what it counts; 0 if it names none.
func OfNumber(number int64) (at time.Time, unit time.Duration) {
	switch {
	case number < 1e8:
		return time.Time{}, 0
	case number < 1e10:
		return time.Unix(number, 0), time.Second
	case number >= 1e11 && number < 1e13:
		return time.UnixMilli(number), time.Millisecond
	case number >= 1e17:
		return time.Unix(0, number), time.Nanosecond
	}
	return time.Time{}, 0
}
