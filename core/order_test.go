package core_test

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

func TestKeys(t *testing.T) {
	ordered := []core.Key{
		{},
		{Name: "a"},
		{Namespace: "n", Name: "a"},
		{Kind: "K", Name: "b"},
		{Kind: "K", Namespace: "m", Name: "z"},
		{Kind: "K", Namespace: "n", Name: "a"},
		{Kind: "K", Namespace: "n", Name: "b"},
		{Kind: "L"},
	}
	inOrder(t, ordered, core.Key.Compare)
	for key, want := range map[core.Key]string{
		{Kind: "K", Namespace: "n", Name: "a"}: "K n/a",
		{Kind: "K", Name: "a"}:                 "K a",
		{Name: "a"}:                            "a",
	} {
		if got := key.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestItems(t *testing.T) {
	inOrder(t, []core.Item{
		{Request: "z"},
		{Strategy: "a", Request: "b"},
		{Strategy: "a", Request: "c"},
		{Strategy: "b", Request: "a"},
	}, core.Item.Compare)
	if got, want := (core.Item{Strategy: "c", Request: "n/r"}).String(), "c(n/r)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func inOrder[T any](t *testing.T, ordered []T, compare func(a, b T) int) {
	t.Helper()
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compare(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("comparing %v with %v gives %d", a, b, got)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	item := core.Item{Strategy: "c", Request: "r"}
	for _, test := range []struct {
		kind core.StepKind
		name string
		text string
		due  bool
	}{
		{core.Reconcile, "reconcile", "c reconciles r", true},
		{core.Act, "act", "c: r", true},
		{core.Fire, "fire", "the timer of c for r fires", false},
		{core.Deliver, "deliver", "the cache of c receives changes to r", true},
		{core.Begin, "begin", "c starts to reconcile r", true},
		{core.Ask, "call", "c continues with r", true},
		{core.Return, "return", "c finishes with r", true},
		{core.Restart, "restart", "c crashes and restarts", false},
		{core.Intervene, "user", `a user takes the action "r"`, false},
		{core.Work, core.Work.Name(), "c runs", true},
		{core.Elapse, core.Elapse.Name(), "time passes for c", false},
		{core.Pass, core.Pass.Name(), "r passes", false},
		{core.Expire, core.Expire.Name(), "the deadline of c for r passes", false},
	} {
		if got := test.kind.Name(); got != test.name {
			t.Errorf("a step of kind %d is called %q, want %q", test.kind, got, test.name)
		}
		if got, known := core.StepKindOf(test.name); !known || got != test.kind {
			t.Errorf("%q is the name of kind %d, %t, want %d", test.name, got, known, test.kind)
		}
		step := core.Step{Kind: test.kind, Item: item}
		if got := step.String(); got != test.text {
			t.Errorf("got %q, want %q", got, test.text)
		}
		if got := step.Due(); got != test.due {
			t.Errorf("that %q is due is %t", step, got)
		}
		edge := core.Edge{Step: step}
		if got := edge.Disturbed(); got != (test.kind == core.Restart) {
			t.Errorf("that %q is disturbed is %t", step, got)
		}
		edge.Late = true
		if !edge.Disturbed() {
			t.Errorf("on a stale view, %q is not disturbed", step)
		}
		edge.Late, edge.Step.Detail = false, "call 1 (get K a) fails: timeout"
		if !edge.Disturbed() || edge.Step.Due() {
			t.Errorf("%q is due or not disturbed", edge.Step)
		}
		if got, want := edge.Step.String(), test.text+", and call 1 (get K a) fails: timeout"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		edge.Step.Order = "call 2 is the first"
		if got, want := edge.Step.String(), test.text+", where call 2 is the first, and call 1 (get K a) fails: timeout"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, name := range []string{"", "probe", "Reconcile"} {
		if kind, known := core.StepKindOf(name); known {
			t.Errorf("%q is the name of kind %d", name, kind)
		}
	}
}

func TestRunEnd(t *testing.T) {
	if got := (core.Run{}).End(7); got != 7 {
		t.Errorf("an empty run ends in %d", got)
	}
	run := core.Run{{From: 7, To: 8}, {From: 8, To: 9}}
	if got := run.End(7); got != 9 {
		t.Errorf("the run ends in %d", got)
	}
	if !slices.Equal(run, core.Run{{From: 7, To: 8}, {From: 8, To: 9}}) {
		t.Error("asking for the end changed the run")
	}
}
