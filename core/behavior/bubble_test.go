package behavior

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/cputime"
)

// doing is a controller as what it does in a reconcile.
type doing func(core.EffectRecorder)

func (doing) Describe() core.Description                              { return core.Description{Name: "doing"} }
func (d doing) New() (core.Instance, error)                           { return d, nil }
func (d doing) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }
func (d doing) Reconcile(r core.EffectRecorder, _ core.Request) core.Result {
	d(r)
	return core.Result{}
}

// short are limits that are up at once.
func short() Limits { return Limits{Deadline: time.Millisecond, Calls: 9} }

// TestStrides has the time be looked ahead as far as the horizon where something ticks for ever, and be known to do so
// where several strides in a row take long.
func TestStrides(t *testing.T) {
	b := newBubble(newSession(short(), false))
	b.session.ticks = true
	last, sum := time.Duration(0), 0
	for stride := range b.strides {
		last = stride
		sum++
	}
	if last > Horizon || 2*last <= Horizon || sum != 23 { // 2^22 milliseconds are 70 minutes
		t.Errorf("the last of %d strides is %s", sum, last)
	}
	works := func() {
		for began := cputime.Used(); cputime.Used()-began < 20*time.Millisecond; {
		}
	}
	waits := func() { time.Sleep(20 * time.Millisecond) } // while others keep the machine busy
	for name, stride := range map[string]func(){"works": works, "waits": waits} {
		b = newBubble(newSession(short(), false))
		var known []bool
		for range b.strides {
			if known = append(known, b.session.Ticks()); len(known) == 4 {
				break
			}
			stride()
		}
		if want := []bool{false, false, false, name == "works"}; !slices.Equal(known, want) {
			t.Errorf("before strides in which it %s, it is known that something ticks: %v, want %v", name, known, want)
		}
	}
}

// TestSlowness has something tick where three strides in a row take long.
func TestSlowness(t *testing.T) {
	const slow, fast = 10 * time.Millisecond, 10*time.Millisecond - 1
	for _, test := range []struct {
		took []time.Duration
		want []bool
		row  int
	}{
		{[]time.Duration{slow, slow, slow, slow}, []bool{false, false, true, true}, 4},
		{[]time.Duration{slow, slow, fast, slow, slow, time.Hour}, []bool{false, false, false, false, false, true}, 3},
		{[]time.Duration{slow, fast}, []bool{false, false}, 0},
	} {
		s := slowness{costly: slow}
		var got []bool
		for _, took := range test.took {
			got = append(got, s.lasts(took))
		}
		if !slices.Equal(got, test.want) || s.inARow != test.row {
			t.Errorf("strides of %v: something ticks %v, want %v; %d in a row, want %d", test.took, got, test.want, s.inARow, test.row)
		}
	}
}

// TestFirstFailure has a bubble fail as the first of its goroutines does that panics.
func TestFirstFailure(t *testing.T) {
	b := newBubble(newSession(short(), false))
	for _, test := range []struct {
		end  ending
		want string
	}{
		{ending{}, ""}, {ending{failure: Exited, message: "exits"}, ""}, {ending{failure: Panicked, message: "one"}, "one"}, {ending{failure: Panicked, message: "other"}, "one"},
	} {
		b.fails(test.end)
		if woken := len(b.arrived) == 1; woken != (b.failure() != nil) {
			t.Errorf("after %+v, the run looks again: %t", test.end, woken)
		}
		if failed := b.failure(); (failed == nil) != (test.want == "") || failed != nil && failed.message != test.want {
			t.Errorf("after %+v it fails as %+v, want %q", test.end, failed, test.want)
		}
	}
}

// TestHeardInTime has lines be heard of the run at work, as long as the session lasts; the end of the session ends that
// anybody listens.
func TestHeardInTime(t *testing.T) {
	s := newSession(short(), false)
	b, ended := newBubble(s), 0
	lines := &Logs{stop: func() { ended++ }}
	s.Listen(lines)
	run := b.begin(&Activation{Request: "r"})
	run.Log(core.LogLine{Message: "in time"})
	b.begin(&Activation{Request: "r"})
	run.Log(core.LogLine{Message: "late"})
	last := b.begin(&Activation{Request: "r"})
	last.Log(core.LogLine{Message: "once more"})
	b.close()
	last.Log(core.LogLine{Message: "too late"})
	s.aborted.Store(true)
	s.hear(core.LogLine{Message: "while it is unwound"})
	var heard []string
	for _, line := range lines.Lines() {
		heard = append(heard, line.Message)
	}
	if want := []string{"in time", "once more"}; !slices.Equal(heard, want) {
		t.Errorf("heard is %q, want %q", heard, want)
	}
	if s.finished(); ended != 1 || s.logs.Load() != nil || !s.over {
		t.Errorf("that somebody listens was ended %d times", ended)
	}
	s.hush()
	if ended != 1 {
		t.Errorf("that somebody listens was ended %d times", ended)
	}
}

// elsewhere is a panic that was raised first in another goroutine.
type elsewhere struct{}

func (elsewhere) Place() string { return "elsewhere" }

// TestEndsOfCode tells how code ends: what it does while it is unwound does not count.
func TestEndsOfCode(t *testing.T) {
	for _, test := range []struct {
		name          string
		run           func() ending
		want, aborted Failure
	}{
		{"returns", func() ending { return ending{late: named("a")} }, None, None},
		{"panics", func() ending { panic("boom") }, Panicked, Exited},
		{"panics again", func() ending { panic(elsewhere{}) }, Panicked, Exited},
		{"exits", func() ending { runtime.Goexit(); return ending{} }, Exited, Exited},
	} {
		for _, aborted := range []bool{false, true} {
			ends := make(chan ending, 1)
			go contain(test.run, func() bool { return aborted }, func(end ending) { ends <- end })
			end, want := <-ends, test.want
			if aborted {
				want = test.aborted
			}
			if end.failure != want || (end.message == "was aborted") != (aborted && want != None) || (end.late != nil) != (want == None) {
				t.Errorf("%s, aborted %t: it ends as %+v", test.name, aborted, end)
			}
			if again := test.name == "panics again" && !aborted; strings.Contains(end.message, "(at elsewhere)") != again {
				t.Errorf("%s, aborted %t: it ends as %+v", test.name, aborted, end)
			}
		}
	}
}

// TestGivenUp has a session that does not take a task or does not answer to it be given up at its deadline, and one
// that has ended not be waited for.
func TestGivenUp(t *testing.T) {
	deaf := func() *Session {
		s := newSession(short(), true)
		go func() { <-s.quit; s.last <- ending{} }()
		return s
	}
	s := deaf()
	if s.do(task{}) || !s.over || !s.aborted.Load() {
		t.Error("a task is taken by nobody")
	}
	s.Abort()
	if s.do(task{}) {
		t.Error("a task is taken although the session is over")
	}
	s = deaf()
	if _, answered := await(s, make(chan int)); answered || !s.over {
		t.Errorf("nobody answers, and it is over: %t", s.over)
	}
	s = newSession(Limits{Deadline: time.Hour}, true)
	s.last <- ending{message: "the end"}
	for range 2 {
		if _, answered := await(s, make(chan int)); answered || s.over {
			t.Error("a session answers that has ended")
		}
	}
	if s.aborted.Load() || !s.ends(time.Hour) || s.ends(time.Millisecond) {
		t.Error("it ends not, or twice")
	}
	unwound := false
	s = Start(doing(func(r core.EffectRecorder) {
		defer func() { time.Sleep(10 * time.Millisecond); unwound = true }()
		r.Do(named("a"))
	}), true, Activation{Request: "r"}, Limits{Deadline: time.Minute, Calls: 9})
	if s.Abort(); !unwound {
		t.Error("it is over before it is unwound")
	}
	s = deaf()
	if leaf := s.Close(&Leaf{}); leaf == nil || leaf.Failure != Overdue || !s.over {
		t.Errorf("it is closed with %v, and is over: %t", leaf, s.over)
	}
	s = open(doing(func(core.EffectRecorder) {
		for !s.aborted.Load() {
			time.Sleep(time.Millisecond)
		}
	}), true, short())
	s.Begin(Activation{Request: "r"})
	if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != Overdue || !s.over {
		t.Errorf("it ends as %v, and is over: %t, %v", leaf, s.over, err)
	}
	s = Start(doing(func(core.EffectRecorder) { select {} }), false, Activation{Request: "r"}, Limits{Deadline: time.Minute, Calls: 9})
	if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != Deadlock || !s.over {
		t.Errorf("it ends as %v, and is over: %t, %v", leaf, s.over, err)
	}
}

// TestNobodyLooks has a session be given up that does not look at itself in time, or ends while it does.
func TestNobodyLooks(t *testing.T) {
	for _, ends := range []bool{false, true} {
		s := newSession(Limits{Deadline: 50 * time.Millisecond}, false)
		s.active = true
		go func() {
			<-s.tasks
			if !ends {
				<-s.quit
			}
			s.last <- ending{}
		}()
		if s.Rest() != nil || !s.over {
			t.Errorf("it ends meanwhile: %t, and is over: %t", ends, s.over)
		}
	}
}

// TestTurnsInTheBackground has a process go on with the call at a place in the order of what tells calls apart, and be
// blocked where there is none.
func TestTurnsInTheBackground(t *testing.T) {
	for turn, want := range []string{"a", "b", "c", ""} {
		b := newBubble(newSession(short(), false))
		for _, call := range []named{"c", "a", "b"} {
			b.parked = append(b.parked, &parked{call: call})
		}
		b.begin(&Activation{Own: Works, Turn: turn})
		got := ""
		for _, p := range b.parked {
			if p.run == b.run {
				got += p.call.Identity()
			}
		}
		if got != want || b.end == nil || b.end.result.Blocked != (want == "") {
			t.Errorf("in turn %d it goes on with %q, want %q; it ends as %+v", turn, got, want, b.end)
		}
	}
}

// TestErrorsOfContexts has the error of the context be told, wherever in a repeated run it ends.
func TestErrorsOfContexts(t *testing.T) {
	for _, test := range []struct {
		name  string
		after int // so many calls
		leaf  *Leaf
	}{
		{"before the first call", 0, &Leaf{}}, {"on the way", 1, &Leaf{}}, {"before the end", 2, &Leaf{}}, {"where the run was given up", 2, nil},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var s *Session
		s = open(doing(func(r core.EffectRecorder) {
			for calls := range 3 {
				if calls == test.after {
					cancel()
					for !s.aborted.Load() {
						time.Sleep(time.Millisecond)
					}
				}
				r.Do(named("a"))
			}
		}), true, Limits{Deadline: time.Minute, Calls: 9})
		s.Listen(new(Logs))
		edge := (&Node{Call: named("a")}).Respond(named("yes"))
		if parting, err := s.Repeat(ctx, Run{Activation: Activation{Request: "r"}, Path: Path{edge, edge}, Leaf: test.leaf}); parting != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: it parts at %+v, %v", test.name, parting, err)
		}
		cancel()
		s.Abort()
	}
}

// TestWaitedForAnew has a run have all the time that it may take to its next call, however long the last one was waited
// for; and an error be told where it is asked for what it came to.
func TestWaitedForAnew(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var s *Session
	s = open(doing(func(r core.EffectRecorder) {
		r.Do(named("a"))
		time.Sleep(20 * time.Millisecond)
		r.Do(named("b"))
		cancel()
		for !s.aborted.Load() {
			time.Sleep(time.Millisecond)
		}
	}), true, Limits{Deadline: time.Minute, Calls: 9})
	s.Begin(Activation{Request: "r"})
	for _, want := range []core.Call{named("a"), named("b")} {
		if call, leaf, err := s.Next(ctx); call != want || err != nil {
			t.Fatalf("it comes to %v, %v, %v; want %v", call, leaf, err, want)
		}
		s.watch.Reset(time.Nanosecond)
		time.Sleep(5 * time.Millisecond)
		s.Answer(named("yes"))
	}
	s.Settle(ctx)
	if call, leaf, err := s.Next(ctx); call != nil || leaf != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("it comes to %v, %v, %v", call, leaf, err)
	}
	s = open(doing(func(core.EffectRecorder) {}), false, Limits{Deadline: time.Minute, Calls: 9})
	s.Begin(Activation{Request: "r"})
	_, end, err := s.Next(t.Context())
	if err != nil || end == nil {
		t.Fatal(end, err)
	}
	s.active = true // so that nothing else is waited for
	s.watch.Reset(time.Nanosecond)
	time.Sleep(5 * time.Millisecond)
	if leaf := s.Close(end); leaf != end || !s.over {
		t.Errorf("it is closed with %v", leaf)
	}
}

// TestHeardToTheNextCall has all be heard that a run logs up to the call behind which it was given up, however long
// that takes.
func TestHeardToTheNextCall(t *testing.T) {
	s := open(doing(func(r core.EffectRecorder) {
		r.Do(named("a"))
		time.Sleep(20 * time.Millisecond)
		r.(core.LogRecorder).Log(core.LogLine{Message: "behind a"})
		r.Do(named("b"))
	}), true, Limits{Deadline: time.Minute, Calls: 9})
	lines := new(Logs)
	s.Listen(lines)
	edge := (&Node{Call: named("a")}).Respond(named("yes"))
	if parting, err := s.Repeat(t.Context(), Run{Activation: Activation{Request: "r"}, Path: Path{edge}}); parting != nil || err != nil {
		t.Fatal(parting, err)
	}
	if heard := lines.Lines(); len(heard) != 1 || heard[0].Message != "behind a" || heard[0].Calls != 1 {
		t.Errorf("heard is %v", heard)
	}
}

// TestSettled has code rest at its next call before it is asked for, and go no further when it is waited for again.
func TestSettled(t *testing.T) {
	s := Start(doing(func(r core.EffectRecorder) { r.Do(named("a")); r.Do(named("b")) }), true, Activation{Request: "r", Seed: 5}, Limits{Deadline: time.Minute, Calls: 2})
	defer s.Abort()
	for _, want := range []core.Call{named("a"), named("b")} {
		for range 2 {
			if s.Settle(t.Context()); !slices.Equal(s.Pending(), []core.Call{want}) {
				t.Fatalf("%v wait where it rests, want %v", s.Pending(), want)
			}
		}
		if call, leaf, err := s.Next(t.Context()); call != want || leaf != nil || err != nil {
			t.Fatalf("%v, %v, %v, want %v", call, leaf, err, want)
		}
		s.Answer(named("yes"))
	}
	s.Settle(t.Context())
	if call, leaf, err := s.Next(t.Context()); call != nil || leaf == nil || leaf.Failure != None || err != nil {
		t.Errorf("it ends as %v, %v, %v", call, leaf, err)
	}
}

// TestCallsCountAnew has each run of a session make as many calls as one may.
func TestCallsCountAnew(t *testing.T) {
	s := open(doing(func(r core.EffectRecorder) { r.Do(named("a")); r.Do(named("b")) }), true, Limits{Deadline: time.Minute, Calls: 2})
	defer s.Abort()
	for run := range 3 {
		s.Begin(Activation{Request: "r"})
		for range 2 {
			if call, leaf, err := s.Next(t.Context()); call == nil || err != nil {
				t.Fatalf("run %d ends as %v, %v", run+1, leaf, err)
			}
			s.Answer(named("yes"))
		}
		if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Failure != None {
			t.Fatalf("run %d ends as %v, %v", run+1, leaf, err)
		}
	}
}

// lending is an instance that tells what a run has changed of a cache.
type lending struct{ doing }

func (lending) Mutated() string { return "thing a" }

// TestMutations has what a run changes of a cache be a part of how it ended, whatever kind of run it is.
func TestMutations(t *testing.T) {
	for _, a := range []Activation{{Request: "r"}, {Event: &core.Event{}}} {
		s := Start(lending{func(core.EffectRecorder) {}}, true, a, Limits{Deadline: time.Minute, Calls: 9})
		if _, leaf, err := s.Next(t.Context()); err != nil || leaf == nil || leaf.Mutated != "thing a" {
			t.Errorf("%s: it ends as %+v, %v", a, leaf, err)
		}
	}
}

// TestTasksHaveTime has each task of a session have all the time that it may take, whenever it begins.
func TestTasksHaveTime(t *testing.T) {
	s := open(doing(func(core.EffectRecorder) {}), true, Limits{Deadline: time.Minute, Calls: 9})
	defer s.Abort()
	for range 12 {
		s.watch.Reset(time.Nanosecond)
		time.Sleep(time.Millisecond)
		if s.Elapsed(); s.over {
			t.Fatal("it is given up")
		}
	}
}

// TestReady has the first of some calls that waits be answered, one of them last, and none if none of them waits.
func TestReady(t *testing.T) {
	path := Path{{From: &Node{Call: named("a")}}, {From: &Node{Call: named("b")}}, {From: &Node{Call: named("c")}}}
	for _, test := range []struct {
		pending []core.Call
		rest    []int
		last    int
		want    int
	}{
		{[]core.Call{named("a"), named("b")}, []int{0, 1, 2}, 0, 1},
		{[]core.Call{named("a"), named("b")}, []int{0, 1, 2}, 2, 0},
		{[]core.Call{named("c")}, []int{0, 2}, 0, 1},
		{[]core.Call{named("a")}, []int{0, 2}, 0, 0},
		{[]core.Call{named("c")}, []int{0, 2}, 2, 1},
		{[]core.Call{named("x")}, []int{0, 2}, 0, -1},
		{[]core.Call{named("x")}, []int{2}, 2, -1},
		{[]core.Call{named("a")}, []int{1, 2}, 0, -1},
	} {
		s := &Session{pending: test.pending}
		if got := s.ready(path, test.rest, test.last); got != test.want {
			t.Errorf("of %v, with %d last, number %d is ready where %v wait; want %d", test.rest, test.last, got, test.pending, test.want)
		}
	}
}

// TestOverWhereItParts has a session be over where a run goes another way than the recorded one, wherever that is, and
// go on where it does not.
func TestOverWhereItParts(t *testing.T) {
	along := func(calls ...core.Call) Path {
		var path Path
		for _, call := range calls {
			edge := (&Node{Call: call}).Respond(named("yes"))
			path = append(path, edge)
		}
		return path
	}
	for _, test := range []struct {
		name  string
		path  Path
		leaf  *Leaf
		parts bool
		over  bool
		waits bool // for an answer, where it goes another way
	}{
		{"as recorded", along(named("a"), named("b")), &Leaf{}, false, false, false},
		{"another call", along(named("a"), named("c")), &Leaf{}, true, true, true},
		{"one call more", along(named("a")), &Leaf{}, true, true, true},
		{"one call less", along(named("a"), named("b"), named("c")), &Leaf{}, true, true, false},
		{"another end", along(named("a"), named("b")), &Leaf{Requests: []core.Request{"x"}}, true, true, false},
		{"given up", along(named("a")), nil, false, true, true},
	} {
		begun := func() *Session {
			return open(doing(func(r core.EffectRecorder) { r.Do(named("a")); r.Do(named("b")) }), true, Limits{Deadline: time.Minute, Calls: 9})
		}
		s := begun()
		parting, err := s.Repeat(t.Context(), Run{Activation: Activation{Request: "r"}, Path: test.path, Leaf: test.leaf})
		if err != nil || (parting != nil) != test.parts || s.over != test.over {
			t.Errorf("%s: it parts at %+v, and is over: %t, %v", test.name, parting, s.over, err)
		}
		s.Abort()
		s = begun()
		o, err := s.Postpone(t.Context(), Run{Activation: Activation{Request: "r"}, Path: test.path, Leaf: cmp.Or(test.leaf, &Leaf{})}, 0)
		if err != nil || o.heeded != (test.parts || test.waits) || s.over != test.waits {
			t.Errorf("%s: with a call put last, it goes another way: %t, and is over: %t, %v", test.name, o.heeded, s.over, err)
		}
		s.Abort()
	}
}
