package plain_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

func explore(t *testing.T, model plain.Model) *naive.Graph {
	t.Helper()
	model.Name = "test"
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	g, err := naive.Explore(system, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// steps lists the steps from the first state.
func steps(g *naive.Graph) []string {
	var names []string
	for _, edge := range g.Edges[0] {
		names = append(names, edge.Step.Item.String())
	}
	return names
}

func one(name string, do func(*plain.World)) []plain.Process {
	return []plain.Process{{Name: "p", Actions: []plain.Action{{Name: name, Do: do}}}}
}

func TestRequire(t *testing.T) {
	x := plain.NewVar[int]("x")
	for _, test := range []struct {
		name string
		do   func(*plain.World)
		want []string
	}{
		{"holds", func(w *plain.World) { w.Require(x.Get(w) == 0) }, []string{"p(act)"}},
		{"does not hold", func(w *plain.World) { w.Require(x.Get(w) == 1) }, nil},
		{"does not hold after a write", func(w *plain.World) { x.Set(w, 1); w.Require(false) }, nil},
		{"cannot be recovered from", func(w *plain.World) {
			defer func() { _ = recover() }()
			w.Require(false)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := explore(t, plain.Model{
				Initial:   []core.Initial{plain.Start(x.Is(0))},
				Processes: one("act", test.do),
			})
			if got := steps(g); !slices.Equal(got, test.want) {
				t.Errorf("steps: got %v, want %v", got, test.want)
			}
			if len(g.States) != 1 {
				t.Errorf("got %d states, want 1", len(g.States))
			}
		})
	}
}

func TestPanicsOfTheUserPassThrough(t *testing.T) {
	mine := errors.New("mine")
	for name, do := range map[string]func(*plain.World){
		"plainly":              func(*plain.World) { panic(mine) },
		"while being unwound":  func(w *plain.World) { defer func() { panic(mine) }(); w.Require(false) },
		"instead of a blocked": func(w *plain.World) { defer func() { _ = recover(); panic(mine) }(); w.Require(false) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != mine {
					t.Errorf("got panic %v, want %v", got, mine)
				}
			}()
			explore(t, plain.Model{Initial: []core.Initial{plain.Start()}, Processes: one("act", do)})
		})
	}
}

func TestWrites(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	for _, test := range []struct {
		name  string
		do    func(*plain.World)
		wrote bool
	}{
		{"another value", func(w *plain.World) { x.Set(w, 1) }, true},
		{"the same value", func(w *plain.World) { x.Set(w, 0) }, false},
		{"there and back", func(w *plain.World) { x.Set(w, 1); x.Set(w, 0) }, true},
		{"a new variable", func(w *plain.World) { y.Set(w, 0) }, true},
		{"delete", func(w *plain.World) { x.Delete(w) }, true},
		{"delete what is not there", func(w *plain.World) { y.Delete(w) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := explore(t, plain.Model{Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: one("act", test.do)})
			if got := g.Edges[0][0].Wrote; got != test.wrote {
				t.Errorf("wrote: got %v, want %v", got, test.wrote)
			}
		})
	}
}

func TestReading(t *testing.T) {
	tens := plain.NewFamily[int]("ten")
	var seen []string
	see := func(s core.Snapshot) {
		for _, m := range tens.All(s) {
			seen = append(seen, fmt.Sprintf("%s=%d", m.Name, m.Value))
		}
		_, found := tens.At(3).Lookup(s)
		seen = append(seen, fmt.Sprint(tens.At(2).Get(s), found))
	}
	explore(t, plain.Model{
		Initial:    []core.Initial{plain.Start(tens.At(2).Is(20), tens.At(10).Is(100))},
		Processes:  one("look", func(w *plain.World) { see(w) }),
		Properties: []core.Property{{Name: "look", Invariant: func(s core.State) error { see(s); return nil }}},
	})
	want := []string{"10=100", "2=20", "20 false", "10=100", "2=20", "20 false"}
	if !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

func TestMistakesInAction(t *testing.T) {
	number, text, missing := plain.NewVar[int]("x"), plain.NewVar[string]("x"), plain.NewVar[int]("y")
	pointer := plain.NewVar[*int]("z")
	for want, do := range map[string]func(*plain.World){
		"x holds 0, not a string": func(w *plain.World) { text.Get(w) },
		"y does not exist":        func(w *plain.World) { missing.Get(w) },
		"z cannot be stored":      func(w *plain.World) { pointer.Set(w, nil) },
		"is lost on the way": func(w *plain.World) {
			plain.NewInbox[struct{ hidden int }]("p").Send(w, struct{ hidden int }{1})
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got panic %q, want %q in it", got, want)
				}
			}()
			explore(t, plain.Model{Initial: []core.Initial{plain.Start(number.Is(0))}, Processes: one("act", do)})
		})
	}
}

func TestMistakesInModels(t *testing.T) {
	act := plain.Action{Name: "act", Do: func(*plain.World) {}}
	take := func(*plain.World, core.Request) {}
	reconcile := func(*plain.World, core.Request) core.Result { return core.Result{} }
	for want, model := range map[string]plain.Model{
		"no controllers":               {},
		`"p" does nothing`:             {Processes: []plain.Process{{Name: "p"}}},
		"does not receive any":         {Processes: []plain.Process{{Name: "p", Actions: []plain.Action{act}, Messages: []core.Request{"m"}}}},
		"nameless action":              {Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Do: act.Do}}}}},
		`two actions called "act"`:     {Processes: []plain.Process{{Name: "p", Actions: []plain.Action{act, act}}}},
		"set Do":                       {Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "act"}}}}},
		`are both "act"`:               {Processes: []plain.Process{{Name: "p", Actions: []plain.Action{act}, Receive: take, Messages: []core.Request{"act"}}}},
		`controllers are called "p"`:   {Processes: []plain.Process{{Name: "p", Receive: take}, {Name: "p", Receive: take}}},
		"set Reconcile":                {Controllers: []plain.Controller{{Name: "c", Requests: []core.Request{"r"}}}},
		`watches "k" twice`:            {Controllers: []plain.Controller{{Name: "c", Watches: []plain.Watch{{Kind: "k"}, {Kind: "k"}}, Reconcile: reconcile}}},
		"x cannot be stored":           {Initial: []core.Initial{plain.Start(plain.NewVar[*int]("x").Is(nil))}},
		"x is not a variable":          {Initial: []core.Initial{plain.Start(core.Object{Key: core.Key{Name: "x"}, Content: foreign{}})}},
		"x is given twice in initial ": {Initial: []core.Initial{plain.Start(plain.NewVar[int]("x").Is(0), plain.NewVar[int]("x").Is(0))}},
	} {
		t.Run(want, func(t *testing.T) {
			model.Name = "test"
			system, err := model.System()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q in it", err, want)
			}
			if system != nil {
				t.Error("got a system all the same")
			}
		})
	}
}

type foreign struct{}

func (foreign) Canonical() string { return "" }
func (foreign) Fields() any       { return nil }
