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
	for kind, want := range map[core.StepKind]string{
		core.Reconcile: "c reconciles r",
		core.Act:       "c: r",
		core.Fire:      "the timer of c for r fires",
	} {
		if got := (core.Step{Kind: kind, Item: item}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
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
