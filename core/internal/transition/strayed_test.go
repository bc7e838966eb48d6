package transition

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
)

// interruptedIn has something that is found out be interrupted wherever code is run for it, or in some files only: it
// has to end with the error, and leave nothing behind.
func interruptedIn(t *testing.T, name string, finds func(context.Context) error, files ...string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	all := &interrupted{Context: t.Context(), lines: map[string]bool{}}
	if err := finds(all); err != nil || len(all.lines) == 0 {
		t.Errorf("%s: it ends with %v, and runs code for the lines %v", name, err, slices.Sorted(maps.Keys(all.lines)))
	}
	for _, line := range slices.Sorted(maps.Keys(all.lines)) {
		if file, _, _ := strings.Cut(line, ":"); len(files) > 0 && !slices.Contains(files, file) {
			continue
		}
		one := &interrupted{Context: t.Context(), lines: map[string]bool{}, line: line}
		if err := finds(one); one.ended && !errors.Is(err, errInterrupted) {
			t.Errorf("%s: interrupted in %s, it ends with %v", name, line, err)
		}
	}
	if err := goleak.Find(before); err != nil {
		t.Errorf("%s: something is left: %.300v", name, err)
	}
}

// counted is a search of a controller that counts in memory, with the runs of its request, one after the other.
func counted(t *testing.T, c Conditions) (*Learner, *Actor, []behavior.Run) {
	t.Helper()
	f := explored(t, alone(controller("c", countingUp(true))), c)
	a := f.learner.Machine.Actors[0]
	longest := slices.MaxFunc(f.histories, func(a, b map[*Process][]behavior.Run) int {
		return len(a[f.learner.Machine.Processes[0]]) - len(b[f.learner.Machine.Processes[0]])
	})
	return f.learner, a, longest[a.Process]
}

// unmade is a run that the controller does not make, as its first call is another one.
func unmade(run behavior.Run) behavior.Run {
	run.Path = slices.Clone(run.Path)
	run.Path[0] = &behavior.Edge{From: &behavior.Node{Call: errand{verb: "get", name: "x"}}, Response: reply(""), To: &behavior.Node{}}
	return run
}

// TestStrayed has an instance that does not go through a history again when its clock has moved be told from one that
// parts in the run itself: it has not come to where the run begins.
func TestStrayed(t *testing.T) {
	l, a, runs := counted(t, Conditions{})
	wrong := unmade(runs[0])
	run := runs[1]
	since := *run.Activation.Since
	since.Histories = [][]behavior.Run{{wrong}}
	run.Activation.Since = &since
	by := shift{start: -behavior.Tick}
	session, calls, parting, err := l.moved(a, run, by)
	if session == nil || calls != nil || parting == nil || parting.Recorded != "get x" || err != nil {
		t.Fatalf("it makes the calls %v, and parts with %+v, %v", calls, parting, err)
	}
	session.Abort()
	if f, err := l.follow(a, run, by); f.parting == nil || f.calls != nil || f.contents != nil || err != nil {
		t.Errorf("it goes so far: %+v, %v", f, err)
	}
	// A memory to which nothing leads at another time is left out.
	b := begun{a, runs[1]}
	for _, test := range []struct {
		name    string
		history []behavior.Run
		led     bool
	}{{"it leads there", runs[:1], true}, {"it does not lead there", []behavior.Run{wrong}, false}} {
		v := &drifted{history: test.history, ahead: behavior.Tick, by: a, run: runs[0], parting: &behavior.Divergence{}}
		f, led, err := l.fromAt(v, b)
		if led != test.led || err != nil || led == (f.contents == nil) {
			t.Errorf("%s: %t, %+v, %v", test.name, led, f, err)
		}
		told := 0
		if err := l.from(v, b, func(*drifted) { told++ }); err != nil || told > 0 || a.Waits.Why != "" {
			t.Errorf("%s: %d memories have drifted, %v, and it waits %q", test.name, told, err, a.Waits.Why)
		}
	}
}

// TestRelivedWhileSearching has a history of two runs that a used instance does not go through be put down to its
// memory, also while the search goes on: nobody shares it.
func TestRelivedWhileSearching(t *testing.T) {
	for _, searching := range []bool{true, false} {
		w := begin(t, alone(sequential(controller("c", countingUp(false)))), Conditions{})
		l := w.Learn
		var runs ran
		w.Listener = &runs
		if _, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}); err != nil {
			t.Fatal(err)
		}
		l.Searching, l.Seen, l.Incidents = searching, map[Wrong]bool{}, []core.Incident{{Kind: core.Nondeterministic, Strategy: "c"}}
		p, executed := w.Machine.Processes[0], l.Executed
		if err := l.Relive(p, []behavior.Run{runs.runs[0].Run, runs.runs[0].Run}); err != nil || len(l.Incidents) != 1 || l.Executed != executed {
			t.Errorf("what is known to depend on chance is relived: %+v, %v", l.Incidents, err)
		}
		l.Incidents = nil
		if err := l.Relive(p, []behavior.Run{runs.runs[0].Run, runs.runs[0].Run}); err != nil {
			t.Errorf("searching %t: %v", searching, err)
		}
		if all := l.Incidents; len(all) != 1 || all[0].Cause != core.Memory {
			t.Errorf("searching %t: the incidents are %+v", searching, all)
		}
	}
}

// TestRelivedLater has a used instance whose clock is ahead write other times, which is nothing to speak of; what it
// writes besides is put down to its memory, and so are times that follow from that.
func TestRelivedLater(t *testing.T) {
	for _, test := range []struct {
		name  string
		does  func(w world, n int)
		wrong int
	}{
		{"it writes the time, and sleeps", func(w world, _ int) {
			w.put("at", time.Now().UTC().Format(time.RFC3339))
			time.Sleep(time.Hour)
		}, 0},
		{"it counts, and sleeps", func(w world, n int) {
			w.put("n", strconv.Itoa(n))
			time.Sleep(time.Hour)
		}, 1},
		{"it makes a time of what it counts", func(w world, n int) {
			w.put("at", time.Date(2000, 1, 1, n, 0, 0, 0, time.UTC).Format(time.RFC3339))
		}, 1},
	} {
		code := func() core.Instance {
			n := 0
			return hand{reconcile: func(w world, _ core.Request) core.Result {
				n++
				test.does(w, n)
				return core.Result{}
			}}
		}
		w := begin(t, alone(controller("c", code)), Conditions{})
		l := w.Learn
		var runs ran
		w.Listener = &runs
		if _, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}); err != nil {
			t.Fatal(test.name, err)
		}
		l.Seen, l.Incidents, l.relived = map[Wrong]bool{}, nil, relived{}
		run := runs.runs[0].Run
		if err := l.Relive(w.Machine.Processes[0], []behavior.Run{run, run}); err != nil || len(l.Incidents) != test.wrong {
			t.Errorf("%s: %v, and these are wrong: %+v", test.name, err, l.Incidents)
		}
	}
}

// TestReordered has a divergence by chance be told as another order if that is all, and one by memory never. Another
// order does not count towards giving up.
func TestReordered(t *testing.T) {
	a, b, c := query{"put a", ""}, query{"put b", ""}, query{"put c", ""}
	for _, test := range []struct {
		cause core.Cause
		call  core.Call
		want  bool
	}{{core.Chance, b, true}, {core.Chance, c, false}, {core.Memory, b, false}} {
		m, _ := desk("web")
		l := learning(t, m)
		l.diverged(m.Actors[0], behavior.Activation{Request: "r"}, pathOf(a, b), &behavior.Divergence{Recorded: a.String(), Observed: test.call.String(), Call: test.call}, test.cause, nil)
		if all := l.Incidents; len(all) != 1 || all[0].Reordered != test.want || strings.Contains(all[0].Message, "in another order") != test.want || m.Actors[0].divergences > 0 == test.want {
			t.Errorf("%s, %s: %+v", test.cause, test.call, all)
		}
	}
}

// countingInterrupted has what is found out of one that counts in memory be interrupted.
func countingInterrupted(t *testing.T, name string, c Conditions) {
	t.Helper()
	l, a, runs := counted(t, c)
	last := runs[len(runs)-1]
	interruptedIn(t, "a history"+name, func(ctx context.Context) error {
		l.Context, l.relived, l.Memo = ctx, relived{}, memo.New()
		return l.Relive(a.Process, runs)
	})
	interruptedIn(t, "what is kept"+name, func(ctx context.Context) error {
		l.Context = ctx
		_, err := l.kept(a, []behavior.Run{last})
		return err
	})
	interruptedIn(t, "an instance that remembers"+name, func(ctx context.Context) error {
		l.Context = ctx
		session, err := l.Open(a, last.Activation.Since)
		if err == nil {
			session.Abort()
		} else if session != nil {
			t.Error("there is a session where there is an error")
		}
		return err
	})
	interruptedIn(t, "another way to a memory"+name, func(ctx context.Context) error {
		l.Context = ctx
		m := a.domain.memories[1]
		m.Histories = [][]behavior.Run{runs[:1]}
		return l.lead(a.domain, 1, runs[:1])
	})
}

// TestFindingOutInterrupted has what is found out besides whole searches be interrupted.
func TestFindingOutInterrupted(t *testing.T) {
	for name, c := range map[string]Conditions{"": {}, ", of one that is active": {Active: []string{"c"}}} {
		countingInterrupted(t, name, c)
	}
	for name, system := range map[string]func() *core.System{
		"one that is another one when its memory is looked at": activeByChance,
		"who counts unseen, and sleeps":                        called("it counts unseen, and sleeps", rareMixtures()).system,
		"who polls from a memory on":                           called("it polls from its first run on", rareMixtures()).system,
		"who comes to a memory later":                          sleepingOnce(true, true),
		"whose goroutine keeps something":                      called("a goroutine keeps what it saw", keepers()).system,
		"who reads files":                                      plainly(func(world, core.Request) core.Result { _, _ = os.ReadFile("strayed_test.go"); return core.Result{} }),
	} {
		interruptedIn(t, name, func(ctx context.Context) error { _, err := roam(ctx, system(), Conditions{}); return err }, "memory.go", "audit.go", "background.go")
	}
	l, a, runs := counted(t, Conditions{})
	ended, end := context.WithCancel(t.Context())
	end()
	l.Context = ended
	known := &behavior.Divergence{}
	v := &left{contents: map[string]string{"R.n": "9"}, at: shift{run: behavior.Tick}, parting: known}
	if parting, _, err := l.amid(a, runs[0], []*behavior.Divergence{known}, 0, glimpse{}, glimpse{behavior.Epoch, known}, func(time.Duration) (*behavior.Divergence, *left, error) { return nil, v, nil }); parting != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("what is left in between cannot be taken along: %+v, %v", parting, err)
	}
}

// TestRetracedByTheNewest has a run be gone through again by the newest of the histories that lead to where it begins.
func TestRetracedByTheNewest(t *testing.T) {
	l, a, runs := counted(t, Conditions{})
	m := a.domain.memories[1]
	for i, want := range []int{0, 1} {
		m.Histories = [][]behavior.Run{runs[:1], runs[:1], {[]behavior.Run{runs[0], unmade(runs[0])}[i]}}
		if err := l.retrace(a.domain, 1); err != nil || len(l.Incidents) != want {
			t.Errorf("%d: the incidents are %+v, %v", i, l.Incidents, err)
		}
	}
}

// TestTellsRenewed has a run that goes another way at another time, also without a time that was renewed, part there.
func TestTellsRenewed(t *testing.T) {
	f := explored(t, alone(controller("c", since), "since 2000-01-01T00:00:00Z"), Conditions{})
	a := f.learner.Machine.Actors[0]
	run := f.histories[1][a.Process][0]
	renewed, err := f.learner.follow(a, run, shift{})
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[time.Duration]string{0: "", behavior.Epoch: "put late"} {
		parting, err := f.learner.tellsRenewed(begun{a, run}, renewed, by)
		if (parting == nil) != (want == "") || parting != nil && parting.Observed != want || err != nil {
			t.Errorf("after %s it parts with %+v, %v", by, parting, err)
		}
	}
}

// failing is a store that answers so many calls, and then one not, or computes one answer from something else than
// before.
type failing struct {
	notes
	asked  *int
	at     int
	strays bool
}

func (f failing) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	if *f.asked++; *f.asked == f.at {
		if f.strays {
			s.Get(key("something else"))
			return core.Answer{Response: reply("done")}, nil
		}
		return core.Answer{}, &core.Unsupported{Call: "this one"}
	}
	return f.notes.Answer(s, call)
}

// TestStoreFails has a search end with what a store does not answer, whichever call it is, also of those that are made
// as of a tick earlier.
func TestStoreFails(t *testing.T) {
	for _, s := range []scenario{
		called("it writes the time again and again", clocks()), called("three calls, in two orders", orderings()), called("in any order", users()), called("it hands on, and crashes", backgrounds()),
	} {
		for at, reached := 1, true; reached; at++ {
			asked := 0
			system := s.system()
			system.Store = failing{asked: &asked, at: at}
			_, err := roam(t.Context(), system, s.conditions)
			reached = asked >= at
			var unsupported *core.Unsupported
			if errors.As(err, &unsupported) != reached {
				t.Errorf("%s: call %d is not answered, and it ends with %v", s.name, at, err)
			}
		}
	}
	// An answer has to follow from what is looked at.
	asked := 0
	system := lab([]core.Strategy{
		simple("c", func(w world, _ core.Request) core.Result { w.put("n", w.get("m")); return core.Result{} }),
		simple("d", func(w world, _ core.Request) core.Result { w.put("m", "1"); return core.Result{} }),
	})
	system.Store = failing{asked: &asked, at: 4, strays: true}
	if _, err := roam(t.Context(), system, Conditions{}); err == nil || !strings.Contains(err.Error(), "from other reads than before") {
		t.Errorf("a store answers as it likes, and it ends with %v", err)
	}
}

// TestSharedUnseen has a history of controllers that were not known to share memory have the search begin again, if it
// goes on: first with one memory for all requests of each of them, then with one for both.
func TestSharedUnseen(t *testing.T) {
	for _, test := range []struct{ searching, whole bool }{{true, false}, {true, true}, {false, false}, {false, true}} {
		searching, c := test.searching, Conditions{Remembering: []string{"a", "b"}}
		if test.whole {
			c.Whole = c.Remembering
		}
		w := begin(t, process(true, tallies([2]int{0, 1}, [2]int{0, 0}, [2][]int{{0}, {1}})), c)
		l := w.Learn
		row := w.AppendRow(nil)
		var history []behavior.Run
		for _, name := range []string{"a", "b"} {
			var runs ran
			w.Load(row)
			w.Listener, l.Searching = &runs, false
			if chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: name, Request: "go"}}); chosen == nil || err != nil {
				t.Fatalf("%v, %v", chosen, err)
			}
			history = append(history, runs.runs[0].Run)
		}
		l.Searching, l.Incidents, l.Seen = searching, nil, map[Wrong]bool{}
		err := l.Relive(w.Machine.Processes[0], history)
		var sharing *unexpectedSharing
		var whole *unexpectedWhole
		if errors.As(err, &sharing) != (searching && test.whole) || errors.As(err, &whole) != (searching && !test.whole) || (err != nil) != searching || (len(l.Incidents) == 1) == searching {
			t.Errorf("%+v: %v, and the incidents are %+v", test, err, l.Incidents)
		}
	}
}

// TestRenewedOn has a memory with a time that was renewed be taken along behind a run that leaves all times as late as
// the clock is, as nobody would have left that one. It counts as more than one in which only times have drifted.
func TestRenewedOn(t *testing.T) {
	for _, fixed := range []bool{false, true} { // whether there is a time that does not move
		f := explored(t, of(func() *trade {
			return controller("c", func() core.Instance {
				runs := 0
				var at time.Time
				return mind{hand{reconcile: func(world, core.Request) core.Result {
					runs, at = min(runs+1, 2), time.Now()
					return core.Result{Requeue: runs < 2}
				}}, func() map[string]string {
					memory := map[string]string{"R.runs": strconv.Itoa(runs), "R.at": at.Format(time.RFC3339Nano)}
					if fixed && runs > 0 {
						memory["R.fixed"] = noon
					}
					return memory
				}}
			})
		})(), Conditions{})
		l, a := f.learner, f.learner.Machine.Actors[0]
		runs := f.histories[len(f.histories)-1][a.Process]
		for _, renewed := range []bool{false, true} {
			v := drifted{ahead: behavior.Tick, renewed: renewed, by: a, run: runs[0], parting: &behavior.Divergence{}}
			var all []*drifted
			if err := l.from(v.after(nil, runs[0], nil), begun{a, runs[1]}, func(v *drifted) { all = append(all, v) }); err != nil {
				t.Fatal(err)
			}
			if (len(all) == 1) != (renewed || fixed) || len(all) == 1 && (all[0].minor == renewed || len(all[0].history) != 2) {
				t.Errorf("renewed %t, fixed %t: these are taken along: %+v", renewed, fixed, all)
			}
		}
	}
}

// TestDriftedOn has a memory that has drifted be followed through all runs that are known to come then, up to the one
// that does something else because of it.
func TestDriftedOn(t *testing.T) {
	f := explored(t, of(func() *trade {
		return controller("c", func() core.Instance {
			var first time.Time
			hours, runs := 0, 0
			return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
				switch runs = min(runs+1, 4); {
				case runs == 1:
					first = time.Now()
				case runs == 2:
					hours = int(time.Since(first).Hours())
				case runs == 4 && hours > 0:
					w.put("late", "yes")
				}
				return core.Result{Requeue: runs < 4}
			}}, func() map[string]string {
				return map[string]string{"R.runs": strconv.Itoa(runs), "R.first": first.Format(time.RFC3339Nano), "R.hours": strconv.Itoa(hours)}
			}}
		})
	})(), Conditions{})
	l, a := f.learner, f.learner.Machine.Actors[0]
	runs := f.histories[len(f.histories)-1][a.Process]
	if len(runs) != 4 || a.Waits.Why == "" {
		t.Fatalf("it makes %d runs, and waits %q", len(runs), a.Waits.Why)
	}
	a.Waits.Why, a.domain.drifted = "", map[state.Value][]*drifted{}
	_, left, err := l.lookAt(a, runs[1], a.domain.shift(behavior.Epoch))
	if left == nil || err != nil {
		t.Fatalf("it leaves %+v, %v", left, err)
	}
	if err := l.takeAlong(a, runs[1], left); err != nil || !strings.HasSuffix(a.Waits.Why, "put late where it else returns") {
		t.Errorf("it waits %q, %v", a.Waits.Why, err)
	}
}
