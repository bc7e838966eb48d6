package story_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// TestOutcome says by hand what became of objects.
func TestOutcome(t *testing.T) {
	type tree = map[string]any
	condition := func(kind, status, reason, message string) any {
		return tree{"type": kind, "status": status, "reason": reason, "message": message}
	}
	run := core.TraceObject{Kind: "Run", Name: "r", Fields: tree{"spec": tree{"task": "t"}}}
	failed := run
	failed.Fields = tree{"spec": tree{"task": "t"}, "status": tree{"conditions": []any{
		condition("Succeeded", "False", "NoPod", "no account\n called default"), condition("Ready", "True", "Ready", "all is well"), "odd",
	}}}
	scale := func(n int) core.TraceObject {
		return core.TraceObject{Kind: "Web", Name: "w", Fields: tree{"metadata": tree{"generation": n}, "spec": tree{"replicas": n, "a": n, "b": n, "c": n}}}
	}
	end := core.OutcomeReport{
		Trace: core.Trace{Initial: []core.TraceObject{{Kind: "Gone", Name: "g", Fields: 1}, run, {Kind: "Same", Name: "s", Fields: 3}, scale(1), {Kind: "X", Name: "x", Fields: 4},
			{Kind: "Space", Name: "n", Fields: tree{"status": tree{"phase": "Active"}, "spec": 1}}}},
		Objects: []core.TraceObject{
			{Kind: "Pod", Name: "p", Fields: tree{"status": tree{"phase": "Running"}}}, failed, {Kind: "Same", Name: "s", Fields: 3}, scale(2), {Kind: "X", Name: "x", Fields: 5},
			{Kind: "Config", Name: "c", Fields: tree{"data": "d"}}, {Kind: "Space", Name: "n", Fields: tree{"status": tree{"phase": "Active"}, "spec": 2}},
		},
	}
	report := &core.Report{Verdict: core.Holds, Outcomes: 1, OutcomeList: []core.OutcomeReport{end}}
	title, settled, found := story.Outcome(report)
	if title != "Outcome" || !found {
		t.Errorf("%q %t", title, found)
	}
	var lines []string
	for _, s := range settled {
		lines = append(lines, strings.TrimSpace(s.How+" "+s.Key.String()+": "+strings.Join(s.Says, ", ")))
	}
	want := `changed Run r: Succeeded=False (NoPod): no account called default, Ready=True
changed Web w: spec.a: 1 → 2, spec.b: 1 → 2, spec.c: 1 → 2, and 1 more field
changed X x: 5
changed Space n: Active, spec: 1 → 2
created Pod p: Running
created Config c:
deleted Gone g:
Same s: 3`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	report.Outcomes = 3
	if title, _, _ := story.Outcome(report); title != "The first of 3 outcomes" {
		t.Errorf("of several: %q", title)
	}
	report.Verdict = core.Violated
	if _, _, found := story.Outcome(report); found {
		t.Error("what the system comes to stands beside a finding")
	}
}
