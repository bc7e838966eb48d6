package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/checks"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
	"github.com/orrery-dev/orrery/examples/jobset/operator"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, entries(), *update) }

// TestLogs holds the step that docs/counterexamples.md shows with what the controller logs in it against the story of a check.
func TestLogs(t *testing.T) {
	page, err := os.ReadFile("../../docs/counterexamples.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "`(cd examples/jobset && go run . check jobset --param restarts=1 --logs)`:\n\n```\n")
	shown, _, there := strings.Cut(shown, "```\n")
	if !there {
		t.Fatal("the page shows no step")
	}
	var out, complaints bytes.Buffer
	command := cli.Command{Entries: entries(), Engine: cli.Engine{Check: orrery.Run}}
	if code := command.Run(t.Context(), []string{"check", "jobset", "--param", "restarts=1", "--logs"}, cli.Streams{Out: &out, Err: &complaints}); code != 1 {
		t.Fatalf("the exit code is %d: %s", code, &complaints)
	}
	rest := out.String()
	for line := range strings.Lines(shown) {
		var found bool
		if _, rest, found = strings.Cut(rest, "\n"+strings.TrimSuffix(line, "\n")); !found {
			t.Fatalf("this line of the page is not in the story, or not behind those before it: %s", line)
		}
	}
	if !strings.Contains(rest, "logs:") {
		t.Error("no later step has logs")
	}
}

func check(t *testing.T, of size) core.Report {
	t.Helper()
	return checkUnder(t, of, orrery.Options{Reduction: orrery.NoReduction})
}

func checkUnder(t *testing.T, of size, options orrery.Options) core.Report {
	t.Helper()
	system, err := newSystem(of)
	return checks.Report(t, system, err, options)
}

// TestSizes pins what a search finds. Where the numbers come from is shown for two
// JobSets that have nothing to do with each other: they have 145 · 145 states, and
// 2 · 425 · 145 steps.
func TestSizes(t *testing.T) {
	tests := []struct {
		size                size
		states, transitions int
		depth               int
		long                bool
	}{
		{size: size{jobSets: 1, groups: 1, replicas: 1}, states: 145, transitions: 425, depth: 10},
		{size: size{jobSets: 1, groups: 2, replicas: 1}, states: 3_521, transitions: 15_249, depth: 15},
		{size: size{jobSets: 1, groups: 1, replicas: 2}, states: 2_785, transitions: 12_081, depth: 15},
		{size: size{jobSets: 2, groups: 1, replicas: 1}, states: 145 * 145, transitions: 2 * 425 * 145, depth: 20},
		{size: size{jobSets: 1, groups: 3, replicas: 1}, states: 91_777, transitions: 514_881, depth: 20, long: true},
		{size: size{jobSets: 1, groups: 1, replicas: 1, restarts: 1}, states: 305, transitions: 913, depth: 17},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%+v", test.size), func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes seconds")
			}
			report := check(t, test.size)
			if report.Verdict != core.Holds || report.TerminalStates != 1 || report.Outcomes != 1 {
				t.Errorf("%s with %d terminal states and %d outcomes, want holds with one of each: %v",
					report.Verdict, report.TerminalStates, report.Outcomes, report.Findings)
			}
			if report.States != test.states || report.Transitions != test.transitions || report.Depth != test.depth {
				t.Errorf("%d states, %d transitions and depth %d, want %d, %d and %d",
					report.States, report.Transitions, report.Depth, test.states, test.transitions, test.depth)
			}
		})
	}
}

// TestReduced compares what is left where controllers that find nothing to do go first with searches of every order, also while there may be a fault.
func TestReduced(t *testing.T) {
	lag, err := orrery.ParseStaleness("all=lag(1)")
	if err != nil {
		t.Fatal(err)
	}
	one := size{jobSets: 1, groups: 2, replicas: 1}
	restarted := one
	restarted.restarts = 1
	for _, test := range []struct {
		name    string
		size    size
		options orrery.Options
		reduced int
		long    bool
	}{
		{"one", one, orrery.Options{}, 384, false},
		{"a restart", restarted, orrery.Options{}, 1_059, false},
		{"a crash", one, orrery.Options{Crashes: 1}, 1_237, false},
		{"a failed call", one, orrery.Options{Failures: 1}, 959, false},
		{"stale caches", one, orrery.Options{Stale: lag}, 66_002, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes half a minute")
			}
			reduced := checkUnder(t, test.size, test.options)
			test.options.Reduction = orrery.NoReduction
			full := checkUnder(t, test.size, test.options)
			t.Logf("%d states in full, %d reduced", full.States, reduced.States)
			if reduced.States != test.reduced || full.States < 5*reduced.States {
				t.Errorf("%d states, want %d, and %d in full, want 5 times as many at least", reduced.States, test.reduced, full.States)
			}
			if reduced.Verdict != full.Verdict || !reflect.DeepEqual(reduced.Properties, full.Properties) {
				t.Errorf("%s with %v, in full %s with %v", reduced.Verdict, reduced.Properties, full.Verdict, full.Properties)
			}
			if got, want := endings(t, reduced), endings(t, full); !slices.Equal(got, want) {
				t.Errorf("it ends with %+v, in full with %+v", got, want)
			}
		})
	}
}

// TestLinear checks that JobSets which have nothing to do with each other add up: each takes 383 states after the one it starts in.
func TestLinear(t *testing.T) {
	for n := 1; n <= 4; n++ {
		report := checkUnder(t, size{jobSets: n, groups: 2, replicas: 1}, orrery.Options{})
		if report.Verdict != core.Holds || report.States != 383*n+1 || report.Transitions != 488*n || report.Outcomes != 1 {
			t.Errorf("%d JobSets: %s with %d states, %d steps and %d outcomes, want %d and %d and 1",
				n, report.Verdict, report.States, report.Transitions, report.Outcomes, 383*n+1, 488*n)
		}
	}
}

func TestCompletes(t *testing.T) {
	end := endings(t, check(t, size{jobSets: 1, groups: 2, replicas: 1}))
	want := []ending{{terminalState: "Completed", jobs: "js1-group1-0 SuccessCriteriaMet Complete, js1-group2-0 SuccessCriteriaMet Complete"}}
	if !slices.Equal(end, want) {
		t.Errorf("it ends with %+v, want %+v", end, want)
	}
}

// TestRestart shows what depends on the timing of the Jobs, and what does not: the
// JobSet fails in any case, after one restart. But what the other Job has come to by
// then stays, if that is the end of it.
func TestRestart(t *testing.T) {
	report := check(t, size{jobSets: 1, groups: 2, replicas: 1, restarts: 1})
	if report.Verdict != core.Violated || report.States != 9_281 || report.Transitions != 40_193 {
		t.Errorf("%s with %d states and %d transitions, want violated with 9281 and 40193", report.Verdict, report.States, report.Transitions)
	}
	if len(report.Findings) != 1 || report.Findings[0].Property != "same outcome" {
		t.Errorf("the findings are %v, want one against same outcome", report.Findings)
	}
	want := []ending{
		{terminalState: "Failed", restarts: 1, jobs: "js1-group1-0 FailureTarget Failed"},
		{terminalState: "Failed", restarts: 1, jobs: "js1-group1-0 FailureTarget Failed, js1-group2-0 SuccessCriteriaMet Complete"},
	}
	if got := endings(t, report); !slices.Equal(got, want) {
		t.Errorf("it ends with %+v, want %+v", got, want)
	}
}

// ending is what matters of an outcome.
type ending struct {
	terminalState string
	restarts      int32
	jobs          string
}

// endings returns the ends of a system with a single JobSet.
func endings(t *testing.T, report core.Report) []ending {
	t.Helper()
	scheme, err := operator.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	var all []ending
	for _, outcome := range report.OutcomeList {
		js, err := controllerruntime.Get[*api.JobSet](scheme, outcome.Objects, "default/js1")
		if err != nil {
			t.Fatal(err)
		}
		found, err := controllerruntime.List[*batchv1.Job](scheme, outcome.Objects)
		if err != nil {
			t.Fatal(err)
		}
		end := ending{terminalState: js.Status.TerminalState, restarts: js.Status.Restarts}
		for i, job := range found {
			if i > 0 {
				end.jobs += ", "
			}
			end.jobs += job.Name
			for _, c := range job.Status.Conditions {
				end.jobs += " " + string(c.Type)
			}
		}
		all = append(all, end)
	}
	slices.SortFunc(all, func(a, b ending) int { return len(a.jobs) - len(b.jobs) })
	return all
}

// TestSecondCheck checks a system again under other options, and then learns only what is new.
func TestSecondCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	of := size{jobSets: 1, groups: 1, replicas: 1, restarts: 1}
	system, err := newSystem(of)
	if err != nil {
		t.Fatal(err)
	}
	memo := orrery.NewMemo()
	for i, options := range []orrery.Options{{}, {}, {Reduction: orrery.NoReduction}, {Workers: 2}} {
		began := time.Now()
		fresh := checkUnder(t, of, options)
		alone := time.Since(began)
		began, options.Memo = time.Now(), memo
		result, err := orrery.Run(t.Context(), system, options)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		got := result.Report
		t.Logf("%d: %d runs of code in %v, %d in %v if nothing is known", i, got.ReconcilesExecuted, took, fresh.ReconcilesExecuted, alone)
		if got.States != fresh.States || got.Verdict != fresh.Verdict || got.Behaviours != fresh.Behaviours {
			t.Errorf("%d: %d states and %d behaviors, %s; want %d and %d, %s", i, got.States, got.Behaviours, got.Verdict, fresh.States, fresh.Behaviours, fresh.Verdict)
		}
		if i > 0 && 2*got.ReconcilesExecuted > fresh.ReconcilesExecuted {
			t.Errorf("%d: %d runs of code, %d if nothing is known", i, got.ReconcilesExecuted, fresh.ReconcilesExecuted)
		}
	}
}
