package transition

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// TestDrawnInMemory has a draw be used up by a run that only remembers what it drew, and not by one that draws nothing.
func TestDrawnInMemory(t *testing.T) {
	w := begin(t, drawers()[3].system(), Conditions{Drawing: []string{"c"}, Remembering: []string{"c"}})
	for i, name := range []string{"it keeps a name", "it makes it"} {
		chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}})
		if err != nil || chosen == nil || w.Drawn()["c"] != 1 || w.Wrote != (i == 1) {
			t.Errorf("%s: %v, %v, and %v was drawn", name, chosen, err, w.Drawn())
		}
		w.Forget()
	}
}

// TestDrawnForOthers has a draw be used up by a run that only sends it to somebody else.
func TestDrawnForOthers(t *testing.T) {
	w := begin(t, called("it sends what it drew", mixtures()).system(), Conditions{Drawing: []string{"c"}})
	chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}})
	if err != nil || chosen == nil || w.Drawn()["c"] != 1 || w.Wrote {
		t.Errorf("%v, %v, and %v was drawn", chosen, err, w.Drawn())
	}
}

// TestChanceBehindSleep has what is done by chance be told as that also of code that sleeps, so that its clock is ahead
// the second time.
func TestChanceBehindSleep(t *testing.T) {
	for name, text := range map[string]func(runs int) string{
		"a number": strconv.Itoa, "a date": func(runs int) string { return time.Date(2000, 1, runs, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano) },
	} {
		runs := 0
		f := explored(t, sleeps(func(w world) {
			runs++
			w.put("n", text(runs))
		})(), Conditions{})
		if all := f.learner.Incidents; len(all) != 1 || all[0].Cause != core.Chance {
			t.Errorf("%s: the incidents are %+v", name, all)
		}
	}
}

// TestLate has a step be late if changes wait for its process, unless it is the one that delivers them, or that starts
// it again.
func TestLate(t *testing.T) {
	c, d := simple("c", func(world, core.Request) core.Result { return core.Result{} }), simple("d", func(w world, _ core.Request) core.Result {
		w.put("a", "1")
		return core.Result{Requeue: true}
	})
	c.Watches = []core.Kind{"note"}
	w := begin(t, lab([]core.Strategy{c, d}), Conditions{Crashes: 1, Staleness: []Staleness{{Rule: view.Lag(2)}}})
	if _, err := w.Steps(&func1{func(step *Taken) error {
		if step.Late {
			t.Errorf("nothing waits, and %s is late", step.Step())
		}
		return nil
	}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "d", Request: "go"}}); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	late := map[string]bool{}
	if _, err := w.Steps(&func1{func(step *Taken) error {
		late[step.Step().String()] = step.Late
		return nil
	}}, nil); err != nil {
		t.Fatal(err)
	}
	if want := map[string]bool{
		"the cache of c receives changes to note": false, "c reconciles go": true, "d reconciles go": false, "c crashes and restarts": false,
		"c crashes and restarts, and its view of note is 1 change behind": false, "d crashes and restarts": false,
	}; !maps.Equal(late, want) {
		t.Errorf("these steps are late: %v", late)
	}
}

// TestStages has the steps of a run whose calls are steps of their own be told apart, and its draw go on as it began.
func TestStages(t *testing.T) {
	w := begin(t, drawers()[0].system(), Conditions{Granularity: PerCall, Drawing: []string{"c"}})
	item := w.Machine.Item(w.Machine.Actors[0], "go")
	var kinds []string
	for range 4 {
		row := w.AppendRow(nil)
		if at := w.Flight(item); at != nil {
			if got := w.Underway(item); got.Seed != SeedOf(item.Item, 0, nil) || got.Request != "go" {
				t.Errorf("what is under way draws from %d: %+v", got.Seed, got)
			}
		}
		heard := &seeds{}
		w.Listener = heard
		if _, err := w.Steps(&func1{func(step *Taken) error {
			kinds = append(kinds, step.Kind.Name())
			stage, is := w.Stage(step)
			switch {
			case !is, (step.Kind == core.Begin) != (stage.Begun == item), (step.Kind == core.Begin) == (stage.Node != nil):
				t.Errorf("%s is the stage %+v, %t", step.Step(), stage, is)
			case step.Kind == core.Return && stage.Node.Leaf == nil, step.Kind == core.Ask && stage.Node.Call == nil:
				t.Errorf("%s is a stage at another node", step.Step())
			}
			for _, seed := range heard.all {
				if seed != SeedOf(item.Item, 0, nil) {
					t.Errorf("%s: the run draws from %d", step.Step(), seed)
				}
			}
			row = w.AppendRow(nil)
			return nil
		}}, nil); err != nil {
			t.Fatal(err)
		}
		w.Listener = nil
		w.Load(row)
	}
	if want := []string{core.Begin.Name(), core.Ask.Name(), core.Ask.Name(), core.Return.Name()}; !slices.Equal(kinds, want) {
		t.Errorf("the steps are %q, want %q", kinds, want)
	}
}

// TestStagesOfLaterDraws has the steps of a run draw from the seed that it began with, whoever takes them: also from
// one that is not the first, and when it was used.
func TestStagesOfLaterDraws(t *testing.T) {
	w := begin(t, drawingBy(func(d *dice) core.Instance {
		return hand{reconcile: func(w world, _ core.Request) core.Result {
			name, drawn := "first", d.draw()
			if w.get(name) != "" {
				name = "second"
			}
			w.create(name, drawn)
			return core.Result{Requeue: name == "first"}
		}}
	}), Conditions{Granularity: PerCall, Drawing: []string{"c"}})
	item := w.Machine.Item(w.Machine.Actors[0], "go")
	row, steps := w.AppendRow(nil), 0
	for more := true; more; {
		more = false
		w = NewWalker(w.Machine, w.Learn)
		w.Load(row)
		heard := &seeds{}
		w.Listener = heard
		if _, err := w.Steps(&func1{func(step *Taken) error {
			draw := steps / 4
			for _, seed := range heard.all {
				if want := SeedOf(item.Item, draw, nil); seed != want {
					t.Errorf("step %d, %s: the run draws from %d, want %d", steps, step.Step(), seed, want)
				}
			}
			steps++
			row, more = w.AppendRow(nil), true
			return nil
		}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if steps != 8 || w.Drawn()["c"] != 2 {
		t.Errorf("after %d steps, %v was drawn", steps, w.Drawn())
	}
}

// seeds is a listener that keeps what runs draw from.
type seeds struct {
	Inattentive
	all []uint64
}

func (s *seeds) Called(_ *Actor, activation behavior.Activation, _ CallEvent) {
	s.all = append(s.all, activation.Seed)
}

func (s *seeds) Ended(_ *Actor, activation behavior.Activation, _ behavior.Path, _ *behavior.Leaf) {
	s.all = append(s.all, activation.Seed)
}
