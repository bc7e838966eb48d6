package text_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chatter is a fight in which controllers log.
func chatter() core.Finding {
	f := fight()
	said := func(calls int, level, message string) core.TraceLog {
		return core.TraceLog{LogLine: core.LogLine{Level: level, Logger: "scaler", Message: message, Values: []core.LogValue{{Key: "deployment", Value: "shop/web"}, {Key: "why", Value: "too few"}}}, Calls: calls}
	}
	first, aside, handler := said(0, "info", "looking"), said(1, "error", "\x1b[31mred\n"+strings.Repeat("long ", 100)), said(0, "debug", "saw it")
	aside.Aside, handler.Handler = true, "autoscaler"
	step := &f.Trace.Steps[1]
	step.Logs = []core.TraceLog{first, aside}
	for i := range 12 {
		step.Logs = append(step.Logs, said(2, "V(2)", fmt.Sprint("counting ", i)))
	}
	step.Logs = append(step.Logs, handler)
	step.MissingLogs = "7 lines after the first 100"
	return f
}

// report returns a report of a search that found nothing wrong.
func report() core.Report {
	return core.Report{
		Schema: core.ReportSchema, System: "shop/web", Params: map[string]string{"shops": "1", "apps": "2"},
		Verdict: core.Holds, Reasons: []string{}, Reduction: "none", Granularity: "reconcile", Workers: 2,
		States: 1234567, Transitions: 7654321, TerminalStates: 1, Outcomes: 1, Depth: 12,
		ReconcilesExecuted: 18, StepsFromTree: 2898, Behaviours: 9,
		Elapsed: 3214 * time.Millisecond, StatesPerSecond: 243000, PeakRSSBytes: 41 << 20,
		Assumptions: []string{"timers fire only when nothing else can happen"},
		Properties: []core.PropertyReport{
			{Name: "stable convergence", Verdict: core.Holds},
			{Name: "same outcome", Verdict: core.Holds},
		},
	}
}

// settled returns a report of a system that makes so many notes, and says of them what it has to.
func settled(notes int) core.Report {
	r := report()
	end := core.OutcomeReport{Trace: core.Trace{Initial: []core.TraceObject{web(3), {Kind: "Page", Name: "old", Fields: "none"}}}, Objects: []core.TraceObject{web(3)}}
	for i := range notes {
		end.Objects = append(end.Objects, core.TraceObject{Kind: "Note", Name: fmt.Sprint("n", i), Fields: map[string]any{"status": map[string]any{
			"phase": "\x1b[31mSent", "conditions": []any{map[string]any{"type": "Read", "status": "False", "reason": "Lost", "message": strings.Repeat("nobody knows ", 5*i)}},
		}}})
		end.Trace.Initial = append(end.Trace.Initial, core.TraceObject{Kind: "Desk", Name: fmt.Sprint("d", i), Fields: i})
		end.Objects = append(end.Objects, core.TraceObject{Kind: "Desk", Name: fmt.Sprint("d", i), Fields: i})
	}
	if notes == 0 {
		end.Objects, r.Outcomes = end.Trace.Initial, 2
	}
	r.OutcomeList = []core.OutcomeReport{end}
	return r
}

func inconclusive() core.Report {
	r := report()
	r.Verdict = core.Inconclusive
	r.Reasons = []string{
		"the search stopped at 1,234,567 states: raise --max-states to search on",
		"interrupted: let it run to the end",
	}
	r.Properties[0].Verdict = core.Inconclusive
	r.Elapsed, r.StatesPerSecond, r.PeakRSSBytes = 90*time.Second, 0, 0
	r.LeftBehind = []core.LeftBehind{
		{Goroutines: 2182, At: "k8s.io/client-go/tools/record.(*eventBroadcasterImpl).StartEventWatcher.func1 (event.go:407)"},
		{Goroutines: 1091, At: "k8s.io/apimachinery/pkg/watch.(*Broadcaster).loop (mux.go:268)"},
	}
	return r
}

// unchecked has fields that nobody checked, and no property of the system was.
func unchecked() core.Report {
	r := report()
	r.ConductOnly = true
	r.Unchecked = []core.Unchecked{{Kind: "Pod", Fields: []string{"spec.overhead", "spec.odd[].x"}, Remedy: "import the other server"}}
	return r
}

func violated(property string, findings ...core.Finding) core.Report {
	r := report()
	r.Verdict = core.Violated
	r.Findings = findings
	for i := range r.Properties {
		if r.Properties[i].Name == property {
			r.Properties[i].Verdict = core.Violated
		}
	}
	return r
}

func web(replicas any) core.TraceObject {
	return core.TraceObject{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Fields: map[string]any{
		"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{"containers": []any{map[string]any{"image": "web:1", "name": "web"}}},
		},
	}}
}

func write(controller, path string, from, to any) core.TraceStep {
	return core.TraceStep{
		Kind: "reconcile", Controller: controller, Request: "shop/web",
		Calls: []core.TraceCall{
			{Call: "get Deployment.apps shop/web", Response: fmt.Sprintf("found, with %v", from)},
			{Call: "update Deployment.apps shop/web", Response: "ok", Wrote: true},
			{Call: "get HorizontalPodAutoscaler.autoscaling shop/web", Response: "not found", Handler: "autoscaler"},
		},
		Changes: []core.TraceChange{{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Verb: "changed",
			Fields: []core.FieldChange{{Path: path, From: from, To: to}}}},
		Enqueued: []string{"autoscaler(shop/web)"},
	}
}

// fight is a livelock of two controllers, with a created and a deleted object,
// an error and a timer on the way.
func fight() core.Finding {
	scaler := core.TraceChange{Kind: "HorizontalPodAutoscaler.autoscaling", Namespace: "shop", Name: "web", Verb: "created",
		Fields: []core.FieldChange{{Path: "spec", To: map[string]any{"minReplicas": 2, "maxReplicas": 5}}}}
	note := core.TraceChange{Kind: "Note", Name: "todo", Verb: "deleted", Fields: []core.FieldChange{{From: "scale"}}}
	failed := write("deployer", "spec.replicas", 1, 3)
	failed.Result = "error: the server is busy\nplease try again"
	return core.Finding{
		ID: 1, Property: "stable convergence", Steps: 5,
		Summary:     "deployer and autoscaler change spec.replicas of Deployment.apps shop/web for ever",
		Details:     []string{"deployer sets spec.replicas to 3, autoscaler sets it to 1"},
		Controllers: []string{"deployer", "autoscaler"},
		Fields:      []string{"Deployment.apps shop/web: spec.replicas", "Note todo: "},
		Replay:      "orrery replay run.orr --finding 1",
		Trace: core.Trace{
			Initial: []core.TraceObject{web(3), {Kind: "Note", Name: "todo", Fields: "scale"}},
			Steps: []core.TraceStep{
				{Kind: "reconcile", Controller: "autoscaler", Request: "shop/web", Changes: []core.TraceChange{scaler, note}},
				write("autoscaler", "spec.replicas", 3, 1),
				{Kind: "fire", Controller: "autoscaler", Request: "shop/web", Enqueued: []string{"autoscaler(shop/web)"}},
				failed,
				write("autoscaler", "spec.replicas", 3, 1),
			},
			CycleStart: 2,
		},
	}
}

// numbered gives the states of a trace their numbers.
func numbered(trace core.Trace) core.Trace {
	for i := range trace.Steps {
		trace.Steps[i].From, trace.Steps[i].To = core.StateID(i), core.StateID(i+1)
	}
	return trace
}

// pause is a quiet state that is not settled: a request that nobody makes would
// still change something.
func pause() core.Finding {
	conditions := []any{
		map[string]any{"type": "Progressing", "status": "True", "message": "one of three replicas is there"},
		map[string]any{"type": "Available", "status": "False", "message": "two replicas are missing"},
	}
	look := core.TraceStep{
		Kind: "reconcile", Controller: "autoscaler", Request: "shop/web",
		Calls: []core.TraceCall{{Call: "get Deployment.apps shop/web", Response: "ok"}},
	}
	trace := numbered(core.Trace{
		Initial: []core.TraceObject{web(3)}, CycleStart: -1,
		Steps: []core.TraceStep{write("deployer", "status.conditions", nil, conditions), look, look, write("autoscaler", "spec.replicas", 1, 2)},
	})
	trace.Steps[3].Kind, trace.Steps[3].To = "probe", trace.Steps[3].From
	return core.Finding{ID: 1, Property: "fixpoint", Summary: "the system becomes quiescent too early", Trace: trace}
}

// storm is a run with steps of every kind in which things go wrong.
func storm() core.Finding {
	step := func(kind, controller string, request core.Request) core.TraceStep {
		return core.TraceStep{Kind: kind, Controller: controller, Request: request}
	}
	acts := write("user", "spec.replicas", 3, 5)
	acts.Kind, acts.Request, acts.Calls = "user", "scale Deployment shop/web", acts.Calls[1:2]
	asks := step("call", "deployer", "shop/web")
	asks.Late, asks.Calls = true, []core.TraceCall{{Call: "get Deployment.apps shop/web", Response: "found, with 3"}}
	fails := write("deployer", "spec.replicas", 5, 3)
	fails.Kind, fails.Calls = "call", []core.TraceCall{{Call: "update Deployment.apps shop/web", Response: "timeout", Wrote: true, At: &core.Site{Module: "example.com/shop", File: "web.go", Line: 41, Function: "shop.(*Web).Reconcile"}}}
	fails.Detail = `call 2, "update Deployment.apps shop/web", fails: committed, but the answer is lost`
	ends := step("return", "deployer", "shop/web")
	ends.Result, ends.Enqueued = "returns the error: timeout", []string{"deployer(shop/web)"}
	told := step("deliver", "autoscaler", "Deployment.apps")
	told.Enqueued = []string{"autoscaler(shop/web)"}
	late := step("reconcile", "autoscaler", "shop/web")
	late.Late, late.Unseen = true, []string{"Deployment.apps shop/web was changed: spec.replicas", "Note done was deleted"}
	crashes := write("autoscaler", "spec.replicas", 3, 1)
	crashes.Detail = `it crashes between call "update Deployment.apps shop/web" and call 3, "create Note done", and starts again, and its view of Deployment.apps is 1 change behind`
	starts := step("restart", "autoscaler", "")
	starts.Detail, starts.Enqueued = "its view of Deployment.apps is 1 change behind", told.Enqueued
	return core.Finding{
		ID: 1, Property: "same outcome", Summary: "spec.replicas is lost",
		Trace: numbered(core.Trace{Initial: []core.TraceObject{web(3)}, CycleStart: -1, Steps: []core.TraceStep{
			acts, step("begin", "deployer", "shop/web"), asks, fails, ends, late, told, step("deliver", "deployer", "Deployment.apps"),
			crashes, starts, step("restart", "deployer", ""),
		}}),
	}
}

// count is a run in which a controller counts in memory what it does, and loses it in a crash.
func count() core.Finding {
	value := func(text string) *string { return &text }
	kept := func(from, to *string) core.MemoryChange {
		return core.MemoryChange{Controller: "deployer", Field: "Deployer.tries[shop/web]", From: from, To: to}
	}
	told := kept(value("1"), value("2"))
	told.Event = "Deployment.apps shop/web"
	first := write("deployer", "spec.replicas", 1, 2)
	first.Memory = []core.MemoryChange{kept(nil, value("1")), told}
	other := kept(value("x"), nil)
	other.Controller, other.Field = "autoscaler", "Autoscaler.last"
	look := core.TraceStep{Kind: "reconcile", Controller: "deployer", Request: "shop/web", Memory: []core.MemoryChange{other}}
	deliver := core.TraceStep{Kind: "deliver", Controller: "deployer", Request: "Deployment.apps", Memory: []core.MemoryChange{told}}
	crash := core.TraceStep{Kind: "restart", Controller: "deployer"}
	for i := range 14 {
		lost := kept(value(strings.Repeat("long-", 4*i)), nil)
		lost.Field, lost.Lost = fmt.Sprintf("Deployer.seen[%d]", i), true
		crash.Memory = append(crash.Memory, lost)
	}
	crash.Memory[1].To = value("\x1bnew")
	trace := core.Trace{Initial: []core.TraceObject{web(1)}, Memory: []core.MemoryChange{kept(value("0"), value("5"))}, CycleStart: -1}
	trace.Steps = []core.TraceStep{first, look, deliver, crash}
	return core.Finding{ID: 1, Property: "same outcome", Summary: "deployer forgets", Trace: numbered(trace)}
}

// crowd is a story about one field of many.
func crowd() core.Finding {
	finding := pause()
	object := web(3)
	for i := range 20 {
		object.Fields.(map[string]any)["spec"].(map[string]any)[fmt.Sprintf("other%02d", i)] = i
	}
	finding.Trace.Initial = []core.TraceObject{object}
	return finding
}

// race is a difference in outcomes after a common first step.
func race(common bool) core.Finding {
	run := func(controllers ...string) core.Trace {
		trace := core.Trace{Initial: []core.TraceObject{web(nil)}, CycleStart: -1}
		if common {
			trace.Steps = append(trace.Steps, write("defaulter", "spec.paused", nil, false))
		}
		for i, controller := range controllers {
			trace.Steps = append(trace.Steps, write(controller, "spec.replicas", i, controller))
		}
		return numbered(trace)
	}
	other := run("small", "large")
	return core.Finding{ID: 1, Property: "same outcome", Summary: "spec.replicas depends on who comes last", Trace: run("large", "small"), Other: &other}
}

// races is a difference in outcomes that comes from the start.
func races() core.Finding {
	finding := race(false)
	finding.Other.Initial = []core.TraceObject{web(7)}
	return finding
}

// march is a long run with long values and many calls.
func march(cycleStart int) core.Finding {
	trace := core.Trace{CycleStart: cycleStart}
	for i := range 12 {
		trace.Initial = append(trace.Initial, core.TraceObject{Kind: "Brick", Name: fmt.Sprint(i), Fields: i})
	}
	for i := range 40 {
		step := write("mason", "spec.text", strings.Repeat("long ", i*10), "short")
		for range 10 {
			step.Calls = append(step.Calls, core.TraceCall{Call: "list Brick", Response: "12 objects"})
		}
		for j := range 20 {
			step.Changes[0].Fields = append(step.Changes[0].Fields, core.FieldChange{Path: fmt.Sprintf("spec.list[%d]", j), From: nil, To: j})
		}
		trace.Steps = append(trace.Steps, step)
	}
	return core.Finding{ID: 1, Property: "same outcome", Summary: "the wall is never finished", Trace: trace}
}

// warned returns a report of which the last finding is a warning.
func warned(verdict core.Verdict, findings ...core.Finding) core.Report {
	r := violated("same outcome", findings...)
	r.Verdict = verdict
	if verdict == core.Inconclusive {
		r.Reasons = inconclusive().Reasons
	}
	r.Properties[1].Warning = true
	last := &r.Findings[len(findings)-1]
	last.ID, last.Property, last.Warning = len(findings), "same outcome", true
	return r
}

func TestGolden(t *testing.T) {
	empty := core.Report{Verdict: core.Holds, Granularity: "call", Reduction: "por"}
	tests := []struct {
		name    string
		report  core.Report
		options text.Options
	}{
		{"holds", report(), text.Options{}},
		{"settled", settled(3), text.Options{}},
		{"settled-many", settled(30), text.Options{}},
		{"settled-full", settled(30), text.Options{Full: true}},
		{"settled-as-before", settled(0), text.Options{}},
		{"empty", empty, text.Options{}},
		{"inconclusive", inconclusive(), text.Options{}},
		{"warned", warned(core.Holds, pause()), text.Options{}},
		{"warned-besides", warned(core.Violated, fight(), pause()), text.Options{}},
		{"warned-inconclusive", warned(core.Inconclusive, pause()), text.Options{}},
		{"fight", violated("stable convergence", fight()), text.Options{}},
		{"logs", violated("stable convergence", chatter()), text.Options{}},
		{"logs-full", violated("stable convergence", chatter()), text.Options{Full: true}},
		{"fight-color", violated("stable convergence", fight()), text.Options{Color: true}},
		{"race", violated("same outcome", race(true)), text.Options{}},
		{"race-at-once", violated("same outcome", race(false)), text.Options{}},
		{"race-elsewhere", violated("same outcome", races()), text.Options{}},
		{"unchecked", unchecked(), text.Options{}},
		{"pause", violated("fixpoint", pause()), text.Options{}},
		{"storm", violated("same outcome", storm()), text.Options{}},
		{"storm-full", violated("same outcome", storm()), text.Options{Full: true}},
		{"count", violated("same outcome", count()), text.Options{}},
		{"count-full", violated("same outcome", count()), text.Options{Full: true}},
		{"crowd", violated("fixpoint", crowd()), text.Options{}},
		{"pause-full", violated("fixpoint", pause()), text.Options{Full: true}},
		{"march", violated("same outcome", march(20)), text.Options{}},
		{"march-full", violated("same outcome", march(20)), text.Options{Full: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := text.Report(&got, &test.report, test.options); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", test.name+".txt")
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

// TestTimesAreOnTheLastLine changes all that may differ between two checks.
func TestTimesAreOnTheLastLine(t *testing.T) {
	one, two := report(), report()
	two.Elapsed, two.StatesPerSecond, two.PeakRSSBytes, two.Workers, two.Seed = time.Hour, 1, 1<<30, 7, 9
	two.LeftBehind = []core.LeftBehind{{Goroutines: 100, At: "example.com/shop.wait (shop.go:7)"}}
	var a, b bytes.Buffer
	if err := errors.Join(text.Report(&a, &one, text.Options{}), text.Report(&b, &two, text.Options{})); err != nil {
		t.Fatal(err)
	}
	if withoutLastLine(a.String()) != withoutLastLine(b.String()) {
		t.Errorf("more than the last line differs:\n%s\n%s", &a, &b)
	}
	if a.String() == b.String() {
		t.Error("the times are not shown")
	}
}

func withoutLastLine(s string) string {
	s = strings.TrimSuffix(s, "\n")
	return s[:strings.LastIndexByte(s, '\n')]
}

// TestNoTerminalCodes writes whatever users may call their things.
func TestNoTerminalCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := violated("same outcome", fight())
		finding := &r.Findings[0]
		finding.Summary = rapid.String().Draw(t, "summary")
		finding.Controllers[0] = rapid.String().Draw(t, "controller")
		finding.Trace.Steps[0].Request = core.Request(rapid.String().Draw(t, "request"))
		finding.Trace.Steps[1].Calls[0].Response = rapid.String().Draw(t, "response")
		finding.Trace.Steps[1].Changes[0].Fields[0].To = rapid.String().Draw(t, "value")
		finding.Trace.Initial[0].Name = "\x1b[31m"
		var brief, plain, usual bytes.Buffer
		if err := errors.Join(text.Report(&brief, &r, text.Options{}), text.Report(&plain, &r, text.Options{Full: true})); err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(brief.Bytes(), "\x1b\x07\r\x00") || bytes.ContainsAny(plain.Bytes(), "\x1b\x07\r\x00") {
			t.Fatalf("control characters in %q", plain.String())
		}
		r = violated("same outcome", fight())
		if err := text.Report(&usual, &r, text.Options{Full: true}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(plain.String(), "\n"), strings.Count(usual.String(), "\n"); got != want {
			t.Fatalf("%d lines, want %d: a text broke a line", got, want)
		}
	})
}

func TestStory(t *testing.T) {
	var got strings.Builder
	if err := text.Story(&got, fight(), text.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Finding 1 of 1: deployer and autoscaler", "Step 5: autoscaler", "orrery replay"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in:\n%s", want, &got)
		}
	}
}

func TestWriteError(t *testing.T) {
	broken := errors.New("broken pipe")
	r := report()
	if err := text.Report(failing{broken}, &r, text.Options{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
