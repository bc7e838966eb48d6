package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured/composite"
)

// lateComposites is a cache of the claim controller that may miss the last change of a
// composite.
const lateComposites = "claim/xdatabases.example.org/XDatabase.example.org=lag(1)"

// staleness reads what --stale reads.
func staleness(t *testing.T, text string) []orrery.Staleness {
	t.Helper()
	stale, err := orrery.ParseStaleness(text)
	if err != nil {
		t.Fatal(err)
	}
	return stale
}

// check checks a system of the command in every order.
func check(t *testing.T, words string, options orrery.Options) core.Report {
	t.Helper()
	name, given, _ := strings.Cut(words, " ")
	all := entries()
	i := slices.IndexFunc(all, func(e catalog.Entry) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("there is no system %q", name)
	}
	values, err := all[i].Parse(strings.Fields(given))
	if err != nil {
		t.Fatal(err)
	}
	system, err := all[i].Build(values)
	if err != nil {
		t.Fatal(err)
	}
	options.Reduction = orrery.NoReduction
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

func TestSystems(t *testing.T) {
	tests := []struct {
		system  string
		options orrery.Options
		states  int
		// violated are the properties that are, none if all hold.
		violated []string
		long     bool
	}{
		{system: "claims", states: 211},
		{system: "claims", options: orrery.Options{Crashes: 1}, states: 1_148},
		{system: "claims", options: orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}, states: 3_294, long: true},
		{system: "claims claims=2", states: 7_957, long: true},
		{system: "deleted-claim", states: 2_750},
		{system: "deleted-claim", options: orrery.Options{Crashes: 1}, states: 15_770, long: true},
		{
			system:   "deleted-claim",
			options:  orrery.Options{Stale: staleness(t, lateComposites)},
			states:   14_989,
			violated: []string{"composites go with their claims", "staleness safety"},
		},
		{system: "shared-name", states: 10_873, long: true},
		{system: "deleted-composition", states: 2_949, violated: []string{"stable convergence"}},
		{system: "switched-composition", states: 4_459, violated: []string{"same outcome", "ready claims have what their composition makes"}},
		{system: "switched-composition manual=0", states: 7_601, long: true},
	}
	for _, test := range tests {
		t.Run(test.system, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes several seconds")
			}
			report := check(t, test.system, test.options)
			want := core.Holds
			if len(test.violated) > 0 {
				want = core.Violated
			}
			if report.Verdict != want {
				t.Errorf("%s, want %s: %v %v", report.Verdict, want, report.Reasons, report.Findings)
			}
			var violated []string
			for _, finding := range report.Findings {
				violated = append(violated, finding.Property)
			}
			if !slices.Equal(violated, test.violated) {
				t.Errorf("violated are %q, want %q", violated, test.violated)
			}
			if report.States != test.states {
				t.Errorf("%d states, want %d", report.States, test.states)
			}
		})
	}
}

// TestNeedlessWrite shows what is true of revisions: each reconcile writes the status,
// whether or not it differs. The API server stores nothing then, and tells nobody.
func TestNeedlessWrite(t *testing.T) {
	report := check(t, "claims", orrery.Options{})
	if len(report.OutcomeList) != 1 {
		t.Fatalf("%d ways to end, want 1", len(report.OutcomeList))
	}
	stored, needless := 0, 0
	for _, step := range report.OutcomeList[0].Trace.Steps {
		if !strings.HasPrefix(step.Controller, "revision/") {
			continue
		}
		for _, call := range step.Calls {
			switch {
			case call.Handler != "" || !strings.HasPrefix(call.Call, "update CompositionRevision"):
			case call.Wrote:
				stored++
			default:
				needless++
				if len(step.Changes) > 0 || len(step.Enqueued) > 0 || call.Response != "ok" {
					t.Errorf("the needless write was answered %q, with %v and %v", call.Response, step.Changes, step.Enqueued)
				}
			}
		}
	}
	if stored != 1 || needless != 1 {
		t.Errorf("%d writes were stored and %d were not, want one of each", stored, needless)
	}
}

// TestLoserSaysSo shows how it ends if two composites want one ConfigMap: one has it, and
// the other one says that it is not synced.
func TestLoserSaysSo(t *testing.T) {
	report := check(t, "shared-name", orrery.Options{})
	var synced []string
	for _, outcome := range report.OutcomeList {
		for _, object := range outcome.Objects {
			if object.Kind != composites {
				continue
			}
			fields := unstructured.Unstructured{Object: object.Fields.(map[string]any)}
			c := composite.Unstructured{Unstructured: fields, Schema: composite.SchemaLegacy}
			condition := c.GetCondition(xpv1.TypeSynced)
			synced = append(synced, fmt.Sprintf("%s: %s %s", object.Name, condition.Status, condition.Message))
		}
	}
	slices.Sort(synced)
	want := []string{
		"db1: False Unsynced resources: config", "db1: True ",
		"db2: False Unsynced resources: config", "db2: True ",
	}
	if !slices.Equal(synced, want) {
		t.Errorf("synced are %q, want %q", synced, want)
	}
}

func TestStolen(t *testing.T) {
	of := func(controller string) map[core.Key]string {
		return map[core.Key]string{{Kind: configMaps, Namespace: namespace, Name: "shared"}: controller}
	}
	tests := []struct {
		name     string
		from, to map[core.Key]string
		want     bool
	}{
		{"kept", of("db1"), of("db1"), false},
		{"created", nil, of("db1"), false},
		{"deleted", of("db1"), nil, false},
		{"taken", of("db1"), of("db2"), true},
	}
	for _, test := range tests {
		if got := stolen(test.from, test.to); got != test.want {
			t.Errorf("%s: stolen is %t, want %t", test.name, got, test.want)
		}
	}
}
