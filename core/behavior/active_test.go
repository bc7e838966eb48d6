package behavior_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// doer is a controller that works by itself as functions say. Each instance has channels and memory of its own.
type doer struct {
	fresh     func() error
	start     func(*doer, core.EffectRecorder) []func()
	reconcile func(*doer, core.EffectRecorder) core.Result
	queue     chan string
	back      chan string
	memory    map[string]string
	// of is whose instance it is, where it is that of several.
	of string
	// quiet ones do not say that they work by themselves.
	quiet, sequential bool
	// name and process are what it is called and what it runs in, if it is not a doer in a process of its own.
	name, process string
}

func (d *doer) Describe() core.Description {
	return core.Description{Name: cmp.Or(d.name, "doer"), Process: d.process, Active: !d.quiet, Sequential: d.sequential, Initial: []core.Request{"r"}}
}

func (d *doer) New() (core.Instance, error) {
	if d.fresh != nil {
		if err := d.fresh(); err != nil {
			return nil, err
		}
	}
	return &doer{start: d.start, reconcile: d.reconcile, queue: make(chan string, 4), back: make(chan string), memory: map[string]string{}}, nil
}

func (d *doer) Start(r core.EffectRecorder) []func() {
	if d.start == nil {
		return nil
	}
	return d.start(d, r)
}

func (d *doer) Stop() {}

func (d *doer) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

func (d *doer) Reconcile(r core.EffectRecorder, _ core.Request) core.Result {
	if d.reconcile == nil {
		return core.Result{}
	}
	return d.reconcile(d, r)
}

func (d *doer) Memory() map[string]string { return maps.Clone(d.memory) }

func (d *doer) Of(strategy string) core.Instance { d.of = strategy; return d }

// MemoryOf implements [core.Divided].
func (d *doer) MemoryOf(strategy string) map[string]string {
	return map[string]string{"of": strategy + d.memory["changes"]}
}

// work opens a session of a doer.
func work(t *testing.T, d *doer, manner behavior.Manner) *behavior.Session {
	t.Helper()
	manner.Active = true
	s, instance, err := behavior.OpenFresh(t.Context(), d, manner, limits())
	if err != nil || instance == nil || instance == core.Instance(d) {
		t.Fatalf("it is not set up: %v", err)
	}
	t.Cleanup(s.Abort)
	return s
}

// TestActiveSetUp has whatever goes wrong while an instance is made and started be told, with whose it is.
func TestActiveSetUp(t *testing.T) {
	var slow chan struct{} // outside of all bubbles
	waits := func() error { <-slow; return nil }
	file, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	fails := func(code func()) func(*doer, core.EffectRecorder) []func() {
		return func(*doer, core.EffectRecorder) []func() { return []func(){code} }
	}
	for _, test := range []struct {
		name string
		doer doer
		ends bool
		want string
	}{
		{"an error", doer{fresh: func() error { return errors.New("no widgets") }}, false, `setting up controller "doer": no widgets`},
		{"a panic", doer{fresh: func() error { panic("oops") }}, false, `setting up controller "doer" panicked: oops`},
		{"a panic at its start", doer{start: func(*doer, core.EffectRecorder) []func() { panic("oops") }}, false, `setting up controller "doer" panicked: oops`},
		{"a panic of what is started", doer{start: fails(func() { panic("oops") })}, false, `setting up controller "doer" panicked: oops`},
		{"it waits for ever", doer{fresh: func() error { select {} }}, false, `setting up controller "doer": it`},
		{"it does not come back", doer{fresh: waits}, false, `setting up controller "doer" did not finish within`},
		{"it watches a file", doer{start: fails(func() { _, _ = file.Read(make([]byte, 1)) })}, false, "did not finish within 10ms: it waits for the network or a file in github.com/orrery-dev/orrery/core/behavior_test.TestActiveSetUp."},
		{"the context ends", doer{fresh: waits}, true, "context canceled"},
	} {
		// What is slow ends soon behind the deadline, so that nobody has to leave it behind.
		soon := make(chan struct{})
		slow = soon
		timer := time.AfterFunc(50*time.Millisecond, func() { close(soon) })
		ctx, cancel := context.WithCancel(t.Context())
		if test.ends {
			cancel()
		}
		l := limits()
		if strings.Contains(test.want, "within") {
			l.Deadline = 10 * time.Millisecond
		}
		s, instance, err := behavior.OpenFresh(ctx, &test.doer, behavior.Manner{Active: true}, l)
		if err == nil || s != nil || instance != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		cancel()
		timer.Stop()
	}
	_, _ = end.Write([]byte{1}) // so that who reads it ends
}

// TestClocks has each run see the time that its activation says: for one that works by itself, the clock never goes
// back.
func TestClocks(t *testing.T) {
	year := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	now := func(_ *doer, r core.EffectRecorder) core.Result {
		r.Do(ask(time.Since(year).String()))
		time.Sleep(time.Minute)
		return core.Result{}
	}
	const e, tick = behavior.Epoch, behavior.Tick
	activations := []behavior.Activation{{Request: "r"}, {Request: "r", Passed: 2 * behavior.Epoch, Clock: 3 * time.Second}, {Request: "r", Passed: 3 * behavior.Epoch, Clock: 5 * time.Second}, {Request: "r", Passed: 3 * behavior.Epoch, Clock: time.Hour}}
	for _, test := range []struct {
		name   string
		active bool
		later  time.Duration
		want   []time.Duration
	}{
		// Each run takes a minute. One that works by itself goes on from where it is, and lets no epoch pass twice.
		{"active", true, 0, []time.Duration{tick, tick + time.Minute + 2*e + 3*time.Second, tick + 2*time.Minute + 3*e + 8*time.Second, tick + 3*time.Minute + 3*e + 8*time.Second + time.Hour}},
		{"active and late", true, time.Second, []time.Duration{tick + time.Second, tick + time.Minute + 2*e + 4*time.Second, tick + 2*time.Minute + 3*e + 9*time.Second, tick + 3*time.Minute + 3*e + 9*time.Second + time.Hour}},
		{"others", false, 0, []time.Duration{tick, tick + 2*e + 3*time.Second, tick + 3*e + 5*time.Second, tick + 3*e + time.Hour}},
	} {
		s, _, err := behavior.OpenFresh(t.Context(), &doer{reconcile: now}, behavior.Manner{Active: test.active, Later: test.later}, limits())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Abort)
		for i, a := range activations {
			s.Begin(a)
			calls, _ := play(t, s)
			if want := test.want[i].String(); len(calls) != 1 || calls[0] != want {
				t.Errorf("%s: run %d sees %q, want %s", test.name, i, calls, want)
			}
			if elapsed := s.Elapsed(); elapsed != time.Minute {
				t.Errorf("%s: behind run %d, the clock is %s ahead", test.name, i, elapsed)
			}
		}
	}
}

// TestRunsThatWait has a run that waits be given the time that it waits for; only one that still waits then goes on
// with what others do meanwhile.
func TestRunsThatWait(t *testing.T) {
	// serves has a goroutine make a call for all that is queued, and answer.
	serves := func(d *doer, r core.EffectRecorder) []func() {
		return []func(){func() {
			for text := range d.queue {
				d.back <- r.Do(ask("serve " + text)).String()
			}
		}}
	}
	for _, test := range []struct {
		name string
		run  func(*doer, core.EffectRecorder) core.Result
		want []string
	}{
		{"it sleeps", func(_ *doer, r core.EffectRecorder) core.Result {
			time.Sleep(time.Hour)
			r.Do(ask("slept"))
			return core.Result{}
		}, []string{"slept", "returns"}},
		{"it sleeps for long", func(_ *doer, r core.EffectRecorder) core.Result {
			time.Sleep(1000 * time.Hour)
			r.Do(ask("slept"))
			return core.Result{}
		}, []string{"slept", "returns"}},
		{"it sleeps and returns", func(*doer, core.EffectRecorder) core.Result { time.Sleep(time.Hour); return core.Result{Requeue: true} }, []string{"asks to be run again"}},
		{"it waits for another one", func(d *doer, r core.EffectRecorder) core.Result {
			d.queue <- "a"
			r.Do(ask("got " + <-d.back))
			return core.Result{}
		}, []string{"serve a", "got serve a", "returns"}},
		{"it waits for another one, and that for the time", func(d *doer, r core.EffectRecorder) core.Result {
			d.queue <- "a"
			select {
			case text := <-d.back:
				r.Do(ask("got " + text))
			case <-time.After(time.Minute):
				r.Do(ask("too late"))
			}
			return core.Result{}
		}, []string{"too late", "returns"}},
		{"it panics after a time", func(*doer, core.EffectRecorder) core.Result { time.Sleep(time.Hour); panic("late") }, []string{"panics"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := work(t, &doer{start: serves, reconcile: test.run}, behavior.Manner{})
			s.Begin(behavior.Activation{Request: "r"})
			calls, leaf := play(t, s)
			end, _, _ := strings.Cut(leaf.String(), ":")
			if got := append(calls, end); !slices.Equal(got, test.want) {
				t.Errorf("it does %q, want %q", got, test.want)
			}
		})
	}
}

// TestWhatTimeBrings looks ahead, and lets the time pass: something is shown, a goroutine panics, or nothing ever
// happens.
func TestWhatTimeBrings(t *testing.T) {
	after := func(d time.Duration, do func(*doer)) func(*doer, core.EffectRecorder) []func() {
		return func(x *doer, _ core.EffectRecorder) []func() { return []func(){func() { time.Sleep(d); do(x) }} }
	}
	changes := func(d *doer) { d.memory["changes"] = "1" }
	for _, test := range []struct {
		name  string
		start func(*doer, core.EffectRecorder) []func()
		// brings is what the time is said to bring, and waits how a run ends that lets it pass. next is how a run ends
		// after that.
		brings, waits, next string
		// minute and day tell that what is shown stays the same for as long.
		minute, day bool
	}{
		{"nothing", nil, "", "is blocked", "returns", true, true},
		{"something at noon", after(12*time.Hour, changes), "changes=1", "returns", "returns", true, false},
		{"something soon", after(time.Second, changes), "changes=1", "returns", "returns", false, false},
		{"a panic at noon", after(12*time.Hour, func(*doer) { panic("at noon") }), "fails=", "panics", "returns", true, true},
	} {
		open := func() *behavior.Session { return work(t, &doer{start: test.start}, behavior.Manner{}) }
		memory := open().Memory()
		if got := memory["time[1]"]; !strings.HasPrefix(got, test.brings) || (got == "") != (test.brings == "") {
			t.Errorf("%s: the time brings %q, want %q", test.name, got, test.brings)
		}
		for d, want := range map[time.Duration]bool{time.Minute: test.minute, 24 * time.Hour: test.day} {
			if got := open().Pass(d); got != want {
				t.Errorf("%s: after %s what it shows is the same: %t", test.name, d, got)
			}
		}
		s := open()
		var ends []string
		for _, a := range []behavior.Activation{{Own: behavior.Waits}, {Request: "r"}} {
			s.Begin(a)
			_, leaf := play(t, s)
			end, _, _ := strings.Cut(leaf.String(), ":")
			ends = append(ends, end)
		}
		if !slices.Equal(ends, []string{test.waits, test.next}) {
			t.Errorf("%s: to wait ends as %q, and what follows as %q", test.name, ends[0], ends[1])
		}
	}
	// All that it brings is told up to the first failure.
	for want, code := range map[int]func(*doer){
		3: func(d *doer) {
			for _, hour := range []string{"1", "2", "3"} {
				time.Sleep(time.Hour)
				d.memory["hour"] = hour
			}
		},
		2: func(d *doer) {
			time.Sleep(time.Hour)
			d.memory["hour"] = "1"
			time.Sleep(time.Hour)
			panic("at two")
		},
	} {
		all := 0
		for path := range work(t, &doer{start: after(0, code)}, behavior.Manner{}).Memory() {
			if strings.HasPrefix(path, "time[") {
				all++
			}
		}
		if all != want {
			t.Errorf("the time brings %d changes, want %d", all, want)
		}
	}
	// One that does not work by itself is not looked at by letting the time pass, nor one whose session is over.
	s := opened(t, pair(false))
	if s.Pass(time.Minute) || s.Rest() != nil {
		t.Error("a time passes for one that does not work by itself")
	}
	s.Abort()
	s = work(t, &doer{}, behavior.Manner{})
	s.Abort()
	if s.Pass(time.Minute) {
		t.Error("a time passes after the end")
	}
}

// TestBeside shows the memories of the other strategies of a process, by their names.
func TestBeside(t *testing.T) {
	for _, active := range []bool{false, true} {
		s, _, err := behavior.OpenFresh(t.Context(), &doer{}, behavior.Manner{Active: active, Of: "mine", Beside: []string{"one", "two"}}, limits())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Beside(), map[string]string{"one/of": "one", "two/of": "two"}; !maps.Equal(got, want) {
			t.Errorf("active %t: beside is %q, want %q", active, got, want)
		}
		if got := s.Shown(); !maps.Equal(got, map[string]string{"of": "mine"}) || s.Memory()["of"] != "mine" {
			t.Errorf("active %t: it shows %q", active, got)
		}
		s.Abort()
		s, _, err = behavior.OpenFresh(t.Context(), &doer{}, behavior.Manner{Active: active}, limits())
		if err != nil {
			t.Fatal(err)
		}
		if s.Beside() != nil || len(s.Shown()) > 0 {
			t.Errorf("active %t: of one that is alone, %q is shown beside %q", active, s.Beside(), s.Shown())
		}
		s.Abort()
	}
}

// TestRestingGoroutines has a process be at rest with the goroutines that wait in it, counted by where they do.
func TestRestingGoroutines(t *testing.T) {
	s := work(t, &doer{start: func(d *doer, _ core.EffectRecorder) []func() {
		waits := func() { <-d.queue }
		return []func(){waits, waits, func() { <-d.back }}
	}}, behavior.Manner{})
	var counts []string
	for path, count := range s.Rest() {
		if strings.HasPrefix(path, "waiting goroutines[") {
			counts = append(counts, count)
		}
	}
	if slices.Sort(counts); !slices.Equal(counts, []string{"1", "2"}) {
		t.Errorf("at two places, %v wait", counts)
	}
}

// TestLateLinesAreNotHeard has nobody hear what a goroutine logs after its run.
func TestLateLinesAreNotHeard(t *testing.T) {
	code := instance(func(r core.EffectRecorder) core.Result {
		go func() {
			time.Sleep(time.Hour)
			logs(r, "late")
		}()
		logs(r, "in time")
		return core.Result{}
	})
	lines := new(behavior.Logs)
	s := opened(t, code)
	s.Listen(lines)
	s.Begin(behavior.Activation{Request: "r"})
	_, leaf := play(t, s)
	for range 2 {
		s.Elapsed()
	}
	s.Close(leaf)
	var texts []string
	for _, line := range lines.Lines() {
		texts = append(texts, line.Message)
	}
	if !slices.Equal(texts, []string{"in time"}) {
		t.Errorf("it is heard to log %q", texts)
	}
}

// TestGivenUpRunsAreHeard has the lines of a run be heard that was given up behind a path, up to its next call.
func TestGivenUpRunsAreHeard(t *testing.T) {
	code := instance(func(r core.EffectRecorder) core.Result {
		r.Do(ask("a"))
		logs(r, "behind a")
		r.Do(ask("b"))
		logs(r, "behind b")
		return core.Result{}
	})
	path, _ := learn(t, code)
	lines := new(behavior.Logs)
	s := opened(t, code)
	s.Listen(lines)
	if divergence, err := s.Repeat(t.Context(), runOf(path[:1], nil)); divergence != nil || err != nil {
		t.Fatal(divergence, err)
	}
	if got := fmt.Sprint(len(lines.Lines())); got != "1" || lines.Lines()[0].Message != "behind a" {
		t.Errorf("%s lines are heard", got)
	}
	s.Begin(behavior.Activation{Request: "r"})
	if call, leaf, err := s.Next(t.Context()); call != nil || err != nil || leaf == nil {
		t.Errorf("after it was given up, the session goes on: %v, %v, %v", call, leaf, err)
	}
}

// TestPartingsTellOfSleep has the place where a run parts from a recorded one tell whether time has passed before.
func TestPartingsTellOfSleep(t *testing.T) {
	for _, sleeps := range []bool{false, true} {
		runs := 0
		code := instance(func(r core.EffectRecorder) core.Result {
			runs++
			r.Do(ask("a"))
			if sleeps {
				time.Sleep(time.Second)
			}
			r.Do(ask(fmt.Sprint("run ", runs)))
			return core.Result{}
		})
		path, leaf := learn(t, code)
		s := opened(t, code)
		if d, err := s.Repeat(t.Context(), runOf(path, leaf)); err != nil || d == nil || d.Slept != sleeps || d.After != 1 {
			t.Errorf("a run that sleeps: %t, parts as %+v: %v", sleeps, d, err)
		}
		last := instance(func(r core.EffectRecorder) core.Result {
			r.Do(ask("a"))
			if sleeps {
				time.Sleep(time.Second)
			}
			return core.Result{}
		})
		before, _ := learn(t, last)
		if d, err := opened(t, last).Repeat(t.Context(), runOf(before, &behavior.Leaf{Result: core.Result{Requeue: true}})); err != nil || d == nil || d.Slept != sleeps {
			t.Errorf("a run that sleeps before its end: %t, parts as %+v: %v", sleeps, d, err)
		}
		// The recorded run makes one call fewer, or ends in another way.
		for _, run := range []behavior.Run{runOf(path[:1], leaf), runOf(path, &behavior.Leaf{Result: core.Result{Requeue: true}})} {
			runs = 0
			s := opened(t, code)
			d, err := s.Repeat(t.Context(), run)
			if err != nil || d == nil || d.Slept != sleeps || d.After != len(run.Path) || (d.Ended != nil) != (len(run.Path) == len(path)) {
				t.Errorf("a run that sleeps: %t, parts as %+v: %v", sleeps, d, err)
			}
		}
	}
}

// TestTimeStopsAtTheFirstCall has the clock be let go on until a goroutine makes a call, and no further.
func TestTimeStopsAtTheFirstCall(t *testing.T) {
	after := func(r core.EffectRecorder, d time.Duration, call ask) func() {
		return func() { time.Sleep(d); r.Do(call) }
	}
	s := work(t, &doer{start: func(_ *doer, r core.EffectRecorder) []func() {
		return []func(){after(r, 61*time.Minute, "one"), after(r, 62*time.Minute, "two")}
	}}, behavior.Manner{})
	for _, want := range [][]string{{"ask one"}, {"ask one", "ask two"}} {
		s.Begin(behavior.Activation{Own: behavior.Waits})
		play(t, s)
		var calls []string
		for path, call := range s.Rest() {
			if strings.HasPrefix(path, "background[") {
				text, _, _ := strings.Cut(call, "\n")
				calls = append(calls, text)
			}
		}
		if slices.Sort(calls); !slices.Equal(calls, want) {
			t.Errorf("%q wait, want %q", calls, want)
		}
	}
}
