package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseObjects(t *testing.T) {
	server := newTestServer(t)
	objects, err := server.ParseObjects("objects.yaml", []byte(`# a comment
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
--- {apiVersion: v1, kind: Pod, metadata: {name: inline}}
--- # another
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {text: "---"}}
---
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.GetKind()+" "+o.GetName())
	}
	expect(t, "objects", got, []string{"Widget a", "Pod inline", "Pod p", "ConfigMap c"})
}

func TestParseErrors(t *testing.T) {
	server := newTestServer(t)
	const first = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\n"
	for _, test := range []struct{ name, text, want string }{
		{"unknown kind", "apiVersion: example.com/v1\nkind: Gizmo\n", "kind Gizmo.example.com is not registered: add its Go type to the scheme, or its custom resource definition with CRDs"},
		{"unknown version", "apiVersion: example.com/v7\nkind: Widget\n", `Widget.example.com is not served in version "v7", only in v1, v1beta1`},
		{"no kind", "apiVersion: v1\n", "the object has no kind: add one"},
		{"no version", "kind: Pod\n", "the Pod has no apiVersion: add one"},
		{"not YAML", "a: [\n", "this is not YAML"},
		{"twice the same key", "kind: Pod\nkind: Pod\n", "this is not YAML"},
		{"not an object", "- 1\n", "this is not an object"},
		{"bad list", "apiVersion: v1\nkind: List\nitems: [7]\n", "item 1 of the list is not an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := server.ParseObjects("objects.yaml", []byte(first+test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "objects.yaml, document 2 (line 5): ") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLoadObjects(t *testing.T) {
	server := newTestServer(t)
	directory := t.TempDir()
	if _, err := server.LoadObjects(directory); err == nil {
		t.Error("an empty directory is no error")
	}
	if _, err := server.LoadObjects(filepath.Join(directory, "missing.yaml")); err == nil {
		t.Error("a missing file is no error")
	}
	for name, text := range map[string]string{
		"b.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
		"a.json": `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}`,
		"c.txt":  "not looked at",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := server.LoadObjects(directory)
	if err != nil || len(objects) != 2 || objects[0].GetName() != "a" || objects[1].GetName() != "b" {
		t.Errorf("got %v, %v", objects, err)
	}
	again := filepath.Join(t.TempDir(), "again.yaml")
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: default}\n":       "Pod default/b is in " + filepath.Join(directory, "b.yaml") + ", document 1 (line 1), as well: leave one of them out",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: other}\n":                                                              "",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b, namespace: x}\n": "Namespace b is in",
	} {
		if err := os.WriteFile(again, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.LoadObjects(directory, again); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q, the error is %v, want %q", text, err, want)
		}
	}
}

// TestRefusals has it be said what of some objects a server refuses or drops, where it serves their kinds.
func TestRefusals(t *testing.T) {
	definition := filepath.Join(t.TempDir(), "jar.yaml")
	text := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: jars.example.org}, spec: {group: example.org, scope: Namespaced, names: {kind: Jar, listKind: JarList, plural: jars, singular: jar},
versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}, lids: {type: array, items: {type: object, properties: {color: {type: string}}}}},
x-kubernetes-validations: [{rule: "!has(self.size) || self.size < 9", message: no jar is so large}]}}}}}]}}`
	if err := os.WriteFile(definition, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	jar := func(spec string) string {
		return "apiVersion: example.org/v1\nkind: Jar\nmetadata: {name: j, labels: {a: b}}\nspec: " + spec + "\n"
	}
	const at = "x.yaml, document 1 (line 1): "
	for text, want := range map[string]string{
		jar("{size: 3}"): "",
		jar("{size: 0}"): at + "a server refuses this, so that no check can begin with it: Jar.example.org default/j: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
		jar("{size: 9}"): at + "a server refuses this, so that no check can begin with it: Jar.example.org default/j: spec: Invalid value: no jar is so large",
		jar("{glass: clear, lids: [{color: red, width: 3}], none: null}"): at + "spec.glass is not in the schema of Jar.example.org, and is dropped\n" + at + "spec.lids[0].width is not in the schema of Jar.example.org, and is dropped",
		"apiVersion: example.org/v2\nkind: Jar\nmetadata: {name: j}\n":    "",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n":                "",
	} {
		refused, drops, err := Refusals("x.yaml", []byte(text), definition)
		if got := append(slices.Clone(refused), drops...); err != nil || strings.Join(got, "\n") != want || (len(refused) > 0) != strings.Contains(want, "refuses") {
			t.Errorf("%s\n got %q and %q, %v\nwant %q", text, refused, drops, err, want)
		}
	}
	for _, text := range []string{"a: [", jar("{}")} {
		if _, _, err := Refusals("x.yaml", []byte(text), definition+".none"); err == nil {
			t.Errorf("%s is looked at without a definition", text)
		}
	}
}
