package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

// drawn is a graph at random. Each state has one object, whose text is its field.
type drawn struct {
	texts               []string
	to                  [][]int
	initial, cut, quiet []bool
}

func (d *drawn) States() int { return len(d.texts) }

func (d *drawn) List(_ context.Context, n int, show func(*core.Listed) error) error {
	for id := range n {
		listed := &core.Listed{ID: core.StateID(id), Initial: d.initial[id], Cut: d.cut[id], Quiescent: d.quiet[id], Objects: []int{id}}
		listed.NewObjects = []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"light": d.texts[id]}}}
		if id == 0 {
			for _, who := range []string{"alice", "bob"} {
				listed.NewSteps = append(listed.NewSteps, core.Edge{Step: core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: who, Request: "desk"}}})
			}
		}
		for i, to := range d.to[id] {
			listed.Steps = append(listed.Steps, core.ListedStep{Step: (id + i) % 2, To: core.StateID(to)})
		}
		if err := show(listed); err != nil {
			return err
		}
	}
	return nil
}

// outcomes returns the ends, those of the same text being one.
func (d *drawn) outcomes() (list []core.OutcomeReport, of map[string]int) {
	of = map[string]int{}
	for id, quiet := range d.quiet {
		if _, known := of[d.texts[id]]; quiet && !known {
			of[d.texts[id]] = len(list)
			list = append(list, core.OutcomeReport{State: core.StateID(id), Trace: core.Trace{CycleStart: -1}})
		}
	}
	return list, of
}

func drawGraph(t *rapid.T) *drawn {
	n := rapid.IntRange(1, 12).Draw(t, "states")
	d := &drawn{}
	for id := range n {
		d.texts = append(d.texts, rapid.SampledFrom([]string{"on", "off", "Broken"}).Draw(t, "text"))
		d.to = append(d.to, rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "to"))
		d.initial = append(d.initial, id == 0 || rapid.IntRange(0, 9).Draw(t, "initial") == 0)
		d.cut = append(d.cut, rapid.IntRange(0, 9).Draw(t, "cut") == 0)
		d.quiet = append(d.quiet, len(d.to[id]) == 0 && rapid.Bool().Draw(t, "quiescent"))
	}
	return d
}

// recorded writes the first states of a graph, and reads them.
func (d *drawn) recorded(t interface{ Fatal(...any) }, limit int) *record.Record {
	var file bytes.Buffer
	report := &core.Report{Verdict: core.Holds, Reasons: []string{}}
	report.OutcomeList, _ = d.outcomes()
	if _, err := record.Write(context.Background(), &file, record.Header{System: "s"}, report, d, limit); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reached returns the lengths of the shortest ways from states to all others, -1 where there is none, by taking steps
// until nothing changes.
func (d *drawn) reached(limit int, from ...int) []int {
	far := slices.Repeat([]int{-1}, limit)
	for _, id := range from {
		far[id] = 0
	}
	for changed := true; changed; {
		changed = false
		for id, to := range d.to[:limit] {
			for _, next := range to {
				if next < limit && far[id] >= 0 && (far[next] < 0 || far[next] > far[id]+1) {
					far[next], changed = far[id]+1, true
				}
			}
		}
	}
	return far
}

// TestGraph holds the graph of a record against what is computed state by state.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawGraph(t)
		limit := rapid.IntRange(1, d.States()).Draw(t, "limit")
		g, err := graph.New(t.Context(), d.recorded(t, limit))
		if err != nil {
			t.Fatal(err)
		}
		_, outcomeOf := d.outcomes()
		list, _ := d.outcomes()
		var initial []int
		for id := range limit {
			if d.initial[id] {
				initial = append(initial, id)
			}
		}
		far := d.reached(limit, initial...)
		// What states come to by themselves, and by what follows.
		comesTo := make([]string, limit)
		stuck := make([]bool, limit)
		ends := func(id int) (outcomes []int, open bool) {
			for to, steps := range d.reached(limit, id) {
				if steps < 0 {
					continue
				}
				if outcome, known := outcomeOf[d.texts[to]]; d.quiet[to] && known && int(list[outcome].State) < limit && !slices.Contains(outcomes, outcome) {
					outcomes = append(outcomes, outcome)
				}
				open = open || d.cut[to] || slices.ContainsFunc(d.to[to], func(next int) bool { return next >= limit })
			}
			slices.Sort(outcomes)
			return outcomes, open
		}
		for id := range limit {
			outcomes, open := ends(id)
			stuck[id] = len(outcomes) == 0 && !open
		}
		for id := range limit {
			outcomes, open := ends(id)
			trapped := false
			for to, steps := range d.reached(limit, id) {
				trapped = trapped || steps >= 0 && stuck[to]
			}
			comesTo[id] = fmt.Sprint(outcomes, open, trapped)
		}
		for id := range core.StateID(limit) {
			var before []core.StateID
			for from := range limit {
				for _, to := range d.to[from] {
					if to == int(id) {
						before = append(before, core.StateID(from))
					}
				}
			}
			if got := g.Before(id); !slices.Equal(got, before) {
				t.Fatalf("before %d: %v, want %v", id, got, before)
			}
			run := g.Run(id)
			if len(run) != far[id]+1 {
				t.Fatalf("the run to %d is %v, want %d steps", id, run, far[id])
			}
			for i, at := range run {
				if i == 0 && !d.initial[at] || i > 0 && !slices.Contains(d.to[run[i-1]], int(at)) {
					t.Fatalf("the run to %d is %v, which is none", id, run)
				}
			}
			cycle := 0
			for to, there := range d.reached(limit, d.to0(int(id), limit)...) {
				if there >= 0 {
					if back := d.reached(limit, d.to0(to, limit)...); back[id] >= 0 {
						cycle++
					}
				}
			}
			if got := g.Cycle(id); got != cycle {
				t.Fatalf("state %d is on a cycle with %d states, want %d", id, got, cycle)
			}
			class := g.Classes()[g.ClassOf(id)]
			if got := fmt.Sprint(class.Outcomes, class.Open, class.Trapped); got != comesTo[id] {
				t.Fatalf("state %d comes to %s, want %s", id, got, comesTo[id])
			}
		}
		states := 0
		for number, class := range g.Classes() {
			states += class.States
			found, total, err := g.Find(t.Context(), graph.Query{Class: number + 1}, 1)
			if err != nil || total != class.States || len(found) != 1 || found[0] != class.First {
				t.Fatalf("class %d is %+v, but %d states from %v on are found, %v", number, class, total, found, err)
			}
			for _, exit := range class.Exits {
				for i, from := range exit.Froms {
					leads := func(s record.Step) bool {
						named := g.States().Steps()[exit.Steps[i]]
						named.To = s.To
						return int(s.To) < limit && named == s && g.ClassOf(s.To) == exit.To
					}
					if steps := g.States().At(from).Steps; g.ClassOf(from) != number || !slices.ContainsFunc(steps, leads) {
						t.Fatalf("step %d leads from state %d of class %d to class %d, but its steps are %v", exit.Steps[i], from, number, exit.To, steps)
					}
				}
			}
		}
		if states != limit {
			t.Fatalf("the classes have %d states, want %d", states, limit)
		}
	})
}

// to0 returns where the steps of a state lead, as far as that is recorded.
func (d *drawn) to0(id, limit int) []int {
	return slices.DeleteFunc(slices.Clone(d.to[id]), func(to int) bool { return to >= limit })
}

// TestFind wants the states that are asked for.
func TestFind(t *testing.T) {
	d := &drawn{
		texts: []string{"on", "off", "Broken", "on"}, to: [][]int{{1, 2}, {3}, {}, {}},
		initial: []bool{true, false, false, false}, cut: make([]bool, 4), quiet: []bool{false, false, true, true},
	}
	g, err := graph.New(t.Context(), d.recorded(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query graph.Query
		want  []core.StateID
	}{
		{graph.Query{}, []core.StateID{0, 1, 2}},
		{graph.Query{Object: "lamp desk"}, []core.StateID{0, 1, 2}},
		{graph.Query{Object: "chair"}, nil},
		{graph.Query{Field: "light=broken"}, []core.StateID{2}},
		{graph.Query{Field: "light = on"}, []core.StateID{0, 3}},
		{graph.Query{Field: "weight"}, nil},
		{graph.Query{Controller: "bob"}, []core.StateID{0, 1}},
		{graph.Query{Controller: "carol"}, nil},
		{graph.Query{Quiescent: true}, []core.StateID{2, 3}},
		{graph.Query{Field: "light=on", Quiescent: true}, []core.StateID{3}},
	} {
		found, total, err := g.Find(t.Context(), test.query, 3)
		if err != nil || !slices.Equal(found, test.want) || total < len(found) {
			t.Errorf("%+v: %v of %d, %v; want %v", test.query, found, total, err, test.want)
		}
	}
	if classes := g.Classes(); len(classes) != 3 || !classes[0].Initial || !reflect.DeepEqual(classes[0].Outcomes, []int{0, 1}) {
		t.Errorf("the classes are %+v", classes)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := graph.New(ended, d.recorded(t, 4)); !errors.Is(err, context.Canceled) {
		t.Errorf("read although it was interrupted: %v", err)
	}
	if _, _, err := g.Find(ended, graph.Query{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("searched although it was interrupted: %v", err)
	}
}
