package orrery_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// halfDone creates a config and then a service, and takes a config that is there as the sign that both are.
func halfDone(t *testing.T) *core.System {
	t.Helper()
	config, service := plain.NewVar[string]("config"), plain.NewVar[string]("service")
	system, err := plain.Model{
		Name: "half done",
		Controllers: []plain.Controller{{
			Name:     "operator",
			Requests: []core.Request{"web"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if _, there := config.Lookup(w); !there {
					config.Set(w, "made")
					service.Set(w, "made")
				}
				return core.Result{}
			},
		}},
		Initial:    []core.Initial{plain.Start()},
		Properties: properties.Convergent(),
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// countedOnce adds one to a total for every order that its view does not show as counted.
func countedOnce(t *testing.T) *core.System {
	t.Helper()
	order, total := plain.NewFamily[string]("Order").At(1), plain.NewVar[int]("total")
	system, err := plain.Model{
		Name: "counted once",
		Controllers: []plain.Controller{{
			Name:    "cashier",
			Watches: []plain.Watch{{Kind: order.Key().Kind}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if order.Get(w) == "new" {
					now, _ := total.Lookup(w)
					total.Set(w, min(now+1, 3))
					order.Set(w, "counted")
					return core.Result{Requeue: true}
				}
				return core.Result{}
			},
		}},
		Initial:    []core.Initial{plain.Start(order.Is("new"))},
		Properties: properties.Convergent(),
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

func TestDisturbances(t *testing.T) {
	for _, test := range []struct {
		name     string
		system   *core.System
		options  orrery.Options
		property string // empty if nothing is found
		says     []string
	}{
		{name: "nothing goes wrong", system: halfDone(t)},
		{
			name: "a crash between two writes", system: halfDone(t), options: orrery.Options{Crashes: 1}, property: "crash safety",
			says: []string{"with one crash", "service", "Requires at least one crash", "operator"},
		},
		{
			name: "a crash between two calls", system: halfDone(t), options: orrery.Options{Crashes: 2, Granularity: orrery.PerCall}, property: "crash safety",
			says: []string{"Requires at least one crash: operator crashes and restarts"},
		},
		{name: "a view that is up to date", system: countedOnce(t), options: orrery.Options{Crashes: 0, Stale: []orrery.Staleness{{Rule: orrery.Fresh}}}},
		{
			name: "a step on a stale view", system: countedOnce(t), options: orrery.Options{Stale: []orrery.Staleness{{Controller: "cashier", Kind: "Order", Rule: orrery.Lag(1)}}}, property: "staleness safety",
			says: []string{"on a stale cache", "total", "cashier"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := orrery.Run(context.Background(), test.system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(result.Report.Findings, func(f core.Finding) bool { return f.Property == test.property })
			if test.property == "" {
				if result.Report.Verdict != core.Holds {
					t.Fatalf("%s: %+v", result.Report.Verdict, result.Report.Findings)
				}
				return
			}
			if i < 0 {
				t.Fatalf("nothing was found against %s: %s, %+v", test.property, result.Report.Verdict, result.Report.Findings)
			}
			f := result.Report.Findings[i]
			text := f.Summary + "\n" + strings.Join(f.Details, "\n")
			for _, words := range test.says {
				if !strings.Contains(text, words) {
					t.Errorf("it does not say %q:\n%s", words, text)
				}
			}
			if f.Other == nil {
				t.Error("no undisturbed run is shown beside it")
			}
			difference, err := orrery.Replay(context.Background(), test.system, f.Trace, again(t, test.options, &result.Report))
			if err != nil || difference != nil {
				t.Errorf("it does not happen again: %+v, %v", difference, err)
			}
		})
	}
}
