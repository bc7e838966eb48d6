package missedwatch

import (
	"flag"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadme(t *testing.T) { transcript.Compare(t, Catalog(), *update) }

func check(t *testing.T, watchesSecrets bool) *orrery.Result {
	t.Helper()
	system, err := System(watchesSecrets)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{Reduction: orrery.NoReduction})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestMissedWatch(t *testing.T) {
	report := check(t, false).Report
	if report.Verdict != core.Violated || report.States != 13 || report.Transitions != 16 || report.TerminalStates != 2 {
		t.Errorf("%s with %d states, %d transitions and %d terminal states, want violated with 13, 16 and 2",
			report.Verdict, report.States, report.Transitions, report.TerminalStates)
	}
	if len(report.Findings) != 1 {
		t.Fatalf("%d findings, want 1", len(report.Findings))
	}
	finding := report.Findings[0]
	if finding.Property != "fixpoint" || !slices.Equal(finding.Controllers, []string{"publisher"}) {
		t.Errorf("the finding is against %q, about %q", finding.Property, finding.Controllers)
	}
	if !slices.Equal(finding.Fields, []string{`ConfigMap default/trust: data["ca.crt"]`}) {
		t.Errorf("the fields involved are %q", finding.Fields)
	}
}

// TestOnlyOneOrderShowsIt follows all runs: the system ends with the old certificate
// exactly if the publisher had nothing left to do when the rotation came. There are 7
// runs. If the rotation comes first, or between the two looks of the publisher, its own
// second look can come before, between and after two of the publisher's: 3 runs each.
// One run is left, in which it comes after both.
func TestOnlyOneOrderShowsIt(t *testing.T) {
	graph := check(t, false).Graph
	var follow func(at core.StateID, tooEarly bool)
	runs := map[string]int{}
	follow = func(at core.StateID, tooEarly bool) {
		edges := slices.Clone(graph.Edges(at))
		if len(edges) == 0 {
			want := "certificate of 2026"
			if tooEarly {
				want = "certificate of 2025"
			}
			got := published(t, graph, at)
			if got != want {
				t.Errorf("a run ends with the %q, want %q", got, want)
			}
			runs[got]++
		}
		for _, edge := range edges {
			item := edge.Step.Item
			renews := item.Strategy == "rotation" && edge.Wrote
			follow(edge.To, tooEarly || renews && !publisherHasWork(graph.State(at)))
		}
	}
	follow(graph.Initial()[0], false)
	if runs["certificate of 2025"] != 1 || runs["certificate of 2026"] != 6 {
		t.Errorf("the runs end with %v, want one with the old certificate and 6 with the new one", runs)
	}
}

func publisherHasWork(state core.State) bool {
	return slices.ContainsFunc(state.Work(), func(item core.Item) bool { return item.Strategy == "publisher" })
}

func published(t *testing.T, graph core.Graph, at core.StateID) string {
	t.Helper()
	trust := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "trust"}
	content := graph.State(at).Get(trust)
	objects := []core.TraceObject{{Kind: trust.Kind, Namespace: trust.Namespace, Name: trust.Name, Fields: content.Fields()}}
	config, err := controllerruntime.Get[*corev1.ConfigMap](clientgoscheme.Scheme, objects, trust.Namespace+"/"+trust.Name)
	if err != nil {
		t.Fatal(err)
	}
	return config.Data[Certificate]
}

func TestWatched(t *testing.T) {
	result := check(t, true)
	report := result.Report
	if report.Verdict != core.Holds || report.States != 11 || report.Transitions != 15 || report.Outcomes != 1 {
		t.Fatalf("%s with %d states, %d transitions and %d outcomes, want holds with 11, 15 and 1",
			report.Verdict, report.States, report.Transitions, report.Outcomes)
	}
	if got := published(t, result.Graph, report.OutcomeList[0].State); got != "certificate of 2026" {
		t.Errorf("it ends with the %q", got)
	}
}
