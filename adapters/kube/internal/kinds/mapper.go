package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// KindFor returns the kind that is served under exactly this group, this version and this plural, as the path of a
// request names them. Unlike a REST mapper it takes an empty group for the core group, and guesses nothing.
func (g *Registry) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	r := g.paths[resource.GroupResource()]
	if r != nil && slices.Contains(r.Served, resource.Version) {
		return resource.GroupVersion().WithKind(r.Kind), nil
	}
	if kind, sent := g.sent[resource]; sent {
		return kind, nil
	}
	switch {
	case r != nil && resource.Version == "":
		return schema.GroupVersionKind{}, fmt.Errorf("%s has no version: name one of %s", resource.GroupResource(), strings.Join(r.Served, ", "))
	case r != nil:
		return schema.GroupVersionKind{}, r.notServed(resource.Version)
	}
	path := strings.Trim(resource.Resource+"."+resource.Version+"."+resource.Group, ".")
	return schema.GroupVersionKind{}, fmt.Errorf("no kind is known that is served as %s: add its Go type to the scheme, or its custom resource definition with CRDs", path)
}

// RESTMapper maps as the mapper of a real client does that has discovered what a server serves: where several groups
// have a resource of one name, the core group comes first, then Kubernetes' own ones, then those of custom resources.
// It is the same one as long as no kind is added.
func (g *Registry) RESTMapper() meta.RESTMapper { return g.mapper() }

// resetMapper forgets the mapper, since the kinds have changed: mappers that were handed out before do not know the new
// ones.
func (g *Registry) resetMapper() { g.mapper = sync.OnceValue(g.newMapper) }

func (g *Registry) newMapper() meta.RESTMapper {
	versions := g.groupVersions()
	mapper := meta.NewDefaultRESTMapper(versions)
	// A client that discovers kinds maps, besides a kind, its lists and its name in small letters.
	add := func(kind schema.GroupVersionKind, plural, singular string, namespaced bool) {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if namespaced {
			scope = meta.RESTScopeNamespace
		}
		gv := kind.GroupVersion()
		for _, name := range []string{strings.ToLower(kind.Kind), kind.Kind} {
			mapper.AddSpecific(gv.WithKind(name), gv.WithResource(plural), gv.WithResource(singular), scope)
		}
		mapper.Add(gv.WithKind(kind.Kind+"List"), scope)
	}
	for _, r := range g.sorted() {
		for _, v := range r.Served {
			add(schema.GroupVersionKind{Group: r.Group, Version: v, Kind: r.Kind}, r.Plural, r.singular, r.Namespaced)
		}
	}
	for plural, kind := range g.sent {
		_, singular := meta.UnsafeGuessKindToResource(kind)
		add(kind, plural.Resource, singular.Resource, sentWithNamespace(kind.Kind))
	}
	first := meta.PriorityRESTMapper{Delegate: mapper}
	for _, gv := range versions {
		mapper.Add(gv.WithKind("List"), meta.RESTScopeRoot)
		first.KindPriority = append(first.KindPriority, gv.WithKind(meta.AnyKind))
		first.ResourcePriority = append(first.ResourcePriority, gv.WithResource(meta.AnyResource))
	}
	return first
}

// groupVersions are the versions of all groups, in the order in which a mapper prefers them.
func (g *Registry) groupVersions() []schema.GroupVersion {
	var versions []schema.GroupVersion
	known := func(gv schema.GroupVersion) {
		if !slices.Contains(versions, gv) {
			versions = append(versions, gv)
		}
	}
	for _, r := range g.resources {
		for _, v := range r.Served {
			known(schema.GroupVersion{Group: r.Group, Version: v})
		}
	}
	for _, kind := range g.sent {
		known(kind.GroupVersion())
	}
	rank := func(gv schema.GroupVersion) int {
		switch {
		case gv.Group == "":
			return 0
		case builtinGroup(gv.Group):
			return 1
		}
		return 2
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Group, b.Group), version.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
	return versions
}
