package inspect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/graph"
)

func TestParseQuery(t *testing.T) {
	for _, test := range []struct {
		text string
		want graph.Query
		err  string
	}{
		{"Pod default/web", graph.Query{Object: "Pod default/web"}, ""},
		{"status.phase=Running", graph.Query{Field: "status.phase=Running"}, ""},
		{`field:"message=no space" quiescent`, graph.Query{Field: "message=no space", Quiescent: true}, ""},
		{"Savings web", graph.Query{Controller: "Savings", Object: "web"}, ""},
		{"object:savings", graph.Query{Object: "savings"}, ""},
		{"controller:sav field:spec", graph.Query{Controller: "sav", Field: "spec"}, ""},
		{`"open quote`, graph.Query{Object: "open quote"}, ""},
		{"", graph.Query{}, "type a part of an object's name"},
		{"   ", graph.Query{}, "type a part of an object's name"},
		{`""`, graph.Query{}, "needs a text behind it"},
		{"a=1 b=2", graph.Query{}, `look for one field at a time: "a=1" and "b=2" are two`},
		{"field:", graph.Query{}, "field: needs a text behind it"},
	} {
		got, err := parseQuery(test.text, []string{"savings"})
		switch {
		case test.err == "" && (err != nil || got != test.want):
			t.Errorf("%q: %+v, %v, want %+v", test.text, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%q: the error is %v, want %q", test.text, err, test.err)
		}
	}
}

// TestStateOfStep wants the states of a run to be found in the graph by its steps, whatever numbers the run has, and
// none where the graph does not have a step.
func TestStateOfStep(t *testing.T) {
	r := recorded(t, sampleReport(), sampleGraph(), 9)
	step := func(who string) core.TraceStep {
		return core.TraceStep{Kind: "reconcile", Controller: who, Request: "default/web", To: 77}
	}
	for _, test := range []struct {
		name    string
		steps   []core.TraceStep
		renamed bool
		want    []core.StateID
	}{
		{"all steps", []core.TraceStep{step("savings"), step("savings"), step("availability")}, false, []core.StateID{0, 1, 2, 4}},
		{"a step that was skipped", []core.TraceStep{step("savings"), step("savings"), step("operator"), step("savings")}, false, []core.StateID{0, 1, 2}},
		{"a fault is another step", []core.TraceStep{step("savings"), {Kind: "reconcile", Controller: "savings", Request: "default/web", Detail: "update fails"}}, false, []core.StateID{0, 1, 1}},
		{"names that may be others", []core.TraceStep{step("savings")}, true, nil},
		{"no initial state", []core.TraceStep{{From: 3}}, false, nil},
		{"a start that is not recorded", []core.TraceStep{{From: 99}}, false, nil},
		{"no steps", nil, false, []core.StateID{0}},
	} {
		found := &run{trace: core.Trace{Steps: test.steps}, renamed: test.renamed}
		for i := range len(test.steps) + 1 {
			got, known := found.stateAfter(&r.States, i)
			if known != (i < len(test.want)) || known && got != test.want[i] {
				t.Errorf("%s: after %d steps, state %d (%t), want of %v", test.name, i, got, known, test.want)
			}
		}
	}
}

// TestChanges compares objects of two states.
func TestChanges(t *testing.T) {
	object := func(name string, value any) core.TraceObject {
		return core.TraceObject{Kind: "Lamp", Name: name, Fields: map[string]any{"light": value}}
	}
	got := changes([]core.TraceObject{object("a", 1), object("b", 1), object("c", 1)}, []core.TraceObject{object("b", 2), object("c", 1), object("d", 1)})
	var said []string
	for _, c := range got {
		said = append(said, c.Verb+" "+c.Name)
	}
	if want := "deleted a, changed b, created d"; strings.Join(said, ", ") != want {
		t.Errorf("%v, want %s", said, want)
	}
}

// TestBeforeTheGraph wants the report and states to be shown before the graph is read, and a search to wait for it.
func TestBeforeTheGraph(t *testing.T) {
	s := newSession(t, recorded(t, sampleReport(), sampleGraph(), 9), 80, 24)
	if !strings.Contains(s.screen(), "VIOLATED") {
		t.Errorf("the report is not shown:\n%s", s.screen())
	}
	s.press("s", "p")
	if shown := s.screen(); !strings.Contains(shown, "The graph is being read") || !strings.Contains(shown, "2 steps from here") || !strings.Contains(shown, "try again in a moment") {
		t.Errorf("the state is not shown:\n%s", shown)
	}
	cmd := s.app.look("web")
	go s.app.Init()()
	s.send(cmd())
	if !strings.Contains(s.screen(), `9 states with an object like "web"`) {
		t.Errorf("the states are not found:\n%s", s.screen())
	}
	s.send(s.app.loaded)
	s.press("esc")
	if shown := s.screen(); strings.Contains(shown, "The graph is being read") || !strings.Contains(shown, "can be reached") {
		t.Errorf("the graph is not shown:\n%s", shown)
	}
}

// TestNoStates shows a record without states.
func TestNoStates(t *testing.T) {
	s := newSession(t, recorded(t, sampleReport(), nil, 0), 120, 40)
	s.load()
	for _, keys := range [][]string{{"s"}, {":", "0", "enter"}, {"/", "x", "enter"}} {
		s.press(keys...)
		if !strings.Contains(s.screen(), "the record has no states: check with --record-states N") {
			t.Errorf("%v:\n%s", keys, s.screen())
		}
	}
	s.press("enter", "s")
	if !strings.Contains(s.screen(), "the record has no states") {
		t.Errorf("from a finding:\n%s", s.screen())
	}
}

// TestNothingFound says what was looked for, and that not all states are recorded.
func TestNothingFound(t *testing.T) {
	s := newSession(t, recorded(t, sampleReport(), sampleGraph(), 8), 120, 40)
	s.load()
	s.press("n")
	if !strings.Contains(s.screen(), "nothing was found yet") {
		t.Errorf("nothing was looked for:\n%s", s.screen())
	}
	s.press("/")
	s.typed("replicas=77 nobody")
	s.press("enter")
	if shown := s.screen(); !strings.Contains(shown, `no state with an object like "nobody", that has a field like "replicas=77"; the record has states 0 to 7 of 9`) {
		t.Errorf("nothing was found:\n%s", shown)
	}
}

// TestMouse chooses by clicks, opens by another click, and scrolls what is under the mouse.
func TestMouse(t *testing.T) {
	s := newSession(t, recorded(t, sampleReport(), sampleGraph(), 9), 160, 50)
	s.load()
	rowOf := func(text string) int {
		for y, l := range strings.Split(s.screen(), "\n") {
			if strings.Contains(l, text) {
				return y
			}
		}
		t.Fatalf("%q is not shown:\n%s", text, s.screen())
		return 0
	}
	click := func(x, y int) { s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	y := rowOf("2. it is expensive")
	click(10, y)
	if len(s.app.views) != 1 || rowOf(">   2. it is expensive") != y {
		t.Errorf("the finding is not chosen:\n%s", s.screen())
	}
	click(10, y)
	if len(s.app.views) != 2 {
		t.Fatalf("the finding is not open:\n%s", s.screen())
	}
	s.press("r", "home")
	click(10, rowOf("1. the system can reach"))
	click(10, rowOf("1. the system can reach"))
	y = rowOf("action: create a Pod") // a step of the second run
	click(100, y)
	if shown := s.screen(); !strings.Contains(shown, "Second run, Step 3 of 5") || !strings.Contains(shown, "created:  Pod") {
		t.Errorf("the step of the other run is not chosen:\n%s", shown)
	}
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if !strings.Contains(s.screen(), "Second run, Step 3 of 5") {
		t.Errorf("the step is not the same one in a smaller terminal:\n%s", s.screen())
	}
	before := s.screen()
	s.send(tea.MouseWheelMsg{X: 10, Y: 20, Button: tea.MouseWheelDown})
	if s.screen() == before {
		t.Error("the wheel does nothing")
	}
	s.send(tea.MouseWheelMsg{X: 10, Y: 20, Button: tea.MouseWheelUp})
	if s.screen() != before {
		t.Errorf("the wheel does not go back:\n%s", s.screen())
	}
}

// TestRun shows a record in what is no real terminal: the screen of the user is left alone, it ends by a key, and
// nothing of the record tells the terminal anything.
func TestRun(t *testing.T) {
	r := recorded(t, sampleReport(), sampleGraph(), 9)
	for _, test := range []struct {
		name, variable string
		coloured       bool
	}{{"colours", "COLORTERM=truecolor", true}, {"no colours", "NO_COLOR=1", false}} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Run(t.Context(), r, Terminal{In: strings.NewReader("q"), Out: &out, Environment: []string{"TERM=xterm-256color", test.variable}})
			if err != nil {
				t.Fatal(err)
			}
			shown := out.String()
			if !strings.Contains(shown, "\x1b[?1049h") || !strings.Contains(shown, "\x1b[?1049l") {
				t.Errorf("it does not leave the screen as it was: %q", shown)
			}
			if strings.Contains(shown, "owned\a") || strings.Contains(shown, "\x1b]0;") {
				t.Errorf("the record speaks to the terminal: %q", shown)
			}
		})
	}
}

// TestInterrupted ends when the context does.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, w := io.Pipe()
	defer func() { _ = w.Close() }()
	err := Run(ctx, recorded(t, sampleReport(), sampleGraph(), 9), Terminal{In: in, Out: io.Discard, Environment: []string{"TERM=xterm"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestOldRecord shows a record of the first version.
func TestOldRecord(t *testing.T) {
	r, err := record.ReadFile("../../record/testdata/v1.orr")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, r, 80, 24)
	s.load()
	s.press("s")
	if !strings.Contains(s.screen(), "State 0 of") {
		t.Errorf("no state:\n%s", s.screen())
	}
}
