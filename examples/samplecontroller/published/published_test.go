//go:build published

package main

import (
	"flag"
	"os"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) {
	t.Chdir("..")
	transcript.Compare(t, entries(), *update)
}

// TestSettles checks that the controller settles in the same place whatever happens to it, as long as nobody renames a Deployment and no two objects share
// one.
func TestSettles(t *testing.T) {
	lag := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	for foos := 1; foos <= 2; foos++ {
		for _, scale := range []bool{false, true} {
			for _, options := range []orrery.Options{{}, {Stale: lag}, {Crashes: 1}, {Failures: 1}, {Stale: lag, Crashes: 1}} {
				if foos > 1 && scale && len(options.Stale) > 0 {
					continue // minutes
				}
				system, err := system(foos, scale, false, false)
				report := checks.Report(t, system, err, options)
				if report.Verdict != core.Holds {
					t.Errorf("%d objects, scaled: %t, %+v: %s: %q, %+v", foos, scale, options, report.Verdict, report.Reasons, report.Findings)
				}
				t.Logf("%d objects, scaled: %t, %s, %d crashes, %d failures: %d states in %s", foos, scale, options.Stale, options.Crashes, options.Failures, report.States, report.Elapsed)
			}
		}
	}
}

// TestControllerIsNotHere checks that what is checked is the published controller.
func TestControllerIsNotHere(t *testing.T) {
	if _, err := os.Stat("controller.go"); !os.IsNotExist(err) {
		t.Errorf("there is a controller.go: %v", err)
	}
}
