package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/export"
	"github.com/orrery-dev/orrery/core"
)

// sarifForms are the objects of SARIF 2.1.0 (OASIS Standard, sections 3.13 to 3.58) that may occur, each with its
// properties: what they are, "!" if they are required, and "[]" before what there is a list of and "{}" before what
// there is a map to. Others than these would have to be looked up in the standard first.
func sarifForms() map[string]map[string]string {
	return map[string]map[string]string{
		"log":                {"$schema": "uri", "version": "=2.1.0!", "runs": "[]run!"},
		"run":                {"tool": "tool!", "automationDetails": "automation", "invocations": "[]invocation", "results": "[]result", "properties": "any", "originalUriBaseIds": "{}artifact"},
		"tool":               {"driver": "component!"},
		"component":          {"name": "string!", "informationUri": "uri", "rules": "[]descriptor"},
		"descriptor":         {"id": "string!", "shortDescription": "message!", "defaultConfiguration": "configuration"},
		"configuration":      {"level": "=none|note|warning|error"},
		"automation":         {"id": "string"},
		"invocation":         {"executionSuccessful": "bool!", "toolExecutionNotifications": "[]notification"},
		"notification":       {"message": "message!", "level": "=none|note|warning|error"},
		"message":            {"text": "message text!"},
		"result":             {"ruleId": "string", "ruleIndex": "index", "kind": "=notApplicable|pass|fail|review|open|informational", "level": "=none|note|warning|error", "message": "message!", "locations": "[]location", "codeFlows": "[]codeFlow", "partialFingerprints": "{}string", "properties": "any"},
		"location":           {"logicalLocations": "[]logical", "physicalLocation": "physical", "message": "message"},
		"logical":            {"name": "string", "fullyQualifiedName": "string", "kind": "string"},
		"physical":           {"artifactLocation": "artifact!", "region": "region"},
		"artifact":           {"uri": "uri", "uriBaseId": "string", "description": "message"},
		"region":             {"startLine": "index"},
		"codeFlow":           {"message": "message", "threadFlows": "[]threadFlow!"},
		"threadFlow":         {"locations": "[]threadFlowLocation!"},
		"threadFlowLocation": {"location": "location", "executionOrder": "index", "nestingLevel": "index", "importance": "=important|essential|unimportant", "state": "{}message"},
	}
}

// sarifMistakes holds a value against the form of an object of SARIF.
func sarifMistakes(at, form string, value any) []string {
	if list, ok := strings.CutPrefix(form, "[]"); ok {
		items, ok := value.([]any)
		if !ok || items == nil {
			return []string{at + " is not a list"}
		}
		var all []string
		for i, item := range items {
			all = append(all, sarifMistakes(fmt.Sprintf("%s[%d]", at, i), list, item)...)
		}
		if len(items) == 0 && (list == "threadFlow" || list == "threadFlowLocation") {
			all = append(all, at+" is empty")
		}
		return all
	}
	if of, ok := strings.CutPrefix(form, "{}"); ok {
		items, ok := value.(map[string]any)
		if !ok {
			return []string{at + " is not an object"}
		}
		var all []string
		for key, item := range items {
			all = append(all, sarifMistakes(at+"."+key, of, item)...)
		}
		return all
	}
	if choice, ok := strings.CutPrefix(form, "="); ok {
		if text, _ := value.(string); !slices.Contains(strings.Split(choice, "|"), text) {
			return []string{fmt.Sprintf("%s is %v", at, value)}
		}
		return nil
	}
	var fine bool
	switch form {
	case "any":
		_, fine = value.(map[string]any)
	case "string":
		_, fine = value.(string)
	case "message text":
		var text string
		text, fine = value.(string)
		// A brace alone marks an argument, and brackets before parentheses are a link.
		rest := strings.NewReplacer("{{", "", "}}", "").Replace(text)
		fine = fine && !strings.ContainsAny(rest, "{}") && !strings.Contains(text, "](")
	case "bool":
		_, fine = value.(bool)
	case "uri":
		text, ok := value.(string)
		_, err := url.Parse(text)
		fine = ok && err == nil
	case "index":
		number, ok := value.(float64)
		fine = ok && number >= 0 && number == float64(int(number))
	default:
		return sarifObjectMistakes(at, form, value)
	}
	if !fine {
		return []string{fmt.Sprintf("%s is %v, which is no %s", at, value, form)}
	}
	return nil
}

func sarifObjectMistakes(at, form string, value any) []string {
	properties, known := sarifForms()[form]
	object, ok := value.(map[string]any)
	if !known || !ok {
		return []string{fmt.Sprintf("%s is not an object of the form %q", at, form)}
	}
	var all []string
	for name, want := range properties {
		want, required := strings.CutSuffix(want, "!")
		have, there := object[name]
		switch {
		case there:
			all = append(all, sarifMistakes(at+"."+name, want, have)...)
		case required:
			all = append(all, at+" has no "+name)
		}
	}
	for name := range object {
		if properties[name] == "" {
			all = append(all, at+" has a "+name)
		}
	}
	return all
}

// sarifOf returns what is written of a report, after it was held against the standard.
func sarifOf(t interface {
	Fatal(...any)
	Errorf(string, ...any)
}, report core.Report) (text string, run map[string]any) {
	var got bytes.Buffer
	if err := export.SARIF(&got, &report); err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(got.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	for _, mistake := range sarifMistakes("log", "log", any(log)) {
		t.Errorf("%s", mistake)
	}
	run = log["runs"].([]any)[0].(map[string]any)
	rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	ids := map[any]bool{}
	for _, rule := range rules {
		id := rule.(map[string]any)["id"]
		if ids[id] {
			t.Errorf("the rule %v is there twice", id)
		}
		ids[id] = true
	}
	for _, result := range run["results"].([]any) {
		r := result.(map[string]any)
		if index := int(r["ruleIndex"].(float64)); index >= len(rules) || rules[index].(map[string]any)["id"] != r["ruleId"] {
			t.Errorf("the rule of %v is another one", r)
		}
	}
	return got.String(), run
}

// TestSARIF checks what becomes of findings, warnings, and doubts.
func TestSARIF(t *testing.T) {
	first, second, warned := fight(), fight(), fight()
	for _, f := range []*core.Finding{&first, &second, &warned} {
		f.Controllers, f.Fields = []string{"scaler", "saver"}, []string{"Deployment shop/web: spec.replicas", "Note n"}
	}
	first.Replay, first.Details = "orrery replay run.orr", []string{"a detail"}
	second.ID, second.Other = 2, &warned.Trace
	warned.ID, warned.Property, warned.Warning = 3, "conduct", true
	report := core.Report{
		System: "shop", Params: map[string]string{"apps": "2"}, Verdict: core.Violated, Reasons: []string{"it was interrupted"}, Findings: []core.Finding{first, second, warned},
		Properties: []core.PropertyReport{{Name: "no panic", Verdict: core.Holds}, {Name: "stable convergence", Verdict: core.Violated}},
	}
	text, run := sarifOf(t, report)
	results := run["results"].([]any)
	if len(results) != 3 {
		t.Fatalf("there are %d results", len(results))
	}
	for i, want := range []string{"error", "error", "warning"} {
		r := results[i].(map[string]any)
		if flows := r["codeFlows"].([]any); r["level"] != want || len(flows) != 1+i%2 {
			t.Errorf("result %d has level %v and %d flows", i, r["level"], len(flows))
		}
	}
	for _, want := range []string{
		`"id": "conduct"`, `"name": "scaler"`, `"kind": "controller"`, `"kind": "field"`, `"kind": "object"`, "scaler reconciles shop/web; get Deployment shop/web → ok; update Deployment shop/web → 409 Conflict",
		`"Deployment shop/web: spec.replicas": {`, "Second run: Steps 3 to 5 repeat forever", "it was interrupted", `"orrery/shop (apps=2)/"`, "orrery replay run.orr", "a detail", `"unimportant"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "physicalLocation") {
		t.Error("a place in a file is told, but none is known")
	}
	// A line of another module is not one of a file that whoever reads this has.
	foreign, own := core.Site{Module: "example.com/other", File: "other.go", Line: 1, Function: "f"}, core.Site{File: "internal/controller/a web.go", Line: 41, Function: "controller.Reconcile"}
	report.Findings[0].Sites = []core.Site{foreign, own}
	report.Findings[0].Trace.Steps = slices.Clone(report.Findings[0].Trace.Steps)
	step := &report.Findings[0].Trace.Steps[2]
	step.Calls = slices.Clone(step.Calls)
	step.Calls[1].At = &own
	text, _ = sarifOf(t, report)
	if strings.Count(text, `"uri": "internal/controller/a%20web.go"`) != 2 || strings.Count(text, `"startLine": 41`) != 2 || strings.Contains(text, `"uri": "other.go"`) || !strings.Contains(text, "at internal/controller/a web.go:41, controller.Reconcile") {
		t.Errorf("the places are told as\n%s", text)
	}

	// Another check finds other steps to the same: the fingerprints stay, and are different from each other.
	marks := fingerprints(run)
	report.Findings[0].Trace.Steps = report.Findings[0].Trace.Steps[:3]
	report.Findings[0].Summary, report.Elapsed = "in other words", 7
	if _, again := sarifOf(t, report); !slices.Equal(fingerprints(again), marks) {
		t.Errorf("the fingerprints were %v and are %v", marks, fingerprints(again))
	}
	slices.Sort(marks)
	if len(slices.Compact(marks)) != 3 {
		t.Errorf("the fingerprints are %v", marks)
	}
	report.Findings[0].Fields = nil
	if _, other := sarifOf(t, report); slices.Contains(marks, fingerprints(other)[0]) {
		t.Error("another finding has the same fingerprint")
	}
}

func fingerprints(run map[string]any) (all []string) {
	for _, r := range run["results"].([]any) {
		all = append(all, r.(map[string]any)["partialFingerprints"].(map[string]any)["orreryFinding/v1"].(string))
	}
	return all
}

// TestSARIFOfAnything checks that whatever users write is told as it is, and breaks nothing.
func TestSARIFOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.SampledFrom([]string{"{0}", "[here](1)", "}{", "<script>", "\x00", "\xff"}), rapid.String())
		finding := fight()
		step := &finding.Trace.Steps[2]
		step.Controller, step.Request, step.Detail, step.Result = evil.Draw(t, "controller"), core.Request(evil.Draw(t, "request")), evil.Draw(t, "fault"), evil.Draw(t, "result")
		step.Calls[0].Call, step.Changes[0].Name, step.Changes[0].Fields[1].To = evil.Draw(t, "call"), evil.Draw(t, "name"), evil.Draw(t, "value")
		finding.Summary, finding.Property, finding.Controllers = evil.Draw(t, "summary"), evil.Draw(t, "property"), []string{evil.Draw(t, "who")}
		sarifOf(t, core.Report{System: evil.Draw(t, "system"), Verdict: core.Violated, Findings: []core.Finding{finding, {Property: "no story"}}, Reasons: []string{evil.Draw(t, "reason")}})
	})
}

// TestSARIFCheck checks that what is against the standard is noticed.
func TestSARIFCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":"2.0.0","runs":[]}`: "log.version is 2.0.0",
		`{"version":"2.1.0"}`:           "log has no runs",
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"color":1}]}`:                              "log.runs[0] has a color",
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":7}}}]}`:                                          "log.runs[0].tool.driver.name is 7, which is no string",
		`{"version":"2.1.0","runs":null}`:                                                                      "log.runs is not a list",
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"{0}"}}]}]}`: "log.runs[0].results[0].message.text is {0}, which is no message text",
	} {
		var log any
		if err := json.Unmarshal([]byte(text), &log); err != nil {
			t.Fatal(err)
		}
		if got := sarifMistakes("log", "log", log); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
