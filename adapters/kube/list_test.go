package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// names lists the names in a list, with their namespaces where those differ from
// "default".
func names(list *unstructured.Unstructured) []string {
	found := []string{}
	for _, item := range list.Object["items"].([]any) {
		o := &unstructured.Unstructured{Object: item.(tree)}
		name := o.GetName()
		if o.GetNamespace() != "default" {
			name = o.GetNamespace() + "/" + name
		}
		found = append(found, name)
	}
	return found
}

func widgetsWorld(t *testing.T) *world {
	w := newWorld(t)
	for _, spec := range []struct{ namespace, name, color string }{
		{"default", "c", "red"}, {"default", "a", "blue"}, {"other", "a", "red"}, {"default", "b", "red"},
	} {
		r := creation(widgetKind, tree{"name": spec.name, "labels": tree{"color": spec.color}}, tree{"spec": tree{"color": spec.color}})
		r.Namespace = spec.namespace
		w.must(r)
	}
	return w
}

func TestList(t *testing.T) {
	w := widgetsWorld(t)
	for _, test := range []struct {
		name    string
		request Request
		want    []string
	}{
		{"in a namespace", Request{Namespace: "default"}, []string{"a", "b", "c"}},
		{"in all namespaces", Request{}, []string{"a", "b", "c", "other/a"}},
		{"in an empty namespace", Request{Namespace: "nowhere"}, []string{}},
		{"by label", Request{Namespace: "default", LabelSelector: "color=red"}, []string{"b", "c"}},
		{"by label, negated", Request{LabelSelector: "color!=red"}, []string{"a"}},
		{"by label, set", Request{LabelSelector: "color in (blue, green)"}, []string{"a"}},
		{"by name", Request{Namespace: "default", FieldSelector: "metadata.name=b"}, []string{"b"}},
		{"by name, in all namespaces", Request{FieldSelector: "metadata.name=a"}, []string{"a", "other/a"}},
		{"by namespace", Request{FieldSelector: "metadata.namespace=other"}, []string{"other/a"}},
		{"by field of the definition", Request{FieldSelector: "spec.color=red,metadata.name!=c"}, []string{"b", "other/a"}},
		{"with a limit", Request{Limit: 2}, []string{"a", "b"}},
		{"from a cache", Request{FromCache: true, Namespace: "default", LabelSelector: "color=blue"}, []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.request
			r.Verb, r.Kind = List, widgetKind
			list := w.must(&r)
			expect(t, "items", names(list), test.want)
			expect(t, "kind", list.GetKind(), "WidgetList")
			if (list.GetResourceVersion() == "") != r.FromCache {
				t.Errorf("resourceVersion is %q", list.GetResourceVersion())
			}
		})
	}
}

func TestListInPages(t *testing.T) {
	w := widgetsWorld(t)
	r := &Request{Verb: List, Kind: widgetKind, Limit: 3}
	first := w.must(r)
	expect(t, "remaining", jsontree.At(first, "metadata", "remainingItemCount"), 1)
	next := &Request{Verb: List, Kind: widgetKind, Limit: 3, Continue: first.UnstructuredContent()["metadata"].(tree)["continue"].(string)}
	second := w.must(next)
	expect(t, "second page", names(second), []string{"other/a"})
	expect(t, "continue", jsontree.At(second, "metadata", "continue"), nil)
	w.must(request(Delete, widgetKind, "a"))
	w.unsupported(next)
	next.Continue = "x"
	w.refuse(next, 400, "continue key is not valid")
}

// With a selector a server does not know how many objects are left, nor whether any of them
// is selected: a page that is full has a token if an object follows at all.
func TestSelectedListInPages(t *testing.T) {
	w := widgetsWorld(t)
	for _, test := range []struct {
		name      string
		request   Request
		items     []string
		continues bool
	}{
		{"more are selected", Request{LabelSelector: "color=red", Limit: 1}, []string{"b"}, true},
		{"others follow", Request{LabelSelector: "color=blue", Limit: 1}, []string{"a"}, true},
		{"others follow by field", Request{FieldSelector: "spec.color=blue", Limit: 1}, []string{"a"}, true},
		{"a page that is not full", Request{LabelSelector: "color=blue", Limit: 2}, []string{"a"}, false},
		{"the last object", Request{LabelSelector: "color=red", Limit: 3}, []string{"b", "c", "other/a"}, false},
		{"one object by its name", Request{Namespace: "default", FieldSelector: "metadata.name=a", Limit: 1}, []string{"a"}, false},
		{"from a cache", Request{FromCache: true, LabelSelector: "color=red", Limit: 1}, []string{"b"}, false},
	} {
		r := test.request
		r.Verb, r.Kind = List, widgetKind
		list := w.must(&r)
		expect(t, test.name, names(list), test.items)
		expect(t, test.name+": remaining", jsontree.At(list, "metadata", "remainingItemCount"), nil)
		token, continues := jsontree.At(list, "metadata", "continue").(string)
		if continues != test.continues {
			t.Errorf("%s: continues is %t", test.name, continues)
		}
		if test.name == "others follow" {
			r.Continue = token
			rest := w.must(&r)
			expect(t, "the rest", names(rest), []string{})
			expect(t, "token of the rest", jsontree.At(rest, "metadata", "continue"), nil)
		}
	}
}

func TestListReadsOneObjectByName(t *testing.T) {
	w := widgetsWorld(t)
	w.reads = nil
	w.must(&Request{Verb: List, Kind: widgetKind, Namespace: "default", FieldSelector: "metadata.name=b"})
	expect(t, "reads", w.reads, []string{"get Widget.example.com default/b"})
}

func TestListVersionFollowsItems(t *testing.T) {
	w := widgetsWorld(t)
	r := &Request{Verb: List, Kind: widgetKind, Namespace: "default"}
	before := w.must(r).GetResourceVersion()
	expect(t, "resourceVersion of the same list", w.must(r).GetResourceVersion(), before)
	w.must(request(Delete, widgetKind, "a"))
	if w.must(r).GetResourceVersion() == before {
		t.Error("the list has changed, and its resourceVersion has not")
	}
}

func TestSelectorRefusals(t *testing.T) {
	w := widgetsWorld(t)
	w.refuse(&Request{Verb: List, Kind: widgetKind, FieldSelector: "spec.size=1"}, 400, "field label not supported: spec.size")
	w.refuse(&Request{Verb: List, Kind: podKind, FieldSelector: "spec.nonsense=1"}, 400, "field label not supported: spec.nonsense")
	w.refuse(&Request{Verb: List, Kind: jobKind, FieldSelector: "spec.nonsense=1"}, 400, `field label "spec.nonsense" not supported for Job`)
	w.refuse(&Request{Verb: List, Kind: fleetKind, FieldSelector: "metadata.namespace=a"}, 400, "field label not supported: metadata.namespace")
	w.refuse(&Request{Verb: List, Kind: configMapKind, FieldSelector: "data=1"}, 400,
		`"data" is not a known field selector: only "metadata.name", "metadata.namespace"`)
	for _, selector := range []string{"a=b=c", "!", "in ()"} {
		if response, _ := w.do(&Request{Verb: List, Kind: widgetKind, LabelSelector: selector}); response.Status == nil || response.Status.Code != 400 {
			t.Errorf("label selector %q: %s", selector, response)
		}
	}
}

func TestFieldSelectorsOfPods(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "a"}, tree{"spec": tree{"nodeName": "n", "containers": []any{}}}))
	w.must(creation(podKind, tree{"name": "b"}, nil))
	for selector, want := range map[string][]string{
		"spec.nodeName=n":                       {"a"},
		"spec.nodeName=":                        {"b"},
		"status.phase=Pending,spec.nodeName!=n": {"b"},
		"status.phase!=Pending":                 {},
		"spec.hostNetwork=false":                {"a", "b"},
		"spec.restartPolicy=Never":              {},
	} {
		expect(t, selector, names(w.must(&Request{Verb: List, Kind: podKind, Namespace: "default", FieldSelector: selector})), want)
	}
	w.must(creation(corev1.SchemeGroupVersion.WithKind("Node"), tree{"name": "n"}, nil))
	nodes := &Request{Verb: List, Kind: corev1.SchemeGroupVersion.WithKind("Node"), FieldSelector: "spec.unschedulable=false"}
	expect(t, "number of schedulable nodes", len(names(w.must(nodes))), 1)
}

func TestMetadataOnly(t *testing.T) {
	w := newWorld(t)
	a := w.widget("a", tree{"spec": tree{"size": 3}})
	r := request(Get, widgetKind, "a")
	r.MetadataOnly = true
	expect(t, "the object", w.must(r).Object, tree{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": a.Object["metadata"],
	})
	list := &Request{Verb: List, Kind: widgetKind, MetadataOnly: true}
	answer := w.must(list)
	expect(t, "kind of the list", answer.GetKind(), "PartialObjectMetadataList")
	expect(t, "its items", answer.Object["items"], []any{w.must(r).Object})
	list.Kind = configMapKind
	expect(t, "an empty list", w.must(list).Object["items"], nil)
	patch := patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":4}}`)
	patch.MetadataOnly = true
	expect(t, "generation after a patch", w.must(patch).GetGeneration(), 2)
	expect(t, "size after a patch", jsontree.At(w.must(request(Get, widgetKind, "a")), "spec", "size"), 4)
}

// TestLifetimeOnly checks that what decides how long an object lives is all that is shown, by this server and of what a
// real one sends.
func TestLifetimeOnly(t *testing.T) {
	w := newWorld(t)
	a := w.must(creation(widgetKind, tree{
		"name": "a", "labels": tree{"x": "y"}, "finalizers": []any{"example.org/wait"},
		"ownerReferences": []any{tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1"}},
	}, tree{"spec": tree{"size": 3}}))
	r := request(Get, widgetKind, "a")
	r.LifetimeOnly = true
	metadata := a.Object["metadata"].(tree)
	want := tree{"apiVersion": a.GetAPIVersion(), "kind": "Widget", "metadata": tree{
		"name": "a", "namespace": "default", "uid": metadata["uid"], "finalizers": metadata["finalizers"], "ownerReferences": metadata["ownerReferences"],
	}}
	expect(t, "the lifetime", w.must(r).Object, want)
	real, err := DoneLifetime(jsontree.Canonical(a.Object))
	if err != nil {
		t.Fatal(err)
	}
	var shown tree
	if err := jsontree.Decode(real.Object, &shown); err != nil {
		t.Fatal(err)
	}
	expect(t, "the lifetime that a real server shows", shown, want)
	w.must(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":4}}`))
	expect(t, "the lifetime after another change", w.must(r).Object, want)
	w.must(request(Delete, widgetKind, "a"))
	if w.must(r).GetDeletionTimestamp() == nil {
		t.Error("the lifetime does not show that the object was deleted")
	}
	r.Name = "b"
	if _, err := DoneLifetime([]byte("no JSON")); err == nil {
		t.Error("what is no object has a lifetime")
	}
}

// TestControlledBy checks that a list has the objects of one controller, and not those that it owns besides.
func TestControlledBy(t *testing.T) {
	w := newWorld(t)
	owned := func(name string, controls bool) {
		w.must(creation(widgetKind, tree{"name": name, "ownerReferences": []any{
			tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1", "controller": controls},
		}}, nil))
	}
	w.widget("a", nil)
	owned("b", true)
	owned("c", false)
	r := &Request{Verb: List, Kind: widgetKind, ControlledBy: "1"}
	items, _ := jsontree.At(w.must(r), "items").([]any)
	if len(items) != 1 || items[0].(tree)["metadata"].(tree)["name"] != "b" {
		t.Errorf("listed %v", items)
	}
	expect(t, "the request", r.String(), "list Widget controlled by 1")
	if _, _, err := w.server.Recorded(r); err == nil {
		t.Error("recordings have lists of what a controller has")
	}
}

// Kubernetes' own kinds are not named in every item of a list, custom ones are.
func TestKindsOfItems(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	w.must(creation(configMapKind, tree{"name": "c"}, nil))
	item := func(kind schema.GroupVersionKind) tree {
		return jsontree.ListAt(w.must(&Request{Verb: List, Kind: kind}), "items")[0].(tree)
	}
	expect(t, "kind of a Widget", item(widgetKind)["kind"], "Widget")
	expect(t, "kind of a ConfigMap", item(configMapKind)["kind"], nil)
	expect(t, "apiVersion of a ConfigMap", item(configMapKind)["apiVersion"], nil)
}
