package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/core"
)

// race is a report of a finding with two runs.
func race() core.Report {
	write := func(who, image string) core.TraceStep {
		return core.TraceStep{
			Kind: "reconcile", Controller: who, Request: "shop/web",
			Calls: []core.TraceCall{
				{Call: "get Deployment.apps shop/web", Response: "ok", Behind: []core.TraceLag{{Kind: "Deployment.apps", Changes: 1}}},
				{Call: "update Deployment.apps shop/web", Response: "ok", Wrote: true, At: &core.Site{File: "shop/web.go", Line: 41, Function: "shop.<b>"}},
			},
			Changes: []core.TraceChange{{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Verb: "changed", Fields: []core.FieldChange{
				{Path: "metadata.generation", From: 1, To: 2}, {Path: "spec.containers[name=web].image", From: "web:1", To: image},
			}}},
			Logs:        []core.TraceLog{{LogLine: core.LogLine{Level: "error", Message: "</script><script>alert(2)</script>", Values: []core.LogValue{{Key: "<k>", Value: "two words"}}}, Aside: true}},
			MissingLogs: "3 lines <after> the first 100",
			Memory:      []core.MemoryChange{{Controller: who, Field: "seen", To: &image}}, Enqueued: []string{who + "(shop/web)"},
		}
	}
	look := core.TraceStep{Kind: "reconcile", Controller: "pinner", Request: "shop/web"}
	create := core.TraceStep{Kind: "user", Controller: "user", Request: "create", Changes: []core.TraceChange{{Kind: "Note", Name: "n", Verb: "created", Fields: []core.FieldChange{{To: "hello"}}}}}
	initial := []core.TraceObject{
		{Kind: "Deployment.apps", Namespace: "shop", Name: "web", Fields: map[string]any{
			"metadata": map[string]any{"generation": 1, "annotations": map[string]any{"x": "</script><script>alert(1)</script>"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:1"}}},
		}},
		{Kind: "Secret", Name: "other", Fields: map[string]any{}},
	}
	other := core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{create, look, look, write("pinner", "web:stable")}}
	return core.Report{
		System: "shop/web", Params: map[string]string{"apps": "2"}, Verdict: core.Violated, Reasons: []string{"it was <b>interrupted</b>"},
		Properties: []core.PropertyReport{{Name: "same outcome", Verdict: core.Violated}}, Assumptions: []string{"Caches are fresh."},
		Rungs: []core.RungReport{{Name: "one crash", Verdict: core.Holds, States: 3}},
		Findings: []core.Finding{{
			ID: 1, Property: "same outcome", Summary: `the image depends on <img src=x onerror=alert(1)>`, Details: []string{"a detail"}, Controllers: []string{"upgrader", "pinner"},
			Trace: core.Trace{Initial: initial, CycleStart: -1, Steps: []core.TraceStep{create, look, look, write("upgrader", "web:2")}}, Other: &other,
		}},
		OutcomeList: []core.OutcomeReport{
			{States: 1, Objects: []core.TraceObject{{Kind: "Note", Name: "n", Fields: "hello"}, {Kind: "Pod", Name: "p", Fields: map[string]any{"a": 1}}}},
			{States: 2, Objects: []core.TraceObject{{Kind: "Note", Name: "n", Fields: "hello"}}},
		},
	}
}

func write(t *testing.T, report core.Report) string {
	t.Helper()
	var written bytes.Buffer
	if err := page.Report(&written, &report); err != nil {
		t.Fatal(err)
	}
	return written.String()
}

// TestReport checks that all is told, and that what was folded is counted.
func TestReport(t *testing.T) {
	text := write(t, race())
	for _, want := range []string{
		"violated", "shop/web (apps=2)", "1 finding.", "it was &lt;b&gt;interrupted&lt;/b&gt;", "same outcome", "a detail", "Both runs", "First run", "Second run", "upgrader", "pinner",
		"Steps 2 and 3 change nothing", "from a cache that is 1 change behind", "at <code>shop/web.go:41, shop.&lt;b&gt;</code>", "spec.containers[name=web].image", "and 1 other field (times, versions and the like)", "and 1 other object",
		"&#34;web:2&#34;", "&#34;web:stable&#34;", "<span class=\"verb\">memory</span> pinner: seen = web:stable", "one crash: 3 states",
		`<summary>1 log line</summary>`, `<code>error &lt;/script&gt;&lt;script&gt;alert(2)&lt;/script&gt; &lt;k&gt;=&#34;two words&#34;</code> <span class="quiet">in another goroutine</span>`, "Left out: 3 lines &lt;after&gt; the first 100", "Caches are fresh.", "Outcome 2", "in 2 settled states",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(text, "hello</dd>\n      <h4>") {
		t.Error("what all outcomes have is told as a difference")
	}
}

// TestOutcome checks that a page shows what the system comes to if nothing was found, and that is always the same.
func TestOutcome(t *testing.T) {
	report := race()
	if text := write(t, report); strings.Contains(text, `id="outcome"`) {
		t.Error("one of two outcomes is shown as the only one")
	}
	report.Verdict, report.OutcomeList = core.Holds, report.OutcomeList[:1]
	report.OutcomeList[0].Trace.Initial = []core.TraceObject{{Kind: "Note", Name: "n", Fields: "<hello>"}}
	text := write(t, report)
	for _, want := range []string{`<h2>Outcome</h2>`, `<td>Note n</td><td>changed</td><td>hello</td>`, `<td>Pod p</td><td>created</td>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestManyFields checks that of an object with many fields those are unfolded that change, and that all are there.
func TestManyFields(t *testing.T) {
	report := race()
	spec := report.Findings[0].Trace.Initial[0].Fields.(map[string]any)["spec"].(map[string]any)
	for i := range 20 {
		spec[fmt.Sprintf("setting%02d", i)] = i
	}
	text := write(t, report)
	_, initial, _ := strings.Cut(text, "<summary>Initial state</summary>")
	shown, folded, found := strings.Cut(initial, "and 21 fields that do not change</summary>")
	if !found || !strings.Contains(shown, "<dt>spec.containers[name=web].image</dt>") || strings.Contains(shown, "setting00") || !strings.Contains(folded, "<dt>spec.setting19</dt><dd>19</dd>") {
		t.Errorf("the page shows:\n%s", initial[:min(len(initial), 3000)])
	}
}

// TestNothingRuns checks that a page has one script and one style, those that its policy lets in, whatever objects and
// controllers say.
func TestNothingRuns(t *testing.T) {
	script, style := regexp.MustCompile(`(?s)<script>(.*?)</script>`), regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	markup := regexp.MustCompile(`<[a-z]+`)
	known := map[string]bool{}
	for _, tag := range markup.FindAllString(write(t, race()), -1) {
		known[tag] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(
			rapid.SampledFrom([]string{"</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "<!--", "]]>", "</style>", "\u2028", "{{.}}", "javascript:alert(1)"}), rapid.String(),
		)
		r := race()
		f := &r.Findings[0]
		f.Summary, f.Property, f.Replay, f.Details[0] = evil.Draw(t, "summary"), evil.Draw(t, "property"), evil.Draw(t, "replay"), evil.Draw(t, "detail")
		step := &f.Trace.Steps[3]
		step.Controller, step.Request, step.Detail, step.Result = evil.Draw(t, "controller"), core.Request(evil.Draw(t, "request")), evil.Draw(t, "fault"), evil.Draw(t, "result")
		step.Calls[0].Call, step.Calls[1].Response = evil.Draw(t, "call"), evil.Draw(t, "response")
		step.Changes[0].Name, step.Changes[0].Fields[1].Path, step.Changes[0].Fields[1].To = evil.Draw(t, "name"), evil.Draw(t, "path"), evil.Draw(t, "value")
		step.Logs[0].Message, step.Logs[0].Values[0].Key, step.Logs[0].Handler, step.MissingLogs = evil.Draw(t, "message"), evil.Draw(t, "key"), evil.Draw(t, "handler"), evil.Draw(t, "missing")
		r.System = evil.Draw(t, "system")
		var written bytes.Buffer
		if err := page.Report(&written, &r); err != nil {
			t.Fatal(err)
		}
		text := written.String()
		for what, found := range map[string][][]string{"script": script.FindAllStringSubmatch(text, -1), "style": style.FindAllStringSubmatch(text, -1)} {
			if len(found) != 1 {
				t.Fatalf("there are %d of %s", len(found), what)
			}
			sum := sha256.Sum256([]byte(found[0][1]))
			if !strings.Contains(text, what+"-src &#39;sha256-"+strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;")) {
				t.Fatalf("the policy does not let in the %s", what)
			}
		}
		for _, tag := range markup.FindAllString(style.ReplaceAllString(script.ReplaceAllString(text, ""), ""), -1) {
			if !known[tag] {
				t.Fatalf("there is a %s", tag)
			}
		}
	})
}

// TestScriptGetsAll checks what the script goes on with: the objects where a part of a run begins, and what each step
// does to them.
func TestScriptGetsAll(t *testing.T) {
	type part struct {
		From []struct{ Name string }
		Legs []struct {
			Steps []struct {
				Number  int
				Effects []struct {
					Object  string
					Deleted bool
					Gone    []string
					Fields  []struct{ Path, Value string }
				}
			}
		}
	}
	var parts []part
	for _, found := range regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindAllStringSubmatch(write(t, race()), -1) {
		var p part
		if err := json.Unmarshal([]byte(found[1]), &p); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	if len(parts) != 3 {
		t.Fatalf("there are %d parts, want what is common and two runs", len(parts))
	}
	if from := parts[1].From; len(from) != 2 || from[1].Name != "Note n" {
		t.Errorf("the first run begins with %v", from)
	}
	last := parts[2].Legs[0].Steps[0]
	if last.Number != 4 || len(last.Effects) != 1 || last.Effects[0].Fields[1].Value != `"web:stable"` || last.Effects[0].Gone[1] != "spec.containers[name=web].image" {
		t.Errorf("the last step is %+v", last)
	}
}

// TestWriteError checks that a page that cannot be written is an error.
func TestWriteError(t *testing.T) {
	broken := errors.New("broken pipe")
	r := race()
	if err := page.Report(failing{broken}, &r); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
