package transition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// ear is a listener that keeps all that it hears in a step.
type ear struct{ heard []string }

func (e *ear) note(format string, args ...any) {
	e.heard = append(e.heard, fmt.Sprintf(format, args...))
}

func (e *ear) Began() { e.heard = nil }

func (e *ear) Called(a *Actor, _ behavior.Activation, call CallEvent) {
	fault := ""
	if call.Fault != nil {
		fault = call.Fault.Name
	}
	e.note("%s: %s → %s, %d writes, %d items %s", a.Name, call.Node.Call, call.Response, len(call.Writes), len(call.Enqueued), fault)
}

func (e *ear) Ended(a *Actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf) {
	e.note("%s: %s ends behind %d calls: %s %s", a.Name, activation, len(path), leaf, leaf.Failure)
}

func (e *ear) Committed(v *view.View) { e.note("committed %s", v.Kind()) }
func (e *ear) Refreshed(v *view.View, changes []view.Change) {
	e.note("refreshed %s with %d", v.Kind(), len(changes))
}

// hears is a visitor that keeps what was heard in each step.
type hears struct {
	ear   *ear
	steps map[string]string
}

func (h *hears) Took(t *Taken) error {
	h.steps[t.Step().String()] = strings.Join(h.ear.heard, "; ")
	return nil
}

func (*hears) Stopped(_ *Taken, err error) error { return err }

// TestHeard has a listener get each call with what it does, of each end, and of what comes to views, before it is
// learned and once it is known.
func TestHeard(t *testing.T) {
	writes := func() *core.System {
		c := simple("c", func(w world, _ core.Request) core.Result {
			w.ask(errand{verb: "send", name: "c", text: "again"})
			w.put("a", "1")
			return core.Result{}
		})
		d := sequential(controller("d", func() core.Instance {
			return hand{func(world, core.Request) core.Result { return core.Result{Blocked: true} }, func(w world, _ core.Event) []core.Request { w.get("b"); return nil }}
		}))
		d.Watches = []core.Kind{"note"}
		system := lab([]core.Strategy{c, d})
		system.Store = notes{fails: true}
		return system
	}
	const sent, put = "c: send c → done, 0 writes, 1 items ", "c: put a → done, 1 writes, 0 items "
	const event, ends = "d: get b → , 0 writes, 0 items ; d: handling an event of note a ends behind 1 calls: returns ", "c: reconciling go ends behind 2 calls: returns "
	for _, test := range []struct {
		name string
		c    Conditions
		want map[string]string
	}{
		{"fresh", Conditions{}, map[string]string{"c reconciles go": sent + "; " + put + "; " + event + "; " + ends}},
		{"stale", Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, map[string]string{"c reconciles go": sent + "; " + put + "; committed note; " + ends}},
		{"it crashes", Conditions{Crashes: 1, FaultsIn: []string{"c"}}, map[string]string{
			"c reconciles go": sent + "; " + put + "; " + event + "; " + ends,
			`c reconciles go, and it crashes after "send c" and before call 2, "put a", and starts again`: sent + "; c: reconciling go ends behind 1 calls:  " + string(behavior.CutOff),
			"c crashes and restarts": "",
		}},
		{"calls fail", Conditions{Failures: 1, FaultsIn: []string{"c"}}, map[string]string{
			"c reconciles go": sent + "; " + put + "; " + event + "; " + ends,
			`c reconciles go, and call 1, "send c", fails: refused`: "c: send c → refused, 0 writes, 0 items refused; " + put + "; " + event + "; " + ends,
			`c reconciles go, and call 1, "send c", fails: lost`:    "c: send c → lost, 0 writes, 1 items lost; " + put + "; " + event + "; " + ends,
			`c reconciles go, and call 2, "put a", fails: refused`:  sent + "; c: put a → refused, 0 writes, 0 items refused; " + ends,
			`c reconciles go, and call 2, "put a", fails: lost`:     sent + "; c: put a → lost, 1 writes, 0 items lost; " + event + "; " + ends,
		}},
	} {
		w := begin(t, writes(), test.c)
		row := w.AppendRow(nil)
		for i := range 3 {
			if i == 2 { // who only reads, and has cached steps from when nobody listened, is heard as well
				w = NewWalker(w.Machine, nil)
				w.Load(row)
				if _, err := w.Steps(&looking{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			w.Load(row)
			heard := &hears{&ear{}, map[string]string{}}
			w.Listener = heard.ear
			if _, err := w.Steps(heard, nil); err != nil {
				t.Fatal(err)
			}
			for step, want := range test.want {
				if i == 2 { // for whom the calls of a run are not kept
					want = strings.NewReplacer("behind 1 calls", "behind 0 calls", "behind 2 calls", "behind 0 calls").Replace(want)
				}
				if got, took := heard.steps[step]; got != want || !took {
					t.Errorf("%s: in the step %q it hears\n%s\nwant\n%s", test.name, step, got, want)
				}
			}
			if len(heard.steps) != len(test.want) {
				t.Errorf("%s: the steps are %q", test.name, heard.steps)
			}
		}
	}
	// What has waited is received, and a view that starts again is refreshed with nothing.
	w := begin(t, writes(), Conditions{Crashes: 1, Staleness: []Staleness{{Rule: view.Lag(1)}}})
	if _, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	heard := &hears{&ear{}, map[string]string{}}
	w.Listener = heard.ear
	if _, err := w.Steps(heard, nil); err != nil {
		t.Fatal(err)
	}
	if got := heard.steps["the cache of d receives changes to note"]; got != "refreshed note with 1; "+event {
		t.Errorf("of a delivery it hears %q; the steps are %q", got, heard.steps)
	}
	if got := heard.steps["d crashes and restarts, and its view of note is 1 change behind"]; got != "refreshed note with 0" {
		t.Errorf("of a restart it hears %q", got)
	}
}

// handlings is a listener that keeps which event is handled at each call and end.
type handlings struct {
	Inattentive
	walker *Walker
	all    []string
}

func (h *handlings) note(what string) {
	event := "none"
	if h.walker.Handling != nil {
		event = h.walker.Handling.Key.Name
	}
	h.all = append(h.all, what+": "+event)
}

func (h *handlings) Called(_ *Actor, _ behavior.Activation, call CallEvent) {
	h.note(call.Node.Call.String())
}

func (h *handlings) Ended(a *Actor, _ behavior.Activation, _ behavior.Path, _ *behavior.Leaf) {
	h.note(a.Name + " ends")
}

// TestHandling has it be known which event is handled, also where handlers set off others, and that none is while a
// reconcile goes on.
func TestHandling(t *testing.T) {
	c := simple("c", func(w world, _ core.Request) core.Result {
		w.put("a", "1")
		w.get("a")
		return core.Result{}
	})
	d := sequential(controller("d", func() core.Instance {
		return hand{func(world, core.Request) core.Result { return core.Result{} }, func(w world, e core.Event) []core.Request {
			if e.Key.Name == "a" {
				w.put("b", "1")
				w.get("b")
			}
			return nil
		}}
	}))
	d.Watches, d.Initial = []core.Kind{"note"}, nil
	w := begin(t, lab([]core.Strategy{c, d}), Conditions{})
	row := w.AppendRow(nil)
	for range 2 {
		w.Load(row)
		heard := &handlings{walker: w}
		w.Listener = heard
		if _, err := w.Steps(&looking{}, nil); err != nil {
			t.Fatal(err)
		}
		if want := []string{"put a: none", "put b: a", "d ends: b", "get b: a", "d ends: a", "get a: none", "c ends: none"}; !slices.Equal(heard.all, want) {
			t.Errorf("these are handled: %q, want %q", heard.all, want)
		}
	}
}

// TestOneCache has the event handlers of a process hear of a change once, whoever else has views that lag behind.
func TestOneCache(t *testing.T) {
	system := process(false, func() []mind {
		h := hand{nil, func(world, core.Event) []core.Request { return nil }}
		return []mind{{h, func() map[string]string { return map[string]string{} }}, {h, func() map[string]string { return map[string]string{} }}}
	})
	for _, s := range system.Strategies {
		b := s.(*both)
		b.Watches, b.Initial = []core.Kind{"note"}, nil
	}
	writes := simple("c", func(w world, _ core.Request) core.Result { w.put("x", "1"); return core.Result{} })
	writes.Watches = []core.Kind{"note"}
	system.Strategies = append(system.Strategies, writes)
	w := begin(t, system, Conditions{Staleness: []Staleness{{Controller: "c", Rule: view.Lag(1)}}})
	heard := &handlings{walker: w}
	w.Listener = heard
	if chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "go"}}); chosen == nil || err != nil {
		t.Fatalf("%v, %v", chosen, err)
	}
	if want := []string{"put x: none", "a ends: x", "b ends: x", "c ends: none"}; !slices.Equal(heard.all, want) {
		t.Errorf("these are handled: %q, want %q", heard.all, want)
	}
}

// TestMissed has a deletion be missed where all changes come at once, and be seen where one comes after the other.
func TestMissed(t *testing.T) {
	for rule, want := range map[view.Rule]string{view.Fresh(): "seen", view.Lag(1): "seen", view.Relist(): "missed"} {
		c := sequential(controller("c", func() core.Instance {
			return hand{func(world, core.Request) core.Result { return core.Result{} }, func(w world, e core.Event) []core.Request {
				switch {
				case e.New != nil && e.Missed:
					w.put("how", "missed although it is there")
				case e.New != nil:
				case e.Missed:
					w.put("how", "missed")
				default:
					w.put("how", "seen")
				}
				return nil
			}}
		}))
		c.Watches, c.Initial = []core.Kind{"note"}, nil
		drops := simple("d", func(w world, _ core.Request) core.Result {
			w.ask(errand{verb: "drop", name: "a"})
			return core.Result{}
		})
		f := explored(t, lab([]core.Strategy{c, drops}, "a 1"), Conditions{Staleness: []Staleness{{Rule: rule}}})
		if !slices.Equal(f.rests, []string{"how " + want}) {
			t.Errorf("under %s it ends with %q", rule, f.rests)
		}
		f.known(t)
	}
}

// TestHandlersDoNotFail has the calls of event handlers be none that can fail.
func TestHandlersDoNotFail(t *testing.T) {
	c := sequential(controller("c", func() core.Instance {
		return hand{func(world, core.Request) core.Result { return core.Result{} }, func(w world, e core.Event) []core.Request {
			if e.Key.Name == "a" {
				w.put("b", "1")
			}
			return []core.Request{"go"}
		}}
	}))
	c.Watches, c.Initial = []core.Kind{"note"}, nil
	system := alone(c, "a 1")
	system.Store = notes{fails: true}
	w := begin(t, system, Conditions{Failures: 1})
	var seen looking
	if _, err := w.Steps(&seen, nil); err != nil || !slices.Equal(seen.steps, []string{"c reconciles go"}) || w.Machine.Fails {
		t.Errorf("the steps are %q, and calls may fail: %t, %v", seen.steps, w.Machine.Fails, err)
	}
}

// TestFailsInNobody has no call be able to fail where only others may fail.
func TestFailsInNobody(t *testing.T) {
	for _, name := range []string{"c", "d"} {
		system := twoNotes()
		system.Store = notes{fails: true}
		w := begin(t, system, Conditions{Failures: 1, FaultsIn: []string{name}})
		var seen looking
		if _, err := w.Steps(&seen, nil); err != nil || w.Machine.Fails != (name == "c") || slices.ContainsFunc(seen.steps, func(step string) bool { return strings.Contains(step, "fails") }) != (name == "c") {
			t.Errorf("faults in %s: calls may fail: %t, in %q, %v", name, w.Machine.Fails, seen.steps, err)
		}
	}
}
