package models

import (
	"context"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// No model breaks these by itself, so they are shown states that do.
func TestInvariantsCanBreak(t *testing.T) {
	rms := plain.NewFamily[string]("rm")
	threads := plain.NewFamily[thread]("thread")
	clients := plain.NewFamily[registerClient]("client")
	for _, test := range []struct {
		model     known
		invariant string
		start     []core.Object
	}{
		{known{model: "model/two-phase-commit", params: "n=2"}, "consistent",
			[]core.Object{rms.Named("rm1").Is(committed), rms.Named("rm2").Is(aborted)}},
		{known{model: "model/peterson"}, "mutual exclusion",
			[]core.Object{plain.NewVar[int]("inside").Is(2)}},
		{known{model: "model/increment-lock", params: "n=2"}, "mutual exclusion",
			[]core.Object{threads.At(1).Is(thread{At: "to read"}), threads.At(2).Is(thread{At: "to write"})}},
		{known{model: "model/increment-lock", params: "n=2"}, "no increment is lost",
			[]core.Object{threads.At(1).Is(thread{At: "done"})}},
		{known{model: "model/paxos"}, "linearizable",
			[]core.Object{clients.At(1).Is(registerClient{Stored: true, Got: true, Before: []int{0, 0}})}},
	} {
		t.Run(test.model.model+" "+test.invariant, func(t *testing.T) {
			system := test.model.system(t)
			for _, o := range test.start {
				objects := system.Initial[0].Objects
				i := slices.IndexFunc(objects, func(known core.Object) bool { return known.Key == o.Key })
				if i < 0 {
					t.Fatalf("the model has no %s", o.Key)
				}
				objects[i] = o
			}
			g, err := naive.Explore(system, 100_000)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(g.Violations, func(v naive.Violation) bool { return v.State == 0 && v.Property == test.invariant }) {
				t.Errorf("the state at start does not break it; violations: %v", g.Violations)
			}
		})
	}
}

func TestParityOfTheWhites(t *testing.T) {
	parity := coffeeCanProperties(plain.NewVar[int]("white"))[0]
	for _, test := range []struct {
		name   string
		whites []int
		want   string
	}{
		{"kept", []int{2, 0, 0}, ""},
		{"broken", []int{2, 2, 1}, "a draw changes the white beans from 2 to 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			violations, err := parity.Judge(context.Background(), line{whites: test.whites})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, v := range violations {
				got += v.Summary
				if want := len(test.whites) - 1; len(v.Stem) != want {
					t.Errorf("the stem has %d steps, want %d", len(v.Stem), want)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}

	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := parity.Judge(ended, line{whites: []int{1}}); err == nil {
		t.Error("does not stop with its context")
	}
}

// line is a graph of one run, given by the white beans of its states.
type line struct {
	core.Graph
	whites []int
}

func (l line) States() int { return len(l.whites) }

func (l line) State(id core.StateID) core.State {
	return one{content: plain.NewVar[int]("white").Is(l.whites[id]).Content}
}

func (l line) Edges(id core.StateID) []core.Edge {
	if int(id) == len(l.whites)-1 {
		return nil
	}
	return []core.Edge{{From: id, To: id + 1}}
}

func (l line) Shortest(accept func(core.StateID) bool) (core.Run, bool) {
	var run core.Run
	for id := range core.StateID(len(l.whites)) {
		if accept(id) {
			return run, true
		}
		run = append(run, l.Edges(id)...)
	}
	return nil, false
}

// one is a state of one variable.
type one struct {
	core.State
	content core.Content
}

func (o one) Get(core.Key) core.Content { return o.content }
