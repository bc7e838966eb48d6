package page_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// attack would like to be run.
const attack = `<script>alert(1)</script>`

// forked is the graph of a lamp that one of two switches decides about. It has the states 0: dark, 1: red, 2: green, 3:
// green too, and back to 2; 4 is cut; 5 is not recorded.
type forked struct{}

func (forked) States() int { return 6 }

func (forked) List(_ context.Context, n int, show func(*core.Listed) error) error {
	lamp := func(color string) core.TraceObject {
		return core.TraceObject{Kind: "Lamp", Name: "desk", Fields: map[string]any{"color": color, "note": attack}}
	}
	step := func(who string) core.Edge {
		return core.Edge{Step: core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: who, Request: attack}}}
	}
	states := []*core.Listed{
		{
			ID: 0, Initial: true, Objects: []int{0}, NewObjects: []core.TraceObject{lamp("dark")}, Work: []int{0}, NewItems: []core.Item{{Strategy: "left", Request: "desk"}},
			Steps: []core.ListedStep{{Step: 0, To: 1}, {Step: 1, To: 2}}, NewSteps: []core.Edge{step("left"), step("right")},
		},
		{ID: 1, Quiescent: true, Objects: []int{1}, NewObjects: []core.TraceObject{lamp("red")}},
		{ID: 2, Quiescent: true, Objects: []int{2}, NewObjects: []core.TraceObject{lamp("green")}, Steps: []core.ListedStep{{Step: 0, To: 3}, {Step: 1, To: 2}}},
		{ID: 3, Objects: []int{2}, Steps: []core.ListedStep{{Step: 1, To: 2}, {Step: 0, To: 4}, {Step: 0, To: 5}}, Timers: []int{0}},
		{ID: 4, Cut: true},
	}
	for _, state := range states[:n] {
		if err := show(state); err != nil {
			return err
		}
	}
	return nil
}

// forkedRecord is a record of that graph.
func forkedRecord(t *testing.T) *record.Record {
	t.Helper()
	trace := core.Trace{CycleStart: -1, Steps: []core.TraceStep{{Kind: "reconcile", Controller: "left", Request: "desk", To: 1}}}
	report := &core.Report{
		System: "lamp", Verdict: core.Violated, Reasons: []string{}, Findings: []core.Finding{{ID: 1, Property: "same outcome", Summary: "red or green", Trace: trace}},
		OutcomeList: []core.OutcomeReport{{State: 1, Trace: core.Trace{CycleStart: -1}}, {State: 2, Trace: core.Trace{CycleStart: -1}}},
	}
	var file bytes.Buffer
	if _, err := record.Write(t.Context(), &file, record.Header{System: "lamp"}, report, forked{}, 5); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lamps is a simulator that offers the same steps everywhere, and remembers what was taken. After so many steps, if
// any, it breaks.
type lamps struct {
	taken [][]core.Step
	last  int
}

func (l *lamps) Run(_ context.Context, initial int, steps []core.Step) (*core.Position, error) {
	if initial != 0 {
		return nil, fmt.Errorf("there is no initial state %d", initial)
	}
	l.taken = append(l.taken, steps)
	if l.last > 0 && len(steps) == l.last {
		return nil, errors.New("the lamp is broken " + attack)
	}
	trace := core.Trace{CycleStart: -1}
	for _, step := range steps {
		trace.Steps = append(trace.Steps, core.TraceStep{Kind: step.Kind.Name(), Controller: step.Item.Strategy, Request: step.Item.Request, Calls: []core.TraceCall{{Call: "get " + attack, Response: "ok"}}})
	}
	step := func(who string) core.Step {
		return core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: who, Request: "desk"}}
	}
	return &core.Position{
		Trace: trace, Objects: []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"color": attack}}},
		Choices: []core.Choice{
			{Edge: core.Edge{Step: step("first"), Failed: attack}, Changes: []core.TraceChange{{Kind: "Lamp", Name: "desk", Verb: "deleted"}}},
			{Edge: core.Edge{Step: step("second")}, Stopped: "it is blocked"}, {Edge: core.Edge{Step: step("third")}},
		},
	}, nil
}

func serverOf(t *testing.T, simulator page.Simulator) *page.Server {
	t.Helper()
	s, err := page.NewServer(t.Context(), forkedRecord(t), simulator, "this command has no lamp")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit asks for a page, as a browser does that was told its address.
func visit(s http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost:8733"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

var links = regexp.MustCompile(`href="(/[^"#]*)`)

// TestLinks follows all links from the first page on, some steps deep where they have no end: each leads to a page,
// which runs nothing of what it shows.
func TestLinks(t *testing.T) {
	s := serverOf(t, &lamps{})
	seen, todo := map[string]bool{}, []string{"/"}
	for len(todo) > 0 {
		path := strings.ReplaceAll(todo[0], "&amp;", "&")
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := visit(s, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		if path != "/page.css" && path != "/" && !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'") {
			t.Errorf("%s may run anything: %q", path, w.Header().Get("Content-Security-Policy"))
		}
		if strings.Contains(w.Body.String(), attack) {
			t.Errorf("%s has what is in an object as it is", path)
		}
		for _, link := range links.FindAllStringSubmatch(w.Body.String(), -1) {
			if strings.Count(link[1], ".") < 2 || strings.HasSuffix(link[1], ".css") {
				todo = append(todo, link[1])
			}
		}
	}
	for _, want := range []string{"/states", "/states/0", "/states/1", "/states/4", "/states?class=1", "/walk?state=2", "/walk?state=2&take=0.2", "/page.css"} {
		if !seen[want] {
			t.Errorf("no link leads to %s", want)
		}
	}
	if seen["/states/5"] {
		t.Error("a link leads to a state that is not recorded")
	}
}

// TestPagesOfStates looks at what is said of states.
func TestPagesOfStates(t *testing.T) {
	simulator := &lamps{last: 4}
	s := serverOf(t, simulator)
	for _, test := range []struct {
		path string
		code int
		has  []string
	}{
		{"/", 200, []string{`<a href="/states">States</a>`, `<a class="state" href="/states/1">state 1</a>`}},
		{"/states", 200, []string{
			"Can still end in outcomes 1 and 2, or what was not searched or recorded.", "only the first 5 of 6 states are recorded", "Group 3",
			`<strong>left</strong> reconciles &lt;script&gt;alert(1)&lt;/script&gt;, as in <a href="/states/0">state 0</a>`, "<svg",
		}},
		{"/states?field=color%3Dgreen", 200, []string{"2 of 5 states", `<a href="/states/2">2</a>`, `<a href="/states/3">3</a>`}},
		{"/states?object=lamp&controller=left&quiescent=yes", 200, []string{"1 of 5 states", `<a href="/states/2">2</a>`}},
		{"/states?class=1", 200, []string{"1 of 5 states of group 1"}},
		{"/states?class=9", 404, []string{"there is no group"}},
		{"/states?state=3", 303, nil},
		{"/states?state=x", 404, []string{"is no number of a state"}},
		{"/states/0", 200, []string{"initial", "left reconciles desk", "from then on, it can only end in outcome 1", "color", "&#34;dark&#34;</del> <ins>&#34;red&#34;"}},
		{"/states/2", 200, []string{"no work left", "on a cycle, with 2 states", "this state again", "changes no object"}},
		{"/states/3", 200, []string{"state 5, which is not recorded", "Waiting for a timer", `state 0</a>: <strong>right</strong>`}},
		{"/states/4", 200, []string{"not all steps were taken", "a limit of the search cut here", "deleted</span> Lamp desk"}},
		{"/states/5", 404, []string{"state 5 is not recorded: only the first 5 of 6 states are recorded; orrery check --record-states records more"}},
		{"/states/6", 404, []string{"there is no state 6: the last one is state 4"}},
		{"/states/-1", 404, []string{"is no number of a state"}},
		{"/walk?state=3&take=2", 200, []string{"and 1 that you chose", "Take the last one back", "it does not come to its end: it is blocked", "it fails: &lt;script&gt;"}},
		{"/walk?state=3&take=2.0", 409, []string{"the lamp is broken"}},
		{"/walk?state=3&take=7", 409, []string{"there is no step 7 after 2 steps: there are 3"}},
		{"/walk?take=a", 400, []string{"is no number of a step"}},
		{"/nothing", 404, nil},
	} {
		w := visit(s, test.path)
		if w.Code != test.code {
			t.Errorf("%s: %d, want %d", test.path, w.Code, test.code)
		}
		for _, has := range test.has {
			if !strings.Contains(w.Body.String(), has) {
				t.Errorf("%s does not have %q:\n%s", test.path, has, w.Body)
			}
		}
	}
	right := core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "right", Request: attack}}
	left := core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "left", Request: attack}}
	third := core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "third", Request: "desk"}}
	if got, want := fmt.Sprint(simulator.taken[1]), fmt.Sprint([]core.Step{right, left, third}); got != want {
		t.Errorf("%s was taken, want %s", got, want)
	}
}

// TestNobodyElse wants no answers for others than browsers on this machine, and nothing to be run for pages from
// elsewhere.
func TestNobodyElse(t *testing.T) {
	simulator := &lamps{}
	s := serverOf(t, simulator)
	for _, test := range []struct {
		path    string
		headers []string
		code    int
	}{
		{"/states", []string{"Host", "127.0.0.1:8733"}, 200},
		{"/states", []string{"Host", "[::1]:8733"}, 200},
		{"/states", []string{"Host", "[::1]"}, 200},
		{"/states", []string{"Host", "localhost"}, 200},
		{"/states", []string{"Host", "example.com"}, 403},
		{"/states", []string{"Host", "localhost.example.com:8733"}, 403},
		{"/states", []string{"Host", "192.0.2.1:8733"}, 403},
		{"/states", []string{"Host", ""}, 403},
		{"/states", []string{"Origin", "http://localhost:8733"}, 200},
		{"/states", []string{"Origin", "http://localhost:1"}, 403},
		{"/states", []string{"Origin", "null"}, 403},
		{"/states", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"/states", []string{"Sec-Fetch-Site", "none"}, 200},
		{"/states", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"/walk?take=0", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"/walk?take=0", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
	} {
		if w := visit(s, test.path, test.headers...); w.Code != test.code {
			t.Errorf("%s with %q: %d, want %d", test.path, test.headers, w.Code, test.code)
		}
	}
	if len(simulator.taken) > 0 {
		t.Errorf("%v was run", simulator.taken)
	}
	r := httptest.NewRequest(http.MethodPost, "/walk", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestWithoutSystem wants pages of states to say why no steps can be taken.
func TestWithoutSystem(t *testing.T) {
	s := serverOf(t, nil)
	for path, code := range map[string]int{"/states": 200, "/states/2": 200, "/walk": 404} {
		if w := visit(s, path); w.Code != code || !strings.Contains(w.Body.String(), "this command has no lamp") || strings.Contains(w.Body.String(), `href="/walk`) {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
		}
	}
}
