package transition

import (
	"errors"
	"maps"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestCrashOfAnActiveProcess has what an active process had in memory be told when it crashes in a run, but for what
// goes on in the background, which is not to be seen in the midst of a run.
func TestCrashOfAnActiveProcess(t *testing.T) {
	c := controller("c", func() core.Instance {
		n := "0"
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			n = "1"
			w.put("n", "1")
			w.put("m", "1")
			return core.Result{}
		}}, func() map[string]string {
			if n == "0" {
				return map[string]string{"R.n": "0", "R.fresh": "yes"}
			}
			return map[string]string{"R.n": n}
		}}
	})
	c.Active = true
	f := explored(t, alone(c), Conditions{})
	a := f.learner.Machine.Actors[0]
	run := f.histories[len(f.histories)-1][a.Process][0]
	run.Path = run.Path[:1]
	if crashed, err := f.learner.CrashIn(t.Context(), a, Recollection{0}, run); err != nil || !maps.Equal(crashed[a.domain.part(run.Activation.Request)], map[string]string{"R.n": "1"}) {
		t.Errorf("it had %v, %v", crashed, err)
	}
}

// TestCrashUnseen has what a process had in memory be looked at no longer than anybody wants to know it: an instance
// may lock it in the midst of a run.
func TestCrashUnseen(t *testing.T) {
	released, locked := make(chan struct{}), false
	defer close(released)
	system := alone(sequential(controller("c", func() core.Instance {
		n := "0"
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			n = "1"
			w.put("n", "1")
			w.put("m", "1")
			return core.Result{}
		}}, func() map[string]string {
			if locked {
				<-released
			}
			return map[string]string{"R.n": n}
		}}
	})))
	f := explored(t, system, Conditions{})
	a := f.learner.Machine.Actors[0]
	run := f.histories[len(f.histories)-1][a.Process][0]
	run.Path = run.Path[:1]
	locked = true
	ended := 0
	for line := range linesOf(t, f.learner, a, run, &locked) {
		one := &interrupted{Context: t.Context(), lines: map[string]bool{}, line: line}
		crashed, err := f.learner.CrashIn(one, a, Recollection{0}, run)
		if one.ended {
			ended++
		}
		if one.ended && (crashed != nil || !errors.Is(err, errInterrupted)) {
			t.Errorf("interrupted in %s: %v, %v", line, crashed, err)
		}
	}
	if ended == 0 {
		t.Error("nobody can be interrupted")
	}
}

// linesOf returns the lines for which a crash looks whether it is interrupted, found out while nothing is locked.
func linesOf(t *testing.T, l *Learner, a *Actor, run behavior.Run, locked *bool) map[string]bool {
	t.Helper()
	*locked = false
	defer func() { *locked = true }()
	all := &interrupted{Context: t.Context(), lines: map[string]bool{}}
	if _, err := l.CrashIn(all, a, Recollection{0}, run); err != nil {
		t.Fatal(err)
	}
	return all.lines
}
