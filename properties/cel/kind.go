package cel

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/core"
)

// Types is what is known of kinds besides Kubernetes' own, which are always known with their fields. What is known is
// checked before anything runs. The zero value knows no more; objects of other kinds can be selected by the name of
// their kind with its group, and any field can be asked for.
type Types struct {
	// Scheme has the Go types of kinds. If there are several versions of one, the one that Kubernetes prefers counts.
	Scheme *runtime.Scheme
	// Definitions are those of custom resources. They come before Go types. The schema of the storage version counts.
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Complete tells that there are no other kinds than those of the scheme and the definitions, and of Kubernetes' own
	// none but those. Others are mistakes then.
	Complete bool
}

// kind is a kind of objects that expressions can select.
type kind struct {
	schema.GroupVersionKind
	plural string
	scope  scope
	// shape makes the shape of its objects.
	shape func(*shapes) *shape
}

// name is the name of the kind in a state, and in messages.
func (k *kind) name() core.Kind { return core.Kind(k.GroupKind().String()) }

// kinds are the known kinds, in the order of their names.
type kinds struct {
	all []*kind
	// complete tells that there are no others.
	complete bool
}

// kinds returns what is known.
func (t Types) kinds() (*kinds, error) {
	known := map[schema.GroupKind]*kind{}
	own := map[schema.GroupKind]*kind{}
	learn(own, clientgoscheme.Scheme)
	if !t.Complete {
		maps.Copy(known, own)
	}
	if t.Scheme != nil {
		learn(known, t.Scheme)
	}
	for groupKind, k := range known {
		if own[groupKind] != nil {
			k.scope = ownScope(groupKind)
		}
	}
	for _, d := range t.Definitions {
		k, err := defined(d)
		if err != nil {
			return nil, err
		}
		known[k.GroupKind()] = k
	}
	all := slices.SortedFunc(maps.Values(known), func(a, b *kind) int { return cmp.Compare(a.name(), b.name()) })
	return &kinds{all, t.Complete}, nil
}

// learn adds the kinds of a scheme that are stored.
func learn(known map[schema.GroupKind]*kind, scheme *runtime.Scheme) {
	here := map[schema.GroupKind]*kind{}
	for gvk, goType := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || !stored(gvk, goType) {
			continue
		}
		best := here[gvk.GroupKind()]
		if best != nil && version.CompareKubeAwareVersionStrings(gvk.Version, best.Version) <= 0 {
			continue
		}
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		here[gvk.GroupKind()] = &kind{
			GroupVersionKind: gvk,
			plural:           plural.Resource,
			shape:            func(s *shapes) *shape { return s.goType(goType) },
		}
	}
	maps.Copy(known, here)
}

// stored reports whether objects of a kind are kept by a server, and not only sent to it.
func stored(gvk schema.GroupVersionKind, goType reflect.Type) bool {
	switch gvk.Kind {
	case "Binding", "ComponentStatus", "Eviction", "PodStatusResult", "RangeAllocation", "Scale", "TokenRequest":
		return false
	}
	return reflect.PointerTo(goType).Implements(reflect.TypeFor[metav1.Object]()) && !strings.HasSuffix(gvk.Kind, "Review")
}

// defined returns the kind of a custom resource definition.
func defined(d *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	i := slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 {
		return nil, fmt.Errorf("custom resource definition %q: no version is the storage version: set storage of one", d.Name)
	}
	v := d.Spec.Versions[i]
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("custom resource definition %q: version %q has no schema: give it one", d.Name, v.Name)
	}
	k := &kind{plural: d.Spec.Names.Plural, scope: inNamespaces}
	if d.Spec.Scope == apiextensionsv1.ClusterScoped {
		k.scope = inCluster
	}
	k.GroupVersionKind = schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind}
	k.shape = func(s *shapes) *shape { return s.wholeObject(string(k.name()), v.Schema.OpenAPIV3Schema) }
	return k, nil
}
