package behavior_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

func TestRunToItsEnd(t *testing.T) {
	failed := errors.New("failed")
	forms(t, func(t *testing.T, sequential bool) {
		calls, leaf := play(t, start(sequential, func(r core.EffectRecorder) core.Result {
			if got := r.Do(ask("a")).String(); got != "a" {
				return core.Result{Err: fmt.Errorf("the answer was %q", got)}
			}
			r.Do(ask("b"))
			return core.Result{Err: failed}
		}))
		wantCalls(t, calls, "a", "b")
		if leaf.Failure != behavior.None || leaf.Result.Err != failed || !leaf.Retried() {
			t.Errorf("it ended with %v", leaf)
		}
	})
}

func TestHandler(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		s := behavior.Start(instance(func(r core.EffectRecorder) core.Result {
			r.Do(ask("a"))
			return core.Result{}
		}), sequential, behavior.Activation{Event: &core.Event{}}, limits())
		calls, leaf := play(t, s)
		wantCalls(t, calls, "a")
		if len(leaf.Requests) != 1 || leaf.Requests[0] != "handled" {
			t.Errorf("it enqueued %v", leaf.Requests)
		}
	})
}

// TestConcurrentCalls checks that calls of several goroutines are answered in the
// order of their identities, whichever came first.
func TestConcurrentCalls(t *testing.T) {
	for range 50 {
		calls, leaf := play(t, start(false, func(r core.EffectRecorder) core.Result {
			var all sync.WaitGroup
			for _, name := range []string{"c", "a", "d", "b"} {
				all.Go(func() {
					r.Do(ask(name))
					r.Do(ask(name + name))
				})
			}
			all.Wait()
			return core.Result{}
		}))
		wantCalls(t, calls, "a", "aa", "b", "bb", "c", "cc", "d", "dd")
		if leaf.Failure != behavior.None {
			t.Fatalf("it ended with %v", leaf)
		}
	}
}

// TestVirtualTime checks that sleeping takes no time, wakes in order, and that every
// run begins at the same instant.
func TestVirtualTime(t *testing.T) {
	began := time.Now()
	var instants []time.Time
	for range 2 {
		calls, _ := play(t, start(false, func(r core.EffectRecorder) core.Result {
			instants = append(instants, time.Now())
			var all sync.WaitGroup
			for i, name := range []string{"late", "later", "early"} {
				all.Go(func() {
					time.Sleep([]time.Duration{2 * time.Hour, 3 * time.Hour, time.Hour}[i])
					r.Do(ask(name))
				})
			}
			r.Do(ask("now"))
			all.Wait()
			r.Do(ask(time.Since(instants[len(instants)-1]).String()))
			return core.Result{}
		}))
		wantCalls(t, calls, "now", "early", "late", "later", "3h0m0s")
	}
	if time.Since(began) > time.Minute {
		t.Error("sleeping took real time")
	}
	if !instants[0].Equal(instants[1]) {
		t.Errorf("two runs began at %s and at %s", instants[0], instants[1])
	}
}

// TestContextTimeout checks that a deadline of virtual time ends what waits for it.
func TestContextTimeout(t *testing.T) {
	calls, leaf := play(t, start(false, func(r core.EffectRecorder) core.Result {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		<-ctx.Done()
		r.Do(ask(ctx.Err().Error()))
		return core.Result{}
	}))
	wantCalls(t, calls, context.DeadlineExceeded.Error())
	if leaf.Failure != behavior.None {
		t.Errorf("it ended with %v", leaf)
	}
}

func explode(values []int) int { return values[len(values)] }

// TestFailures checks how runs that do not return are contained and told.
func TestFailures(t *testing.T) {
	var never sync.Mutex
	never.Lock()
	var given atomic.Bool
	defer given.Store(true)
	for _, test := range []struct {
		name    string
		code    instance
		bubbled bool // whether only bubbles find it
		failure behavior.Failure
		want    string
	}{
		{
			"panic", func(core.EffectRecorder) core.Result { panic("no more") }, false,
			behavior.Panicked, "no more (at github.com/orrery-dev/orrery/core/behavior_test.TestFailures",
		},
		{
			"panic of the runtime", func(core.EffectRecorder) core.Result { explode(nil); return core.Result{} }, false,
			behavior.Panicked, "behavior_test.explode, session_test.go:",
		},
		{
			"panic in a deferred call", func(core.EffectRecorder) core.Result {
				defer func() { panic("second") }()
				panic("first")
			}, false,
			behavior.Panicked, "second (at ",
		},
		{
			"nil panic", func(core.EffectRecorder) core.Result { panic(nil) }, false, //nolint:govet // on purpose
			behavior.Panicked, "nil",
		},
		{
			"exit", func(core.EffectRecorder) core.Result { runtime.Goexit(); return core.Result{} }, false,
			behavior.Exited, "runtime.Goexit",
		},
		{
			"blocked for ever", func(core.EffectRecorder) core.Result { select {} }, true,
			behavior.Deadlock, "blocked for ever",
		},
		{
			"deadlock of two", func(core.EffectRecorder) core.Result {
				left, right := make(chan int), make(chan int)
				go func() { left <- <-right }()
				right <- <-left
				return core.Result{}
			}, true,
			behavior.Deadlock, "blocked for ever",
		},
		{
			"goroutine left behind", func(core.EffectRecorder) core.Result {
				go func() { select {} }()
				return core.Result{}
			}, true,
			behavior.Leaked, "left goroutines behind that are blocked for ever",
		},
		{
			"ticker left behind", func(core.EffectRecorder) core.Result {
				go func() {
					for range time.NewTicker(time.Second).C {
					}
				}()
				return core.Result{}
			}, true,
			behavior.Leaked, "left goroutines behind that never end",
		},
		{
			"goroutine that sleeps for weeks left behind", func(core.EffectRecorder) core.Result {
				go func() { time.Sleep(10 * 7 * 24 * time.Hour) }()
				return core.Result{}
			}, true,
			behavior.None, "",
		},
		{
			"locked mutex", func(core.EffectRecorder) core.Result { never.Lock(); return core.Result{} }, true,
			behavior.Overdue, "waits for ever for a lock",
		},
		{
			"mutex that is locked while time passes", func(core.EffectRecorder) core.Result {
				var (
					mu   sync.Mutex
					done sync.WaitGroup
				)
				for range 2 {
					done.Go(func() {
						mu.Lock()
						defer mu.Unlock()
						time.Sleep(time.Second)
					})
				}
				done.Wait()
				return core.Result{}
			}, true,
			behavior.Withheld, "waits for a lock while other goroutines of it wait",
		},
		{
			"busy loop", func(core.EffectRecorder) core.Result {
				for !given.Load() {
					runtime.Gosched()
				}
				return core.Result{}
			}, false,
			behavior.Overdue, "did not return within 200ms",
		},
		{
			"calls without end", func(r core.EffectRecorder) core.Result {
				for {
					r.Do(ask("again"))
				}
			}, false,
			behavior.Runaway, "made more than 100 calls",
		},
		{
			"calls without end, and sleeps in between", func(r core.EffectRecorder) core.Result {
				for {
					r.Do(ask("again"))
					time.Sleep(time.Second)
				}
			}, true,
			behavior.Polling, "made more than 100 calls",
		},
		{
			"calls without end, and has slept before", func(r core.EffectRecorder) core.Result {
				time.Sleep(10 * time.Millisecond)
				for {
					r.Do(ask("again"))
				}
			}, true,
			behavior.Runaway, "made more than 100 calls",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			forms(t, func(t *testing.T, sequential bool) {
				if test.bubbled && sequential {
					return // a sequential run promises not to block
				}
				l := limits()
				if test.failure == behavior.Overdue {
					l.Deadline = 200 * time.Millisecond
				}
				_, leaf := play(t, behavior.Start(test.code, sequential, behavior.Activation{Request: "r"}, l))
				if leaf.Failure != test.failure || !strings.Contains(leaf.Message, test.want) {
					t.Errorf("it ended as %q with %q, want %q with %q", leaf.Failure, leaf.Message, test.failure, test.want)
				}
				if strings.Contains(leaf.Message, "/core/behavior/") {
					t.Errorf("the message names a folder of this machine: %q", leaf.Message)
				}
				if leaf.Failure.Stuck() == (test.failure == behavior.Panicked || test.failure == behavior.None) {
					t.Errorf("stuck is %t", leaf.Failure.Stuck())
				}
			})
		})
	}
}

// TestAbort checks that a run that is not needed any more is unwound, with its deferred calls.
func TestAbort(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		unwound := make(chan string, 10)
		s := start(sequential, func(r core.EffectRecorder) core.Result {
			defer func() { unwound <- "outer" }()
			defer func() {
				defer func() { unwound <- "inner" }()
				r.Do(ask("cleanup")) // does not return either
				unwound <- "not here"
			}()
			if !sequential {
				go func() {
					defer func() { unwound <- "goroutine" }()
					r.Do(ask("zzz"))
					unwound <- "not here"
				}()
			}
			r.Do(ask("a"))
			r.Do(ask("b"))
			unwound <- "not here"
			return core.Result{}
		})
		if _, _, err := s.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.Answer(reply("a"))
		if call, _, _ := s.Next(context.Background()); call == nil || call.Identity() != "b" {
			t.Fatalf("the second call is %v", call)
		}
		s.Abort()
		s.Abort() // again is no harm
		want := map[string]bool{"outer": true, "inner": true}
		if !sequential {
			want["goroutine"] = true
		}
		for len(want) > 0 {
			select {
			case what := <-unwound:
				if !want[what] {
					t.Fatalf("unwound: %q", what)
				}
				delete(want, what)
			case <-time.After(20 * time.Second):
				t.Fatalf("never unwound: %v", want)
			}
		}
	})
}

func TestCancelledContext(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		unwound := make(chan bool)
		s := start(sequential, func(r core.EffectRecorder) core.Result {
			defer close(unwound)
			time.Sleep(time.Millisecond)
			r.Do(ask("a"))
			r.Do(ask("b"))
			return core.Result{}
		})
		ctx, cancel := context.WithCancel(context.Background())
		if _, _, err := s.Next(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		if call, leaf, err := s.Next(ctx); call != nil || leaf != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("after the context ended: %v, %v, %v", call, leaf, err)
		}
		<-unwound
	})
}

// TestNothingIsLeftBehind checks that sessions that end or are aborted leave no goroutines.
func TestNothingIsLeftBehind(t *testing.T) {
	forms(t, func(t *testing.T, sequential bool) {
		before := runtime.NumGoroutine()
		for i := range 300 {
			s := start(sequential, func(r core.EffectRecorder) core.Result {
				if !sequential {
					go r.Do(ask("x"))
				}
				r.Do(ask("a"))
				r.Do(ask("b"))
				return core.Result{}
			})
			if i%2 == 0 {
				play(t, s)
				continue
			}
			if _, _, err := s.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
			s.Abort()
		}
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	})
}

// TestLateCalls has the first call that is made after a run has returned, or waits then, be told when the session is
// closed.
func TestLateCalls(t *testing.T) {
	for name, test := range map[string]struct {
		background func(r core.EffectRecorder)
		want       string
	}{
		"none":          {func(core.EffectRecorder) {}, ""},
		"at once":       {func(r core.EffectRecorder) { r.Do(ask("z")) }, "z"},
		"after a while": {func(r core.EffectRecorder) { time.Sleep(time.Minute); r.Do(ask("z")) }, "z"},
		"several":       {func(r core.EffectRecorder) { time.Sleep(time.Hour); r.Do(ask("b")); r.Do(ask("c")) }, "b"},
		"of two": {func(r core.EffectRecorder) {
			go func() { time.Sleep(2 * time.Hour); r.Do(ask("b")) }()
			time.Sleep(time.Hour)
			r.Do(ask("c"))
		}, "c"},
		"nothing but time": {func(core.EffectRecorder) { time.Sleep(time.Hour) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(false, func(r core.EffectRecorder) core.Result {
				go test.background(r)
				r.Do(ask("a"))
				return core.Result{}
			})
			var leaf *behavior.Leaf
			for leaf == nil {
				call, ended, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if leaf = ended; leaf == nil {
					s.TurnTo(ask("a")) // the run goes on, and nobody answers the other one
					s.Answer(reply(call.Identity()))
				}
			}
			late := ""
			if closed := s.Close(leaf); closed.Late != nil {
				late = closed.Late.Identity()
			}
			if late != test.want {
				t.Errorf("the late call is %q, want %q", late, test.want)
			}
		})
	}
}

// TestLateCallsDoNotHang has a goroutine end where it makes a call for a run that has returned, so that a later run
// which waits for its end goes on.
func TestLateCallsDoNotHang(t *testing.T) {
	left := make(chan chan struct{}, 1)
	runs := 0
	s := opened(t, instance(func(r core.EffectRecorder) core.Result {
		if runs++; runs == 2 {
			<-<-left
			return core.Result{}
		}
		done := make(chan struct{})
		left <- done
		go func() {
			defer close(done)
			time.Sleep(time.Hour)
			r.Do(ask("late"))
		}()
		return core.Result{}
	}))
	defer s.Abort()
	for run := range 2 {
		s.Begin(behavior.Activation{Request: "r"})
		if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != behavior.None {
			t.Fatalf("run %d ends as %v, %v", run+1, leaf, err)
		}
	}
}

// TestLaterDeadlocks has a run be the one that is blocked for ever, also if it is not the first.
func TestLaterDeadlocks(t *testing.T) {
	runs := 0
	s := opened(t, instance(func(core.EffectRecorder) core.Result {
		if runs++; runs == 2 {
			select {}
		}
		return core.Result{}
	}))
	defer s.Abort()
	for run, want := range []behavior.Failure{behavior.None, behavior.Deadlock} {
		s.Begin(behavior.Activation{Request: "r"})
		if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != want {
			t.Fatalf("run %d ends as %v, %v", run+1, leaf, err)
		}
	}
}

// TestBubbleOutsideOfTests checks that bubbles of virtual time work in a binary that is no test.
func TestBubbleOutsideOfTests(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/outside").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), "slept 1h0m0s; deadlock"; got != want {
		t.Errorf("the program says %q, want %q", got, want)
	}
}
