package cluster_test

import (
	"context"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/expectations"
	"github.com/orrery-dev/orrery/examples/launchcache"
	"github.com/orrery-dev/orrery/examples/scheduler"
)

// confirmsRemembered confirms the findings about controllers that keep memory: those in which memory keeps a controller
// from something, and those in which a crash loses it. Without its events, the memory of a controller is not what it
// was.
func confirmsRemembered(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) {
	old := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	launch := func(variant launchcache.Variant) func() (*core.System, error) {
		return func() (*core.System, error) { return launchcache.System(variant) }
	}
	expect := func(defect expectations.Defect) func() (*core.System, error) {
		return func() (*core.System, error) { return expectations.System(2, defect) }
	}
	schedule := func(variant scheduler.Variant) func() (*core.System, error) {
		return func() (*core.System, error) { return scheduler.System(2, 2, variant) }
	}
	for _, test := range []struct {
		name    string
		system  func() (*core.System, error)
		options orrery.Options
		// unfed is what is different about the first run if no handlers feed the memory, and fresh if nobody remembers
		// anything, empty if it does not depend on that.
		unfed, fresh string
		// long says that the search takes minutes with the race detector.
		long bool
	}{
		{"a launch that a crash loses", launch(0), orrery.Options{Stale: old, Crashes: 1}, "", "", false},
		{"no launch is remembered", launch(launchcache.Forgetful), orrery.Options{Stale: old}, "", "", false},
		{"expectations that a crash loses", expect(0), orrery.Options{Stale: old, Crashes: 1}, "", "", false},
		{"expectations that a handler forgets", expect(3), orrery.Options{Stale: old}, "replicasets returns, where it was to list Pod in default with app=web", "", false},
		{"expectations that nobody meets", expect(4), orrery.Options{}, "", "replicasets also makes the call list Pod in default with app=web", false},
		{"expectations that nobody meets, in an old cache", expect(4), orrery.Options{Stale: old}, "", "", false},
		{"a loop that assumes nothing", schedule(scheduler.Forgetful), orrery.Options{}, "", "", false},
		{"a loop that loses what it assumes", schedule(0), orrery.Options{Stale: old, Crashes: 1}, "", "", true},
		{"a loop that waits for an event that never comes", schedule(scheduler.Patient), orrery.Options{Stale: old, Crashes: 1}, "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.long {
				t.Skip("a long search")
			}
			system, err := test.system()
			if err != nil {
				t.Fatal(err)
			}
			result, err := orrery.Run(ctx, system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Report.Findings) == 0 {
				t.Fatal("nothing is found")
			}
			for _, finding := range result.Report.Findings {
				confirmsRun(ctx, t, plane, system, finding.Trace, "")
				if finding.Other != nil {
					confirmsRun(ctx, t, plane, system, *finding.Other, "")
				}
			}
			for _, other := range []struct {
				differs string
				forget  func(*core.TraceStep)
			}{
				{test.unfed, func(step *core.TraceStep) { step.Events = nil }},
				{test.fresh, func(step *core.TraceStep) { step.Events, step.Memory = nil, nil }},
			} {
				if other.differs == "" {
					continue
				}
				told := result.Report.Findings[0].Trace
				told.Steps = slices.Clone(told.Steps)
				for i := range told.Steps {
					other.forget(&told.Steps[i])
				}
				confirmsRun(ctx, t, plane, system, told, other.differs)
			}
		})
	}
}
