package scaffold

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRaised checks what is said of the version of controller-runtime that a project requires.
func TestRaised(t *testing.T) {
	for version, want := range map[string]string{
		"": "", "v0.23.0": "", "v0.25.2": "",
		"v0.20.4": "go.mod requires controller-runtime v0.20.4, which Go raises to v0.23 or newer for Orrery. If the code does not build then: go mod edit -replace sigs.k8s.io/controller-runtime=sigs.k8s.io/controller-runtime@v0.22.4 -replace k8s.io/api=k8s.io/api@v0.34.3 ",
		"v0.22.5": "go mod edit -replace sigs.k8s.io/controller-runtime=sigs.k8s.io/controller-runtime@v0.22.5 -replace k8s.io/api=k8s.io/api@v0.34.3 ",
	} {
		if got := raised(version); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("of %q it is said %q, want %q", version, got, want)
		}
	}
}

// TestObjectsInTwoSamples has one of two files be left out that have an object in common, which a check cannot begin
// with twice.
func TestObjectsInTwoSamples(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n",
		"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n",
		"c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: other}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: one}\n",
		"d.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n",
		"e.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n",
	} {
		name = filepath.Join(root, filepath.FromSlash(sampleFolder), name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readManifests(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"config/samples/a.yaml", "config/samples/c.yaml", "config/samples/d.yaml", "config/samples/e.yaml"}; !slices.Equal(m.samples, want) {
		t.Errorf("the samples are %q, want %q", m.samples, want)
	}
	if want := "config/samples/b.yaml has ConfigMap one, as config/samples/a.yaml does, which is one of the initial objects: give one of the two files to controllerruntime.Objects"; len(m.unusable) != 1 || m.unusable[0] != want {
		t.Errorf("it is said %q, want %q", m.unusable, want)
	}
}
