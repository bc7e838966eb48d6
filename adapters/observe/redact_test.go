package observe

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// TestRedaction hides "hush" everywhere, and nothing else.
func TestRedaction(t *testing.T) {
	r := newRedactor(Options{Redact: []Redaction{
		{Kind: "Deployment.apps", Pointer: "/spec/containers/*/env/*/value"},
		{Kind: "ConfigMap", Pointer: "/data/a~1b"},
	}}, &comparisons{})
	const object, merge, operations = "", string(types.MergePatchType), string(types.JSONPatchType)
	tests := []struct {
		kind  core.Kind
		patch string
		text  string
		keeps string
	}{
		{"Secret", object, `{"data":{"a":"hush"},"stringData":{"b":"hush"},"type":"keep"}`, "keep"},
		{"Secret", object, `{"metadata":{"name":"keep","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":\"hush\"}"}}}`, "keep"},
		{"Secret", merge, `{"data":{"a":"hush","keep":null}}`, `"keep":null`},
		{"Secret", operations, `[{"op":"replace","path":"/data/a","value":"hush"},{"op":"add","path":"/metadata/labels/x","value":"keep"}]`, "keep"},
		{"Secret", operations, `[{"op":"add","path":"/data","value":{"a":"hush"}},{"op":"remove","path":"/keep"}]`, "keep"},
		{"Secret", operations, `[{"op":"add","path":"","value":{"data":"hush"}},{"op":"remove","path":"/keep"}]`, "keep"},
		{"Secret", operations, `[{"op":"add","path":"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration","value":"hush"},{"op":"remove","path":"/keep"}]`, "keep"},
		{"Deployment.apps", object, `{"spec":{"containers":[{"env":[{"name":"keep","value":"hush"}]}]}}`, "keep"},
		{"Deployment.apps", operations, `[{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"x","value":"hush"}},{"op":"test","path":"/spec/replicas","value":"keep"}]`, "keep"},
		{"Deployment.apps", object, `{"metadata":{"managedFields":[{"manager":"keep","fieldsV1":{"v:\"hush\"":{}}}]}}`, "keep"},
		{"ConfigMap", object, `{"data":{"a/b":{"deep":["hush"]},"a":"keep"}}`, "keep"},
		{"TokenRequest.authentication.k8s.io", object, `{"status":{"token":"hush","expirationTimestamp":"keep"}}`, "keep"},
		{"Pod", object, `{"data":{"a":"keep"},"n":12345678901234567890}`, "12345678901234567890"},
	}
	for _, test := range tests {
		c := live.Call{Object: core.Key{Kind: test.kind, Name: "x"}, Write: &live.Write{Patch: test.patch}}
		got, err := r.body(c, body{text: []byte(test.text)})
		if err != nil || strings.Contains(string(got), "hush") || !strings.Contains(string(got), test.keeps) {
			t.Errorf("%s %s\nbecomes %s, %v", test.kind, test.text, got, err)
		}
	}
	for _, text := range []string{`{`, `{"op":"add"}`, `["hush"]`, `hush`} {
		c := live.Call{Object: core.Key{Kind: "Secret", Name: "x"}, Write: &live.Write{Patch: operations}}
		if got, err := r.body(c, body{text: []byte(text)}); err == nil {
			t.Errorf("%s becomes %s, want an error", text, got)
		}
	}
	one, _ := r.Text("Secret", []byte(`{"data":{"a":"x","b":"x","c":"y"}}`))
	other, _ := newRedactor(Options{}, &comparisons{}).Text("Secret", []byte(`{"data":{"a":"x","b":"x","c":"y"}}`))
	if parts := strings.Split(string(one), `"`); parts[5] != parts[9] || parts[5] == parts[13] || string(one) == string(other) {
		t.Errorf("digests %s and, with another key, %s", one, other)
	}
}
