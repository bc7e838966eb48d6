package kube

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// drawWanted draws what a controller may want of a Deployment or a Widget.
func drawWanted(t *rapid.T, kind schema.GroupVersionKind) tree {
	some := func(name string, value any) any {
		if rapid.Bool().Draw(t, name) {
			return value
		}
		return nil
	}
	fields := tree{}
	set := func(value any, path ...string) {
		if value != nil {
			setNested(fields, value, path...)
		}
	}
	set(some("a label", rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")), "metadata", "labels", "a")
	set(some("no annotations", tree{}), "metadata", "annotations")
	if kind == widgetKind {
		set(some("color", "red"), "spec", "color")
		set(some("size", rapid.SampledFrom([]int64{1, 2}).Draw(t, "number")), "spec", "size")
		return fields
	}
	main := tree{"name": "main", "image": rapid.SampledFrom([]string{"one", "two"}).Draw(t, "image"), "args": []any{"--x"}}
	set(some("replicas", int64(2)), "spec", "replicas")
	set(tree{"matchLabels": tree{"app": "x"}}, "spec", "selector")
	set(tree{"app": "x"}, "spec", "template", "metadata", "labels")
	set(some("volumes", []any{tree{"name": "v", "emptyDir": tree{}}}), "spec", "template", "spec", "volumes")
	if env := some("env", []any{tree{"name": "E", "value": "1"}, tree{"name": "F"}}); env != nil {
		main["env"] = env
	}
	containers := []any{main}
	if side := some("side", tree{"name": "side", "image": "img", "resources": tree{}}); side != nil {
		containers = append(containers, side)
	}
	set(containers, "spec", "template", "spec", "containers")
	return fields
}

// TestForgettingWhatWasWantedChangesNothing would catch an apply whose outcome depends on
// what its caller wanted the last time, though all of that is wanted still.
func TestForgettingWhatWasWantedChangesNothing(t *testing.T) {
	server := newTestServer(t)
	forgotten := 0
	rapid.Check(t, func(t *rapid.T) {
		w := emptyWorld(t, server)
		kind := rapid.SampledFrom([]schema.GroupVersionKind{widgetKind, deploymentKind}).Draw(t, "kind")
		for range rapid.IntRange(1, 6).Draw(t, "applies") {
			r := applying(kind, "a", rapid.SampledFrom([]string{"m", "n"}).Draw(t, "manager"), drawWanted(t, kind))
			r.Force = rapid.Bool().Draw(t, "force")
			resource, err := server.registry.find(kind)
			if err != nil {
				t.Fatal(err)
			}
			op := &operation{server: server, state: w, request: r, resource: resource}
			if from := op.find(core.Key{Kind: resource.name, Namespace: r.Namespace, Name: r.Name}); from != nil {
				wanted, err := op.appliedBody()
				if err != nil {
					t.Fatal(err)
				}
				forgetful := from.live()
				op.forgetLast(forgetful, wanted)
				if !sameTree(forgetful.Object, from.live().Object) {
					forgotten++
				}
				if got, want := appliedTo(t, op, forgetful, wanted), appliedTo(t, op, from.live(), wanted); got != want {
					t.Fatalf("%s\ngot  %s\nwant %s", r.Body, got, want)
				}
			}
			w.do(r)
		}
	})
	if forgotten == 0 {
		t.Error("nothing was ever forgotten")
	}
}

// appliedTo is what the library makes of an apply, as text.
func appliedTo(t tester, op *operation, live, wanted *unstructured.Unstructured) string {
	t.Helper()
	manager, err := op.fieldManager(true)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := manager.Apply(live, wanted.DeepCopy(), op.request.FieldManager, op.request.Force)
	var refused *apierrors.StatusError
	switch {
	case errors.As(err, &refused):
		// The message has the causes in any order.
		inOrder(refused)
		return fmt.Sprint(refused.ErrStatus.Reason, refused.ErrStatus.Details.Causes)
	case err != nil:
		return err.Error()
	}
	settleManagers(merged.(*unstructured.Unstructured))
	return string(canonicalJSON(merged.(*unstructured.Unstructured).Object))
}
