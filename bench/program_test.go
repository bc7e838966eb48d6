package bench

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		trial Trial
		want  string
	}{
		{
			Trial{System: Counters, Params: "n=14 k=2", Reduction: full, Workers: 2},
			"orrery check model/counters --param n=14 --param k=2 --reduction none --workers 2 --property 'no panic' --format json",
		},
		{
			Trial{System: Counters, Reduction: full, Workers: 1, Compact: true},
			"orrery check model/counters --reduction none --workers 1 --compact --property 'no panic' --format json",
		},
		{
			Trial{System: tenants, Reduction: reduced, Workers: 1, Judged: true},
			"orrery check tenants --reduction por --workers 1 --format json",
		},
		{
			Trial{System: jobset, Params: "groups=3", Conditions: "crashes=1 stale=all=lag(1)", Reduction: reduced, Workers: 1, Judged: true},
			"orrery check jobset --param groups=3 --crashes 1 --stale 'all=lag(1)' --reduction por --workers 1 --format json",
		},
	} {
		if got := (Program{Name: "bin/orrery"}).Command(test.trial); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestSampleOf(t *testing.T) {
	trial := Trial{Reduction: full}
	for _, test := range []struct {
		name    string
		report  core.Report
		seconds float64
		refused string
	}{
		{"fine", core.Report{Reduction: "none", States: 10, ElapsedMS: 3, StatesPerSecond: 4000}, 0.0025, ""},
		{"no rate", core.Report{Reduction: "none", States: 10, ElapsedMS: 3}, 0.003, ""},
		{"violated", core.Report{Reduction: "none", Verdict: core.Violated, ElapsedMS: 1}, 0.001, ""},
		{"not complete", core.Report{Reduction: "none", Verdict: core.Inconclusive, Reasons: []string{"it was stopped"}}, 0, "it was stopped"},
		{"compact", core.Report{Reduction: "none", Compact: true}, 0, "compact is true"},
		{"another search", core.Report{Reduction: "por"}, 0, `the reduction was "por" and not "none"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			sample, err := sampleOf(&test.report, trial)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %s", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if sample.Seconds != test.seconds {
				t.Errorf("got %v seconds, want %v", sample.Seconds, test.seconds)
			}
		})
	}
}

// TestProgramThatIsNone wants what a program says instead of a report to be told.
func TestProgramThatIsNone(t *testing.T) {
	_, err := Program{Path: "/bin/sh", Name: "sh"}.Run(t.Context(), Trial{System: Counters})
	if err == nil || !strings.Contains(err.Error(), "there is no report") {
		t.Errorf("got %v", err)
	}
}
