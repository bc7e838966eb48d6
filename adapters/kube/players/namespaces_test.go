package players

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// TestNamespaceController runs the controller until nothing is left to do.
func TestNamespaceController(t *testing.T) {
	w := newWorld(t)
	controller, err := NamespaceController(w.server, "Widget.example.com", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "watches", controller.Describe().Watches, []core.Kind{"Namespace", "ConfigMap", "Widget.example.com"})
	instance, err := controller.New()
	if err != nil {
		t.Fatal(err)
	}
	in := func(namespace string, r *kube.Request) *kube.Request {
		r.Namespace = namespace
		return r
	}
	w.must(everywhere(creation(namespaceKind, tree{"name": "n"}, nil)))
	w.must(in("n", creation(widgetKind, tree{"name": "kept", "finalizers": []any{"example.com/x"}}, nil)))
	w.must(in("n", creation(configMapKind, tree{"name": "c"}, nil)))
	w.must(in("other", creation(configMapKind, tree{"name": "c"}, nil)))

	// run handles what has changed since, and works on what that asks for.
	before := map[core.Key]core.Content{}
	run := func() int {
		var requests []core.Request
		for _, key := range slices.SortedFunc(maps.Keys(union(before, w.objects)), core.Key.Compare) {
			if before[key] != w.objects[key] && !storage.IsRecord(key.Kind) {
				requests = append(requests, instance.Handle(w, core.Event{Key: key, Old: before[key], New: w.objects[key]})...)
			}
		}
		before = maps.Clone(w.objects)
		for _, r := range requests {
			if result := instance.Reconcile(w, r); result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		return len(requests)
	}
	expect(t, "requests while nothing is deleted", run(), 0)
	w.must(everywhere(request(kube.Delete, namespaceKind, "n")))
	for run() > 0 {
	}
	w.must(in("n", request(kube.Get, widgetKind, "kept")))
	w.must(everywhere(request(kube.Get, namespaceKind, "n")))
	w.refuse(in("n", request(kube.Get, configMapKind, "c")), 404, `configmaps "c" not found`)
	w.must(in("n", patching(widgetKind, "kept", types.MergePatchType, `{"metadata":{"finalizers":null}}`)))
	for run() > 0 {
	}
	w.refuse(everywhere(request(kube.Get, namespaceKind, "n")), 404, `namespaces "n" not found`)
	w.must(in("other", request(kube.Get, configMapKind, "c")))
}

func TestNamespaceControllerMistakes(t *testing.T) {
	server := newTestServer(t)
	for _, kind := range []core.Kind{"Gizmo.example.com", "Fleet.example.com"} {
		if _, err := NamespaceController(server, kind); err == nil {
			t.Errorf("%s is accepted", kind)
		}
	}
}
