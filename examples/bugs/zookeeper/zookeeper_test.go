package zookeeper

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

// TestBounds checks that each defect takes a crash, and a stale view from just so far
// back, and that the fix holds in any case.
func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name    string
		system  func(fixed bool) (*core.System, error)
		fixed   bool
		options orrery.Options
		states  int
		lost    string // the claim that is lost, empty if none is
	}{
		{"312 without faults", Recreated, false, orrery.Options{}, 275, ""},
		{"312 after a crash", Recreated, false, orrery.Options{Crashes: 1}, 597, ""},
		{"312 from two changes ago", Recreated, false, old(2), 1271, ""},
		{"312 from three changes ago", Recreated, false, old(3), 1820, "data-zk-0"},
		{"312 fixed", Recreated, true, old(3), 1708, ""},
		{"314 without faults", Rescaled, false, orrery.Options{}, 240, ""},
		{"314 after a crash", Rescaled, false, orrery.Options{Crashes: 1}, 532, ""},
		{"314 from one change ago", Rescaled, false, old(1), 1195, "data-zk-1"},
		{"314 fixed", Rescaled, true, old(1), 1189, ""},
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
			if test.lost == "" {
				if report.Verdict != core.Holds {
					t.Errorf("the verdict is %s, with the findings %v, want holds", report.Verdict, report.Findings)
				}
				return
			}
			if report.Verdict != core.Violated {
				t.Fatalf("the verdict is %s, want violated", report.Verdict)
			}
			finding := report.Findings[0]
			if finding.Property != "volumes in use are kept" || !slices.Equal(finding.Controllers, []string{"zookeeper"}) ||
				!strings.HasSuffix(finding.Summary, test.lost+" is gone") {
				t.Errorf("the finding is against %q, about %q: %s", finding.Property, finding.Controllers, finding.Summary)
			}
		})
	}
}

func old(changes int) orrery.Options {
	return orrery.Options{Stale: []orrery.Staleness{{Controller: "zookeeper", Kind: "ZookeeperCluster", Rule: orrery.Restart(changes)}}, Crashes: 1}
}
