package leadergroups

import (
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func check(t *testing.T, of Scenario, options orrery.Options) core.Report {
	t.Helper()
	system, err := System(of)
	return checks.Report(t, system, err, options)
}

// TestCollector checks that the garbage collector, which has nothing to do while groups are created, costs less than twice the states.
func TestCollector(t *testing.T) {
	for _, test := range []struct {
		groups, size  int
		without, with int
		long          bool
	}{
		{1, 2, 85, 140, false},
		{1, 3, 189, 311, false},
		{2, 2, 1_981, 3_446, false},
		{2, 3, 9_456, 16_349, true},
	} {
		t.Run(fmt.Sprintf("groups=%d,size=%d", test.groups, test.size), func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes seconds")
			}
			with := check(t, Scenario{Groups: test.groups, Size: test.size}, orrery.Options{})
			without := check(t, Scenario{Groups: test.groups, Size: test.size, NoCollector: true}, orrery.Options{})
			if with.Verdict != core.Holds || without.Verdict != core.Holds {
				t.Errorf("%s with the collector and %s without: %v, %v", with.Verdict, without.Verdict, with.Findings, without.Findings)
			}
			if with.States != test.with || without.States != test.without || with.States > 2*without.States {
				t.Errorf("%d states with the collector and %d without, want %d and %d", with.States, without.States, test.with, test.without)
			}
			if !reflect.DeepEqual(outcomes(t, with), outcomes(t, without)) {
				t.Error("the outcomes are others with the collector")
			}
		})
	}
}

// TestReduced compares what a reduced search finds with what one of every order does.
func TestReduced(t *testing.T) {
	for _, test := range []struct {
		of            Scenario
		reduced, full int
		long          bool
	}{
		{Scenario{NoCollector: true}, 85, 691, false},
		{Scenario{}, 140, 42_249, false},
		{Scenario{Restart: true}, 402, 77_312, true},
		{Scenario{Update: true}, 1_404, 693_248, true},
	} {
		test.of.Groups, test.of.Size = 1, 2
		t.Run(fmt.Sprintf("%+v", test.of), func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes up to a minute")
			}
			reduced, full := check(t, test.of, orrery.Options{}), check(t, test.of, orrery.Options{Reduction: orrery.NoReduction})
			if reduced.States != test.reduced || full.States != test.full {
				t.Errorf("%d states, and %d of every order, want %d and %d", reduced.States, full.States, test.reduced, test.full)
			}
			if reduced.Verdict != full.Verdict || !reflect.DeepEqual(reduced.Properties, full.Properties) {
				t.Errorf("%s with %v, in full %s with %v", reduced.Verdict, reduced.Properties, full.Verdict, full.Properties)
			}
			if !reflect.DeepEqual(outcomes(t, reduced), outcomes(t, full)) {
				t.Error("the outcomes are others in full")
			}
		})
	}
}

// TestOutOfReach checks that a search of every order gets nowhere near the end where a reduced one has 3,446 states: with 50,000 states there is none that ends yet.
func TestOutOfReach(t *testing.T) {
	report := check(t, Scenario{Groups: 2, Size: 2}, orrery.Options{Reduction: orrery.NoReduction, MaxStates: 50_000})
	if report.Verdict != core.Inconclusive || report.States != 50_000 || report.TerminalStates != 0 {
		t.Errorf("%s with %d states, of which %d are terminal", report.Verdict, report.States, report.TerminalStates)
	}
}

// TestScenarios checks what happens to groups that run, and that each defect is found.
func TestScenarios(t *testing.T) {
	for _, test := range []struct {
		name     string
		of       Scenario
		options  orrery.Options
		violates []string
		states   int
		long     bool
	}{
		{"restart", Scenario{Groups: 2, Restart: true}, orrery.Options{}, nil, 410, false},
		{"update", Scenario{Groups: 1, Update: true}, orrery.Options{}, nil, 1_404, false},
		{"update of two groups", Scenario{Groups: 2, Update: true}, orrery.Options{}, nil, 6_952, true},
		{"update and restart", Scenario{Groups: 1, Update: true, Restart: true}, orrery.Options{}, nil, 4_074, true},
		{
			"workers of the leader before count", Scenario{Groups: 2, Update: true, Defect: CountsWorkersByName}, orrery.Options{MaxStates: 2_000},
			[]string{"one group is unavailable at most"}, 2_000, false,
		},
		{
			"the end of workers is not watched", Scenario{Groups: 1, Update: true, Defect: IgnoresWorkers}, orrery.Options{},
			[]string{"fixpoint", "all groups are available and of the current revision"}, 1_409, false,
		},
		{
			"workers of the newest template", Scenario{Groups: 1, Update: true, Restart: true, Defect: TakesNewestTemplate}, orrery.Options{},
			[]string{"workers are of the revision of their leader"}, 4_074, true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes seconds")
			}
			test.of.Size = 2
			report := check(t, test.of, test.options)
			want := core.Holds
			if test.violates != nil {
				want = core.Violated
			}
			var violates []string
			for _, finding := range report.Findings {
				violates = append(violates, finding.Property)
			}
			if report.Verdict != want || !slices.Equal(violates, test.violates) {
				t.Errorf("%s, against %q, want %s against %q: %v", report.Verdict, violates, want, test.violates, report.Reasons)
			}
			if report.States != test.states {
				t.Errorf("%d states, want %d", report.States, test.states)
			}
		})
	}
}

// outcomes are what runs end with, as text. Which uid an object has that was made again depends on the way there, so that each is named after its object.
func outcomes(t *testing.T, report core.Report) []string {
	t.Helper()
	var all []string
	for _, outcome := range report.OutcomeList {
		text, err := json.Marshal(outcome.Objects)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, object := range outcome.Objects {
			uid, _, err := unstructured.NestedString(object.Fields.(map[string]any), "metadata", "uid")
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, uid, "the uid of "+object.Key().String())
		}
		all = append(all, strings.NewReplacer(names...).Replace(string(text)))
	}
	slices.Sort(all)
	return all
}
