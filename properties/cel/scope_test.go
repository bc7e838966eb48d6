package cel

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// TestServedKinds checks that Kubernetes' own kinds are those that a server serves, in the versions that it keeps them
// in, under the same names, and in the same scopes.
func TestServedKinds(t *testing.T) {
	known, err := Types{}.kinds()
	if err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if served := server.Kinds(); len(served) != len(known.all) {
		t.Errorf("%d kinds are known, and %d served", len(known.all), len(served))
	}
	for _, k := range known.all {
		mapping, err := server.RESTMapper().RESTMapping(k.GroupKind())
		if err != nil {
			t.Errorf("%s is not served: %v", k.name(), err)
			continue
		}
		scope := inCluster
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			scope = inNamespaces
		}
		if mapping.GroupVersionKind != k.GroupVersionKind || mapping.Resource.Resource != k.plural || scope != k.scope {
			t.Errorf("%v, %s, in scope %d, is served as %v, %s, in scope %d",
				k.GroupVersionKind, k.plural, k.scope, mapping.GroupVersionKind, mapping.Resource.Resource, scope)
		}
		if found, err := known.find(string(kube.KindOf(k.GroupKind()))); err != nil || found != k {
			t.Errorf("%s is not found: %v", k.name(), err)
		}
	}
}
