package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNameRules(t *testing.T) {
	server := newTestServer(t)
	if err := rbacv1.AddToScheme(server.Scheme()); err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(server.Scheme(), DefinitionFiles("testdata/widgets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	core := corev1.SchemeGroupVersion
	for _, test := range []struct {
		kind schema.GroupVersionKind
		name string
		ok   bool
	}{
		{widgetKind, "a.b", true},
		{widgetKind, "A", false},
		{widgetKind, "a/b", false},
		{core.WithKind("Namespace"), "a.b", false},
		{core.WithKind("Namespace"), "a-b", true},
		{core.WithKind("Service"), "a.b", false},
		{core.WithKind("Service"), "1a", true},
		{rbacv1.SchemeGroupVersion.WithKind("Role"), "system:A", true},
		{rbacv1.SchemeGroupVersion.WithKind("Role"), "a/b", false},
	} {
		w := emptyWorld(t, server)
		response, _ := w.do(creation(test.kind, tree{"name": test.name}, nil))
		if got := response.Status == nil; got != test.ok {
			t.Errorf("%s %q: %s", test.kind.Kind, test.name, response)
		}
	}
}
