package inspect

import (
	"bytes"
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// listed is a graph as a list of its states.
type listed []*core.Listed

func (l listed) States() int { return len(l) }

func (l listed) List(_ context.Context, n int, show func(*core.Listed) error) error {
	for _, s := range l[:n] {
		if err := show(s); err != nil {
			return err
		}
	}
	return nil
}

// recorded writes a record with the first states of a graph, and reads it.
func recorded(t interface{ Fatal(...any) }, report *core.Report, g record.Graph, limit int) *record.Record {
	var file bytes.Buffer
	if _, err := record.Write(context.Background(), &file, record.Header{System: report.System}, report, g, limit); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hostile is a text that would turn a terminal red, ring its bell, set its title, go on in another line, and turn round
// the direction of reading.
const hostile = "evil\x1b[31m\a\x1b]0;owned\a\nnext\u202ereversed\u009b2J"

func deployment(replicas int) core.TraceObject {
	return core.TraceObject{Kind: "Deployment.apps", Namespace: "default", Name: "web", Fields: map[string]any{
		"metadata": map[string]any{"generation": replicas, "labels": map[string]any{"app": hostile}},
		"spec":     map[string]any{"replicas": replicas, "paused": false},
	}}
}

func scaled(from, to int) []core.TraceChange {
	return []core.TraceChange{{Kind: "Deployment.apps", Namespace: "default", Name: "web", Verb: "changed", Fields: []core.FieldChange{
		{Path: "metadata.generation", From: from, To: to}, {Path: "spec.replicas", From: from, To: to},
	}}}
}

// text returns a pointer to a text.
func text(s string) *string { return &s }

// sampleReport is a report on two controllers that scale a Deployment, with two runs that have a beginning in common,
// and one that repeats.
func sampleReport() *core.Report {
	look := core.TraceStep{Kind: "reconcile", Controller: "savings", Request: "default/web", Calls: []core.TraceCall{{Call: "get Deployment.apps default/web", Response: "ok"}}}
	write := func(who string, from, to int) core.TraceStep {
		return core.TraceStep{
			Kind: "reconcile", Controller: who, Request: "default/web",
			Calls: []core.TraceCall{
				{Call: "get Deployment.apps default/web", Response: "ok"},
				{Call: "update Deployment.apps default/web", Response: "ok", Wrote: true, At: &core.Site{File: "shop/web.go", Line: 41, Function: "shop.(*Web).Reconcile"}},
			},
			Changes: scaled(from, to), Enqueued: []string{"savings(default/web)"},
		}
	}
	stale := write("availability", 2, 3)
	stale.Late, stale.Unseen = true, []string{"savings updated Deployment.apps default/web"}
	stale.Calls[0].Behind = []core.TraceLag{{Kind: "Deployment.apps", Changes: 1, Of: 2}}
	failed := core.TraceStep{
		Kind: "reconcile", Controller: "savings", Request: "default/web", Detail: "update Deployment.apps default/web fails: " + hostile, Result: "returns the error: " + hostile,
		Memory: []core.MemoryChange{{Controller: "savings", Field: "Reconciler.seen[default/web]", From: text("1"), To: text("2")}},
	}
	created := core.TraceStep{Kind: "user", Controller: "operator", Request: "create a Pod", Changes: []core.TraceChange{{
		Kind: "Pod", Namespace: "default", Name: "日本語のとても長い名前をもつポッド", Verb: "created",
		Fields: []core.FieldChange{{Path: "spec.message", To: strings.Repeat("long ", 100)}, {Path: "spec.emoji", To: "👩‍👩‍👧‍👦 ❤️ e\u0301"}},
	}}}
	initial := []core.TraceObject{deployment(3), {Kind: "Secret", Namespace: "default", Name: "unread", Fields: map[string]any{"data": "x"}}}
	common := []core.TraceStep{write("savings", 3, 2), {Kind: "deliver", Controller: "availability", Request: "Deployment.apps"}}
	first := core.Trace{Initial: initial, CycleStart: -1, Steps: append(append([]core.TraceStep{}, common...), look, look, stale, failed)}
	second := core.Trace{Initial: initial, CycleStart: 2, Steps: append(append([]core.TraceStep{}, common...), created, look, write("savings", 2, 1))}
	return &core.Report{
		Schema: core.ReportSchema, System: "sample/scaling", Params: map[string]string{"replicas": "3"}, Verdict: core.Violated,
		Reasons: []string{"the limit of 9 states was reached (--max-states): raise it"}, Reduction: "por", Granularity: "reconcile", Workers: 2,
		States: 9, Transitions: 12, TerminalStates: 2, Outcomes: 2, Depth: 4, ElapsedMS: 12,
		Assumptions: []string{"Each reconcile is one step: nothing it reads changes while it runs."},
		Properties:  []core.PropertyReport{{Name: "same outcome", Verdict: core.Violated}, {Name: "fixpoint", Verdict: core.Inconclusive}, {Name: "cheap", Verdict: core.Holds, Warning: true}},
		Findings: []core.Finding{
			{ID: 1, Property: "same outcome", Summary: "the system can reach 2 different outcomes, depending on the order of steps: they differ in Deployment.apps default/web: spec.replicas " + hostile,
				Controllers: []string{"savings", "availability"}, Fields: []string{"Deployment.apps default/web: spec.replicas"}, Details: []string{"The traces diverge after 2 common steps."},
				Steps: 6, Trace: first, Other: &second},
			{ID: 2, Property: "cheap", Warning: true, Summary: "it is expensive", Controllers: []string{"availability"}, Steps: 1,
				Trace: core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{write("availability", 3, 4)}}},
		},
		OutcomeList: []core.OutcomeReport{
			{State: 5, States: 1, Objects: []core.TraceObject{deployment(1)}, Trace: core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{write("savings", 3, 2), write("savings", 2, 1)}}},
			{State: 6, States: 1, Objects: []core.TraceObject{deployment(4)}, Trace: core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{write("availability", 3, 4)}}},
		},
	}
}

// sampleGraph has nine states: two outcomes, a cycle, a state that was cut, and one without an outcome.
func sampleGraph() listed {
	item := func(who string) core.Item { return core.Item{Strategy: who, Request: "default/web"} }
	step := func(e core.Edge, who string) core.Edge {
		e.Step.Item = item(who)
		return e
	}
	to := func(pairs ...int) (steps []core.ListedStep) {
		for i := 0; i < len(pairs); i += 2 {
			steps = append(steps, core.ListedStep{Step: pairs[i], To: core.StateID(pairs[i+1])})
		}
		return steps
	}
	objects := []core.TraceObject{deployment(3), deployment(2), deployment(1), deployment(4)}
	return listed{
		{ID: 0, Initial: true, NewObjects: objects, Objects: []int{0}, Work: []int{0, 1}, Steps: to(0, 1, 1, 6),
			NewItems: []core.Item{item("savings"), item("availability")},
			NewSteps: []core.Edge{
				step(core.Edge{Wrote: true}, "savings"), step(core.Edge{Wrote: true}, "availability"), step(core.Edge{Wrote: true, Late: true}, "availability"),
				step(core.Edge{Failed: hostile, Requeued: true, Step: core.Step{Detail: "update fails"}}, "savings"),
				{Step: core.Step{Kind: core.Pass, Item: core.Everything()}},
			}},
		{ID: 1, Objects: []int{1}, Work: []int{0, 1}, Timers: []int{1}, Steps: to(0, 2, 2, 3, 3, 1)},
		{ID: 2, Objects: []int{2}, Work: []int{1}, Steps: to(1, 4, 0, 5)},
		{ID: 3, Objects: []int{0}, Work: []int{0}, Cut: true},
		{ID: 4, Objects: []int{1}, Work: []int{0, 1}, Steps: to(0, 2)},
		{ID: 5, Objects: []int{2}, Quiescent: true},
		{ID: 6, Objects: []int{3}, Quiescent: true, Timers: []int{0}, Steps: to(4, 6)},
		{ID: 7, Objects: []int{1}, Work: []int{0}, Steps: to(0, 8)},
		{ID: 8, Objects: []int{0}, Work: []int{0}, Steps: to(1, 7, 0, 8)},
	}
}

// session is somebody at a terminal.
type session struct {
	t   testing.TB
	app *app
}

func newSession(t testing.TB, r *record.Record, width, height int) *session {
	s := &session{t, newApp(context.Background(), r)}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// load waits until the graph is read.
func (s *session) load() { s.send(s.app.Init()()) }

// send sends a message, and what follows from it, except that nobody quits.
func (s *session) send(m tea.Msg) {
	for m != nil {
		_, cmd := s.app.Update(m)
		s.app.View() // as after each message
		if cmd == nil {
			return
		}
		if m = cmd(); m == (tea.QuitMsg{}) {
			return
		}
	}
}

// press presses keys: those with names, and others by their characters.
func (s *session) press(keys ...string) {
	for _, k := range keys {
		s.send(keyOf(k))
	}
}

// keyOf returns the key of a name.
func keyOf(name string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "tab": tea.KeyTab,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if code, ok := named[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// typed types a text.
func (s *session) typed(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}

// screen returns what is shown, without colours.
func (s *session) screen() string { return ansi.Strip(s.app.View().Content) }
