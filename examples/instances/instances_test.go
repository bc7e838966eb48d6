package instances

import (
	"flag"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

const leak = "no Instance.cloud is leaked"

// TestLeaks checks what keeps an instance from being leaked: nothing but a token, where answers lag behind; a look, too, where they do not and the machine
// stays; and anything without faults.
func TestLeaks(t *testing.T) {
	for _, test := range []struct {
		lag     int
		deletes bool
		options orrery.Options
		leaks   [3]bool // by variant
	}{
		{0, false, orrery.Options{}, [3]bool{}},
		{1, true, orrery.Options{}, [3]bool{}},
		{0, false, orrery.Options{Crashes: 1}, [3]bool{ByStatus: true}},
		{0, false, orrery.Options{Failures: 1}, [3]bool{ByStatus: true}},
		{0, false, orrery.Options{Crashes: 1, Granularity: orrery.PerCall}, [3]bool{ByStatus: true}},
		{0, true, orrery.Options{Crashes: 1}, [3]bool{ByStatus: true, ByName: true}},
		{1, false, orrery.Options{Crashes: 1}, [3]bool{ByStatus: true, ByName: true}},
		{1, false, orrery.Options{Failures: 1}, [3]bool{ByStatus: true, ByName: true}},
		{2, true, orrery.Options{Crashes: 1, Failures: 1}, [3]bool{ByStatus: true, ByName: true}},
	} {
		for variant, leaks := range test.leaks {
			report := check(t, Options{Variant: Variant(variant), Lag: test.lag, Deletes: test.deletes}, test.options)
			if got := slices.Contains(checks.Violated(report), leak); got != leaks {
				t.Errorf("variant %d, lag %d, deleted: %t, %d crashes, %d failures: an instance is leaked: %t, want %t",
					variant, test.lag, test.deletes, test.options.Crashes, test.options.Failures, got, leaks)
			}
			if !leaks && report.Verdict != core.Holds || len(report.Reasons) > 0 {
				t.Errorf("variant %d, lag %d, deleted: %t: %s, violating %q, not certain because of %q",
					variant, test.lag, test.deletes, report.Verdict, checks.Violated(report), report.Reasons)
			}
		}
	}
}

// TestReductions checks that a search which leaves out orders comes to what the full one does, and that several workers do what one does: a cloud is read and
// written like the API server, and what calls touch is learned.
func TestReductions(t *testing.T) {
	fewer := 0
	for variant := range Variant(3) {
		for _, o := range []Options{{Machines: 2, Lag: 1}, {Deletes: true, Lag: 1}} {
			o.Variant = variant
			for _, options := range []orrery.Options{{}, {Failures: 1}, {Crashes: 1, Granularity: orrery.PerCall}} {
				if o.Machines > 1 && options.Failures > 0 && variant != ByName {
					continue // which is the one whose list reads all instances
				}
				options.Reduction, options.Workers = orrery.NoReduction, 1
				full := check(t, o, options)
				options.Reduction = orrery.ByPartialOrder
				reduced := check(t, o, options)
				options.Workers = 4
				several := check(t, o, options)
				if reduced.Verdict != full.Verdict || reduced.Outcomes != full.Outcomes || !slices.Equal(checks.Violated(reduced), checks.Violated(full)) || reduced.States > full.States {
					t.Errorf("%+v: the reduced search comes to %s with %d outcomes and violates %q, the full one to %s with %d and %q",
						o, reduced.Verdict, reduced.Outcomes, checks.Violated(reduced), full.Verdict, full.Outcomes, checks.Violated(full))
				}
				if several.States != reduced.States || several.Transitions != reduced.Transitions || !slices.Equal(checks.Violated(several), checks.Violated(reduced)) {
					t.Errorf("%+v: four workers find %d states, one %d", o, several.States, reduced.States)
				}
				fewer += full.States - reduced.States
			}
		}
	}
	if fewer == 0 {
		t.Error("no order was left out: nothing was compared")
	}
}

// TestReplay checks that a finding happens again.
func TestReplay(t *testing.T) {
	system, err := System(Options{Lag: 1, Variant: ByName})
	report := checks.Report(t, system, err, orrery.Options{Crashes: 1})
	if len(report.Findings) == 0 {
		t.Fatal("there is no finding")
	}
	for _, finding := range report.Findings {
		deviation, err := orrery.Replay(t.Context(), system, finding.Trace, orrery.Options{Crashes: 1})
		if err != nil || deviation != nil {
			t.Errorf("%s: %+v, %v", finding.Property, deviation, err)
		}
	}
}

func check(t *testing.T, o Options, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(o)
	return checks.Report(t, system, err, options)
}
