package properties_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// fault makes a step one in which something goes wrong.
func fault(e *core.Edge) { e.Step.Detail = `call 1, "get", fails: timeout` }

// late makes a step one on a stale view.
func late(e *core.Edge) { e.Late = true }

// restart makes a step a crash.
func restart(e *core.Edge) { e.Step.Kind = core.Restart }

// TestSafety has a start, and three states in which it can end.
func TestSafety(t *testing.T) {
	type step struct {
		to   core.StateID
		how  func(*core.Edge)
		ends string
	}
	calm := func(*core.Edge) {}
	acted := map[core.StateID][]core.Request{2: {"scale"}}
	for _, test := range []struct {
		name      string
		steps     []step
		histories map[core.StateID][]core.Request
		// same, crash and staleness are the summaries that are expected, empty if the property holds.
		same, crash, staleness string
	}{
		{name: "one end", steps: []step{{1, calm, "x"}, {2, restart, "x"}, {3, late, "x"}}},
		{name: "two ends", steps: []step{{1, calm, "x"}, {2, calm, "y"}}, same: "2 different outcomes"},
		{name: "after a failed call", steps: []step{{1, calm, "x"}, {2, fault, "y"}}, crash: "with one failed call, the system reaches an outcome that is unreachable without failed calls: end differs"},
		{name: "after a crash", steps: []step{{1, calm, "x"}, {2, restart, "y"}}, crash: "with one crash"},
		{name: "on a stale cache", steps: []step{{1, calm, "x"}, {2, late, "y"}}, staleness: "with one reconcile of b on a stale cache, the system reaches an outcome that is unreachable with fresh caches"},
		{name: "a stale cache is less than a crash", steps: []step{{1, calm, "x"}, {2, restart, "y"}, {3, late, "y"}}, staleness: "with one reconcile of c on a stale cache"},
		{name: "both, in other ways", steps: []step{{1, calm, "x"}, {2, fault, "y"}, {3, late, "z"}}, crash: "with one failed call", staleness: "with one reconcile of c on a stale cache"},
		{name: "what a disturbed run can do, so can one without", steps: []step{{1, calm, "x"}, {2, fault, "y"}, {3, calm, "y"}}, same: "2 different outcomes"},
		{name: "there is no end without", steps: []step{{1, late, "x"}, {2, fault, "y"}}},
		{name: "users did something else", steps: []step{{1, calm, "x"}, {2, calm, "y"}}, histories: acted},
		{name: "users did something else, and it crashed", steps: []step{{1, calm, "x"}, {2, fault, "y"}}, histories: acted},
		{
			name: "users did the same, and it crashed", steps: []step{{1, calm, "x"}, {2, calm, "y"}, {3, fault, "x"}},
			histories: map[core.StateID][]core.Request{2: {"scale"}, 3: {"scale"}}, crash: "with one failed call",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, histories: test.histories}
			for i, s := range test.steps {
				s.how(g.add(0, s.to, string(rune('a'+i))))
				g.outcomes[s.to] = s.ends
			}
			for _, expected := range []struct {
				property core.Property
				summary  string
			}{
				{properties.SameOutcome(), test.same}, {properties.CrashSafety(), test.crash}, {properties.StalenessSafety(), test.staleness},
			} {
				v := violated(t, g, expected.property)
				if (v == nil) != (expected.summary == "") || v != nil && !strings.Contains(v.Summary, expected.summary) {
					t.Errorf("%s: %+v, want %q", expected.property.Name, v, expected.summary)
				}
			}
		})
	}
}

// TestSafetyOnGraphs compares with the twin that follows every run.
func TestSafetyOnGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "states")
		g := &graph{edges: make([][]core.Edge, n), initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, histories: map[core.StateID][]core.Request{}}
		reachable := map[core.StateID]bool{0: true}
		for from := range core.StateID(n) {
			g.outcomes[from] = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "outcome")
			if rapid.IntRange(0, 3).Draw(t, "acted") == 0 {
				g.histories[from] = []core.Request{"scale"}
			}
			if !reachable[from] {
				// Only what can be reached is stored; this is never at rest.
				g.add(from, from, "never")
				continue
			}
			// Towards higher numbers, so that there are ends.
			for to := from + 1; to < core.StateID(n); to++ {
				if rapid.Bool().Draw(t, "step") {
					continue
				}
				e := g.add(from, to, fmt.Sprint(to))
				rapid.SampledFrom([]func(*core.Edge){func(*core.Edge) {}, func(*core.Edge) {}, fault, restart, late, func(e *core.Edge) { fault(e); late(e) }}).Draw(t, "how")(e)
				reachable[to] = true
			}
		}
		// end is how a run ends, and what users did on it.
		type end struct{ outcome, history string }
		endOf := func(id core.StateID) end { return end{g.outcomes[id], fmt.Sprint(g.histories[id])} }
		// least are the fewest faults that it takes to an end, and then the fewest steps on stale views.
		least := map[end][]int{}
		var follow func(at core.StateID, run core.Run)
		follow = func(at core.StateID, run core.Run) {
			if !slices.ContainsFunc(g.edges[at], func(e core.Edge) bool { return e.Step.Due() }) {
				known, seen := least[endOf(at)]
				if takes := cost(run)[:2]; !seen || slices.Compare(takes, known) < 0 {
					least[endOf(at)] = takes
				}
			}
			for _, e := range g.edges[at] {
				follow(e.To, append(slices.Clip(run), e))
			}
		}
		follow(0, nil)
		calm := map[string]int{}
		for end, takes := range least {
			if takes[0] == 0 && takes[1] == 0 {
				calm[end.history]++
			}
		}
		var same, crash, staleness bool
		for end, takes := range least {
			same = same || calm[end.history] > 1
			crash = crash || calm[end.history] > 0 && takes[0] > 0
			staleness = staleness || calm[end.history] > 0 && takes[0] == 0 && takes[1] > 0
		}
		for _, expected := range []struct {
			property core.Property
			violated bool
		}{{properties.SameOutcome(), same}, {properties.CrashSafety(), crash}, {properties.StalenessSafety(), staleness}} {
			violations, err := expected.property.Judge(context.Background(), g)
			if err != nil {
				t.Fatal(err)
			}
			if (len(violations) > 0) != expected.violated {
				t.Fatalf("%s is violated: %t, want %t; it takes %v", expected.property.Name, !expected.violated, expected.violated, least)
			}
			for _, v := range violations {
				for _, run := range []core.Run{v.Stem, *v.Other} {
					at := core.StateID(0)
					for _, e := range run {
						if e.From != at || !isEdge(g, e) {
							t.Fatalf("%v is no run", run)
						}
						at = e.To
					}
				}
				one, other := endOf(v.Stem.End(0)), endOf(v.Other.End(0))
				if v.State != v.Stem.End(0) || v.OtherState != v.Other.End(0) || one.history != other.history || one.outcome == other.outcome {
					t.Fatalf("%s: the runs end in %d with %v and in %d with %v", expected.property.Name, v.State, one, v.OtherState, other)
				}
				if slices.ContainsFunc(*v.Other, core.Edge.Disturbed) {
					t.Fatalf("%s: something goes wrong in what it is compared with: %v", expected.property.Name, *v.Other)
				}
				takes := cost(v.Stem)
				if name := expected.property.Name; name == "same outcome" && takes[0]+takes[1] > 0 || name != "same outcome" && slices.Compare(takes[:2], least[one]) != 0 {
					t.Fatalf("%s: the run takes %v, and no less than %v is needed", name, takes, least[one])
				}
			}
		}
	})
}

func TestDisturbance(t *testing.T) {
	edge := func(kind core.StepKind, who, detail string, late bool) core.Edge {
		return core.Edge{Late: late, Step: core.Step{Kind: kind, Item: core.Item{Strategy: who, Request: "r"}, Detail: detail}}
	}
	for _, test := range []struct {
		run  core.Run
		want string
	}{
		{nil, ""},
		{core.Run{edge(core.Reconcile, "a", "", false), edge(core.Deliver, "a", "", false), edge(core.Intervene, "user", "", false)}, ""},
		{core.Run{edge(core.Restart, "a", "", false)}, "Requires at least one crash: a crashes and restarts."},
		{
			core.Run{edge(core.Reconcile, "a", "", true), edge(core.Ask, "b", "", true), edge(core.Reconcile, "a", "", true)},
			"Requires at least 2 reconciles of a on a stale cache and one step of b on a stale cache.",
		},
		{
			core.Run{edge(core.Reconcile, "a", "call 1 fails", false), edge(core.Restart, "b", "", false), edge(core.Ask, "a", "call 2 fails", true)},
			"Requires at least one crash, 2 failed calls and one step of a on a stale cache: a reconciles r, and call 1 fails; b crashes and restarts; a continues with r, and call 2 fails.",
		},
	} {
		if got := properties.Disturbance(test.run); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
