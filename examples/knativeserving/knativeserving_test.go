package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestSearched searches a Service to the end: it settles in one outcome. Controllers write when conditions change, and nobody waits for a time: there are requests. What
// controllers keep in memory is that of the trackers, of the resolver of digests and of the autoscaler, each for itself.
func TestSearched(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some twenty seconds")
	}
	system, err := newSystem(size{services: 1})
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	if r.Verdict != core.Holds || len(r.Findings) > 0 {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, r.Findings)
	}
	if len(r.Awaiting) > 0 {
		t.Errorf("%v wait for times, want nobody", r.Awaiting)
	}
	if r.Outcomes != 1 || r.TerminalStates != 1 {
		t.Errorf("there are %d outcomes in %d terminal states, want one", r.Outcomes, r.TerminalStates)
	}
	kept := map[string]string{}
	for _, m := range r.Memory {
		kept[m.Controller] = strings.Join(m.Fields, " ")
	}
	for controller, field := range map[string]string{"labeler": "tracker.exact", "route": "tracker.exact", "revision": "resolver.results", "autoscaler": "metricsMap"} {
		if !strings.Contains(kept[controller], field) {
			t.Errorf("%s keeps %q, without %s", controller, kept[controller], field)
		}
	}
	if len(kept) != 4 {
		t.Errorf("memory is kept by %v", kept)
	}
}

// TestScaledToZero walks until the Deployment of a Service without requests has no Pods: after the route and the autoscaler have waited, and the activator was asked over
// HTTP in the background. What the autoscaler does at the times in between is not searched, and it is said so.
func TestScaledToZero(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some ten seconds")
	}
	system, err := newSystem(size{services: 1, idle: true})
	if err != nil {
		t.Fatal(err)
	}
	const asked, empty = "has Pods", "no Pods are left"
	replicas := func(state core.State) (n any, there bool) {
		for _, d := range state.List("Deployment.apps", "") {
			n, there, _ = unstructured.NestedFieldNoCopy(d.Content.Fields().(map[string]any), "spec", "replicas")
		}
		return n, there
	}
	system.Properties = append(system.Properties,
		core.Property{Name: asked, Invariant: func(state core.State) error {
			if n, there := replicas(state); there && fmt.Sprint(n) == "0" {
				return errors.New("it is scaled to zero")
			}
			return nil
		}},
		properties.EventuallyAlways(empty, func(state core.State) bool {
			n, there := replicas(state)
			return there && fmt.Sprint(n) == "0" && len(state.List("Pod", "default")) == 0
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{Search: orrery.RandomWalks, Walks: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report
	reached := false
	for _, f := range r.Findings {
		if f.Property != asked {
			t.Errorf("%s: %s", f.Property, f.Summary)
		}
		reached = reached || f.Property == asked
	}
	if !reached {
		t.Error("no walk has scaled to zero")
	}
	if !slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "waits for several times") }) {
		t.Errorf("the reasons are %q", r.Reasons)
	}
}
