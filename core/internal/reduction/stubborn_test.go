package reduction

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// idle is a controller that does nothing.
func idle(name string) plain.Controller {
	return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} }}
}

// unforced is a controller that nobody forces to do anything.
func unforced(c plain.Controller) plain.Controller {
	c.Unfair = true
	return c
}

// step takes a step, and makes the state that it leads to the one that the explorer is in.
func step(t *testing.T, w *Explorer, kind core.StepKind, strategy string, request core.Request) {
	t.Helper()
	taken, err := w.Choose(core.Step{Kind: kind, Item: core.Item{Strategy: strategy, Request: request}})
	if err != nil || taken == nil {
		t.Fatalf("%s cannot take its step: %v", strategy, err)
	}
	w.Load(w.AppendRow(nil))
}

// names says who an agent is.
func names(w *Explorer, agent int) string {
	for _, it := range w.Machine.Items {
		if it.Agent == agent {
			return it.Strategy + " " + string(it.Request)
		}
	}
	for _, p := range w.Machine.Processes {
		if slices.Contains(p.Deliveries, agent) {
			return "deliver to " + p.Name
		}
	}
	return fmt.Sprint("agent ", agent)
}

// TestEnabled finds who can take a step, who of them is forced to, and what the step touches.
func TestEnabled(t *testing.T) {
	x := plain.NewVar[int]("x")
	acts := func(is int) plain.Process {
		return plain.Process{Name: "guarded", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { w.Require(x.Get(w) == is); x.Set(w, 2) }}}}
	}
	sets := plain.Controller{Name: "sets", Requests: []core.Request{"r", "s"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { x.Set(w, 1); return core.Result{} }}
	watches := plain.Controller{Name: "watches", Watches: []plain.Watch{{Kind: x.Key().Kind}}, Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} }}
	waits := plain.Controller{Name: "waits", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { w.Require(x.Get(w) == 1); return core.Result{} }}
	users := plain.Scenario{Actions: []plain.Action{{Name: "u", Do: func(*plain.World) {}}}}
	perCall := transition.Conditions{Granularity: transition.PerCall}
	lag := transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	for _, test := range []struct {
		name       string
		model      plain.Model
		conditions transition.Conditions
		prepare    func(*testing.T, *Explorer)
		want       []string
		users      bool
	}{
		{"two", plain.Model{Controllers: []plain.Controller{idle("a"), idle("b")}}, transition.Conditions{}, nil, []string{"a r due", "b r due"}, false},
		{"one has nothing to do", plain.Model{Controllers: []plain.Controller{idle("a"), idle("b")}}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "a", "r")
		}, []string{"b r due"}, false},
		{"one is not forced", plain.Model{Controllers: []plain.Controller{idle("a"), unforced(idle("b"))}}, transition.Conditions{}, nil, []string{"a r due", "b r"}, false},
		{"a user", plain.Model{Controllers: []plain.Controller{idle("a")}, Scenario: users}, transition.Conditions{}, nil, []string{"user u", "a r due"}, false},
		{"nobody but a user", plain.Model{Controllers: []plain.Controller{idle("a")}, Scenario: users}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "a", "r")
		}, []string{"user u"}, true},
		{"a user is done", plain.Model{Controllers: []plain.Controller{idle("a")}, Scenario: users}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			step(t, w, core.Intervene, core.User, "u")
		}, []string{"a r due"}, false},
		{"an action that can be taken", plain.Model{Processes: []plain.Process{acts(0)}}, transition.Conditions{}, nil, []string{"guarded act due"}, false},
		{"an action that cannot", plain.Model{Processes: []plain.Process{acts(1)}, Controllers: []plain.Controller{idle("a")}}, transition.Conditions{}, nil, []string{"a r due"}, false},
		{"one that was not known to be blocked", plain.Model{Controllers: []plain.Controller{waits}}, transition.Conditions{}, nil, []string{"waits r due"}, false},
		{"one that was", plain.Model{Controllers: []plain.Controller{waits, sets}}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			w.Footprints.Block(item(t, w, "waits", "r").Agent)
			w.Footprints.settled = w.Footprints.known(w.Machine)
		}, []string{"sets r due", "sets s due"}, false},
		{"one that was, and is not any more", plain.Model{Controllers: []plain.Controller{waits, sets}}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			w.Footprints.Block(item(t, w, "waits", "r").Agent)
			w.Footprints.settled = w.Footprints.known(w.Machine)
			step(t, w, core.Reconcile, "sets", "r")
		}, []string{"waits r due", "sets s due"}, false},
		{"nothing to deliver", plain.Model{Controllers: []plain.Controller{sets, watches}}, lag, nil, []string{"sets r due", "sets s due", "watches x due"}, false},
		{"something to deliver", plain.Model{Controllers: []plain.Controller{sets, watches}}, lag, func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "sets", "r")
			step(t, w, core.Reconcile, "sets", "s")
			step(t, w, core.Reconcile, "watches", "x")
		}, []string{"deliver to watches due"}, false},
		{"something to deliver to one that is not forced", plain.Model{Controllers: []plain.Controller{sets, unforced(watches)}}, lag, func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "sets", "r")
		}, []string{"deliver to watches", "sets s due", "watches x"}, false},
		{"something to deliver, and a user", plain.Model{Controllers: []plain.Controller{sets, watches}, Scenario: users}, lag, func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "sets", "r")
			step(t, w, core.Reconcile, "sets", "s")
			step(t, w, core.Reconcile, "watches", "x")
		}, []string{"deliver to watches due", "user u"}, false},
		{"runs that begin", plain.Model{Controllers: []plain.Controller{sets}}, perCall, nil, []string{"sets r due begins", "sets s due begins"}, false},
		{"a run under way, and no worker is free", plain.Model{Controllers: []plain.Controller{sets}}, perCall, func(t *testing.T, w *Explorer) {
			step(t, w, core.Begin, "sets", "r")
		}, []string{"sets r due goes on"}, false},
		{"a run that was blocked, where calls are steps", plain.Model{Controllers: []plain.Controller{waits, sets}}, perCall, func(t *testing.T, w *Explorer) {
			step(t, w, core.Begin, "waits", "r")
			step(t, w, core.Ask, "waits", "r")
			step(t, w, core.Return, "waits", "r")
			if p := w.Flight(item(t, w, "waits", "r")); p == nil || !p.Blocked {
				t.Fatal("the run is not blocked")
			}
			step(t, w, core.Begin, "sets", "r")
			step(t, w, core.Ask, "sets", "r")
		}, []string{"waits r due begins", "sets r due goes on"}, false},
		{"actions where calls are steps", plain.Model{Processes: []plain.Process{acts(0)}}, perCall, nil, []string{"guarded act due"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.model.Initial = []core.Initial{plain.Start(x.Is(0))}
			w := exploring(t, made(t, test.model), test.conditions, &asked{})
			begun, onTheWay := &Footprint{}, &Footprint{}
			// Asking a second time must tell the same.
			for range 2 {
				if test.prepare != nil {
					test.prepare(t, w)
					test.prepare = nil
				}
				settled := &w.Footprints.settled
				settled.stages = map[transition.Stage]*Footprint{}
				for _, it := range w.Machine.Items {
					settled.stages[transition.Stage{Begun: it}] = begun
					if p := w.Flight(it); p != nil {
						settled.stages[transition.Stage{Node: p.Node}] = onTheWay
					}
				}
				if err := w.findEnabled(); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range w.enabled {
					text := names(w, e.Agent)
					if e.Due {
						text += " due"
					}
					switch e.Now {
					case begun:
						text += " begins"
					case onTheWay:
						text += " goes on"
					}
					got = append(got, text)
				}
				if !slices.Equal(got, test.want) || w.users != test.users {
					t.Errorf("enabled are %q, want %q, and only users are: %t", got, test.want, w.users)
				}
			}
		})
	}
}

// TestReduce asks whom to follow: one that can be followed alone before all others, also where there may be faults, and
// else those whom the chooser names.
func TestReduce(t *testing.T) {
	x := plain.NewVar[int]("x")
	look := func(name string) plain.Controller {
		return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { x.Lookup(w); return core.Result{} }}
	}
	follow := func(agents ...string) func(*Explorer) Choice {
		return func(w *Explorer) Choice {
			var c Choice
			for _, it := range w.Machine.Items {
				if slices.Contains(agents, it.Strategy) {
					c.Follow = append(c.Follow, it.Agent)
				} else if len(agents) > 0 {
					c.PutOff = append(c.PutOff, it.Agent)
				}
			}
			return c
		}
	}
	for _, test := range []struct {
		name    string
		alone   string // who may be followed alone
		choice  func(*Explorer) Choice
		faults  int
		idle    []string
		want    []string // nil for all
		level   bool
		putOff  []string
		chooses bool
	}{
		{name: "all", choice: follow(), chooses: true},
		{name: "some", choice: follow("a", "c"), want: []string{"a", "c"}, putOff: []string{"b"}, chooses: true},
		{name: "one goes alone", alone: "b", want: []string{"b"}, level: true, putOff: []string{"a", "c"}},
		{name: "one goes alone where there is nobody else", alone: "b", idle: []string{"a", "c"}},
		{name: "one goes alone of two", alone: "b", idle: []string{"a"}, want: []string{"b"}, level: true, putOff: []string{"c"}},
		{name: "one of two", choice: follow("c"), idle: []string{"b"}, want: []string{"c"}, putOff: []string{"a", "b"}, chooses: true},
		{name: "nobody else is there", choice: follow("c"), idle: []string{"a", "b"}},
		{name: "calls may fail", faults: 1, choice: follow("a")},
		{name: "calls may fail, and one goes alone", faults: 1, alone: "b", want: []string{"b"}, level: true},
		{name: "calls may fail, and one goes alone where there is nobody else", faults: 1, alone: "b", idle: []string{"a", "c"}, want: []string{"b"}, level: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := made(t, plain.Model{Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{look("a"), look("b"), look("c")}})
			if test.faults > 0 {
				failing(system)
			}
			var w *Explorer
			chosen := false
			chooser := &asked{
				alone:  func(way Way) bool { return test.alone != "" && way.Agent == item(t, w, test.alone, "r").Agent },
				choice: func([]Enabled) Choice { chosen = true; return test.choice(w) },
			}
			w = exploring(t, system, transition.Conditions{Failures: test.faults}, chooser)
			for _, name := range test.idle {
				w.Set(item(t, w, name, "r").Cell, 0)
			}
			w.Load(w.AppendRow(nil))
			only, err := w.Reduce(Chosen)
			if err != nil {
				t.Fatal(err)
			}
			var followed, late []string
			for _, it := range w.Machine.Items {
				if only != nil && only[it.Agent] {
					followed = append(followed, it.Strategy)
				}
				if w.Footprints.agents[it.Agent].putOff {
					late = append(late, it.Strategy)
				}
			}
			if (only == nil) != (test.want == nil) || !slices.Equal(followed, test.want) || w.Level != test.level || chosen != test.chooses {
				t.Errorf("followed are %q, want %q, one alone: %t, and the chooser was asked: %t", followed, test.want, w.Level, chosen)
			}
			if !slices.Equal(late, test.putOff) || w.Disturbs != (len(late) > 0) {
				t.Errorf("put off are %q, want %q", late, test.putOff)
			}
			// What was followed in this state is not followed in the next.
			test.alone, test.choice = "", follow("c")
			if w.Load(w.AppendRow(nil)); w.Level {
				t.Error("one is followed alone in a state of which nothing is known yet")
			}
			if only, err = w.Reduce(Chosen); err != nil {
				t.Fatal(err)
			}
			if n := len(Only(w.marked, func(agent int) bool { return only[agent] })); only != nil && (n != 1 || !only[item(t, w, "c", "r").Agent] || only[item(t, w, "b", "r").Agent]) {
				t.Errorf("after that, %d are followed", n)
			}
		})
	}
}

// TestRests asks who may fall asleep: nobody where nothing is left out, where there may be faults, where only users
// act, or behind one that is followed alone.
func TestRests(t *testing.T) {
	x := plain.NewVar[int]("x")
	model := plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{idle("a"), idle("b")},
		Scenario: plain.Scenario{Actions: []plain.Action{{Name: "u", Do: func(*plain.World) {}}, {Name: "v", Do: func(*plain.World) {}}}},
	}
	for _, test := range []struct {
		name       string
		conditions transition.Conditions
		alone      bool
		prepare    func(*testing.T, *Explorer)
		wakeful    bool
	}{
		{name: "all may sleep"},
		{name: "nothing is left out", prepare: func(_ *testing.T, w *Explorer) { w.chooser = nil }, wakeful: true},
		{name: "one may crash", conditions: transition.Conditions{Crashes: 1}, wakeful: true},
		{name: "one goes alone", alone: true, wakeful: true},
		{name: "only users act", prepare: func(t *testing.T, w *Explorer) {
			step(t, w, core.Reconcile, "a", "r")
			step(t, w, core.Reconcile, "b", "r")
		}, wakeful: true},
	} {
		chooser := &asked{alone: func(Way) bool { return test.alone }, choice: func([]Enabled) Choice { return Choice{} }}
		w := exploring(t, made(t, model), test.conditions, chooser)
		if test.prepare != nil {
			test.prepare(t, w)
		}
		reader := NewExplorer(w.Machine, nil, w.Reductions)
		reader.Load(w.AppendRow(nil))
		if _, _, err := reader.Follow(Full, nil, nil); err != nil || w.Footprints.choosing != nil {
			t.Errorf("%s: new agents are told to one that does not learn: %v", test.name, err)
		}
		if reduced, only, err := NewExplorer(w.Machine, w.Learn, &Reductions{}).Follow(Chosen, nil, nil); err != nil || reduced || only != nil {
			t.Errorf("%s: where nothing is known, some are left out: %v, %v", test.name, only, err)
		}
		asleep := item(t, w, "a", "r").Agent
		_, only, err := w.Follow(Chosen, []int{asleep}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w.Wakeful != test.wakeful || (len(w.Asleep) == 0) != test.wakeful || !test.wakeful && only[asleep] {
			t.Errorf("%s: nobody can sleep: %t, asleep are %v", test.name, w.Wakeful, w.Asleep)
		}
		if test.wakeful {
			continue
		}
		// Who slept in this state is awake in the next, and the other one sleeps.
		other := item(t, w, "b", "r").Agent
		if _, only, err = w.Follow(Chosen, []int{other}, nil); err != nil || !only[asleep] || only[other] {
			t.Errorf("%s: in the next state %v are followed: %v", test.name, only, err)
		}
		w.Set(item(t, w, "a", "r").Cell, 0)
		w.Load(w.AppendRow(nil))
		if _, only, err = w.Follow(Chosen, []int{other}, nil); err != nil || only[asleep] || only[other] {
			t.Errorf("%s: where it has nothing to do, %v are followed: %v", test.name, only, err)
		}
	}
}

// TestReducedStepsMeetNewAgents takes the steps of those that are followed, one of which finds work for somebody who
// was never met.
func TestReducedStepsMeetNewAgents(t *testing.T) {
	x := plain.NewFamily[int]("x")
	system := made(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.At(0).Is(0))},
		Controllers: []plain.Controller{
			{Name: "makes", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { x.At(1).Set(w, 1); return core.Result{} }},
			{Name: "watches", Watches: []plain.Watch{{Kind: x.Kind()}}, Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} }},
		},
	})
	var w *Explorer
	delivery := func([]Enabled) Choice { return Choice{Follow: w.Machine.Processes[1].Deliveries} }
	w = exploring(t, system, transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}, &asked{alone: func(Way) bool { return false }, choice: delivery})
	step(t, w, core.Reconcile, "makes", "r")
	agents := w.Machine.Agents
	reduced, only, err := w.Follow(Chosen, nil, nil)
	if err != nil || !reduced {
		t.Fatalf("some are left out: %t, %v", reduced, err)
	}
	var taken stepping
	if _, err := w.Steps(&taken, only); err != nil || len(taken) != 1 || w.Machine.Agents != agents+1 || len(w.Footprints.agents) != agents+1 {
		t.Errorf("%q are taken, and there are %d agents, of which %d are known: %v", taken, w.Machine.Agents, len(w.Footprints.agents), err)
	}
}

// stepping is a visitor that notes which steps are taken.
type stepping []string

func (s *stepping) Took(t *transition.Taken) error {
	*s = append(*s, t.Step().String())
	return nil
}

func (s *stepping) Stopped(_ *transition.Taken, err error) error { return err }

// TestWhatIsNotKnownStops has an explorer that may not learn stop where it would have to run code to know whom to
// follow, and hand on why.
func TestWhatIsNotKnownStops(t *testing.T) {
	x := plain.NewVar[int]("x")
	system := made(t, plain.Model{Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{idle("a"), idle("b")}})
	no := &asked{alone: func(Way) bool { return false }}
	no.choice = func(enabled []Enabled) Choice {
		return Choice{Follow: []int{enabled[0].Agent}, PutOff: []int{enabled[1].Agent}}
	}
	l := exploring(t, system, transition.Conditions{}, no)
	row := l.AppendRow(nil)
	reader := NewExplorer(l.Machine, nil, l.Reductions)
	reader.Load(row)
	if _, err := reader.Reduce(Chosen); !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("nothing is known of the runs, and the error is %v", err)
	}
	l.Load(row)
	if _, err := l.Steps(&stepping{}, nil); err != nil { // now the runs are known, but not who is put off
		t.Fatal(err)
	}
	if only, err := reader.Reduce(Chosen); err != nil || only == nil {
		t.Errorf("one that is not ahead has to know who is put off: %v", err)
	}
	reader.Ahead = true
	if _, err := reader.Reduce(Chosen); !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("it is not known who is put off, and the error is %v", err)
	}
	no.alone = func(Way) bool { return true }
	if _, err := reader.Reduce(Chosen); !errors.Is(err, transition.ErrUnknown) {
		t.Errorf("it is not known who is put off behind the one that goes alone, and the error is %v", err)
	}
	l.Load(row)
	if _, err := l.Reduce(Chosen); err != nil {
		t.Fatal(err)
	}
	if only, err := reader.Reduce(Chosen); err != nil || only == nil || !reader.Level {
		t.Errorf("it is known, and the error is %v", err)
	}
}

// TestErrorsOfTheEnabled has what goes wrong while it is found out who can take a step be handed on.
func TestErrorsOfTheEnabled(t *testing.T) {
	x := plain.NewVar[int]("x")
	guarded := plain.Process{Name: "guarded", Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) { x.Get(w) }}}}
	reads := plain.Controller{Name: "reads", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result { w.Require(x.Get(w) == 1); return core.Result{} }}
	for _, test := range []struct {
		name       string
		model      plain.Model
		conditions transition.Conditions
		prepare    func(*testing.T, *Explorer)
	}{
		{"an action", plain.Model{Processes: []plain.Process{guarded}}, transition.Conditions{}, nil},
		{"one that was blocked", plain.Model{Controllers: []plain.Controller{reads}}, transition.Conditions{}, func(t *testing.T, w *Explorer) {
			w.Footprints.Block(item(t, w, "reads", "r").Agent)
			w.Footprints.settled = w.Footprints.known(w.Machine)
		}},
		{"one that was blocked, where calls are steps", plain.Model{Controllers: []plain.Controller{reads, idle("a")}}, transition.Conditions{Granularity: transition.PerCall}, func(t *testing.T, w *Explorer) {
			step(t, w, core.Begin, "reads", "r")
			step(t, w, core.Ask, "reads", "r")
			step(t, w, core.Return, "reads", "r")
			w.Set(w.Machine.Vocabulary.Object(x.Key()), 0) // of that it does not know the answer
			w.Load(w.AppendRow(nil))
		}},
	} {
		test.model.Initial = []core.Initial{plain.Start(x.Is(0))}
		system := made(t, test.model)
		calls, names := 0, 0
		if test.conditions.Granularity == transition.PerCall {
			calls = 1
		}
		system.Store = breaking{system.Store, &calls, &names}
		w := exploring(t, system, test.conditions, &asked{alone: func(Way) bool { return false }})
		if test.prepare != nil {
			test.prepare(t, w)
		}
		if err := w.findEnabled(); !errors.Is(err, errBroken) {
			t.Errorf("%s: the error is %v", test.name, err)
		}
		if test.conditions.Granularity == transition.PerReconcile && test.prepare != nil {
			continue // to ask who goes alone stops before
		}
		if _, err := w.Reduce(Chosen); !errors.Is(err, errBroken) {
			t.Errorf("%s: whom to follow: %v", test.name, err)
		}
	}
}
