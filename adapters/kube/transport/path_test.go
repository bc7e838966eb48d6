package transport

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	core := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	widgets := schema.GroupVersionResource{Group: "example.org", Version: "v2", Resource: "widgets"}
	for _, test := range []struct {
		path string
		want resourcePath
		ok   bool
	}{
		{path: "/api/v1/nodes", want: resourcePath{resource: core("nodes")}, ok: true},
		{path: "/api/v1/nodes/n/status", want: resourcePath{resource: core("nodes"), name: "n", subresource: "status"}, ok: true},
		{path: "/api/v1/namespaces", want: resourcePath{resource: core("namespaces")}, ok: true},
		{path: "/api/v1/namespaces/x", want: resourcePath{resource: core("namespaces"), name: "x"}, ok: true},
		{path: "/api/v1/namespaces/x/finalize", want: resourcePath{resource: core("namespaces"), name: "x", subresource: "finalize"}, ok: true},
		{path: "/api/v1/namespaces/x/pods", want: resourcePath{resource: core("pods"), namespace: "x"}, ok: true},
		{path: "/apis/example.org/v2/widgets", want: resourcePath{resource: widgets}, ok: true},
		{path: "/apis/example.org/v2/namespaces/x/widgets/w/scale", want: resourcePath{resource: widgets, namespace: "x", name: "w", subresource: "scale"}, ok: true},
		{path: "/api/v1/namespaces/x/services/s/proxy/index.html"},
		{path: "/api/v1"},
		{path: "/apis/example.org/v2"},
		{path: "/version"},
		{path: ""},
	} {
		got, ok := parsePath(test.path)
		if got != test.want && test.ok || ok != test.ok {
			t.Errorf("%s: got %+v, %t", test.path, got, ok)
		}
	}
}

func TestEveryObjectPathIsUnderstood(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9.-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		p := resourcePath{resource: schema.GroupVersionResource{Version: word.Draw(t, "version"), Resource: word.Draw(t, "resource")}}
		parts := []string{"", "api"}
		if rapid.Bool().Draw(t, "grouped") {
			p.resource.Group = word.Draw(t, "group")
			parts = []string{"", "apis", p.resource.Group}
		}
		parts = append(parts, p.resource.Version)
		if rapid.Bool().Draw(t, "namespaced") {
			p.namespace = word.Draw(t, "namespace")
			parts = append(parts, "namespaces", p.namespace)
		}
		parts = append(parts, p.resource.Resource)
		if rapid.Bool().Draw(t, "named") {
			p.name = word.Draw(t, "name")
			parts = append(parts, p.name)
			if rapid.Bool().Draw(t, "subresourced") {
				p.subresource = word.Draw(t, "subresource")
				parts = append(parts, p.subresource)
			}
		}
		path := strings.Join(parts, "/")
		if got, ok := parsePath(path); !ok || got != p {
			t.Fatalf("%s: got %+v, %t, want %+v", path, got, ok, p)
		}
	})
}
