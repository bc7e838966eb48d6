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

// end returns the objects of an end: secrets that are there, and the status of a widget.
func end(ready string, secrets ...string) map[core.Key]any {
	objects := map[core.Key]any{
		{Kind: "Widget", Name: "w"}: map[string]any{"spec": map[string]any{"size": 1}, "status": map[string]any{"ready": ready}},
	}
	for _, name := range secrets {
		objects[core.Key{Kind: "Secret", Name: name}] = map[string]any{}
	}
	return objects
}

// TestEachDifferenceIsAFinding has a start, an end that is expected, and others that take a fault.
func TestEachDifferenceIsAFinding(t *testing.T) {
	type step struct {
		who string
		how func(*core.Edge)
		to  map[core.Key]any
	}
	expected := step{"calm", func(*core.Edge) {}, end("yes", "key", "cert")}
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
		// mentions are parts of the details, for each finding.
		mentions []string
	}{
		{
			name:  "a lost object is not hidden by a missing condition",
			steps: []step{expected, {"c", restart, end("no", "key", "cert")}, {"c", restart, end("yes", "cert")}},
			want:  []string{"Secret key is missing", "Widget w: status.ready differs"},
		},
		{
			name:     "what always shows together is one finding, the most serious first",
			steps:    []step{expected, {"c", restart, end("no", "cert")}},
			want:     []string{"Secret key is missing, and one more difference"},
			mentions: []string{`Widget w: status.ready is "no" in the first outcome, "yes" in the second.`},
		},
		{
			name:     "an end that shows two differences counts for both",
			steps:    []step{expected, {"c", restart, end("no", "cert")}, {"c", restart, end("no", "key", "cert")}},
			want:     []string{"Secret key is missing", "Widget w: status.ready differs"},
			mentions: []string{"also differ in Widget w: status.ready", "2 outcomes differ in this way"},
		},
		{
			name:     "of ends that are as near the one is told in which the least else differs",
			steps:    []step{expected, {"c", restart, end("no", "cert")}, {"c", restart, end("no", "key", "cert")}},
			want:     []string{"Secret key is missing", "Widget w: status.ready differs"},
			mentions: []string{"", "in the second.\nThe traces diverge"},
		},
		{
			name:  "two objects of a kind are two differences",
			steps: []step{expected, {"c", restart, end("yes", "cert")}, {"c", restart, end("yes", "key")}},
			want:  []string{"Secret cert is missing", "Secret key is missing"},
		},
		{
			name:     "objects that are told apart by a number are one",
			steps:    []step{expected, {"c", restart, end("yes", "key", "cert", "extra-1")}, {"c", restart, end("yes", "key", "cert", "extra-2")}},
			want:     []string{"Secret extra-1 should not exist"},
			mentions: []string{"And one more like this: Secret extra-2"},
		},
		{
			name:  "an extra object is not a lost one",
			steps: []step{expected, {"c", restart, end("yes", "key", "cert", "spare")}, {"c", restart, end("yes", "cert")}},
			want:  []string{"Secret key is missing", "Secret spare should not exist"},
		},
		{
			name:  "the same difference by two controllers is two findings",
			steps: []step{expected, {"c", restart, end("yes", "cert")}, {"d", restart, end("yes", "cert")}},
			want:  []string{"Secret key is missing", "Secret key is missing"},
		},
		{
			name:  "the nearest of the expected ends counts",
			steps: []step{expected, {"other", func(*core.Edge) {}, end("yes")}, {"c", restart, end("no")}},
			want:  []string{"Widget w: status.ready differs"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, objects: map[core.StateID]map[core.Key]any{}}
			for i, s := range test.steps {
				to := core.StateID(i + 1)
				s.how(g.add(0, to, s.who))
				g.objects[to] = s.to
			}
			violations, err := properties.CrashSafety().Judge(context.Background(), g)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, v := range violations {
				_, what, _ := strings.Cut(v.Summary, "unreachable without crashes: ")
				got = append(got, what)
				if i < len(test.mentions) && !strings.Contains(strings.Join(v.Details, "\n"), test.mentions[i]) {
					t.Errorf("the details %q do not mention %q", v.Details, test.mentions[i])
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestEveryDifferenceIsTold compares with a twin that looks at each end by itself: whatever differs in an end that
// takes a fault of a controller is in a finding about this controller, and each is there once.
func TestEveryDifferenceIsTold(t *testing.T) {
	secrets := []string{"key", "cert", "token"}
	rapid.Check(t, func(t *rapid.T) {
		g := &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, objects: map[core.StateID]map[core.Key]any{}}
		g.add(0, 1, "calm")
		g.objects[1] = end("yes", secrets...)
		want := map[string]bool{}
		for i := range rapid.IntRange(1, 6).Draw(t, "ends") {
			to, who := core.StateID(i+2), rapid.SampledFrom([]string{"c", "d"}).Draw(t, "controller")
			how := rapid.SampledFrom([]func(*core.Edge){fault, restart}).Draw(t, "fault")
			how(g.add(0, to, who))
			kept := slices.DeleteFunc(slices.Clone(secrets), func(string) bool { return rapid.Bool().Draw(t, "lost") })
			ready := rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "ready")
			g.objects[to] = end(ready, kept...)
			for _, name := range secrets {
				if !slices.Contains(kept, name) {
					want[who+" Secret "+name] = true
				}
			}
			if ready == "no" {
				want[who+" Widget w: status.ready"] = true
			}
		}
		violations, err := properties.CrashSafety().Judge(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, v := range violations {
			for _, f := range v.Fields {
				name := v.Controllers[0] + " " + f
				if got[name] {
					t.Fatalf("%s is told twice", name)
				}
				got[name] = true
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("told is %v, want %v", got, want)
		}
	})
}

// TestFindingsAreBounded has more differences than anybody reads.
func TestFindingsAreBounded(t *testing.T) {
	g := &graph{initial: []core.StateID{0}, outcomes: map[core.StateID]string{}, objects: map[core.StateID]map[core.Key]any{}}
	g.add(0, 1, "calm")
	g.objects[1] = end("yes")
	for i := range 20 {
		to := core.StateID(i + 2)
		restart(g.add(0, to, "c"))
		g.objects[to] = end("yes", "extra-"+string(rune('a'+i)))
	}
	violations, err := properties.CrashSafety().Judge(context.Background(), g)
	if err != nil || len(violations) != 16 {
		t.Fatalf("got %d violations and %v, want 16", len(violations), err)
	}
	last := violations[15].Details
	if want := "4 more findings are not shown: about Secret extra-q, Secret extra-r, Secret extra-s and Secret extra-t."; last[len(last)-1] != want {
		t.Errorf("the last detail is %q, want %q", last[len(last)-1], want)
	}
}
