package transition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/iotrace"
)

// watcher is a monitor that keeps what it sees, and ends a step before or behind it.
type watcher struct {
	walker        *Walker
	seen          []string
	before, after error
}

func (w *watcher) Before(t *Taken) error {
	w.seen = append(w.seen, "before "+t.Step().String()+": "+objectsOf(w.walker.Look()))
	return w.before
}

func (w *watcher) After(t *Taken) error {
	w.seen = append(w.seen, "behind "+t.Step().String()+": "+objectsOf(w.walker.Look()))
	if calls := map[string]int{"c": 2, "d": 1}[t.Actor.Name]; len(w.walker.Asked) != calls {
		w.seen = append(w.seen, fmt.Sprintf("with the answers to %d calls, want %d", len(w.walker.Asked), calls))
	}
	return w.after
}

// twoNotes is a system of a controller that puts two notes, one after the other, if there is one to begin with, and of one that is blocked until there is one of them.
func twoNotes() *core.System {
	puts := simple("c", func(w world, _ core.Request) core.Result {
		w.put("a", "1")
		w.put("b", "1")
		return core.Result{}
	})
	waits := simple("d", func(w world, _ core.Request) core.Result { return core.Result{Blocked: w.get("a") == ""} })
	return lab([]core.Strategy{puts, waits})
}

// begin returns a walker at the start of a system, that learns.
func begin(t *testing.T, system *core.System, c Conditions) *Walker {
	t.Helper()
	t.Cleanup(iotrace.Still())
	l, err := NewLearner(t.Context(), system, c, behavior.Limits{Deadline: 10 * time.Second, Calls: 50}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Seen, l.Searching, l.audits.paths = map[Wrong]bool{}, true, few
	w := NewWalker(l.Machine, l)
	if err := w.Start(system.Initial[0]); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	return w
}

// TestMonitored has each step be shown to a monitor before it is taken and behind it, which may end it: then nothing has happened.
func TestMonitored(t *testing.T) {
	refused := errors.New("refused")
	const first = "c reconciles go"
	for _, test := range []struct {
		name          string
		before, after error
		seen, stopped []string
	}{
		{"it looks", nil, nil, []string{"before " + first + ": ", "behind " + first + ": a 1, b 1", "before d reconciles go: ", "behind d reconciles go: "}, nil},
		{"it refuses before", refused, nil, []string{"before " + first + ": ", "before d reconciles go: "}, []string{first + ": refused", "d reconciles go: refused"}},
		{"it refuses behind", nil, refused, []string{"before " + first + ": ", "behind " + first + ": a 1, b 1", "before d reconciles go: ", "behind d reconciles go: "}, []string{first + ": refused", "d reconciles go: refused"}},
	} {
		w := begin(t, twoNotes(), Conditions{})
		row := w.AppendRow(nil)
		monitor := &watcher{walker: w, before: test.before, after: test.after}
		w.Monitor = monitor
		var seen looking
		quiescent, err := w.Steps(&seen, nil)
		if err != nil || quiescent || !slices.Equal(monitor.seen, test.seen) || !slices.Equal(seen.stopped, test.stopped) || (len(seen.steps) == 1) != (test.stopped == nil) {
			t.Errorf("%s: it sees %q, and the steps are %q and %q; quiescent %t, %v", test.name, monitor.seen, seen.steps, seen.stopped, quiescent, err)
		}
		if string(w.AppendRow(nil)) != string(row) || w.Wrote || len(w.Touched) > 0 {
			t.Errorf("%s: the walker is somewhere else", test.name)
		}
		step := core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}
		chosen, err := w.Choose(step)
		if refuses := test.stopped != nil; refuses != errors.Is(err, refused) || refuses != (chosen == nil) {
			t.Errorf("%s: the step is chosen: %v, %v", test.name, chosen, err)
		}
	}
}

// TestFreshSteps has it be known of each step whether code was run for it, and which step what goes wrong was met in.
func TestFreshSteps(t *testing.T) {
	w := begin(t, plainly(func(w world, _ core.Request) core.Result { w.put("n", "1"); panic("so") })(), Conditions{})
	for _, fresh := range []bool{true, false} {
		if _, err := w.Steps(&func1{func(step *Taken) error {
			if w.Learn.Fresh != fresh {
				t.Errorf("code was run for %s: %t", step.Step(), w.Learn.Fresh)
			}
			return nil
		}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.Learn.Seen, w.Learn.Where = map[Wrong]bool{}, Provenance{}
	if _, err := w.Probe(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "another"}}); err != nil || len(w.Learn.Incidents) != 2 || w.Learn.Incidents[1].AtStart {
		t.Errorf("what is tried goes wrong so: %+v, %v", w.Learn.Incidents, err)
	}
	w.Learn.Incidents = w.Learn.Incidents[:1]
	if all := w.Learn.Incidents; len(all) != 1 || all[0].AtStart || all[0].Step != (core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}) {
		t.Errorf("the incidents are %+v", all)
	}
}

// TestChosenAmongOthers has a step be chosen although others cannot be taken to their ends.
func TestChosenAmongOthers(t *testing.T) {
	w := begin(t, twoNotes(), Conditions{Crashes: 1})
	w.Monitor = &refusing{core.Reconcile}
	restart := core.Step{Kind: core.Restart, Item: core.Item{Strategy: "c"}}
	if chosen, err := w.Choose(restart); err != nil || chosen == nil || chosen.Step() != restart || w.Value(w.Machine.Crashes) != 1 {
		t.Errorf("the restart is chosen: %v, %v", chosen, err)
	}
}

// refusing is a monitor that ends the steps of a kind.
type refusing struct{ kind core.StepKind }

func (r *refusing) Before(step *Taken) error {
	if step.Kind == r.kind {
		return errors.New("refused")
	}
	return nil
}

func (*refusing) After(*Taken) error { return nil }

// TestLostRuns has a restart tell which runs in flight it cuts off, and a crash within a run be the end of none.
func TestLostRuns(t *testing.T) {
	w := begin(t, twoNotes(), Conditions{Crashes: 1, Granularity: PerCall})
	for _, kind := range []core.StepKind{core.Begin, core.Ask} {
		if chosen, err := w.Choose(core.Step{Kind: kind, Item: core.Item{Strategy: "c", Request: "go"}}); err != nil || chosen == nil {
			t.Fatalf("%v, %v", chosen, err)
		}
		w.Forget()
	}
	var seen looking
	if _, err := w.Steps(&seen, nil); err != nil || !slices.Contains(seen.steps, `c crashes and restarts, and what it did for go ends after "put a" and before call 2, "put b"`) {
		t.Errorf("the steps are %q, %v", seen.steps, err)
	}
	w = begin(t, twoNotes(), Conditions{Crashes: 1})
	crashes := 0
	if _, err := w.Steps(&func1{func(step *Taken) error {
		if step.Crashes() {
			crashes++
		}
		if e := w.Edge(0, step); (step.Leaf == nil) != (step.Crashes() || step.Kind == core.Restart) || e.Failed != "" {
			t.Errorf("%s ends with %v, as %+v", step.Step(), step.Leaf, e)
		}
		return nil
	}}, nil); err != nil || crashes != 1 {
		t.Errorf("%d crashes, %v", crashes, err)
	}
}

// TestProbed has requests be run that nothing asks for, if that is possible.
func TestProbed(t *testing.T) {
	w := begin(t, twoNotes(), Conditions{})
	row := w.AppendRow(nil)
	item := func(strategy string, request core.Request) core.Item {
		return core.Item{Strategy: strategy, Request: request}
	}
	for _, test := range []struct {
		step core.Step
		want string // what is there then
		is   bool
		err  bool
	}{
		{core.Step{Kind: core.Reconcile, Item: item("c", "another")}, "a 1, b 1", true, false},
		{core.Step{Kind: core.Reconcile, Item: item("d", "another")}, "", false, false},
		{core.Step{Kind: core.Reconcile, Item: item("c", "go"), Detail: "and it crashes"}, "", false, false},
		{core.Step{Kind: core.Reconcile, Item: item("c", "go"), Order: "the other one"}, "", false, false},
		{core.Step{Kind: core.Act, Item: item("c", "go")}, "", false, false},
		{core.Step{Kind: core.Reconcile, Item: item("nobody", "go")}, "", false, true},
	} {
		w.Load(row)
		got, err := w.Probe(test.step)
		if (got != nil) != test.is || got != nil && got.Leaf == nil || (err != nil) != test.err || objectsOf(w.Look()) != test.want {
			t.Errorf("%s: %v, %v, and there is %q", test.step, got, err, objectsOf(w.Look()))
		}
	}
	w.Load(row)
	for name, want := range map[string]bool{"c": true, "d": false} {
		a, _ := w.Machine.Actor(name)
		if got, err := w.Possible(w.Machine.Item(a, "go")); got != want || err != nil || string(w.AppendRow(nil)) != string(row) {
			t.Errorf("%s may go: %t, %v", name, got, err)
		}
	}
	reader := NewWalker(w.Machine, nil)
	reader.Load(row)
	unknown := core.Step{Kind: core.Reconcile, Item: item("c", "unknown")}
	if got, err := reader.Probe(unknown); got != nil || !errors.Is(err, ErrUnknown) {
		t.Errorf("a walker that may not learn runs what nobody knows: %v, %v", got, err)
	}
	// What was asked for, or heard, before counts for nothing.
	listener := &ear{heard: []string{"something else"}}
	w.Listener, w.Reversed = listener, []reversed{{plan: plan{turns: []pick{{0, turns("get x", "get y")[1]}}}}}
	took := 0
	a, _ := w.Machine.Actor("c")
	if err := w.EachOrder(w.Machine.Item(a, "go"), func(step *Taken) bool {
		took++
		if step.Leaf == nil || slices.Contains(listener.heard, "something else") {
			t.Errorf("it ends with %v, and is heard as %q", step.Leaf, listener.heard)
		}
		return true
	}); err != nil || took != 1 {
		t.Errorf("a run comes in %d orders, %v", took, err)
	}
	w.Listener = nil
	if err := w.Try(&looking{ends: 1}, Taken{Kind: core.Reconcile, Actor: a, Item: w.Machine.Item(a, "go")}); !errors.Is(err, errEnough) {
		t.Errorf("who has seen enough does not end the visit: %v", err)
	}
	w.undo()
	if err := w.StepsOf(&looking{ends: 1}, w.Machine.Item(a, "go")); !errors.Is(err, errEnough) || string(w.AppendRow(nil)) != string(row) {
		t.Errorf("the visit ends with %v, and the walker is somewhere else", err)
	}
	if _, err := w.Choose(core.Step{}); err != nil {
		t.Errorf("a step that there is not: %v", err)
	}
}

// TestNotModelled has a call that the world does not model end the step, with what it is.
func TestNotModelled(t *testing.T) {
	for name, c := range map[string]Conditions{"as one step": {}, "call by call": {Granularity: PerCall}} {
		w := begin(t, plainly(func(w world, _ core.Request) core.Result {
			w.ask(errand{verb: "watch", name: "a"})
			return core.Result{}
		})(), c)
		if c.Granularity == PerCall {
			if _, err := w.Choose(core.Step{Kind: core.Begin, Item: core.Item{Strategy: "c", Request: "go"}}); err != nil {
				t.Fatal(err)
			}
			w.Forget()
		}
		var seen looking
		if quiescent, err := w.Steps(&seen, nil); err != nil || quiescent || len(seen.steps) > 0 || len(seen.stopped) != 1 || !strings.Contains(seen.stopped[0], "unsupported call: watch") {
			t.Errorf("%s: it stops with %q, and the steps are %q, %v", name, seen.stopped, seen.steps, err)
		}
	}
}

// TestViewsThatLag has there be views only of what may lag behind.
func TestViewsThatLag(t *testing.T) {
	for _, test := range []struct {
		c     Conditions
		views int
	}{{Conditions{}, 0}, {Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, 2}, {Conditions{Staleness: []Staleness{{Kind: "b", Rule: view.Lag(1)}}}, 1}} {
		c := sequential(controller("c", nil))
		c.hire = func() core.Instance { return hand{} }
		c.Watches, c.Initial = []core.Kind{"a", "b"}, nil
		w := begin(t, alone(c), test.c)
		if p := w.Machine.Processes[0]; len(p.Views) != test.views || len(p.Deliveries) != test.views || w.Machine.lags != (test.views > 0) || w.Machine.Holds != w.Machine.lags || w.Machine.Agents != test.views+1 {
			t.Errorf("with %+v there are %d views, %d agents, and something lags: %t", test.c, len(p.Views), w.Machine.Agents, w.Machine.lags)
		}
		if same := w.clients[0] == w.Live; same != (test.views == 0) {
			t.Errorf("with %+v the client shows the store itself: %t", test.c, same)
		}
	}
}

// TestReadsKept has what a call looked at be kept where calls may come in another order: where they are steps of their own, or come at the same time.
func TestReadsKept(t *testing.T) {
	looks := func(w world, _ core.Request) core.Result { w.get("a"); return core.Result{} }
	both := func(w world, _ core.Request) core.Result {
		atOnce(w, errand{verb: "get", name: "a"}, errand{verb: "get", name: "b"})
		return core.Result{}
	}
	for _, test := range []struct {
		name   string
		system func() *core.System
		c      Conditions
		want   bool
	}{{"one after the other", plainly(looks), Conditions{}, false}, {"call by call", plainly(looks), Conditions{Granularity: PerCall}, true}, {"at the same time", watching(both), Conditions{}, true}} {
		w := begin(t, test.system(), test.c)
		asked := 0
		for range 2 {
			row := w.AppendRow(nil)
			if _, err := w.Steps(&func1{func(*Taken) error {
				row = w.AppendRow(nil)
				for _, answered := range w.Asked {
					if asked++; (len(answered.Reads) == 1) != test.want {
						t.Errorf("%s: it is kept that it looked at %v", test.name, answered.Reads)
					}
				}
				return nil
			}}, nil); err != nil {
				t.Fatal(err)
			}
			w.Load(row)
		}
		if asked == 0 {
			t.Errorf("%s: nothing is asked", test.name)
		}
	}
}

// hearing is a recorder that keeps what it hears.
type hearing struct {
	counting
	ends, blocked int
	reads         []string
}

func (h *hearing) Ended(*behavior.Leaf) { h.ends++ }
func (h *hearing) Block(int)            { h.blocked++ }
func (h *hearing) Read(_ *ClientView, node *behavior.Node, answered *behavior.Answered, reads []behavior.Read) {
	h.reads = append(h.reads, fmt.Sprintf("%s: %d reads, %d writes", node.Call, len(reads), len(answered.Writes)))
}

// TestRecorded has what is found out be told to a recorder once.
func TestRecorded(t *testing.T) {
	w := begin(t, twoNotes(), Conditions{})
	heard := &hearing{}
	w.Machine.Recorder = heard
	row := w.AppendRow(nil)
	for range 2 {
		w.Load(row)
		if _, err := w.Steps(&looking{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"put a: 1 reads, 1 writes", "put b: 1 reads, 1 writes", "get a: 1 reads, 0 writes"}; !slices.Equal(heard.reads, want) || heard.ends != 2 || heard.blocked != 1 {
		t.Errorf("it hears of %q, %d ends, and %d that were blocked", heard.reads, heard.ends, heard.blocked)
	}
}

func TestFaulty(t *testing.T) {
	for _, test := range []struct {
		c                 Conditions
		crashes, failures state.Value
		want              bool
	}{
		{Conditions{}, 0, 0, false}, {Conditions{Crashes: 1}, 0, 0, true}, {Conditions{Crashes: 1}, 1, 0, false}, {Conditions{Failures: 2}, 0, 1, true}, {Conditions{Failures: 2}, 0, 2, false},
		{Conditions{Crashes: 1, Failures: 1}, 1, 0, true}, {Conditions{Crashes: 1, Failures: 1}, 1, 1, false},
	} {
		w := begin(t, twoNotes(), test.c)
		w.fit()
		if test.crashes > 0 {
			w.Set(w.Machine.Crashes, test.crashes)
		}
		if test.failures > 0 {
			w.Set(w.Machine.Failures, test.failures)
		}
		if got := w.Faulty(); got != test.want {
			t.Errorf("with %+v and %d crashes and %d failures there may be faults: %t", test.c, test.crashes, test.failures, got)
		}
	}
}

// TestBegun has a run begin with what was remembered before its step, wherever the walker has come since.
func TestBegun(t *testing.T) {
	f := explored(t, alone(sequential(controller("c", countingUp(true)))), Conditions{})
	m := f.learner.Machine
	w := NewWalker(m, f.learner)
	memory := m.MemoryCells()
	if len(memory) != 1 || memory[0] != m.parts[0].cell {
		t.Fatalf("the memories are in the cells %v", memory)
	}
	item := m.Item(m.Actors[0], "go")
	for i, row := range f.rows[:3] {
		w.Load(row)
		if got := w.Previous(memory[0]); got != state.Value(i) {
			t.Errorf("before any step, it remembered %d, want %d", got, i)
		}
		took := 0
		if _, err := w.Steps(&func1{func(step *Taken) error {
			took++
			if now, before := w.Value(memory[0]), w.Previous(memory[0]); now != state.Value(i+1) || before != state.Value(i) {
				t.Errorf("it remembers %d, and remembered %d before", now, before)
			}
			begun := w.Begun()
			if want := (Begun{Remembered: Remembered{memory[0], state.Value(i), true}}); begun != want || m.Root(item, begun) != item.roots[i] {
				t.Errorf("the run began with %+v, want %+v", begun, want)
			}
			if got := w.Remembered([]Remembered{{Value: 9}}); !slices.Equal(got, []Remembered{{Value: 9}, {}, {memory[0], state.Value(i), true}}) {
				t.Errorf("what is remembered is %v", got)
			}
			return nil
		}}, nil); err != nil || took != 1 {
			t.Errorf("%d steps, %v", took, err)
		}
	}
	if w.visit.step.Item = nil; w.Begun() != (Begun{}) {
		t.Errorf("a step that is no run begins with %+v", w.Begun())
	}
	if got := m.Root(item, Begun{Remembered: Remembered{memory[0], 17, true}}); got != nil {
		t.Errorf("of a memory that nobody has met, it is known what is done: %v", got)
	}
}

// func1 is a visitor that is a function.
type func1 struct{ took func(t *Taken) error }

func (f *func1) Took(t *Taken) error             { return f.took(t) }
func (*func1) Stopped(_ *Taken, err error) error { return err }

// TestCrashIn has what a process had in memory be told when it crashes in a run: what was kept before, and what the run has changed by then. A lock that the run has taken is not.
func TestCrashIn(t *testing.T) {
	system := alone(sequential(controller("c", func() core.Instance {
		n, lock, read := 0, "", ""
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			n = min(n+1, 3)
			lock, read = core.Locked, core.ReadLocked
			w.put("n", "1")
			w.put("m", "1")
			lock, read = "", ""
			return core.Result{Requeue: n < 3}
		}}, func() map[string]string {
			memory := map[string]string{"R.n": fmt.Sprint(n), "R.lock": lock, "R.read": read}
			if n == 0 {
				memory["R.fresh"] = "yes"
			} else {
				memory["R.held"] = core.Locked
			}
			return memory
		}}
	})))
	f := explored(t, system, Conditions{})
	l, m := f.learner, f.learner.Machine
	c, d := m.Actors[0], m.Actors[0].domain
	history := f.histories[2][c.Process]
	second := history[1]
	its := d.part(second.Activation.Request)
	before, changed := Recollection{1}, map[string]string{"R.n": "2", "R.fresh": memories.Gone, "R.held": core.Locked}
	none := goleak.IgnoreCurrent()
	for _, test := range []struct {
		calls int
		want  map[string]string
	}{{0, changed}, {1, changed}, {2, nil}} {
		crashed, err := l.CrashIn(t.Context(), c, before, behavior.Run{Activation: second.Activation, Path: second.Path[:test.calls], Leaf: second.Leaf})
		if err != nil || !maps.Equal(crashed[its], test.want) || len(crashed) > 1 || crashed == nil {
			t.Errorf("behind %d calls, it had %v, %v", test.calls, crashed, err)
		}
	}
	wrong := second
	wrong.Path = slices.Clone(wrong.Path)
	wrong.Path[0] = &behavior.Edge{From: &behavior.Node{Call: errand{verb: "get", name: "x"}}, Response: reply(""), To: &behavior.Node{}}
	if crashed, err := l.CrashIn(t.Context(), c, before, wrong); crashed != nil || err != nil {
		t.Errorf("a run that it does not make: %v, %v", crashed, err)
	}
	all := &interrupted{Context: t.Context(), lines: map[string]bool{}}
	if _, err := l.CrashIn(all, c, before, second); err != nil || len(all.lines) == 0 {
		t.Errorf("%v, at the lines %v", err, all.lines)
	}
	cut := second
	cut.Path = cut.Path[:1]
	for line := range all.lines {
		one := &interrupted{Context: t.Context(), lines: map[string]bool{}, line: line}
		if crashed, err := l.CrashIn(one, c, before, cut); one.ended && (crashed != nil || !errors.Is(err, errInterrupted)) {
			t.Errorf("interrupted in %s: %v, %v", line, crashed, err)
		}
	}
	if err := goleak.Find(none); err != nil {
		t.Errorf("something is left: %.300v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if crashed, err := l.CrashIn(ended, c, before, second); crashed != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("when the context has ended: %v, %v", crashed, err)
	}
	// Who shows nothing has what it had before, and who keeps nothing has nothing.
	d.fresh = nil
	if crashed, err := l.CrashIn(t.Context(), c, before, second); err != nil || crashed[its]["R.n"] != "1" {
		t.Errorf("nothing is shown: %v, %v", crashed, err)
	}
	parts := m.parts
	m.parts, d.used = nil, false
	for _, d.fresh = range []map[string]string{{"R.n": "0"}, nil} {
		if crashed, err := l.CrashIn(t.Context(), c, nil, cut); err != nil || crashed != nil {
			t.Errorf("nothing is kept: %v, %v", crashed, err)
		}
	}
	// Nor can it be told what it had if no instance can be brought there.
	m.parts, d.used, d.fresh, l.Context = parts, true, map[string]string{"R.n": "0"}, ended
	if crashed, err := l.CrashIn(t.Context(), c, before, second); crashed != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("no instance can be brought there: %v, %v", crashed, err)
	}
}
