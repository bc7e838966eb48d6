package orrery_test

import (
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/specification"
)

// raced is what two controllers write who race for it.
type raced struct {
	Winner, Result string
}

// raceFor is a system in which two controllers write who came first.
func raceFor(t *testing.T, given ...core.Property) *core.System {
	t.Helper()
	reports := plain.NewFamily[raced]("Report")
	first := func(name string) plain.Controller {
		return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, r core.Request) core.Result {
			if v := reports.Named("r"); v.Get(w).Winner == "" {
				v.Set(w, raced{Winner: name, Result: "done"})
			}
			return core.Result{}
		}}
	}
	model := plain.Model{
		Name: "race", Initial: []core.Initial{plain.Start(reports.Named("r").Is(raced{}))},
		Controllers: []plain.Controller{first("one"), first("other")}, Properties: given,
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// TestComparisons leaves out who came first.
func TestComparisons(t *testing.T) {
	winner, misspelt := properties.Without("Report", "Winner"), properties.Without("Report", "Winer")
	for _, test := range []struct {
		name       string
		properties []core.Property
		options    orrery.Options
		verdict    core.Verdict
		outcomes   int
		// given is part of an assumption, reason of a reason.
		given, reason string
	}{
		{"everything counts", properties.Convergent(), orrery.Options{}, core.Violated, 2, "", ""},
		{"a rule of the property", properties.Convergent(winner), orrery.Options{}, core.Holds, 1, `for "stable convergence", "same outcome", "fixpoint" by these rules: Report: Winner is ignored.`, ""},
		{"a rule of the check", properties.Convergent(), orrery.Options{Comparisons: []core.Comparison{winner}}, core.Holds, 1, "Report: Winner is ignored.", ""},
		{"a rule of another property", []core.Property{properties.SameOutcome(), properties.Fixpoint(winner)}, orrery.Options{}, core.Violated, 2, "", ""},
		{"a rule that is about nothing", properties.Convergent(winner, misspelt), orrery.Options{}, core.Inconclusive, 1, "", `"Report: Winer is ignored" matches no object`},
		{"a misspelt rule does not hide what is found", properties.Convergent(misspelt), orrery.Options{}, core.Violated, 2, "", `"Report: Winer is ignored" matches no object`},
		{"a rule that the search did not come to", properties.Convergent(misspelt), orrery.Options{MaxStates: 1}, core.Inconclusive, 0, "", "the limit of 1 state"},
		{"safety follows the same rules", properties.Convergent(winner), orrery.Options{Crashes: 1}, core.Holds, 1, `"crash safety"`, ""},
		{"depth-first, every order", properties.Convergent(winner), orrery.Options{Reduction: orrery.NoReduction, Workers: 2, Search: orrery.DepthFirst}, core.Holds, 1, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := orrery.Run(t.Context(), raceFor(t, test.properties...), test.options)
			if err != nil {
				t.Fatal(err)
			}
			r := result.Report
			if r.Verdict != test.verdict || r.Outcomes != test.outcomes {
				t.Errorf("%s with %d outcomes, want %s with %d: %v", r.Verdict, r.Outcomes, test.verdict, test.outcomes, r.Findings)
			}
			if all := strings.Join(r.Assumptions, "\n"); !strings.Contains(all, test.given) {
				t.Errorf("the assumptions are %q, want %q", all, test.given)
			}
			if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, test.reason) || test.reason == "" && all != "" {
				t.Errorf("the reasons are %q, want %q", all, test.reason)
			} else if about := "matches no object"; strings.Contains(all, about) != strings.Contains(test.reason, about) {
				t.Errorf("the reasons are %q", all)
			}
		})
	}
	if _, err := orrery.Run(t.Context(), raceFor(t), orrery.Options{Comparisons: []core.Comparison{properties.Without("K", "a[")}}); err == nil {
		t.Error("a rule that makes no sense is accepted")
	}
}

// TestComparisonsOfFiles reads rules from a file.
func TestComparisonsOfFiles(t *testing.T) {
	const text = `
compare:
- without: Winner
  of: Report
`
	system := raceFor(t, properties.Convergent()...)
	file, err := specification.Of(system).Parse("compare.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Comparisons: file.Comparisons})
	if err != nil || result.Report.Verdict != core.Holds {
		t.Errorf("%v, %v", result.Report.Verdict, err)
	}
	if _, err := specification.Of(system).Read("compare.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), `no field "compare"`) {
		t.Errorf("the rules are dropped: %v", err)
	}
}

// TestSettledFollowsComparisons has a controller that reports itself on each poll.
func TestSettledFollowsComparisons(t *testing.T) {
	seen := plain.NewFamily[int]("Seen")
	model := plain.Model{
		Name: "poll", Initial: []core.Initial{plain.Start(seen.Named("s").Is(0))},
		Controllers: []plain.Controller{{Name: "poll", Requests: []core.Request{"s"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
			seen.Named("s").Set(w, (seen.Named("s").Get(w)+1)%3)
			return core.Result{RequeueAfter: 1}
		}}},
	}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	settled, err := specification.Of(system).Formula("F G settled")
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = append(properties.Convergent(), settled)
	for _, test := range []struct {
		rules   []core.Comparison
		verdict core.Verdict
	}{{nil, core.Violated}, {[]core.Comparison{properties.Without("Seen", "")}, core.Holds}} {
		result, err := orrery.Run(t.Context(), system, orrery.Options{Comparisons: test.rules})
		if err != nil {
			t.Fatal(err)
		}
		if result.Report.Verdict != test.verdict {
			t.Errorf("with %v: %s, want %s: %+v %v", test.rules, result.Report.Verdict, test.verdict, result.Report.Properties, result.Report.Reasons)
		}
	}
}
