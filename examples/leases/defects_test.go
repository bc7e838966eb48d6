package leases

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
)

// TestDefects finds each defect under the conditions that it takes, and nothing without them.
func TestDefects(t *testing.T) {
	stale := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	mended := Options{Looks: true, WatchesRecords: true}
	remembers, works := mended, mended
	remembers.Remembers, works.Background = true, true
	retries := works
	retries.Retries = true
	const fixpoint, resolves, swept = "fixpoint", "each lease has its record", "each record has a lease"
	for _, test := range []struct {
		name     string
		system   Options
		options  orrery.Options
		violated []string
	}{
		{"as it is", Options{}, orrery.Options{}, []string{fixpoint, resolves}},
		{"looks", Options{Looks: true}, orrery.Options{}, nil},
		{"looks at a stale cache", Options{Looks: true}, orrery.Options{Stale: stale}, []string{fixpoint, resolves, swept}},
		{"looks, and acts later", Options{Looks: true}, orrery.Options{Granularity: orrery.PerCall}, []string{fixpoint, resolves, swept}},
		{"remembers", remembers, orrery.Options{}, []string{resolves, "same outcome"}},
		{"works in the background", works, orrery.Options{Stale: stale}, nil},
		{"fails in the background", works, orrery.Options{Failures: 1}, []string{"crash safety", swept}},
		{"retries in the background", retries, orrery.Options{Failures: 1, Crashes: 1}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := check(t, test.system, test.options)
			var violated []string
			for _, f := range report.Findings {
				violated = append(violated, f.Property)
			}
			slices.Sort(violated)
			if violated = slices.Compact(violated); !slices.Equal(violated, slices.Sorted(slices.Values(test.violated))) {
				t.Errorf("violated are %q, want %q", violated, test.violated)
			}
			if (len(violated) == 0) != (report.Verdict == core.Holds) {
				t.Errorf("the verdict is %s: %q", report.Verdict, report.Reasons)
			}
		})
	}
}

// TestHiddenMemory takes the memory of the publisher out of sight: then the check says so.
func TestHiddenMemory(t *testing.T) {
	system, err := System(Options{Looks: true, WatchesRecords: true, Remembers: true})
	if err != nil {
		t.Fatal(err)
	}
	l := system.Strategies[0].(*loop)
	start := l.start
	l.start = func() core.Instance { return start().(remembering).instance }
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if reasons := strings.Join(result.Report.Reasons, "\n"); result.Report.Verdict == core.Holds || !strings.Contains(reasons, "memory") {
		t.Errorf("%s: %s", result.Report.Verdict, reasons)
	}
}

func TestUnknownCall(t *testing.T) {
	var unsupported *core.Unsupported
	if _, err := (store{}).Answer(nil, strange{}); !errors.As(err, &unsupported) {
		t.Errorf("the error is %v", err)
	}
}

// strange is a call that the store does not know.
type strange struct{ core.Call }

func (strange) String() string { return "transfer the zone" }

func check(t *testing.T, o Options, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(o)
	return checks.Report(t, system, err, options)
}
