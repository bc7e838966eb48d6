package dot_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew")

// cutThreads is the graph of the threads as a record holds it that was cut.
func cutThreads() dot.Space {
	space := threads()
	space.States = space.States[:7]
	space.States[5].Cut = true
	return space
}

// trap is a graph in which one way leads where nothing settles.
func trap() dot.Space {
	step := func(from, to core.StateID) core.Edge {
		return core.Edge{From: from, To: to, Step: core.Step{Item: core.Item{Strategy: "mouse", Request: core.Request(fmt.Sprintf("door-%d", to))}}}
	}
	return dot.Space{
		System: "test/trap", Total: 4,
		States: []dot.State{
			{Initial: true, Edges: []core.Edge{step(0, 1), step(0, 3)}},
			{Edges: []core.Edge{step(1, 2)}},
			{Edges: []core.Edge{step(2, 1)}},
			{Quiescent: true, Objects: []core.TraceObject{{Name: "cheese", Fields: "eaten"}}},
		},
		Outcomes: []core.OutcomeReport{{State: 3, States: 1, Objects: []core.TraceObject{{Name: "cheese", Fields: "eaten"}}}},
	}
}

// delta is a graph in which the first step decides between twelve ends.
func delta() dot.Space {
	space := dot.Space{System: "test/delta", Total: 13, States: []dot.State{{Initial: true}}}
	for i := core.StateID(1); i < 13; i++ {
		arm := core.Item{Strategy: "river", Request: core.Request(fmt.Sprintf("arm-%d", i))}
		space.States[0].Edges = append(space.States[0].Edges, core.Edge{To: i, Step: core.Step{Item: arm}})
		objects := []core.TraceObject{{Kind: "Boat", Name: "toy", Fields: map[string]any{"at": string(arm.Request)}}}
		space.States = append(space.States, dot.State{Quiescent: true, Objects: objects})
		space.Outcomes = append(space.Outcomes, core.OutcomeReport{State: i, States: 1, Objects: objects})
	}
	return space
}

// tide is a graph in which an object comes, changes and goes.
func tide() dot.Space {
	island := core.TraceObject{Kind: "Island", Name: "rock"}
	boat := func(at string) core.TraceObject {
		return core.TraceObject{Kind: "Boat", Name: "toy", Fields: map[string]any{"at": at, "color": "red"}}
	}
	space := dot.Space{System: "test/tide", Total: 4}
	for i, objects := range [][]core.TraceObject{{island}, {boat("sea"), island}, {boat("beach"), island}, {boat("beach")}} {
		state := dot.State{Objects: objects, Initial: i == 0}
		if i < 3 {
			state.Edges = []core.Edge{{From: core.StateID(i), To: core.StateID(i + 1), Step: core.Step{Item: core.Item{Strategy: "moon"}}}}
		}
		space.States = append(space.States, state)
	}
	return space
}

func drawings() map[string]func(io.Writer) error {
	finding := func(f core.Finding) func(io.Writer) error {
		return func(w io.Writer) error { return dot.Finding(w, f) }
	}
	return map[string]func(io.Writer) error{
		"fight":        finding(fight()),
		"race":         finding(race()),
		"stroll":       finding(stroll()),
		"march":        finding(march(45, -1)),
		"march-cycle":  finding(march(45, 5)),
		"one-step":     finding(march(1, 0)),
		"count":        finding(count()),
		"pause":        finding(pause()),
		"storm":        finding(storm()),
		"no-steps":     finding(march(0, -1)),
		"causes":       func(w io.Writer) error { return dot.Causes(w, chain(2)) },
		"causes-row":   func(w io.Writer) error { return dot.Causes(w, chain(9)) },
		"causes-none":  func(w io.Writer) error { return dot.Causes(w, analysis.Answer{}) },
		"outcomes":     func(w io.Writer) error { return dot.Outcomes(w, threads()) },
		"outcomes-cut": func(w io.Writer) error { return dot.Outcomes(w, cutThreads()) },
		"delta":        func(w io.Writer) error { return dot.Outcomes(w, delta()) },
		"trap":         func(w io.Writer) error { return dot.Outcomes(w, trap()) },
		"states":       func(w io.Writer) error { return dot.States(w, threads()) },
		"tide":         func(w io.Writer) error { return dot.States(w, tide()) },
		"states-cut":   func(w io.Writer) error { return dot.States(w, cutThreads()) },
	}
}

func TestGolden(t *testing.T) {
	for name, drawing := range drawings() {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := drawing(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".dot")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs:\n%s\nwant:\n%s", path, got.Bytes(), want)
			}
		})
	}
}

func TestGraphvizAccepts(t *testing.T) {
	graphviz := find(t)
	for name, drawing := range drawings() {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			if err := drawing(&text); err != nil {
				t.Fatal(err)
			}
			plain := render(t, graphviz, &text)
			if !strings.HasPrefix(plain, "graph ") {
				t.Errorf("Graphviz laid out %q", plain)
			}
		})
	}
}

// TestAnyText draws findings whose texts are whatever users may write.
func TestAnyText(t *testing.T) {
	graphviz := find(t)
	rapid.Check(t, func(rt *rapid.T) {
		finding := fight()
		finding.Summary = rapid.String().Draw(rt, "summary")
		finding.Trace.Steps[0].Controller = rapid.String().Draw(rt, "controller")
		finding.Trace.Steps[1].Changes[0].Fields[0].To = rapid.String().Draw(rt, "value")
		var text bytes.Buffer
		if err := dot.Finding(&text, finding); err != nil {
			rt.Fatal(err)
		}
		if got := strings.Count(render(t, graphviz, &text), "\nnode "); got != 5 {
			rt.Fatalf("%d nodes, want the start and 5 steps less the one that closes the circle, and no others", got)
		}
	})
}

func find(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed: install it (apt-get install graphviz) to run this test")
	}
	return path
}

func render(t *testing.T, graphviz string, text io.Reader) string {
	t.Helper()
	var complaints strings.Builder
	command := exec.Command(graphviz, "-Tplain")
	command.Stdin, command.Stderr = text, &complaints
	out, err := command.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("Graphviz: %v: %s", err, &complaints)
	}
	return string(out)
}

func TestSameBytes(t *testing.T) {
	for name, drawing := range drawings() {
		var a, b bytes.Buffer
		if err := errors.Join(drawing(&a), drawing(&b)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two drawings of one thing differ", name)
		}
	}
}

func TestTooLarge(t *testing.T) {
	err := dot.States(io.Discard, dot.Space{Total: dot.StateLimit + 1})
	var tooLarge *dot.TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.States != dot.StateLimit+1 {
		t.Errorf("error %v, want a TooLargeError", err)
	}
}
