package rabbitmq

import (
	"flag"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestBounds checks what it takes to find each defect, and that the fixes hold.
func TestBounds(t *testing.T) {
	size := "PersistentVolumeClaim default/data-mq-0: spec.resources.requests.storage"
	for _, test := range []struct {
		name     string
		system   func(fixed bool) (*core.System, error)
		fixed    bool
		options  orrery.Options
		states   int
		property string // the property that is violated, empty if none is
		field    string
		findings int // the second is that the stand-in for the StatefulSet controller is disturbed
	}{
		{"758", Rescaled, false, orrery.Options{}, 39, "same outcome", "StatefulSet.apps default/mq: spec.replicas", 1},
		{"758 fixed", Rescaled, true, orrery.Options{}, 31, "", "", 0},
		{"758 fixed, with a crash", Rescaled, true, orrery.Options{Crashes: 1}, 110, "", "", 0},
		{"782 without faults", Enlarged, false, orrery.Options{}, 25, "", "", 0},
		{"782 with a crash", Enlarged, false, orrery.Options{Crashes: 1}, 77, "crash safety", size, 2},
		{"782 with a call that fails", Enlarged, false, orrery.Options{Failures: 1}, 77, "crash safety", size, 2},
		{"782 fixed, with a crash", Enlarged, true, orrery.Options{Crashes: 1}, 67, "", "", 0},
		{"782 fixed, with a call that fails", Enlarged, true, orrery.Options{Failures: 1}, 67, "", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := test.system(test.fixed)
			if err != nil {
				t.Fatal(err)
			}
			test.options.Reduction = orrery.NoReduction // the numbers are those of every order
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			if report.States != test.states {
				t.Errorf("%d states, want %d", report.States, test.states)
			}
			if test.property == "" {
				if report.Verdict != core.Holds {
					t.Errorf("the verdict is %s, with the findings %v, want holds", report.Verdict, report.Findings)
				}
				return
			}
			if report.Verdict != core.Violated || len(report.Findings) != test.findings {
				t.Fatalf("the verdict is %s, with %d findings, want violated with %d", report.Verdict, len(report.Findings), test.findings)
			}
			finding := report.Findings[0]
			if finding.Property != test.property || !slices.Contains(finding.Controllers, "rabbitmq") || !slices.Contains(finding.Fields, test.field) {
				t.Errorf("the finding is against %q, about %q and %q", finding.Property, finding.Controllers, finding.Fields)
			}
		})
	}
}
