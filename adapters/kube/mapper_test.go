package kube

import (
	"maps"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
)

// newMappedServer serves kinds of several groups, one of them in several versions, and knows kinds that are only sent.
func newMappedServer(t *testing.T) *Server {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, authorizationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	server, err := NewServer(scheme, DefinitionFiles("testdata/widgets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// discovered is the mapper of a real client that has discovered some of the kinds of a server.
func discovered(t *testing.T, mapper meta.RESTMapper, kinds []schema.GroupKind) meta.RESTMapper {
	found := map[string]*restmapper.APIGroupResources{}
	for _, kind := range kinds {
		mappings, err := mapper.RESTMappings(kind)
		if err != nil {
			t.Fatal(err)
		}
		of := found[kind.Group]
		if of == nil {
			of = &restmapper.APIGroupResources{Group: metav1.APIGroup{Name: kind.Group}, VersionedResources: map[string][]metav1.APIResource{}}
			found[kind.Group] = of
		}
		for _, m := range mappings {
			version := m.GroupVersionKind.Version
			if of.VersionedResources[version] == nil {
				of.Group.Versions = append(of.Group.Versions, metav1.GroupVersionForDiscovery{Version: version})
				of.Group.PreferredVersion = of.Group.Versions[0]
			}
			of.VersionedResources[version] = append(of.VersionedResources[version], metav1.APIResource{
				Name: m.Resource.Resource, Kind: kind.Kind, Namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace,
			})
		}
	}
	var groups []*restmapper.APIGroupResources
	for _, name := range slices.Sorted(maps.Keys(found)) {
		groups = append(groups, found[name])
	}
	return restmapper.NewDiscoveryRESTMapper(groups)
}

// TestRESTMapper holds the mapper against one of client-go.
func TestRESTMapper(t *testing.T) {
	mapper := newMappedServer(t).RESTMapper()
	kinds := []schema.GroupKind{
		podKind.GroupKind(), {Kind: "Node"}, {Kind: "Endpoints"}, {Kind: "Binding"},
		{Group: "policy", Kind: "PodDisruptionBudget"}, {Group: "policy", Kind: "Eviction"},
		{Group: "authorization.k8s.io", Kind: "SubjectAccessReview"},
		widgetKind.GroupKind(), fleetKind.GroupKind(),
	}
	other := discovered(t, mapper, kinds)
	for _, kind := range kinds {
		for _, name := range []string{kind.Kind, kind.Kind + "List", strings.ToLower(kind.Kind), "List", "No" + kind.Kind} {
			asked := schema.GroupKind{Group: kind.Group, Kind: name}
			got, err := mapper.RESTMapping(asked)
			want, wantErr := other.RESTMapping(asked)
			if meta.IsNoMatchError(err) != meta.IsNoMatchError(wantErr) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %v, want %v", asked, err, wantErr)
				continue
			}
			if err == nil && (got.Resource != want.Resource || got.GroupVersionKind != want.GroupVersionKind || got.Scope.Name() != want.Scope.Name()) {
				t.Errorf("%s: %v, want %v", asked, got, want)
			}
		}
		mapping, err := other.RESTMapping(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range []schema.GroupVersionResource{
			mapping.Resource,
			{Group: kind.Group, Resource: mapping.Resource.Resource},
			{Resource: mapping.Resource.Resource},
			{Resource: strings.ToLower(kind.Kind)},
			{Group: kind.Group, Resource: strings.ToLower(kind.Kind) + "lists"},
			{Group: kind.Group, Version: "v9", Resource: mapping.Resource.Resource},
		} {
			got, err := mapper.KindFor(asked)
			want, wantErr := other.KindFor(asked)
			if got != want || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %s, %v, want %s, %v", asked, got, err, want, wantErr)
			}
		}
	}
}

func TestRESTMapperIsMadeOnce(t *testing.T) {
	server := newMappedServer(t)
	with, err := server.WithFieldIndexes()
	if err != nil {
		t.Fatal(err)
	}
	delegate := func(s *Server) meta.RESTMapper { return s.RESTMapper().(meta.PriorityRESTMapper).Delegate }
	if delegate(server) != delegate(server) || delegate(server) != delegate(with) {
		t.Error("the mapper is made again")
	}
}

func TestKindFor(t *testing.T) {
	server := newMappedServer(t)
	for _, test := range []struct{ group, version, resource, kind, err string }{
		{"", "v1", "pods", "Pod", ""},
		{"", "v1", "endpoints", "Endpoints", ""},
		{"", "v1", "bindings", "Binding", ""},
		{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", ""},
		{"example.com", "v1", "widgets", "Widget", ""},
		{"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", ""},
		{"", "v1", "widgets", "", "no kind is known that is served as widgets.v1: "},
		{"example.com", "v1", "pods", "", "no kind is known that is served as pods.v1.example.com: "},
		{"", "v1", "pod", "", "no kind is known that is served as pod.v1: "},
		{"", "v1", "Pods", "", "no kind is known that is served as Pods.v1: "},
		{"", "v1", "podlists", "", "no kind is known that is served as podlists.v1: "},
		{"", "", "gizmos", "", "no kind is known that is served as gizmos"},
		{"", "v2", "pods", "", `Pod is not served in version "v2", only in v1: `},
		{"example.com", "", "widgets", "", "widgets.example.com has no version: name one of "},
	} {
		asked := schema.GroupVersionResource{Group: test.group, Version: test.version, Resource: test.resource}
		kind, err := server.KindFor(asked)
		switch {
		case test.err != "" && (err == nil || !strings.HasPrefix(err.Error(), test.err)):
			t.Errorf("%s: %v, want %q", asked, err, test.err)
		case test.err == "" && (err != nil || kind != asked.GroupVersion().WithKind(test.kind)):
			t.Errorf("%s: %s, %v, want %s", asked, kind, err, test.kind)
		}
	}
}
