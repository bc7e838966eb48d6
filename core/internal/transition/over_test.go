package transition

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
)

// TestOver has what would have a search begin again be told as what is not searched, once it is over. Whoever waits for
// a time waits for one that is not searched then.
func TestOver(t *testing.T) {
	for _, test := range []struct {
		name   string
		system func() *core.System
		c      Conditions
		doubts string
		waits  string
	}{
		{"it leaves something", of(func() *trade { return controller("c", late) }), Conditions{}, `c leaves work running after it has returned, reconciling go: it would then "put late", and the states after that were not searched. Wait for the work before returning, or return RequeueAfter`, ""},
		{"its memory changes later", of(func() *trade { return controller("c", wakes) }), Conditions{Remembering: []string{"c"}}, "c changes its memory after it has returned, reconciling go, and the states after that were not searched", ""},
		{"it waits for a time", of(func() *trade { return controller("c", since) }, "since 2000-01-01T00:00:00Z"), Conditions{Deadlines: 1}, "", "the behavior of c depends on the clock, and later times were not searched: reconciling go, now: asks to be run again in 1h0m0s; later: put late"},
		{"they share what they do not show", called("they share what they do not show", sharers()).system, Conditions{Remembering: []string{"a", "b"}}, "", ""},
		{"it makes up a name", func() *core.System { return drawers()[0].system() }, Conditions{}, "", ""},
	} {
		w := begin(t, test.system(), test.c)
		l := w.Learn
		l.Searching = false
		var seen looking
		if _, err := w.Steps(&seen, nil); err != nil || len(seen.stopped) > 0 {
			t.Errorf("%s: the search ends with %v, and stops with %q", test.name, err, seen.stopped)
		}
		if got := strings.Join(l.Machine.Doubts, "\n"); got != test.doubts {
			t.Errorf("%s: it is said %q, want %q", test.name, got, test.doubts)
		}
		if got := strings.Join(l.Machine.Waiting(), "\n"); got != test.waits {
			t.Errorf("%s: it waits so: %q, want %q", test.name, got, test.waits)
		}
		if draws := slices.ContainsFunc(l.Incidents, func(i core.Incident) bool { return i.Cause == core.Chance }); draws != (test.name == "it makes up a name") {
			t.Errorf("%s: the incidents are %+v", test.name, l.Incidents)
		}
	}
	// A run that is followed can be followed again.
	w := begin(t, drawers()[0].system(), Conditions{})
	w.Learn.Searching, w.Learn.Following = false, true
	var seen looking
	if _, err := w.Steps(&seen, nil); err != nil || len(seen.stopped) != 1 || !strings.Contains(seen.stopped[0], (&unexpectedDraws{Controller: "c"}).Error()) {
		t.Errorf("a run is followed, and it ends with %v, %q", err, seen.stopped)
	}
}

// TestMemoSaves has what one search has found out not be found out again by another one of the same strategies, unless
// the first has looked at it less often.
func TestMemoSaves(t *testing.T) {
	for _, test := range []struct {
		name        string
		system      func() *core.System
		c           Conditions
		hasty       bool
		first, then int
	}{
		{"nothing", plainly(func(world, core.Request) core.Result { return core.Result{} }), Conditions{}, false, 56, 1},
		{"nothing, hastily", plainly(func(world, core.Request) core.Result { return core.Result{} }), Conditions{}, true, 2, 56},
		{"it looks at a note", plainly(func(w world, _ core.Request) core.Result { w.get("a"); return core.Result{} }), Conditions{}, false, 56, 1},
		{"one of two that call at once goes on", watching(func(w world, _ core.Request) core.Result {
			var all sync.WaitGroup
			all.Go(func() {
				w.put("n", "1")
				w.put("m", "1")
			})
			all.Go(func() { w.put("n", "2") })
			all.Wait()
			return core.Result{}
		}), Conditions{}, false, 131, 2},
		{"two calls at once", watching(twoAtOnce), Conditions{}, false, 79, 2},
		{"it sleeps, and writes the time", sleeps(func(w world) { w.put("seen", time.Now().Format(time.RFC3339Nano)) }), Conditions{}, false, 83, 83},
		{"it writes the time again and again", called("it writes the time again and again", clocks()).system, Conditions{}, false, 73, 1},
		// What is found by chance, or waits for a time, is to be told in each search.
		{"chance", chances()[0].system, Conditions{strays: []string{"c"}}, false, 0, 0},
		{"it waits for a time", of(func() *trade { return controller("c", since) }, "since 2000-01-01T00:00:00Z"), Conditions{}, false, 60, 58},
	} {
		system, memo := test.system(), memo.New()
		var executed []int
		var all []string
		for i := range 3 {
			w := begin(t, system, test.c)
			w.Learn.Memo, w.Learn.Hasty = memo, test.hasty && i == 0
			f := found{learner: w.Learn}
			if err := f.wander(w); err != nil {
				t.Fatal(err)
			}
			executed, all = append(executed, w.Learn.Executed), append(all, fmt.Sprint(f.steps, len(w.Learn.Incidents), w.Machine.Waiting()))
			if test.name == "chance" && len(w.Learn.Incidents) == 0 {
				t.Errorf("search %d does not tell of chance", i)
			}
		}
		if test.name == "chance" {
			continue // after how many runs it shows, and where, is chance
		}
		if all[0] != all[1] || all[1] != all[2] {
			t.Errorf("%s: the searches find %q", test.name, all)
		}
		if executed[0] != test.first || executed[1] != test.then {
			t.Errorf("%s: code is run %v times, want %d and then %d", test.name, executed, test.first, test.then)
		}
	}
}

// TestMemoOfOrders has what was found out of which calls can be answered before others be remembered with the run.
func TestMemoOfOrders(t *testing.T) {
	system, memo := watching(putAtOnce(2))(), memo.New()
	for range 2 {
		w := begin(t, system, Conditions{})
		w.Learn.Memo = memo
		var runs ran
		w.Listener = &runs
		if _, err := w.Steps(&func1{func(*Taken) error {
			if len(runs.runs) != 1 || len(runs.runs[0].Leaf.Overtaking) == 0 {
				t.Errorf("of %+v it is not known which calls overtake others", runs.runs)
			}
			return nil
		}}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMemoTellsAgain has a search begin again because of what an earlier one could only tell, although the run is
// remembered.
func TestMemoTellsAgain(t *testing.T) {
	drawing, known := called("it keeps what it drew, and that it did", drawers()).system(), memo.New()
	for range 2 { // as is what is remembered by chance
		w := begin(t, drawing, Conditions{Remembering: []string{"c"}, Drawing: []string{"c"}})
		w.Learn.Memo = known
		if _, err := w.Steps(&looking{}, nil); err != nil || len(w.Learn.Incidents) != 1 {
			t.Errorf("the incidents are %+v, %v", w.Learn.Incidents, err)
		}
	}
	system, memo := alone(controller("c", wakes)), memo.New()
	for _, searching := range []bool{false, true} {
		w := begin(t, system, Conditions{Remembering: []string{"c"}})
		w.Learn.Memo, w.Learn.Searching = memo, searching
		var seen looking
		_, err := w.Steps(&seen, nil)
		if err != nil || (len(seen.stopped) > 0) != searching || (len(w.Machine.Doubts) > 0) == searching {
			t.Errorf("searching %t: it ends with %v, stops with %q, and it is said %q", searching, err, seen.stopped, w.Machine.Doubts)
		}
	}
}

// TestReachesOut has a run that asks somebody else than the world be told.
func TestReachesOut(t *testing.T) {
	for _, test := range []struct {
		name  string
		does  func()
		doubt string
		reads bool
	}{
		{"nobody", func() {}, "", false},
		{"a file", func() { _, _ = os.ReadFile("over_test.go") }, "", true},
		{"the network", func() {
			if c, err := net.DialTimeout("udp", "127.0.0.1:9", time.Second); err == nil {
				_, _ = c.Write([]byte("hello"))
				_ = c.Close()
			}
		}, "c talks to the network in ", false},
		{"a program", func() { _ = exec.Command("/bin/true").Run() }, "c starts another program in ", false},
	} {
		w := begin(t, plainly(func(world, core.Request) core.Result { test.does(); return core.Result{} })(), Conditions{})
		l := w.Learn
		var seen looking
		if _, err := w.Steps(&seen, nil); err != nil || len(seen.steps) != 1 {
			t.Fatalf("%s: %v, %q", test.name, err, seen.stopped)
		}
		if (len(l.Machine.Doubts) > 0) != (test.doubt != "") || test.doubt != "" && !strings.HasPrefix(l.Machine.Doubts[0], test.doubt) || (len(l.Machine.Files) > 0) != test.reads && test.doubt == "" {
			t.Errorf("%s: it is said %q, and that it reads %q", test.name, l.Machine.Doubts, l.Machine.Files)
		}
		// Whether a closer look is taken depends on what else the machine does, so that it does not count.
		run := behavior.Run{Activation: behavior.Activation{Request: "go"}, Leaf: &behavior.Leaf{}}
		executed := l.Executed
		if reaches, err := l.reachesOut(w.Machine.Actors[0], run); reaches != (test.name != "nobody") || err != nil || l.Executed != executed {
			t.Errorf("%s: asked again, it does: %t, %v, and that counts as %d runs", test.name, reaches, err, l.Executed-executed)
		}
		// Who remembers the run says so again.
		key := l.Memo.Digest(w.Machine.Actors[0].Strategy, nil, behavior.Run{Activation: behavior.Activation{Request: "go"}, Leaf: &behavior.Leaf{}})
		if _, known := l.Memo.Runs.Get(key); known != (test.name == "nobody") {
			t.Errorf("%s: that the run is the same each time is remembered: %t", test.name, known)
		}
	}
}

// TestReachesOutWhileTraced has it be said that a closer look could not be taken where somebody else traces the
// execution: the run counts as one that asks others.
func TestReachesOutWhileTraced(t *testing.T) {
	w := begin(t, plainly(func(world, core.Request) core.Result { return core.Result{} })(), Conditions{})
	l := w.Learn
	if err := trace.Start(io.Discard); err != nil {
		t.Skipf("the execution is traced: %v", err)
	}
	defer trace.Stop()
	reaches, err := l.reachesOut(w.Machine.Actors[0], behavior.Run{Activation: behavior.Activation{Request: "go"}, Leaf: &behavior.Leaf{}})
	if want := "c may read files or talk to the network, and it cannot be seen if it does while the execution is traced: leave out the trace"; !reaches || err != nil || !slices.Equal(l.Machine.Doubts, []string{want}) {
		t.Errorf("it reaches out: %t, %v, and it is said %q", reaches, err, l.Machine.Doubts)
	}
}

// leaving is a strategy whose instances start goroutines when they are set up, which end with the test.
func leaving(t *testing.T) *trade {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return controller("c", func() core.Instance {
		go func() { <-end }()
		return mind{hand{reconcile: func(world, core.Request) core.Result { return core.Result{} }}, func() map[string]string { return map[string]string{} }}
	})
}

// TestDeserted has a run that got stuck be put down to goroutines that its set-up has started outside of its bubble, if
// there are any.
func TestDeserted(t *testing.T) {
	for _, test := range []struct {
		name    string
		leaf    behavior.Leaf
		change  func(a *Actor)
		want    bool
		nowhere bool
	}{
		{"a deadlock", behavior.Leaf{Failure: behavior.Deadlock}, nil, true, false},
		{"it takes too long", behavior.Leaf{Failure: behavior.Overdue}, nil, true, false},
		{"it shares a channel", behavior.Leaf{Failure: behavior.Fatal, Message: "fatal: synctest channel"}, nil, true, false},
		{"it ends the process", behavior.Leaf{Failure: behavior.Fatal, Message: "fatal: out of memory"}, nil, false, false},
		{"it panics", behavior.Leaf{Failure: behavior.Panicked}, nil, false, false},
		{"it shares a channel, and nothing is started", behavior.Leaf{Failure: behavior.Fatal, Message: "fatal: synctest channel"}, nil, false, true},
		{"it returns", behavior.Leaf{}, nil, false, false},
		{"nothing is started", behavior.Leaf{Failure: behavior.Deadlock}, nil, false, true},
		{"sequential", behavior.Leaf{Failure: behavior.Deadlock}, func(a *Actor) { a.Sequential = true }, false, false},
		{"active", behavior.Leaf{Failure: behavior.Deadlock}, func(a *Actor) { a.domain.manner.Active = true }, false, false},
		{"it shows nothing", behavior.Leaf{Failure: behavior.Deadlock}, func(a *Actor) { a.domain.fresh = nil }, false, false},
	} {
		strategy := leaving(t)
		if test.nowhere {
			strategy = controller("c", countingUp(true))
		}
		l, err := NewLearner(t.Context(), alone(strategy), Conditions{}, behavior.Limits{Deadline: time.Second, Calls: 9}, 0)
		if err != nil {
			t.Fatal(err)
		}
		a := l.Machine.Actors[0]
		if test.change != nil {
			test.change(a)
		}
		if got := l.deserted(a, &test.leaf); got != test.want {
			t.Errorf("%s: it is deserted: %t", test.name, got)
		}
	}
	// A search in which that comes up begins again, with the set-up in the bubble: where a run got stuck, and where it
	// does not do the same each time.
	for _, searching := range []bool{true, false} {
		runs := 0
		strategy := leaving(t)
		hire := strategy.hire
		strategy.hire = func() core.Instance {
			m := hire().(mind)
			m.reconcile = func(w world, _ core.Request) core.Result { runs++; return core.Result{Requeue: runs%2 == 0} }
			return m
		}
		w := begin(t, alone(strategy), Conditions{})
		w.Learn.Searching = searching
		var seen looking
		_, err := w.Steps(&seen, nil)
		if again := len(seen.stopped) == 1 && strings.Contains(seen.stopped[0], (&unexpectedBackground{Memory: "c"}).Error()); err != nil || again != searching || len(w.Learn.Incidents) == 0 != searching {
			t.Errorf("searching %t: %v, %q, and the incidents are %+v", searching, err, seen.stopped, w.Learn.Incidents)
		}
	}
	for _, searching := range []bool{true, false} {
		strategy := leaving(t)
		hire := strategy.hire
		strategy.hire = func() core.Instance {
			m := hire().(mind)
			m.reconcile = func(world, core.Request) core.Result { select {} }
			return m
		}
		w := begin(t, alone(strategy), Conditions{})
		w.Learn.Searching = searching
		var seen looking
		_, err := w.Steps(&seen, nil)
		if err != nil || len(seen.stopped) != 1 || strings.Contains(seen.stopped[0], (&unexpectedBackground{Memory: "c"}).Error()) != searching {
			t.Errorf("searching %t: %v, %q", searching, err, seen.stopped)
		}
	}
}
