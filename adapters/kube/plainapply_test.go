package kube

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

var rackKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rack"}

// drawing draws what somebody may want of an object.
type drawing struct{ *rapid.T }

func (d drawing) yes(what string) bool { return rapid.IntRange(0, 2).Draw(d.T, what) > 0 }

// text draws a string: mostly one of few, so that what is wanted is often there.
func (d drawing) text(what string) string {
	return rapid.SampledFrom([]string{"a", "b", "c", "", `"é" <&>`}).Draw(d.T, what)
}

func (d drawing) number(what string) int64 { return rapid.Int64Range(0, 2).Draw(d.T, what) }

// fields draws some of the fields, which are drawn only then, and seldom null or nothing.
func (d drawing) fields(all map[string]func() any) tree {
	fields := tree{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch rapid.SampledFrom([]string{"", "", "", "", "", "value", "value", "value", "value", "value", "value", "value", "null", "empty", "another type"}).Draw(d.T, name) {
		case "value":
			fields[name] = all[name]()
		case "null":
			fields[name] = nil
		case "another type":
			if d.number("how odd") == 0 {
				fields[name] = rapid.SampledFrom([]any{int64(1), "1", true, 1.5, tree{"z": "1"}, []any{nil}, []any{tree{"name": "a"}, tree{}}}).Draw(d.T, "odd")
			}
		case "empty":
			switch all[name]().(type) {
			case tree:
				fields[name] = tree{}
			case []any:
				fields[name] = []any{}
			}
		}
	}
	return fields
}

func (d drawing) texts(what string) func() any {
	return func() any {
		fields := tree{}
		for _, name := range []string{"a", "b", "a.b/c"} {
			if d.yes(what) {
				fields[name] = d.text(what)
			}
		}
		return fields
	}
}

// items draws a list, in some order and perhaps with duplicates.
func (d drawing) items(what string, item func() any) func() any {
	return func() any {
		items := []any{}
		for range rapid.IntRange(0, 3).Draw(d.T, what) {
			items = append(items, item())
		}
		return items
	}
}

func (d drawing) wanted(kind schema.GroupVersionKind) tree {
	text := func() any { return d.text("text") }
	number := func() any { return d.number("number") }
	name := func() any { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(d.T, "name") }
	yes := func() any { return d.yes("yes") }
	fields := map[string]func() any{"metadata": func() any {
		return d.fields(map[string]func() any{
			"labels":      func() any { return tree{"a": name()} },
			"annotations": d.texts("annotation"),
			"finalizers":  d.items("finalizer", func() any { return "example.com/" + name().(string) }),
		})
	}}
	switch kind.Kind {
	case "Widget":
		fields["spec"] = func() any { return d.fields(map[string]func() any{"color": text, "size": number}) }
		fields["status"] = func() any { return d.fields(map[string]func() any{"ready": yes, "since": text}) }
	case "Gadget":
		fields["spec"] = func() any {
			return d.fields(map[string]func() any{"a": text, "b": d.texts("any"), "c": d.items("c", text)})
		}
	case "Rack":
		fields["spec"] = func() any {
			return d.fields(map[string]func() any{
				"labels": d.items("label", text), "numbers": d.items("number", number), "rows": d.items("row", text),
				"slots": d.items("slot", func() any {
					slot := d.fields(map[string]func() any{"side": name, "height": number, "notes": d.texts("note")})
					slot["name"] = name()
					return slot
				}),
				"owner":  func() any { return d.fields(map[string]func() any{"name": text, "parts": d.items("part", number)}) },
				"counts": func() any { return d.fields(map[string]func() any{"a": number, "b": number}) },
				"port": func() any {
					if d.yes("named") {
						return text()
					}
					return number()
				},
				"weight": func() any { return rapid.SampledFrom([]any{int64(1), 1.5}).Draw(d.T, "weight") },
				"more":   d.texts("more"),
			})
		}
		fields["status"] = func() any { return d.fields(map[string]func() any{"used": number}) }
	case "ConfigMap":
		fields["data"] = d.texts("data")
	case "Secret":
		fields["stringData"] = d.texts("data")
	case "Service":
		fields["spec"] = func() any {
			return tree{"ports": d.items("port", func() any {
				port := d.fields(map[string]func() any{"protocol": func() any { return rapid.SampledFrom([]string{"TCP", "UDP"}).Draw(d.T, "protocol") }})
				port["port"], port["name"] = d.number("port")+1, name()
				return port
			})(), "clusterIP": "None"}
		}
	case "Deployment":
		fields["spec"] = func() any {
			spec := d.fields(map[string]func() any{"replicas": number, "strategy": func() any { return tree{} }, "paused": yes})
			spec["selector"] = tree{"matchLabels": tree{"app": "x"}}
			spec["template"] = tree{"metadata": tree{"labels": tree{"app": "x"}}, "spec": tree{
				"containers": append(d.items("container", func() any {
					container := d.fields(map[string]func() any{
						"args": d.items("arg", text), "resources": func() any { return tree{"limits": tree{"cpu": "0.5"}} },
						"env":   d.items("variable", func() any { return tree{"name": name(), "value": text()} }),
						"ports": d.items("port", func() any { return tree{"containerPort": d.number("port") + 1} }),
					})
					container["name"], container["image"] = name(), "img:"+name().(string)
					return container
				})().([]any), tree{"name": "main", "image": "img"}),
				"volumes": d.items("volume", func() any { return tree{"name": name(), "emptyDir": tree{}} })(),
			}}
			return spec
		}
	}
	return d.fields(fields)
}

// request draws a write, mostly an apply, to an object of the kind.
func (d drawing) request(kind schema.GroupVersionKind) *Request {
	wanted := d.wanted(kind)
	manager := rapid.SampledFrom([]string{"m", "m", "n", "kubectl"}).Draw(d.T, "manager")
	metadata, _ := wanted["metadata"].(tree)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = tree{}
	}
	metadata["name"] = "a"
	wanted["metadata"] = metadata
	if kind.Group == "example.com" && (kind.Kind == "Widget" || kind.Kind == "Rack") && !d.yes("the version of the store") {
		kind.Version = "v1beta1"
	}
	r := applying(kind, "a", manager, wanted)
	r.Force = d.yes("force")
	switch rapid.SampledFrom([]string{"apply", "apply", "apply", "patch", "status"}).Draw(d.T, "write") {
	case "patch":
		r.PatchType, r.Force = types.MergePatchType, false
		delete(metadata, "name")
		r.Body = jsontree.Canonical(jsonOf(wanted))
	case "status":
		if kind.Kind == "Widget" || kind.Kind == "Rack" || kind.Kind == "Deployment" {
			r.Subresource = "status"
		}
	}
	return r
}

// TestPlainAppliesAreThoseOfTheLibrary would catch an apply with another outcome, or with
// another record of who manages what, because nothing in it seems to be odd.
func TestPlainAppliesAreThoseOfTheLibrary(t *testing.T) {
	kinds := []schema.GroupVersionKind{widgetKind, gadgetKind, rackKind, configMapKind, serviceKind, deploymentKind}
	servers := []*Server{
		newTestServer(t, DefinitionFiles("testdata/racks.yaml")),
		newTestServer(t, DefinitionFiles("testdata/racks.yaml"), ManagedFields()),
	}
	for _, kind := range kinds {
		t.Run(kind.Kind, func(t *testing.T) {
			plain := 0
			rapid.Check(t, func(t *rapid.T) {
				w := emptyWorld(t, rapid.SampledFrom(servers).Draw(t, "server"))
				for range rapid.IntRange(1, 8).Draw(t, "writes") {
					r := drawing{t}.request(kind)
					if r.PatchType == types.ApplyYAMLPatchType && comparePlain(t, w, r) {
						plain++
					}
					w.do(r)
				}
			})
			t.Logf("%d applies are plain", plain)
			if plain == 0 {
				t.Error("no apply is plain")
			}
		})
	}
}

// comparePlain reports whether an apply is plain. It must do then what the library does.
func comparePlain(t *rapid.T, w *world, r *Request) bool {
	resource, err := w.server.registry.Find(r.Kind)
	if err != nil {
		t.Fatal(err)
	}
	op := &operation{server: w.server, state: w, request: r, resource: resource}
	wanted, err := op.appliedBody()
	if err != nil {
		t.Fatal(err)
	}
	live := func() *unstructured.Unstructured {
		from := op.find(core.Key{Kind: resource.Name, Namespace: r.Namespace, Name: r.Name})
		if from == nil {
			return kinds.EmptyOf(r.Kind)
		}
		live := from.Live()
		if err := op.recordFirst(live); err != nil {
			t.Fatal(err)
		}
		return live
	}
	before := live()
	got := op.plainApply().Merge(before, wanted)
	if !jsontree.Same(before.Object, live().Object) {
		t.Fatalf("%s changes what there is", r.Body)
	}
	if got == nil {
		return false
	}
	want, err := op.applyOdd(live(), wanted.DeepCopy())
	if err != nil {
		t.Fatalf("%s is merged, and refused with %v", r.Body, err)
	}
	again := func(tree *unstructured.Unstructured) string {
		object, err := op.readAgain(tree)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s, not shown: %s", jsontree.Canonical(object.Object), op.unshown)
	}
	if got, want := again(got), again(want); got != want {
		t.Fatalf("%s applied\nto   %s\ngot  %s\nwant %s", r.Body, jsontree.Canonical(before.Object), got, want)
	}
	return true
}
