package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

func TestVersionsOfACustomResource(t *testing.T) {
	w := newWorld(t)
	beta := schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	old := w.must(creation(beta, tree{"name": "a"}, nil))
	expect(t, "apiVersion as it was asked for", old.GetAPIVersion(), "example.com/v1beta1")
	expect(t, "apiVersion in another version", w.must(request(Get, widgetKind, "a")).GetAPIVersion(), "example.com/v1")
	stored := w.objects[keyOfWidget("a")].Fields().(tree)
	expect(t, "apiVersion as it is stored", stored["apiVersion"], "example.com/v1")
	if _, writes := w.do(updating(beta, old)); writes != 0 {
		t.Error("an identical update in another version writes")
	}
	wrong := updating(widgetKind, old)
	w.refuse(wrong, 400, "the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)")
	w.unsupported(request(Get, schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"}, "a"))
}

// A version that is stored need not be served, and each is validated by its own schema.
func TestStorageVersionThatIsNotServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crd.yaml")
	good, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(good), "served: true", "served: false", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles(path))
	if err != nil {
		t.Fatal(err)
	}
	w := emptyWorld(t, server)
	beta := schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	w.must(creation(beta, tree{"name": "a"}, nil))
	if response, _ := w.do(creation(beta, tree{"name": "b"}, tree{"spec": tree{"size": -1}})); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("an invalid object: %s", response)
	}
	w.unsupported(request(Get, widgetKind, "a"))
}

// Each version has subresources of its own: what is a status for requests of one is a field like others for those of
// another one.
func TestSubresourcesOfAVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crd.yaml")
	good, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, tail, _ := strings.Cut(string(good), "- name: v1beta1")
	text := head + "- name: v1beta1" + strings.Replace(tail, "subresources: {status: {}}", "subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles(path))
	if err != nil {
		t.Fatal(err)
	}
	w := emptyWorld(t, server)
	beta := schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	old := w.must(creation(beta, tree{"name": "a"}, tree{"spec": tree{"size": 1}, "status": tree{"ready": true}}))
	expect(t, "the status of an object that is created in the version without a status", jsontree.At(old, "status", "ready"), true)
	now := w.must(creation(widgetKind, tree{"name": "b"}, tree{"spec": tree{"size": 1}, "status": tree{"ready": true}}))
	expect(t, "the status of an object that is created in the other version", jsontree.At(now, "status", "ready"), nil)
	now = w.must(ofStatus(patching(widgetKind, "b", types.MergePatchType, `{"status":{"ready":true}}`)))
	expect(t, "the status once it is set", jsontree.At(now, "status", "ready"), true)
	expect(t, "generation", now.GetGeneration(), 1)
	old = w.must(patching(beta, "b", types.MergePatchType, `{"status":{"ready":false}}`))
	expect(t, "the status as a field", jsontree.At(old, "status", "ready"), false)
	expect(t, "generation", old.GetGeneration(), 2)
	now = w.must(patching(widgetKind, "b", types.MergePatchType, `{"status":{"ready":true}}`))
	expect(t, "the status that only the subresource changes", jsontree.At(now, "status", "ready"), false)
	w.refuse(ofStatus(patching(beta, "b", types.MergePatchType, `{"status":{"ready":true}}`)), 404, `widgets.example.com "b" not found`)
	w.refuse(of("scale", request(Get, widgetKind, "b")), 404, `widgets.example.com "b" not found`)
	for _, name := range []string{"status", "scale"} {
		expect(t, "how webhooks see a write by "+name, string(server.Writes("Widget.example.com")[name]), "UPDATE")
	}
	expect(t, "the scale", jsontree.At(w.must(of("scale", request(Get, beta, "b"))), "spec", "replicas"), 1)
}

func TestDefinitionErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, from, to, want string }{
		{"another name", "name: widgets.example.com", "name: things.example.com", `metadata.name must be "widgets.example.com"`},
		{"no such scope", "scope: Namespaced", "scope: Everywhere", `spec.scope must be Namespaced or Cluster, not "Everywhere"`},
		{"no group", "group: example.com", "group: ''", "spec.group is empty"},
		{"no storage", "storage: true", "storage: false", "no version is the storage version"},
		{"twice", "name: gadgets.example.com", "name: widgets.example.com", "metadata.name must be"},
		{"old version", "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", "write it as apiextensions.k8s.io/v1"},
		{"not structural", "size: {type: integer, ", "size: {", "the schema is not structural"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crd.yaml")
			text := strings.ReplaceAll(string(good), test.from, test.to)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles(path))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles("testdata/widgets.yaml", "testdata/widgets.yaml")); err == nil || !strings.Contains(err.Error(), "defined twice") {
		t.Errorf("the same definitions twice: %v", err)
	}
	if _, err := NewServer(nil); err == nil {
		t.Error("a server without a scheme is made")
	}
	if _, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles("testdata/nothing")); err == nil {
		t.Error("a server is made from a file that does not exist")
	}
}

// TestUnservedDefinition wants a definition of which no version is served any more to be there, and nothing else of it.
func TestUnservedDefinition(t *testing.T) {
	good, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(good), "served: true", "served: false")), 0o600); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	server, err := NewServer(scheme, DefinitionFiles(path))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(server.Kinds(), core.Kind("Widget.example.com")) || len(server.Definitions()) == 0 {
		t.Errorf("kinds %v, %d definitions", server.Kinds(), len(server.Definitions()))
	}
	if err := server.Serves(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}); err == nil {
		t.Error("its kind is served")
	}
}

func TestRegistry(t *testing.T) {
	server := newTestServer(t)
	kinds := server.Kinds()
	for _, want := range []core.Kind{"Pod", "Namespace", "Deployment.apps", "Job.batch", "Widget.example.com", "Fleet.example.com"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("%s is not served", want)
		}
	}
	for _, kind := range kinds {
		if strings.Contains(string(kind), "List") || strings.Contains(string(kind), "Options") || kind == "Binding" || kind == "WatchEvent" {
			t.Errorf("%s is served", kind)
		}
	}
	if !slices.IsSorted(kinds) {
		t.Error("the kinds are not in order")
	}
	mapper := server.RESTMapper()
	for _, test := range []struct {
		kind     schema.GroupKind
		resource string
		scope    meta.RESTScopeName
	}{
		{podKind.GroupKind(), "pods", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Kind: "Node"}, "nodes", meta.RESTScopeNameRoot},
		{schema.GroupKind{Kind: "Endpoints"}, "endpoints", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}, "poddisruptionbudgets", meta.RESTScopeNameNamespace},
		{widgetKind.GroupKind(), "widgets", meta.RESTScopeNameNamespace},
		{fleetKind.GroupKind(), "fleets", meta.RESTScopeNameRoot},
	} {
		mapping, err := mapper.RESTMapping(test.kind)
		if err != nil {
			t.Error(err)
			continue
		}
		if mapping.Resource.Resource != test.resource || mapping.Scope.Name() != test.scope {
			t.Errorf("%s maps to %s, %s", test.kind, mapping.Resource.Resource, mapping.Scope.Name())
		}
	}
	mapping, err := mapper.RESTMapping(widgetKind.GroupKind())
	if err != nil || mapping.GroupVersionKind.Version != "v1" {
		t.Errorf("the preferred version is %v, %v", mapping, err)
	}
	if err := server.Serves(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gizmo"}); err == nil || !strings.Contains(err.Error(), "kind Gizmo.example.com is not registered") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// What a real server refuses of a definition is refused when the server is made.
func TestDefinitionsThatServersRefuse(t *testing.T) {
	good, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, from, to, want string }{
		{"one version alone can be selected", "    selectableFields: [{jsonPath: .spec.color}]\n    schema: *schema", "    schema: *schema",
			"spec.versions[0].selectableFields: Invalid value"},
		{"a rule that does not compile", "self.size <= 100", "self.width <= 100", "undefined field 'width'"},
		{"a default that is none", "default: 1, minimum: 0", "default: -1, minimum: 0", "properties[size].default: Invalid value: -1"},
		{"a group that is protected", "example.com", "example.k8s.io", "api-approved.kubernetes.io"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crd.yaml")
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(good), test.from, test.to)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := NewServer(newTestServer(t).Scheme(), DefinitionFiles(path))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
