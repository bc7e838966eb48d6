package conformance

import (
	"strings"
	"testing"
)

func TestFidelityCounts(t *testing.T) {
	done := func(value string) Observation {
		object := tree{"data": tree{"a": value}}
		return Observation{Answer: Answer{Object: object}, Stored: tree{"ConfigMap one-run/a-run": object}}
	}
	refused := Observation{Answer: Answer{Refused: tree{"code": int64(409), "reason": "Conflict"}}}
	action := Action{Verb: Create, Subject: "ConfigMap", Feature: "plain"}
	trial := &Trial{Steps: []Step{
		// The fake client differs, and then differs no further.
		{Action: action, Real: done("1"), Simulated: done("1"), Fake: done("2")},
		{Action: action, Real: done("1"), Simulated: done("1"), Fake: done("2")},
		// It is refused by the fake client alone, which is not followed from then on.
		{Action: action, Real: done("1"), Simulated: done("1"), Fake: refused},
		{Action: action, Real: done("1"), Simulated: done("1"), Fake: done("1")},
		{Action: action, Simulated: Observation{Unsupported: "not modelled"}},
	}}
	f := &Fidelity{Seed: 7, Requests: 5, Tally: Tally{}, Unsupported: map[string]int{}, Findings: map[string]*Finding{}}
	f.count(Sequence{action}, trial)
	want := Scores{
		Simulated: Score{Asked: 4, SameOutcome: 4, Same: 4, Unsupported: 1},
		Fake:      Score{Asked: 3, SameOutcome: 2, Same: 1},
	}
	if got := f.Tally.Total(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	page := f.Markdown()
	for _, line := range []string{
		"| Orrery | 4 | 4 (100%) | 4 (100%) | 1 |",
		"| fake client | 3 | 2 (66%) | 1 (33%) | 0 |",
		"| create | plain | 4 | 4 (100%) | 4 (100%) | 1 | 3 | 2 (66%) | 1 (33%) | 0 |",
		"- create of ConfigMap, plain (once)",
		"Nowhere in these requests.",
		"-requests 5 -seed 7",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("there is no %q in\n%s", line, page)
		}
	}
}
