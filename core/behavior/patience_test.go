package behavior_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestPatience has a run of a process that works by itself go on by itself as long as it can, also if time has to pass,
// before others go on.
func TestPatience(t *testing.T) {
	const noon = 12 * time.Hour
	for _, test := range []struct {
		name string
		// start is what the process does by itself, and run a reconcile.
		start, run func(*doer, core.EffectRecorder)
		want       []string
		failure    behavior.Failure
	}{
		{"it sleeps", func(_ *doer, r core.EffectRecorder) { r.Do(ask("other")) }, func(_ *doer, r core.EffectRecorder) {
			began := time.Now()
			time.Sleep(time.Hour)
			r.Do(ask("mine"))
			r.Do(ask(time.Since(began).String()))
		}, []string{"mine", "1h0m0s"}, behavior.None},
		{"it sleeps for too long", func(_ *doer, r core.EffectRecorder) { r.Do(ask("other")) }, func(_ *doer, r core.EffectRecorder) {
			time.Sleep(2 * noon)
			r.Do(ask("mine"))
		}, []string{"other", "mine"}, behavior.None},
		{"it waits, and then sleeps", func(d *doer, r core.EffectRecorder) {
			r.Do(ask("one"))
			d.back <- "done"
			r.Do(ask("two"))
		}, func(d *doer, r core.EffectRecorder) {
			<-d.back
			time.Sleep(time.Hour)
			r.Do(ask("mine"))
		}, []string{"one", "mine"}, behavior.None},
		{"it waits for ever", func(*doer, core.EffectRecorder) {}, func(*doer, core.EffectRecorder) { select {} }, nil, behavior.Deadlock},
		{"another one panics meanwhile", func(*doer, core.EffectRecorder) { time.Sleep(10 * time.Minute); panic("oops") }, func(_ *doer, r core.EffectRecorder) {
			time.Sleep(time.Hour)
			r.Do(ask("mine"))
		}, nil, behavior.Panicked},
	} {
		s := work(t, &doer{
			start:     func(d *doer, r core.EffectRecorder) []func() { return []func(){func() { test.start(d, r) }} },
			reconcile: func(d *doer, r core.EffectRecorder) core.Result { test.run(d, r); return core.Result{} },
		}, behavior.Manner{})
		s.Begin(behavior.Activation{Request: "r"})
		if calls, leaf := play(t, s); !slices.Equal(calls, test.want) || leaf.Failure != test.failure {
			t.Errorf("%s: it calls %q and ends as %v, want %q", test.name, calls, leaf, test.want)
		}
	}
}

// TestLeftToTheBackground has a call that waits when its run returns be one that the process goes on with by itself.
func TestLeftToTheBackground(t *testing.T) {
	s := work(t, &doer{reconcile: func(_ *doer, r core.EffectRecorder) core.Result {
		go r.Do(ask("left"))
		return core.Result{}
	}}, behavior.Manner{})
	s.Begin(behavior.Activation{Request: "r"})
	if calls, leaf := play(t, s); len(calls) > 0 || leaf.Failure != behavior.None || leaf.Late != nil {
		t.Errorf("it calls %q and ends as %v", calls, leaf)
	}
	if rests := behavior.RestIn(s.Rest()); len(rests.Calls) != 1 || !strings.HasPrefix(rests.Calls[0], "ask left") {
		t.Errorf("what waits is %q", rests.Calls)
	}
}

// TestPassWaits has all that happens at the end of a time that passes be seen.
func TestPassWaits(t *testing.T) {
	s := work(t, &doer{start: func(d *doer, _ core.EffectRecorder) []func() {
		return []func(){func() {
			time.Sleep(time.Minute)
			for range 1000 {
				runtime.Gosched()
			}
			d.memory["changes"] = "1"
		}}
	}}, behavior.Manner{})
	if s.Pass(time.Minute) {
		t.Error("a change is not seen")
	}
}

// orderly is an instance that waits, when it is told to stop, until what it does by itself has ended.
type orderly struct {
	instance
	running sync.WaitGroup
	ended   *int
	stopped *bool
}

func (*orderly) Describe() core.Description    { return core.Description{Name: "orderly", Active: true} }
func (o *orderly) New() (core.Instance, error) { return o, nil }
func (o *orderly) Stop()                       { o.running.Wait(); *o.stopped = true }
func (o *orderly) Start(r core.EffectRecorder) []func() {
	o.running.Add(2)
	sleeps := func() {
		defer func() { *o.ended++ }()
		time.Sleep(time.Hour)
		r.Do(ask("too late"))
	}
	waits := func() {
		defer o.running.Done()
		r.Do(ask("waits"))
	}
	return []func(){sleeps, waits, waits}
}

// TestOrderlyEnd has a process that works by itself be told to stop, where its calls end that wait, and be given the
// time to wake and to end.
func TestOrderlyEnd(t *testing.T) {
	for _, aborts := range []bool{false, true} {
		ended, stopped := 0, false
		s, _, err := behavior.OpenFresh(t.Context(), &orderly{instance: pair(false), ended: &ended, stopped: &stopped}, behavior.Manner{Active: true}, limits())
		if err != nil {
			t.Fatal(err)
		}
		if aborts {
			s.Abort()
		} else if leaf := s.Close(&behavior.Leaf{}); leaf.Failure != behavior.None {
			t.Errorf("it is closed with %v", leaf)
		}
		if ended != 1 || !stopped {
			t.Errorf("aborted %t: %d have ended, and it has stopped: %t", aborts, ended, stopped)
		}
	}
}
