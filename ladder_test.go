package orrery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// ledger is what the controllers of these tests share: a list of names, what its owner was told, and a seal.
type ledger struct{ names, told, seal plain.Var[string] }

// ledgers returns a system of one controller for each function. It is run twice in the beginning, and after changes of
// the list if it watches that: then it reads the list from a cache.
func ledgers(t *testing.T, watch bool, reconcile ...func(w *plain.World, l ledger, self string)) *core.System {
	t.Helper()
	l := ledger{plain.NewVar[string]("names"), plain.NewVar[string]("told"), plain.NewVar[string]("seal")}
	model := plain.Model{Name: "ledger", Initial: []core.Initial{plain.Start(l.names.Is(""), l.told.Is(""), l.seal.Is(""))}, Properties: properties.Convergent()}
	for i, run := range reconcile {
		self := string(rune('a' + i))
		c := plain.Controller{Name: self, Requests: []core.Request{"first", "second"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			run(w, l, self)
			return core.Result{}
		}}
		if watch {
			c.Watches = []plain.Watch{{Kind: l.names.Key().Kind}}
		}
		model.Controllers = append(model.Controllers, c)
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// joins puts a controller on the list, once.
func joins(w *plain.World, l ledger, self string) {
	if names := l.names.Get(w); !strings.Contains(names, self) {
		sorted := strings.Split(names+self, "")
		slices.Sort(sorted)
		l.names.Set(w, strings.Join(sorted, ""))
	}
}

// insists wants to be the only one on the list.
func insists(w *plain.World, l ledger, self string) { l.names.Set(w, self) }

// tells tells the owner that a name is on the list, and does not come back to it if it crashes in between.
func tells(w *plain.World, l ledger, self string) {
	if l.names.Get(w) == "" {
		l.names.Set(w, self)
		l.told.Set(w, "once")
	}
}

// counts tells the owner of each name that it puts on the list.
func counts(w *plain.World, l ledger, self string) {
	if l.names.Get(w) == "" {
		l.told.Set(w, l.told.Get(w)+"again")
		l.names.Set(w, self)
	}
}

// seals does as counts, and changes something more, at which caches that miss a single change show the name.
func seals(w *plain.World, l ledger, self string) {
	counts(w, l, self)
	l.seal.Set(w, "sealed")
}

// TestClimb wants classic mistakes to be found by a climb, each on the first rung that shows it, and what is right to
// stand on all.
func TestClimb(t *testing.T) {
	for name, test := range map[string]struct {
		system *core.System
		want   string
	}{
		"right":       {ledgers(t, true, joins, joins), ""},
		"fight":       {ledgers(t, true, insists, insists), "nothing goes wrong"},
		"old cache":   {ledgers(t, true, counts), "caches miss the latest change"},
		"old batch":   {ledgers(t, true, seals), "caches miss all that one reconcile changes: 3"},
		"half done":   {ledgers(t, true, tells), "a controller crashes once"},
		"lost update": {ledgers(t, false, joins, joins), "others act between the calls of a reconcile"},
	} {
		t.Run(name, func(t *testing.T) {
			ladder, err := orrery.Climb(context.Background(), test.system, orrery.Options{MaxStates: 5_000})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			if failed := ladder.Failed(); failed != nil {
				found = failed.Name
			}
			if found != test.want {
				t.Errorf("it was found where %q, want %q:\n%s", found, test.want, ladder)
			}
			after := false
			for _, r := range ladder.Rungs {
				if (r.Result == nil) != after {
					t.Errorf("%q: the result is %v, where a rung before it has found something: %t", r.Name, r.Result, after)
				}
				after = after || r.Name == test.want
			}
		})
	}
}

// TestCheckClimbs wants a check to fail by what may go wrong, and to say how to check that alone; and one that passes
// to log what was searched.
func TestCheckClimbs(t *testing.T) {
	l := &logs{TB: t}
	result := orrery.Check(l, ledgers(t, true, tells))
	all := strings.Join(l.logged, "\n")
	if !l.failed || result.Report.Crashes != 1 || !strings.Contains(all, "orrery.CheckWith(t, orrery.Options{Crashes: 1}, system, ...)") || !strings.Contains(all, "not searched") {
		t.Errorf("failed: %t, with %d crashes: %s", l.failed, result.Report.Crashes, all)
	}
	l = &logs{TB: t}
	orrery.Check(l, ledgers(t, true, insists))
	if all := strings.Join(l.logged, "\n"); l.failed || !strings.Contains(all, "nothing wrong was found") || !strings.Contains(all, "holds         a controller crashes once: ") {
		t.Errorf("failed: %t: %s", l.failed, all)
	}
}

// TestCheckSaysWhereOptionsAre has too little time for the last rung, so that a reason names an option, which Check does
// not take.
func TestCheckSaysWhereOptionsAre(t *testing.T) {
	l := &logs{TB: t}
	orrery.Check(soon{l}, ledgers(t, true, insists))
	if all := strings.Join(l.logged, "\n"); !strings.Contains(all, "(Options.MaxTime)") || !strings.Contains(all, "is given to orrery.CheckWith") {
		t.Error(all)
	}
	l = &logs{TB: t}
	orrery.Check(l, ledgers(t, false, insists))
	if all := strings.Join(l.logged, "\n"); strings.Contains(all, "is given to orrery.CheckWith") {
		t.Error(all)
	}
}

// soon is a test that has little time left.
type soon struct{ *logs }

func (soon) Deadline() (time.Time, bool) { return time.Now().Add(250 * time.Millisecond), true }

// TestClimbIsByItself wants conditions in the options of a climb to be refused.
func TestClimbIsByItself(t *testing.T) {
	system := scaled(bounds{"savings", 0, 3})
	for _, options := range []orrery.Options{
		{Crashes: 1}, {Failures: 1}, {Granularity: orrery.PerCall}, {Doubles: []string{"savings"}}, {FaultsIn: []string{"savings"}},
		{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}},
	} {
		if _, err := orrery.Climb(t.Context(), system, options); err == nil || !strings.Contains(err.Error(), "leave out") {
			t.Errorf("%+v: %v", options, err)
		}
	}
	if _, err := orrery.Climb(t.Context(), nil, orrery.Options{}); err == nil {
		t.Error("no system is no error")
	}
}

// TestClimbEndsInTime wants the rungs that there was no time for to be told.
func TestClimbEndsInTime(t *testing.T) {
	ladder, err := orrery.Climb(t.Context(), scaled(bounds{"savings", 0, 3}), orrery.Options{MaxTime: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range ladder.Rungs {
		if (r.Result != nil) != (i == 0) {
			t.Errorf("%s: %v", r.Name, r.Result)
		}
	}
	if text := fmt.Sprint(ladder); strings.Count(text, "not searched") != len(ladder.Rungs)-1 {
		t.Error(text)
	}
}
