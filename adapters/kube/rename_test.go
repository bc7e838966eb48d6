package kube

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// exchange exchanges the words a and b.
func exchange(text string) string {
	return word.ReplaceAllStringFunc(text, func(word string) string {
		switch word {
		case "a":
			return "b"
		case "b":
			return "a"
		}
		return word
	})
}

// checkExchanged checks that the objects of one world, renamed, are those of another, and that renaming them back gives
// the first ones.
func checkExchanged(t tester, server *Server, objects, others map[core.Key]core.Content) {
	t.Helper()
	checkRecords(t, objects)
	found := map[core.Key]bool{}
	for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
		renamed := server.Rename(core.Object{Key: key, Content: objects[key]}, exchange)
		other := others[renamed.Key]
		switch {
		case found[renamed.Key]:
			t.Fatalf("two objects are renamed to %s", renamed.Key)
		case other == nil:
			t.Fatalf("%s is renamed to %s, and there is only %v", key, renamed.Key, slices.SortedFunc(maps.Keys(others), core.Key.Compare))
		case other.Canonical() != renamed.Content.Canonical():
			t.Fatalf("%s is renamed to\n%s, want\n%s", key, renamed.Content.Canonical(), other.Canonical())
		}
		found[renamed.Key] = true
		if back := server.Rename(renamed, exchange); back.Key != key || back.Content.Canonical() != objects[key].Canonical() {
			t.Fatalf("%s is renamed back to %s\n%s, want\n%s", key, back.Key, back.Content.Canonical(), objects[key].Canonical())
		}
	}
	if len(objects) != len(others) {
		t.Fatalf("there are %d objects, and %d where names are exchanged", len(objects), len(others))
	}
}

// referring is a reference from anywhere to an object.
func referring(o *unstructured.Unstructured) tree {
	return tree{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "namespace": o.GetNamespace(), "name": o.GetName(), "uid": string(o.GetUID())}
}

// What is done with two names comes to the same as when it is done with the names exchanged.
func TestRename(t *testing.T) {
	in := func(namespace string, r *Request) *Request {
		r.Namespace = namespace
		return r
	}
	owned := func(name string, owner *unstructured.Unstructured) tree {
		return tree{"name": name, "ownerReferences": []any{ownerReference(owner)}}
	}
	for _, test := range []struct {
		name string
		act  func(w *world, a, b string)
	}{
		{"an object and what it says", func(w *world, a, _ string) {
			w.must(creation(gadgetKind, tree{"name": a, "labels": tree{a: "x"}, "annotations": tree{"for": "the " + a + "-0."}}, tree{"list": []any{a, tree{a: int64(1)}, nil}}))
		}},
		{"words only", func(w *world, a, _ string) { w.must(creation(gadgetKind, tree{"name": a}, tree{"x": "ab ba 1a b2"})) }},
		{"a kind by its name", func(w *world, a, _ string) {
			w.must(creation(gadgetKind, tree{"name": a}, tree{"x": tree{"kind": a}, "y": tree{"apiVersion": "a/b", "kind": "b"}, "z": tree{"apiVersion": a}}))
		}},
		{"a namespace and what is in it", func(w *world, a, b string) {
			w.must(in("", creation(corev1.SchemeGroupVersion.WithKind("Namespace"), tree{"name": a}, nil)))
			owner := w.must(in(a, creation(widgetKind, tree{"name": "x"}, nil)))
			w.must(in(a, creation(gadgetKind, owned("y", owner), nil)))
			w.must(in(b, creation(gadgetKind, tree{"name": "y"}, nil)))
		}},
		{"an owner", func(w *world, a, b string) {
			w.must(creation(gadgetKind, owned("x", w.widget(a, nil)), nil))
			w.must(creation(gadgetKind, owned(b, w.widget(b, nil)), nil))
		}},
		{"an owner of a cluster", func(w *world, a, _ string) {
			w.must(creation(gadgetKind, owned("x", w.must(creation(fleetKind, tree{"name": a}, nil))), nil))
		}},
		{"an owner whose uid nobody made", func(w *world, a, _ string) {
			w.must(creation(gadgetKind, tree{"name": "x", "ownerReferences": []any{
				tree{"apiVersion": "example.com/v1", "kind": "Widget", "name": a, "uid": "u-" + a},
				tree{"apiVersion": "example.com/v1", "kind": "Gizmo", "name": a, "uid": "v"}}}, nil))
		}},
		{"an owner that came again", func(w *world, a, _ string) {
			first := w.widget(a, nil)
			w.must(creation(gadgetKind, owned("x", first), nil))
			w.must(request(Delete, widgetKind, a))
			w.must(creation(gadgetKind, owned("y", w.widget(a, nil)), nil))
		}},
		{"owners that change", func(w *world, a, b string) {
			x := w.must(creation(gadgetKind, owned("x", w.widget(a, nil)), nil))
			second := ownerReference(w.widget(b, nil))
			second["controller"] = false
			jsontree.Set(x.Object, append(jsontree.ListAt(x, "metadata", "ownerReferences"), second), "metadata", "ownerReferences")
			x = w.must(updating(gadgetKind, x))
			x.SetOwnerReferences(x.GetOwnerReferences()[1:])
			w.must(updating(gadgetKind, x))
		}},
		{"versions that are equal", func(w *world, a, _ string) {
			w.widget(a, nil)
			for _, x := range []string{"1", "2", "1"} {
				w.must(patching(widgetKind, a, types.MergePatchType, `{"metadata":{"labels":{"x":"`+x+`"}}}`))
			}
		}},
		{"uids in texts", func(w *world, a, b string) {
			owner := w.widget(a, nil)
			w.must(creation(gadgetKind, tree{"name": "x", "labels": tree{"owner": string(owner.GetUID())}, "ownerReferences": []any{ownerReference(owner)}},
				tree{"claim": "pvc-" + string(owner.GetUID()), "others": []any{referring(w.widget(b, nil))}}))
		}},
		{"managers of references", func(w *world, a, _ string) {
			owner := w.widget(a, nil)
			r := patching(gadgetKind, "x", types.ApplyYAMLPatchType, "")
			r.Body, r.FieldManager = object(gadgetKind, owned("x", owner), tree{"spec": tree{a: "1"}}), a
			w.must(r)
		}},
		{"a Job, with its uid in labels", func(w *world, a, _ string) {
			w.must(creation(jobKind, tree{"name": a}, nil))
		}},
		{"an Event", func(w *world, a, _ string) {
			w.must(creation(corev1.SchemeGroupVersion.WithKind("Event"), tree{"name": "e"}, tree{"involvedObject": referring(w.widget(a, nil))}))
		}},
		{"a claim of a volume, and endpoints", func(w *world, a, _ string) {
			claim := w.must(creation(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), tree{"name": a}, tree{"spec": tree{
				"accessModes": []any{"ReadWriteOnce"}, "resources": tree{"requests": tree{"storage": "1Gi"}}}}))
			w.must(in("", creation(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), tree{"name": a}, tree{"spec": tree{
				"accessModes": []any{"ReadWriteOnce"}, "capacity": tree{"storage": "1Gi"}, "claimRef": referring(claim), "hostPath": tree{"path": "/x"}}})))
			target := referring(w.must(creation(podKind, tree{"name": a}, nil)))
			delete(target, "apiVersion")
			w.must(creation(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"), tree{"name": "s"}, tree{
				"addressType": "IPv4", "endpoints": []any{tree{"addresses": []any{"10.1.0.1"}, "targetRef": target}}}))
		}},
		{"names generated for owners", func(w *world, a, b string) {
			for _, owner := range []*unstructured.Unstructured{w.widget(a, nil), w.widget(b+"-0", nil)} {
				metadata := owned("", owner)
				metadata["generateName"] = owner.GetName() + "-"
				w.must(creation(jobKind, metadata, nil))
				w.must(creation(jobKind, metadata, nil))
			}
		}},
		{"names generated for owners, from one base", func(w *world, a, b string) {
			for _, owner := range []*unstructured.Unstructured{w.widget(a, nil), w.widget(b, nil)} {
				metadata := owned("", owner)
				metadata["generateName"] = "x-"
				w.must(creation(jobKind, metadata, nil))
				w.must(creation(jobKind, metadata, nil))
			}
		}},
		{"names generated for nobody", func(w *world, a, _ string) {
			w.must(creation(gadgetKind, tree{"generateName": a + "-"}, nil))
			w.must(creation(gadgetKind, tree{"generateName": "x"}, nil))
		}},
		{"a generated name that outlives its owners", func(w *world, a, _ string) {
			metadata := owned("", w.widget("x", nil))
			metadata["generateName"] = a + "-"
			o := w.must(creation(gadgetKind, metadata, nil))
			o.SetOwnerReferences(nil)
			w.must(updating(gadgetKind, o))
		}},
		{"the addresses and ports of Services", func(w *world, a, b string) {
			ports := []any{tree{"name": "p", "port": int64(1)}, tree{"name": "q", "port": int64(2)}}
			w.must(creation(serviceKind, tree{"name": a}, tree{"spec": tree{"type": "NodePort", "ports": ports}}))
			w.must(creation(serviceKind, tree{"name": b}, tree{"spec": tree{"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": ports}}))
			w.must(creation(serviceKind, tree{"name": a + "-x"}, nil))
			w.must(creation(serviceKind, tree{"name": b + "-x"}, tree{"spec": tree{"clusterIP": "None"}}))
		}},
		{"addresses and ports that were asked for", func(w *world, a, b string) {
			w.must(creation(serviceKind, tree{"name": a}, tree{"spec": tree{"clusterIP": "10.0.0.2"}}))
			w.must(creation(serviceKind, tree{"name": b}, tree{"spec": tree{
				"type": "NodePort", "clusterIP": "10.0.0.200", "ports": []any{tree{"port": int64(1), "nodePort": int64(32000)}}}}))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, options := range [][]Option{nil, {ManagedFields()}} {
				w := newWorld(t, options...)
				exchanged := emptyWorld(t, w.server)
				test.act(w, "a", "b")
				test.act(exchanged, "b", "a")
				checkExchanged(t, w.server, w.objects, exchanged.objects)
			}
		})
	}
}

// The key of what is not there is renamed as well.
func TestRenameNothing(t *testing.T) {
	renamed := newTestServer(t).Rename(core.Object{Key: core.Key{Kind: "a", Namespace: "a", Name: "x-b"}}, exchange)
	if want := (core.Key{Kind: "a", Namespace: "b", Name: "x-a"}); renamed.Key != want || renamed.Content != nil {
		t.Errorf("got %s with %v, want %s", renamed.Key, renamed.Content, want)
	}
}

// twins are a world and one in which the same is done with names exchanged.
type twins struct{ a, b *world }

// do makes requests that are the same but for the names.
func (w twins) do(t *rapid.T, request func(w *world, name func(string) string) *Request) {
	one := request(w.a, func(name string) string { return name })
	other := request(w.b, exchange)
	if one == nil || other == nil {
		if one != nil || other != nil {
			t.Fatalf("%v in one world, %v in the other", one, other)
		}
		return
	}
	response, writes := w.a.do(one)
	exchanged, same := w.b.do(other)
	if response.String() != exchange(exchanged.String()) || writes != same {
		t.Fatalf("%s: %s with %d writes, and with names exchanged %s with %d", one, response, writes, exchanged, same)
	}
}

// Whatever is done, with names exchanged it comes to the same with names exchanged. Services are left out: where one
// gets in the way of another depends on their names.
func TestRenameAfterAnything(t *testing.T) {
	server := newTestServer(t)
	kinds := []schema.GroupVersionKind{widgetKind, gadgetKind, fleetKind, configMapKind, jobKind}
	rapid.Check(t, func(t *rapid.T) {
		w := twins{emptyWorld(t, server), emptyWorld(t, server)}
		for range rapid.IntRange(1, 15).Draw(t, "requests") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			is := rapid.SampledFrom([]string{"a", "b", "a-0", "x"}).Draw(t, "name")
			owner := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "owner")
			ownerKind := rapid.SampledFrom([]schema.GroupVersionKind{widgetKind, fleetKind}).Draw(t, "kind of the owner")
			if kind == fleetKind {
				// Nobody knows in which namespace the owner would be.
				ownerKind = fleetKind
			}
			kept := rapid.Bool().Draw(t, "kept")
			// changed sets the owners, the finalizers and a label.
			changed := func(w *world, name func(string) string, o *unstructured.Unstructured) *unstructured.Unstructured {
				o.SetLabels(map[string]string{"for": name(owner)})
				o.SetOwnerReferences(nil)
				o.SetFinalizers(nil)
				if kept {
					o.SetFinalizers([]string{"example.com/kept"})
				}
				if found, _ := w.do(request(Get, ownerKind, name(owner))); owner != "" && found.Status == nil {
					var read unstructured.Unstructured
					if err := jsontree.Decode(found.Object, &read.Object); err != nil {
						t.Fatal(err)
					}
					jsontree.Set(o.Object, []any{ownerReference(&read)}, "metadata", "ownerReferences")
				}
				return o
			}
			switch rapid.IntRange(0, 5).Draw(t, "verb") {
			case 0, 1:
				generated := rapid.Bool().Draw(t, "generated")
				w.do(t, func(w *world, name func(string) string) *Request {
					metadata := tree{"name": name(is)}
					if generated {
						metadata = tree{"generateName": name(is) + "-"}
					}
					o := &unstructured.Unstructured{Object: tree{"metadata": metadata}}
					r := creation(kind, changed(w, name, o).Object["metadata"].(tree), nil)
					if kind == fleetKind {
						r.Namespace = ""
					}
					return r
				})
			case 2:
				w.do(t, func(w *world, name func(string) string) *Request {
					found, _ := w.do(request(Get, kind, name(is)))
					if found.Status != nil {
						return nil
					}
					var read unstructured.Unstructured
					if err := jsontree.Decode(found.Object, &read.Object); err != nil {
						t.Fatal(err)
					}
					return updating(kind, changed(w, name, &read))
				})
			case 3:
				propagation := rapid.SampledFrom([]string{"", "Foreground", "Orphan"}).Draw(t, "propagation")
				w.do(t, func(_ *world, name func(string) string) *Request {
					r := request(Delete, kind, name(is))
					r.Propagation = propagation
					return r
				})
			case 4:
				w.do(t, func(_ *world, name func(string) string) *Request {
					return forced(applying(kind, name(is), name(owner)+"-manager", complete(kind, tree{"data": tree{name(is): "x"}})))
				})
			case 5:
				w.a.settle()
				w.b.settle()
			}
		}
		checkExchanged(t, server, w.a.objects, w.b.objects)
	})
}
