package behavior_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestDated wants calls to be known for the same that write different times, in whatever form, and others to be told
// apart.
func TestDated(t *testing.T) {
	writes := func(text string) written { return written{ask("letter"), fmt.Sprintf(`{"labels":{"at":%q}}`, text)} }
	early := time.Date(2000, time.January, 1, 0, 0, 1, 1_001_001, time.UTC)
	late := early.Add(behavior.Epoch)
	for _, layout := range []string{
		time.ANSIC, time.UnixDate, time.RubyDate, time.RFC850, time.RFC1123, time.RFC1123Z, time.RFC3339, time.RFC3339Nano, time.Stamp, time.StampMicro, time.DateTime,
		"2006-01-02T15-04-05", "2006-01-02-15-04-05", "2006-01-02_15.04.05", "20060102150405", "20060102-150405", "20060102T150405Z", "backup-20060102-150405-full",
	} {
		if one, other := writes(early.Format(layout)), writes(late.Format(layout)); !behavior.Dated(one, other) {
			t.Errorf("in the form %s, %s and %s differ in more than the time", layout, one.text, other.text)
		}
	}
	if !behavior.Dated(writes(early.String()), writes(late.String())) || !behavior.Dated(writes(fmt.Sprint(early.UnixMilli())), writes(fmt.Sprint(late.UnixMilli()))) {
		t.Error("times as text and as numbers are not known")
	}
	for _, texts := range [][2]string{{"1", "2"}, {"web-1", "web-2"}, {"Jan 1", "Jan 2"}, {"v1.2.3", "v1.2.4"}, {"10.0.0.1", "10.0.0.2"}, {"12345678", "12345679"}} {
		if behavior.Dated(writes(texts[0]), writes(texts[1])) {
			t.Errorf("%q and %q are taken for times", texts[0], texts[1])
		}
	}
}

// TestOtherContents wants the field told that is no time, as it is written.
func TestOtherContents(t *testing.T) {
	for _, test := range []struct{ one, other, wantOne, wantOther string }{
		{
			`{"ended":"2000-01-01T00:00:01Z","took":"1.001001ms"}`, `{"ended":"2000-01-01T00:01:01Z","took":"1m0.001001001s"}`,
			`"took":"1.001001ms"`, `"took":"1m0.001001001s"`,
		},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"b":5,"c":6}`, `"b":2`, `"b":5`},
		{`{"at":"2000-01-01T00:00:01Z"}`, `{"at":"2000-01-01T00:01:01Z","late":true}`, `"at":"2000-01-01T00:00:01Z"`, `"at":"2000-01-01T00:01:01Z"`},
	} {
		one, other := written{ask("letter"), test.one}, written{ask("letter"), test.other}
		d := behavior.OtherContents(one, other, 2)
		if d.Recorded != one.String()+" with "+test.wantOne || d.Observed != other.String()+" with "+test.wantOther || d.After != 2 || d.Call != core.Call(other) {
			t.Errorf("%s and %s: %q and %q", test.one, test.other, d.Recorded, d.Observed)
		}
	}
}

// TestUndated has calls be the same that only differ in the times that they name.
func TestUndated(t *testing.T) {
	const one, other = `{"ended":"2000-01-01T00:00:01Z"}`, `{"ended":"2000-01-01T00:01:01Z"}`
	letter := behavior.Undated(written{ask("letter"), one})
	if letter != behavior.Undated(written{ask("letter"), other}) {
		t.Error("another time makes it another call")
	}
	if letter == behavior.Undated(written{ask("parcel"), one}) || letter == behavior.Undated(written{ask("letter"), `{"ended":"never"}`}) {
		t.Error("another aim, or something else that is written, does not make it another call")
	}
}

// TestRelative has times that have moved with the clock be the same, and what comes of a long time.
func TestRelative(t *testing.T) {
	for _, test := range []struct {
		name, one, other string
		same             bool
	}{
		{"the time", "2000-01-01 00:00:10 +0000 UTC", "2000-01-01 01:00:10 +0000 UTC", true},
		{"a time that stays", "2000-01-01 00:00:10 +0000 UTC", "2000-01-01 00:00:10 +0000 UTC", false},
		{"a time to come", `{"until":"2000-01-01T00:10:10Z"}`, `{"until":"2000-01-01T01:10:10Z"}`, true},
		{"seconds", "946684810", "946688410", true},
		{"seconds that stay", "946684810", "946684810", false},
		{"nanoseconds", "946684810000000000", "946688410000000000", true},
		{"none", "0001-01-01 00:00:00 +0000 UTC", "0001-01-01 00:00:00 +0000 UTC", true},
		{"a duration", "1m0s", "1h1m0s", false},
		{"long durations", "175207h7m8s", "350414h14m16s", true},
		{"large numbers", "6.3072e+08", "1.26144e+09", true},
		{"numbers", "3", "4", false},
	} {
		if got := behavior.Relative(test.one, 10*time.Second) == behavior.Relative(test.other, time.Hour+10*time.Second); got != test.same {
			t.Errorf("%s: %q and %q are the same: %t", test.name, behavior.Relative(test.one, 10*time.Second), behavior.Relative(test.other, time.Hour+10*time.Second), got)
		}
	}
}

// TestRelativeTimes has times be told as they are seen from a moment, and only that they are far away if they are.
func TestRelativeTimes(t *testing.T) {
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	text := func(d time.Duration) string { return "at " + start.Add(d).Format(time.RFC3339Nano) }
	for _, test := range []struct {
		text string
		want string
	}{
		{text(time.Minute), "at <now 0s>"}, {text(time.Hour), "at <now 59m0s>"}, {text(0), "at <now -1m0s>"},
		{text(time.Minute + behavior.Epoch/2), "at <now " + (behavior.Epoch / 2).String() + ">"}, {text(time.Minute + behavior.Epoch/2 + 1), "at <far ahead>"},
		{text(time.Minute - behavior.Epoch/2), "at <now -" + (behavior.Epoch / 2).String() + ">"}, {text(time.Minute - behavior.Epoch/2 - 1), "at <long ago>"},
		{"number 3", "number 3"}, {"number 123456789012", "number <long>"}, {"takes 175207h7m8s", "takes <long>"}, {"99999999999999999999 grains", "<long> grains"},
	} {
		if got := behavior.Relative(test.text, time.Minute); got != test.want {
			t.Errorf("%q is %q, want %q", test.text, got, test.want)
		}
	}
	if !behavior.SameButForTimes("at 2000-01-01T00:00:01Z in web", "at 2001-01-01T00:00:01Z in web") || behavior.SameButForTimes("at 2000-01-01T00:00:01Z in web", "at 2000-01-01T00:00:01Z in job") {
		t.Error("texts that differ in times only are others, or those that differ in words the same")
	}
}

// TestSequentialClocks has sequential code be told how far the clock of the world is ahead.
func TestSequentialClocks(t *testing.T) {
	code := instance(func(r core.EffectRecorder) core.Result {
		r.Do(ask(r.(core.Timekeeper).Later().String()))
		return core.Result{}
	})
	for _, passed := range []time.Duration{0, time.Hour, 3 * behavior.Epoch} {
		s := behavior.Start(code, true, behavior.Activation{Request: "r", Now: passed}, limits())
		calls, _ := play(t, s)
		wantCalls(t, calls, passed.String())
	}
}

// TestAligned has dates be taken as how long ago they are, those of long ago as how they lie to each other, and
// everything else as it is.
func TestAligned(t *testing.T) {
	at := func(since time.Duration) string {
		return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(since).Format(time.RFC3339)
	}
	once, twice := behavior.Epoch+behavior.Tick, 2*behavior.Epoch+behavior.Tick
	for _, test := range []struct {
		name       string
		one, other []string // a long time later
		same       bool
	}{
		{"now", []string{"at " + at(once)}, []string{"at " + at(twice)}, true},
		{"a minute ago, and in an hour", []string{at(once - time.Minute), at(once + time.Hour)}, []string{at(twice - time.Minute), at(twice + time.Hour)}, true},
		{"a minute ago, or two", []string{at(once - time.Minute)}, []string{at(twice - 2*time.Minute)}, false},
		{"long ago, and longer ago", []string{at(0)}, []string{at(0)}, true},
		{"a minute apart, long ago", []string{at(0), at(time.Minute)}, []string{at(behavior.Epoch), at(behavior.Epoch + time.Minute)}, true},
		{"a minute apart, or two", []string{at(0), at(time.Minute)}, []string{at(behavior.Epoch), at(behavior.Epoch + 2*time.Minute)}, false},
		{"the other way round", []string{at(0), at(time.Minute)}, []string{at(behavior.Epoch + time.Minute), at(behavior.Epoch)}, false},
		{"far apart", []string{at(-3 * behavior.Epoch), at(0)}, []string{at(0), at(behavior.Epoch)}, true},
		{"far apart, or not", []string{at(-3 * behavior.Epoch), at(0)}, []string{at(behavior.Epoch), at(behavior.Epoch)}, false},
		{"a date to come", []string{at(9 * behavior.Epoch)}, []string{at(9 * behavior.Epoch)}, false},
		{"a number", []string{"1234567890123"}, []string{"1234567890124"}, false},
		{"no date", []string{"a 12:00"}, []string{"a 12:00"}, true},
		{"another text", []string{"a " + at(once)}, []string{"b " + at(twice)}, false},
	} {
		one, other := behavior.Aligned(test.one, once), behavior.Aligned(test.other, twice)
		if slices.Equal(one, other) != test.same {
			t.Errorf("%s: %q and %q", test.name, one, other)
		}
	}
}
