package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// SARIF writes a report in the Static Analysis Results Interchange Format, version 2.1.0, an OASIS standard that code
// hosts and editors read. There is a rule for each property and a result for each finding, with its steps as a code
// flow. Where something happens is a logical location: a controller, or a field of an object. Reasons why the check is
// inconclusive, and what else a report doubts, are notifications. Nothing in it depends on how long the check took, and
// a finding has the same fingerprint in each check of the system, whatever its steps, as long as it is about the same
// property, controllers and fields.
func SARIF(w io.Writer, report *core.Report) error {
	run := sarifRun{
		Tool:       sarifTool{Driver: sarifDriver{Name: "orrery", InformationURI: "https://github.com/orrery-dev/orrery", Rules: rulesOf(report)}},
		Automation: sarifAutomation{ID: "orrery/" + story.SystemName(report) + "/"},
		Results:    []sarifResult{},
		Properties: map[string]any{"verdict": report.Verdict},
	}
	invocation := sarifInvocation{Successful: true}
	_, reasons, others := story.Doubts(report)
	for _, doubt := range slices.Concat(reasons, others) {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{messageOf(doubt), "warning"})
	}
	run.Invocations = []sarifInvocation{invocation}
	seen := map[string]int{}
	for _, finding := range report.Findings {
		run.Results = append(run.Results, resultOf(report, finding, run.Tool.Driver.Rules, seen))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// The objects of the format that are used here, by the names of the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifAutomation   `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]any    `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string             `json:"id"`
		Short   sarifMessage       `json:"shortDescription"`
		Default sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Message sarifMessage `json:"message"`
		Level   string       `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Kind         string            `json:"kind"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		CodeFlows    []sarifCodeFlow   `json:"codeFlows,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifMessage  `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifCodeFlow struct {
		Message     *sarifMessage     `json:"message,omitempty"`
		ThreadFlows []sarifThreadFlow `json:"threadFlows"`
	}
	sarifThreadFlow struct {
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location   sarifLocation           `json:"location"`
		Order      int                     `json:"executionOrder"`
		Nesting    int                     `json:"nestingLevel"`
		Importance string                  `json:"importance"`
		State      map[string]sarifMessage `json:"state,omitempty"`
	}
)

// rulesOf returns a rule for each property of a report, and for those of findings that are not among them.
func rulesOf(report *core.Report) []sarifRule {
	rules := []sarifRule{}
	add := func(name string, warning bool) {
		if name = story.Clean(name); !slices.ContainsFunc(rules, func(r sarifRule) bool { return r.ID == name }) {
			rules = append(rules, sarifRule{name, messageOf(name), sarifConfiguration{levelOf(warning)}})
		}
	}
	for _, p := range report.Properties {
		add(p.Name, p.Warning)
	}
	for _, f := range report.Findings {
		add(f.Property, f.Warning)
	}
	return rules
}

// messageOf returns a text as a message that is shown as it is: braces are doubled, as they mark places for arguments,
// and no text is a link.
func messageOf(text string) sarifMessage {
	return sarifMessage{strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(story.Clean(text))}
}

func levelOf(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// resultOf returns the result of a finding. The map counts those with the same fingerprint before it.
func resultOf(report *core.Report, finding core.Finding, rules []sarifRule, seen map[string]int) sarifResult {
	rule := story.Clean(finding.Property)
	r := sarifResult{
		Rule: rule, RuleIndex: slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == rule }), Kind: "fail", Level: levelOf(finding.Warning),
		Message: messageOf(finding.Summary), Properties: map[string]any{},
	}
	var logical []sarifLogical
	for _, c := range finding.Controllers {
		logical = append(logical, controllerLocation(c))
	}
	for _, f := range finding.Fields {
		logical = append(logical, placeLocation(f))
	}
	where := sarifLocation{Logical: logical}
	for _, site := range finding.Sites {
		if where.Physical = physical(site); where.Physical != nil {
			break
		}
	}
	if len(logical) > 0 || where.Physical != nil {
		r.Locations = []sarifLocation{where}
	}
	digest := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{story.SystemName(report), rule}, finding.Controllers, []string{""}, finding.Fields), "\x00")))
	fingerprint := hex.EncodeToString(digest[:16])
	seen[fingerprint]++
	r.Fingerprints = map[string]string{"orreryFinding/v1": fmt.Sprintf("%s:%d", fingerprint, seen[fingerprint])}
	if len(finding.Details) > 0 {
		r.Properties["details"] = cleaned(finding.Details)
	}
	if finding.Replay != "" {
		r.Properties["replay"] = story.Clean(finding.Replay)
	}
	if finding.Other == nil {
		r.addFlow("", finding.Trace)
		return r
	}
	r.addFlow("First run", finding.Trace)
	r.addFlow("Second run", *finding.Other)
	return r
}

func cleaned(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, story.Clean(text))
	}
	return all
}

func controllerLocation(name string) sarifLogical {
	return sarifLogical{story.Clean(name), "controllers/" + story.Clean(name), "controller"}
}

// placeLocation returns where an object, or a field of one, is.
func placeLocation(place string) sarifLogical {
	kind := "object"
	if strings.Contains(place, ": ") {
		kind = "field"
	}
	return sarifLogical{story.Clean(place), "objects/" + story.Clean(place), kind}
}

// physical returns a line of code of the main module, by its path from there, nil for one of another module: whoever
// reads the file may not have that.
func physical(site core.Site) *sarifPhysical {
	if site.Module != "" || site.Line < 1 {
		return nil
	}
	uri := url.URL{Path: site.File}
	return &sarifPhysical{sarifArtifact{uri.String(), "%SRCROOT%"}, sarifRegion{site.Line}}
}

// addFlow adds the steps of a run, if it has any: the format wants at least one.
func (r *sarifResult) addFlow(title string, trace core.Trace) {
	if len(trace.Steps) == 0 {
		return
	}
	var flow sarifThreadFlow
	for i, step := range trace.Steps {
		s := stepLocation(i+1, step)
		if trace.CycleStart >= 0 && i >= trace.CycleStart {
			s.Nesting = 1
		}
		flow.Locations = append(flow.Locations, s)
	}
	code := sarifCodeFlow{ThreadFlows: []sarifThreadFlow{flow}}
	if repeats := trace.Repetition(); repeats != "" {
		title = strings.TrimPrefix(title+": "+repeats, ": ")
	}
	if title != "" {
		message := messageOf(title)
		code.Message = &message
	}
	r.CodeFlows = append(r.CodeFlows, code)
}

// stepLocation returns a step of a code flow. Its message has the step in a sentence, and the calls that decided it;
// its state what it changed.
func stepLocation(number int, step core.TraceStep) sarifStep {
	s := sarifStep{Order: number, Importance: "essential", State: map[string]sarifMessage{}}
	if story.Idle(step) {
		s.Importance = "unimportant"
	}
	before, who, after := story.Deed(step)
	said := []string{before + who + after}
	if step.Kind == "probe" {
		said[0] = "if " + who + " reconciled " + string(step.Request) + " now"
	}
	said = append(said, story.Staleness(step), step.Detail)
	for _, i := range story.Deciding(step, fewChanges) {
		call := step.Calls[i]
		said = append(said, strings.TrimSpace(call.Call+" → "+call.Response+" "+story.Behind(call)))
		if at := story.At(step, i); at != "" {
			said = append(said, "at "+at)
			if s.Location.Physical == nil {
				s.Location.Physical = physical(*call.At)
			}
		}
	}
	said = append(said, step.Result)
	said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
	message := messageOf(strings.Join(said, "; "))
	s.Location.Message = &message
	if step.Controller != "" {
		s.Location.Logical = []sarifLogical{controllerLocation(step.Controller)}
	}
	for _, change := range step.Changes {
		key := story.Clean(change.Key().String())
		if change.Verb != "changed" {
			s.State[key] = messageOf(change.Verb)
			continue
		}
		telling, _ := story.TellingChanges(change.Fields)
		for _, field := range telling {
			s.State[key+": "+story.Clean(field.Path)] = messageOf(core.FieldText(field.To))
		}
	}
	return s
}
