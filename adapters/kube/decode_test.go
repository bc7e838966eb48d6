package kube

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// TestTypedIsWhatTheTreeSays would catch what is found wrong with an object, or not found,
// because its Go type was not made of what is stored.
func TestTypedIsWhatTheTreeSays(t *testing.T) {
	server := newTestServer(t)
	kinds := []schema.GroupVersionKind{configMapKind, deploymentKind, corev1.SchemeGroupVersion.WithKind("Secret")}
	typed, wrong := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		r := creation(kind, tree{"name": "a"}, drawing{t}.wanted(kind))
		resource, err := server.registry.Find(kind)
		if err != nil {
			t.Fatal(err)
		}
		op := &operation{server: server, state: emptyWorld(t, server), request: r, resource: resource}
		object, err := op.decode(r.Body)
		if err != nil {
			return
		}
		request := op.rulesRequest(object, nil)
		if request.Typed == nil {
			return
		}
		typed++
		untyped := request
		untyped.Object, untyped.Typed = object.DeepCopy(), nil
		_, want := resource.Rules.Create(untyped)
		_, got := resource.Rules.Create(request)
		if want != nil {
			wrong++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s\ngot  %v\nwant %v", r.Body, got, want)
		}
	})
	if typed == 0 || wrong == 0 {
		t.Errorf("%d objects are typed, and %d wrong", typed, wrong)
	}
}
