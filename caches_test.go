package orrery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// undeclared is a strategy that does not say what it reads through its cache.
type undeclared struct{ core.Strategy }

// Describe implements [core.Strategy].
func (u undeclared) Describe() core.Description {
	d := u.Strategy.Describe()
	d.Caches = nil
	return d
}

// rotation returns a system of a controller that copies a secret to what uses it, and one that changes the secret
// before it asks for the copy. The first does not watch the secret: it has the change that it is asked to copy only if
// its cache has it.
func rotation(t *testing.T, declares bool) *core.System {
	t.Helper()
	secret, copied, asked := plain.NewFamily[int]("Secret.core").Named("s"), plain.NewVar[int]("copied"), plain.NewFamily[int]("Ask").Named("a")
	system, err := plain.Model{
		Name:    "rotation",
		Initial: []core.Initial{plain.Start(secret.Is(1), copied.Is(1))},
		Controllers: []plain.Controller{{
			Name: "rotates", Requests: []core.Request{"once"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				secret.Set(w, 2)
				asked.Set(w, 1)
				return core.Result{}
			},
		}, {
			Name: "copies", Watches: []plain.Watch{{Kind: "Ask"}}, Caches: []core.Kind{"Secret.core"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if value, there := secret.Lookup(w); there {
					copied.Set(w, value)
				}
				return core.Result{}
			},
		}},
		Properties: []core.Property{properties.Fixpoint()},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	if !declares {
		system.Strategies[1] = undeclared{system.Strategies[1]}
		system.Kinds = []core.Kind{"Secret.core"}
	}
	return system
}

// TestCachedKindsLag checks that a kind which is read through a cache may be stale although nobody watches it, whether
// the controller declares it or the search has to find it out, however it is named and whatever the search; and that
// what is found happens again.
func TestCachedKindsLag(t *testing.T) {
	for _, declares := range []bool{true, false} {
		for _, stale := range []orrery.Staleness{
			{Rule: orrery.Lag(1)}, {Controller: "copies", Kind: "Secret", Rule: orrery.Lag(1)},
			{Controller: "copies", Kind: "Secret.core", Rule: orrery.Relist}, {Controller: "copies", Kind: "Secret.core", Rule: orrery.OwnWrites(2)},
		} {
			for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
				for i, options := range []orrery.Options{
					{}, {Workers: 2}, {Search: orrery.DepthFirst}, {Granularity: orrery.PerCall}, {Search: orrery.RandomWalks, Walks: 200, Seed: 1}, {Compact: true},
				} {
					options.Stale, options.Reduction = []orrery.Staleness{stale}, reduction
					name := fmt.Sprintf("declares %t, %s, %s, %d", declares, stale, reduction, i)
					system := rotation(t, declares)
					result, err := orrery.Run(t.Context(), system, options)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					report := result.Report
					if report.Verdict != core.Violated {
						t.Errorf("%s: %s, %v", name, report.Verdict, report.Reasons)
						continue
					}
					if want := (core.ViewReport{Controller: "copies", Kind: "Secret.core", Rule: string(stale.Rule)}); !slices.Contains(report.Views, want) {
						t.Errorf("%s: the views are %v, want %v among them", name, report.Views, want)
					}
					if said := strings.Join(report.Assumptions, "\n"); !strings.Contains(said, "Secret.core") {
						t.Errorf("%s: it does not say which views may be stale:\n%s", name, said)
					}
					for _, finding := range report.Findings {
						if d, err := orrery.Replay(t.Context(), system, finding.Trace, again(t, orrery.Options{}, &report)); d != nil || err != nil {
							t.Errorf("%s: %s does not happen again: %v, %v", name, finding.Property, d, err)
						}
					}
				}
			}
		}
	}
}

// TestWhatIsReadLiveDoesNotLag checks that a rule for a kind that nobody reads through a cache is refused, once it is
// known, with what there is; and that nothing is said to be stale without a rule.
func TestWhatIsReadLiveDoesNotLag(t *testing.T) {
	system := rotation(t, false)
	system.Kinds = append(system.Kinds, "var")
	_, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Controller: "copies", Kind: "var", Rule: orrery.Lag(1)}}})
	if want := `controller "copies" does not watch "var" or read it through a cache: its cached kinds are Ask, Secret.core`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	result, err := orrery.Run(t.Context(), rotation(t, false), orrery.Options{Stale: []orrery.Staleness{{Controller: "copies", Kind: "var", Rule: orrery.Lag(1)}, {Rule: orrery.Lag(1)}}, MaxStates: 2})
	if err == nil {
		t.Errorf("a kind that nobody knows was not refused: %s", result.Report.Verdict)
	}
	system = rotation(t, false)
	system.Kinds = append(system.Kinds, "var")
	result, err = orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Controller: "copies", Kind: "var", Rule: orrery.Lag(1)}}, MaxStates: 1})
	if err != nil || !strings.Contains(strings.Join(result.Report.Reasons, "\n"), `controller "copies" does not watch "var"`) {
		t.Errorf("a search that was cut: %v, %v", err, result)
	}
	if result, err = orrery.Run(t.Context(), rotation(t, false), orrery.Options{}); err != nil || result.Report.Verdict != core.Holds || len(result.Report.Views) > 0 {
		t.Errorf("with fresh caches: %v, %+v", err, result)
	}
}
