package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/export"
	"github.com/orrery-dev/orrery/core"
)

// fight is a finding in which two controllers write a field in turn.
func fight() core.Finding {
	write := func(who string, from, to any) core.TraceStep {
		return core.TraceStep{
			Kind: "reconcile", Controller: who, Request: "shop/web",
			Calls: []core.TraceCall{{Call: "get Deployment shop/web", Response: "ok"}, {Call: "update Deployment shop/web", Response: "409 Conflict", Wrote: true}},
			Changes: []core.TraceChange{{Kind: "Deployment", Namespace: "shop", Name: "web", Verb: "changed", Fields: []core.FieldChange{
				{Path: "metadata.generation", From: 1, To: 2}, {Path: "spec.replicas", From: from, To: to},
			}}},
		}
	}
	look := core.TraceStep{Kind: "reconcile", Controller: "reader", Request: "the end"}
	return core.Finding{
		ID: 1, Property: "stable convergence", Summary: "scaler and saver write spec.replicas; for ever",
		Trace: core.Trace{
			Initial: []core.TraceObject{{Kind: "Deployment", Namespace: "shop", Name: "web", Fields: map[string]any{"spec": map[string]any{"replicas": 1, "paused": false, "cpu": 0.5}}}},
			Steps: []core.TraceStep{look, look, write("scaler", 1, 3), write("saver", 3, 1),
				{Kind: "user", Controller: "user", Request: "end", Changes: []core.TraceChange{{Kind: "Note", Name: "n", Verb: "created", Fields: []core.FieldChange{{To: "x"}}}, {Kind: "Deployment", Namespace: "shop", Name: "web", Verb: "deleted"}}}},
			CycleStart: 2,
		},
	}
}

func TestMermaid(t *testing.T) {
	var got strings.Builder
	if err := export.Mermaid(&got, fight()); err != nil {
		t.Fatal(err)
	}
	const want = `%%{init: {"sequence": {"wrap": true}}}%%
sequenceDiagram
    accTitle: Finding 1#58; scaler and saver write spec.replicas#59; for ever
    participant c1 as reader
    participant c2 as scaler
    participant c3 as saver
    participant c4 as user
    participant world as objects
    Note over c1,world: Steps 1 and 2 change nothing
    loop for ever
        Note over c2: 3. reconciles shop/web
        c2-->>world: get Deployment shop/web
        c2->>world: update Deployment shop/web
        world-->>c2: 409 Conflict
        Note right of world: Deployment shop/web spec.replicas#58; 1 → 3
        Note over c3: 4. reconciles shop/web
        c3-->>world: get Deployment shop/web
        c3->>world: update Deployment shop/web
        world-->>c3: 409 Conflict
        Note right of world: Deployment shop/web spec.replicas#58; 3 → 1
        Note over c4: 5. action#58; #101;nd
        Note right of world: Note n is created<br/>Deployment shop/web is deleted
    end
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &got, want)
	}
}

// TestMermaidIsNotBroken checks that no text of a user is a sign of the language, and that blocks are closed.
func TestMermaidIsNotBroken(t *testing.T) {
	line := regexp.MustCompile(strings.ReplaceAll("^ *(alt first run|else second run|end|loop for ever|participant (c[0-9]+|world) as TEXT|accTitle: TEXT|sequenceDiagram|%%\\{.*\\}%%|"+
		"Note (over|right of) (c[0-9]+|world)(,world)?: TEXT(<br/>TEXT)*|(c[0-9]+|world)--?>>(c[0-9]+|world): TEXT)$", "TEXT", "(#[0-9]+;|[^;:<>#])*"))
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.SampledFrom([]string{"end", "a; b", "#35;", "x: y", "<script>", "%% no", "-->>", "alt\nend", "END"}), rapid.String())
		finding := fight()
		step := &finding.Trace.Steps[2]
		step.Controller, step.Request, step.Detail, step.Result = evil.Draw(t, "controller"), core.Request(evil.Draw(t, "request")), evil.Draw(t, "fault"), evil.Draw(t, "result")
		step.Calls[0].Call, step.Calls[1].Response, step.Changes[0].Name = evil.Draw(t, "call"), evil.Draw(t, "response"), evil.Draw(t, "name")
		finding.Summary = evil.Draw(t, "summary")
		if rapid.Bool().Draw(t, "two runs") {
			other := fight().Trace
			finding.Other = &other
		}
		var got strings.Builder
		if err := export.Mermaid(&got, finding); err != nil {
			t.Fatal(err)
		}
		open := 0
		for text := range strings.Lines(got.String()) {
			text = strings.TrimSuffix(text, "\n")
			if !line.MatchString(text) {
				t.Fatalf("%q", text)
			}
			switch word := strings.TrimSpace(text); {
			case word == "end":
				open--
			case strings.HasPrefix(word, "alt "), strings.HasPrefix(word, "loop "):
				open++
			}
		}
		if open != 0 {
			t.Fatalf("%d blocks are open", open)
		}
	})
}

// TestJUnit checks what becomes of each verdict, whatever texts are in it.
func TestJUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finding := fight()
		finding.Summary = rapid.String().Draw(t, "summary")
		report := core.Report{
			System: rapid.String().Draw(t, "system"), Verdict: core.Violated, Findings: []core.Finding{finding}, Reasons: []string{rapid.String().Draw(t, "reason")},
			Properties: []core.PropertyReport{
				{Name: "stable convergence", Verdict: core.Violated}, {Name: "fixpoint", Verdict: core.Inconclusive}, {Name: "no panic", Verdict: core.Holds}, {Name: "warned", Verdict: core.Violated, Warning: true},
			},
		}
		var got bytes.Buffer
		if err := export.JUnit(&got, &report); err != nil {
			t.Fatal(err)
		}
		var read struct {
			Suite struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Errors   int `xml:"errors,attr"`
				Cases    []struct {
					Name    string  `xml:"name,attr"`
					Failure *string `xml:"failure"`
					Error   *string `xml:"error"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal(got.Bytes(), &read); err != nil {
			t.Fatalf("%v in %s", err, &got)
		}
		s := read.Suite
		if s.Tests != 4 || s.Failures != 1 || s.Errors != 1 || len(s.Cases) != 4 {
			t.Fatalf("%+v", s)
		}
		for i, want := range []struct{ failure, mistake bool }{{true, false}, {false, true}, {}, {}} {
			if c := s.Cases[i]; (c.Failure != nil) != want.failure || (c.Error != nil) != want.mistake {
				t.Errorf("%+v", c)
			}
		}
		if !strings.Contains(*s.Cases[0].Failure, "Step 3: scaler reconciles shop/web") {
			t.Errorf("the story is %q", *s.Cases[0].Failure)
		}
	})
}

// TestITF checks the states of a run against what its steps do.
func TestITF(t *testing.T) {
	var got bytes.Buffer
	if err := export.ITF(&got, fight()); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Vars   []string
		Loop   *int
		States []struct {
			Step    string
			Objects struct {
				Map [][2]json.RawMessage `json:"#map"`
			}
		}
	}
	if err := json.Unmarshal(got.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.States) != 6 || read.Loop == nil || *read.Loop != 2 {
		t.Fatalf("%d states, and a loop from %v", len(read.States), read.Loop)
	}
	for i, want := range []string{`"spec.replicas",{"#bigint":"1"}`, "", "", `"spec.replicas",{"#bigint":"3"}`, `"spec.replicas",{"#bigint":"1"}`, ""} {
		var objects bytes.Buffer
		for _, o := range read.States[i].Objects.Map {
			if err := json.Compact(&objects, o[1]); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(objects.String(), want) {
			t.Errorf("state %d has %s, want %s", i, &objects, want)
		}
	}
	if last := read.States[5]; len(last.Objects.Map) != 1 || string(last.Objects.Map[0][0]) != `"Note n"` || last.Step != "user action: end" {
		t.Errorf("the last state is %s", &got)
	}
}

// TestWriteErrors checks that what cannot be written is an error.
func TestWriteErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	report := core.Report{Properties: []core.PropertyReport{{Name: "p"}}}
	for name, write := range map[string]func(io.Writer) error{
		"Mermaid": func(w io.Writer) error { return export.Mermaid(w, fight()) },
		"SVG":     func(w io.Writer) error { return export.SVG(w, fight()) },
		"SARIF":   func(w io.Writer) error { return export.SARIF(w, &report) },
		"JUnit":   func(w io.Writer) error { return export.JUnit(w, &report) },
		"ITF":     func(w io.Writer) error { return export.ITF(w, fight()) },
	} {
		if err := write(failing{broken}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
