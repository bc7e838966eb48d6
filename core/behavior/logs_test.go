package behavior_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// logs has code log a line through the recorder of a run.
func logs(r core.EffectRecorder, message string, pairs ...any) {
	r.(core.LogRecorder).Log(core.LogLineOf("info", "", message, pairs...))
}

// heard returns what code logs when a run of it is repeated, a line of text for each, and whether there was more than
// is listened to.
func heard(t *testing.T, sequential bool, code core.Instance) ([]string, bool) {
	t.Helper()
	made := setUp(func() (core.Instance, error) { return code, nil })
	session, _, err := behavior.OpenFresh(t.Context(), made, behavior.Manner{Sequential: sequential}, limits())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Abort()
	session.Begin(behavior.Activation{Request: "r"})
	path, leaf := record(t, session)
	lines := new(behavior.Logs)
	session.Listen(lines)
	if divergence, err := session.Repeat(t.Context(), runOf(path, leaf)); divergence != nil || err != nil {
		t.Fatal(divergence, err)
	}
	var texts []string
	for _, line := range lines.Lines() {
		text := fmt.Sprintf("%d %s", line.Calls, line.LogLine)
		if line.Aside {
			text += " aside"
		}
		texts = append(texts, text)
	}
	return texts, lines.Full()
}

// TestLogsOfARun has lines told by how many calls were answered before them.
func TestLogsOfARun(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		runs := 0
		got, full := heard(t, sequential, instance(func(r core.EffectRecorder) core.Result {
			runs++
			if listens := r.(core.LogRecorder).Listens(); listens != (runs == 2) {
				t.Errorf("in run %d somebody listens: %t", runs, listens)
			}
			logs(r, "begins", "run", runs)
			r.Do(ask("a"))
			logs(r, "goes on")
			logs(r, "still")
			r.Do(ask("b"))
			logs(r, "ends")
			return core.Result{}
		}))
		if want := []string{"0 info begins run=2", "1 info goes on", "1 info still", "2 info ends"}; !slices.Equal(got, want) || full {
			t.Errorf("it logs %q, %t", got, full)
		}
	})
}

// TestLogsOfGoroutines has the lines of the run before those of others, which are ordered by what they say, each
// goroutine's together.
func TestLogsOfGoroutines(t *testing.T) {
	for range 20 {
		got, _ := heard(t, false, instance(func(r core.EffectRecorder) core.Result {
			var all sync.WaitGroup
			for _, name := range []string{"c", "a", "b"} {
				all.Go(func() {
					logs(r, name+" first")
					logs(r, name+" and then")
				})
			}
			logs(r, "zero")
			all.Wait()
			r.Do(ask("a"))
			all.Go(func() { logs(r, "alone") })
			all.Wait()
			return core.Result{}
		}))
		want := []string{
			"0 info zero", "0 info a first aside", "0 info a and then aside", "0 info b first aside", "0 info b and then aside", "0 info c first aside", "0 info c and then aside",
			"1 info alone aside",
		}
		if !slices.Equal(got, want) {
			t.Fatalf("it logs %q", got)
		}
	}
}

// TestLogsAreLimited has code that logs too much no longer be listened to.
func TestLogsAreLimited(t *testing.T) {
	for more, want := range map[int]bool{0: false, 1: true, 100: true} {
		got, full := heard(t, true, instance(func(r core.EffectRecorder) core.Result {
			for i := range behavior.MostHeard + more {
				logs(r, strconv.Itoa(i))
			}
			return core.Result{}
		}))
		if last := fmt.Sprintf("0 info %d", behavior.MostHeard-1); len(got) != behavior.MostHeard || got[len(got)-1] != last || full != want {
			t.Errorf("of %d more, %d lines are heard and it is full: %t", more, len(got), full)
		}
	}
}

// speaker is an instance whose code logs through a logger that has no recorder.
type speaker struct {
	instance
	to      func(core.LogLine)
	stopped int
}

func (s *speaker) Listen(hear func(core.LogLine)) func() {
	s.to = hear
	return func() { s.to, s.stopped = nil, s.stopped+1 }
}

// TestLogsWithoutRecorder listens to an instance that says what it logs, as long as a run takes, and no longer if it
// says too much.
func TestLogsWithoutRecorder(t *testing.T) {
	for _, lines := range []int{2, behavior.MostHeard + 2} {
		code, said := new(speaker), 0
		code.instance = func(r core.EffectRecorder) core.Result {
			r.Do(ask("a"))
			for i := range lines {
				if code.to != nil {
					said++
					code.to(core.LogLine{Level: "info", Message: strconv.Itoa(i)})
				}
			}
			return core.Result{}
		}
		got, _ := heard(t, false, code)
		if want := min(lines, behavior.MostHeard); len(got) != want || got[0] != "1 info 0" || got[1] != "1 info 1" {
			t.Errorf("of %d lines, %d are heard", lines, len(got))
		}
		if want := min(lines, behavior.MostHeard+1); said != want || code.stopped != 1 || code.to != nil {
			t.Errorf("of %d lines, %d were said before it was told to stop, which was done %d times", lines, said, code.stopped)
		}
	}
}

// TestCompareLogged has lines be equal only if they say the same.
func TestCompareLogged(t *testing.T) {
	line := func(level, logger, message string, pairs ...any) behavior.Logged {
		return behavior.Logged{LogLine: core.LogLineOf(level, logger, message, pairs...)}
	}
	all := []behavior.Logged{
		line("debug", "", "m"), line("info", "", "m"), line("info", "", "n"), line("info", "l", "m"), line("info", "l", "m", "k", 1), line("info", "l", "m", "k", 2), line("info", "l", "m", "l", 1),
	}
	for i, a := range all {
		for j, b := range all {
			if got := behavior.CompareLogged(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%v and %v compare as %d", a, b, got)
			}
		}
	}
	late, aside := all[0], all[0]
	late.Calls, aside.Aside = 1, true
	if behavior.CompareLogged(all[0], late) != 0 || behavior.CompareLogged(all[0], aside) != 0 {
		t.Error("when and by whom a line is logged counts")
	}
}
