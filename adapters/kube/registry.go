package kube

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// resource is a kind of object as the server serves it.
type resource struct {
	name             core.Kind
	group, kind      string
	plural, singular string
	listKind         string
	namespaced       bool
	// status tells that there is a status subresource.
	status bool
	// scale says where the scale is, nil if there is no such subresource.
	scale *scalePaths
	// emptyStatus is what is there of the status of a new object, nil if nothing.
	emptyStatus map[string]any
	// protection is the finalizer that every new object gets, empty for none.
	protection string
	// custom tells that the kind is not one of Kubernetes' own.
	custom bool

	// served are the versions that requests may use, the preferred one first.
	served []string
	// storage is the version in which objects are stored.
	storage string

	// rules are those that objects follow.
	rules Rules
	// scheme has the Go type of the storage version, nil if there is none to use.
	scheme *runtime.Scheme
	// fields are the rules for the fields of one of Kubernetes' own kinds, and statusFields those
	// for updates of its status; nil for others.
	fields, statusFields *fieldrules.Rules
	// coverage knows which of its fields are checked, nil if all are.
	coverage *fieldrules.Coverage
	// schemas are those of a custom resource definition, by version; nil without.
	schemas map[string]*schemaOf
	// types are those of the fields.
	types fieldTypes
	// managers know who manages the fields.
	managers fieldManagers
	// selectable are the field selectors of a custom resource definition, by version.
	selectable map[string][]string
}

// registry knows the kinds that a server serves.
type registry struct {
	resources map[schema.GroupKind]*resource
	// paths are the resources by the group and the plural that their paths name.
	paths map[schema.GroupResource]*resource
	// sent are the kinds that are only ever sent, never stored, by what their paths name. Clients know them, and requests for them are
	// not modelled.
	sent map[schema.GroupVersionResource]schema.GroupVersionKind
}

func newRegistry() *registry {
	return &registry{
		resources: map[schema.GroupKind]*resource{},
		paths:     map[schema.GroupResource]*resource{},
		sent:      map[schema.GroupVersionResource]schema.GroupVersionKind{},
	}
}

// add registers a kind that is not registered yet.
func (g *registry) add(r *resource) error {
	kind := schema.GroupKind{Group: r.group, Kind: r.kind}
	if _, known := g.resources[kind]; known {
		return fmt.Errorf("%s is defined twice: give one custom resource definition for each kind", r.name)
	}
	path := schema.GroupResource{Group: r.group, Resource: r.plural}
	if other := g.paths[path]; other != nil {
		return fmt.Errorf("%s and %s are both served as %s: give a custom resource definition for the one whose plural is another", other.name, r.name, path)
	}
	r.rules = ownRules{r}
	g.resources[kind], g.paths[path] = r, r
	return nil
}

// servedAs returns the kind that is served under a group, a version and a plural. Unlike a REST mapper it takes
// an empty group for the core group, as the path of a request means it.
func (g *registry) servedAs(resource schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	if r := g.paths[resource.GroupResource()]; r != nil && slices.Contains(r.served, resource.Version) {
		return resource.GroupVersion().WithKind(r.kind), true
	}
	kind, sent := g.sent[resource]
	return kind, sent
}

// find returns the resource for requests in the version of the kind.
func (g *registry) find(kind schema.GroupVersionKind) (*resource, error) {
	r, known := g.resources[kind.GroupKind()]
	switch {
	case !known && virtual(kind.Kind):
		return nil, fmt.Errorf("%s is not a kind of stored objects and is not modelled", kind.Kind)
	case !known:
		return nil, fmt.Errorf("kind %s is not registered: add its Go type to the scheme, or give its custom resource definition", kind.GroupKind())
	case !slices.Contains(r.served, kind.Version):
		return nil, fmt.Errorf("%s is not served in version %q, only in %s: use one of these, or add the version to its custom resource definition",
			r.name, kind.Version, strings.Join(r.served, ", "))
	}
	return r, nil
}

// named returns the resource of a kind, nil if it is not registered.
func (g *registry) named(kind core.Kind) *resource {
	return g.resources[schema.ParseGroupKind(string(kind))]
}

// kinds returns the names of all kinds, in order.
func (g *registry) kinds() []core.Kind {
	names := make([]core.Kind, 0, len(g.resources))
	for _, r := range g.resources {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}

// sorted returns all resources in the order of their names.
func (g *registry) sorted() []*resource {
	return slices.SortedFunc(maps.Values(g.resources), func(a, b *resource) int { return cmp.Compare(a.name, b.name) })
}

// restMapper maps as the mapper of a real client does: where several groups have a resource of one name, the core group comes
// first, then Kubernetes' own ones, then those of custom resources.
func (g *registry) restMapper() meta.RESTMapper {
	var versions []schema.GroupVersion
	known := func(gv schema.GroupVersion) {
		if !slices.Contains(versions, gv) {
			versions = append(versions, gv)
		}
	}
	for _, r := range g.sorted() {
		for _, v := range r.served {
			known(schema.GroupVersion{Group: r.group, Version: v})
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
	slices.SortStableFunc(versions, func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Group, b.Group), version.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
	mapper := meta.NewDefaultRESTMapper(versions)
	for _, r := range g.sorted() {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if r.namespaced {
			scope = meta.RESTScopeNamespace
		}
		for _, v := range r.served {
			gv := schema.GroupVersion{Group: r.group, Version: v}
			mapper.AddSpecific(gv.WithKind(r.kind), gv.WithResource(r.plural), gv.WithResource(r.singular), scope)
		}
	}
	for plural, kind := range g.sent {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if sentWithNamespace(kind.Kind) {
			scope = meta.RESTScopeNamespace
		}
		_, singular := meta.UnsafeGuessKindToResource(kind)
		mapper.AddSpecific(kind, plural, singular, scope)
	}
	first := meta.PriorityRESTMapper{Delegate: mapper}
	for _, gv := range versions {
		first.KindPriority = append(first.KindPriority, gv.WithKind(meta.AnyKind))
		first.ResourcePriority = append(first.ResourcePriority, gv.WithResource(meta.AnyResource))
	}
	return first
}

// addScheme registers the stored kinds of a scheme that are not registered by a
// custom resource definition. Of Kubernetes' own kinds the scope is known. Other
// kinds are taken to be namespaced. A kind has a status subresource if its Go type
// has a field Status. Where a scheme has several versions of a kind, only the one
// that Kubernetes prefers (v2 before v1 before v1beta1) is served, since the
// conversion between them is not known.
func (g *registry) addScheme(scheme *runtime.Scheme) error {
	builtin := builtinTypes(scheme)
	table, err := fieldrules.Read()
	if err != nil {
		return err
	}
	preferred := map[schema.GroupKind]schema.GroupVersionKind{}
	goTypes := scheme.AllKnownTypes()
	for kind, goType := range goTypes {
		if kind.Version == runtime.APIVersionInternal || !isObject(goType) {
			continue
		}
		if virtual(kind.Kind) {
			plural, _ := meta.UnsafeGuessKindToResource(kind)
			g.sent[plural] = kind
			continue
		}
		best, known := preferred[kind.GroupKind()]
		if !known || version.CompareKubeAwareVersionStrings(kind.Version, best.Version) > 0 {
			preferred[kind.GroupKind()] = kind
		}
	}
	for _, groupKind := range slices.SortedFunc(maps.Keys(preferred), compareKinds) {
		kind := preferred[groupKind]
		if _, known := g.resources[groupKind]; known {
			continue
		}
		plural, singular := meta.UnsafeGuessKindToResource(kind)
		_, status := goTypes[kind].FieldByName("Status")
		types := fieldTypes(deducedTypes)
		if builtinGroup(kind.Group) {
			types = builtin
		}
		r := &resource{
			name:       KindOf(groupKind),
			group:      kind.Group,
			kind:       kind.Kind,
			plural:     plural.Resource,
			singular:   singular.Resource,
			listKind:   kind.Kind + "List",
			namespaced: !clusterScoped(groupKind),
			status:     status,
			custom:     !builtinGroup(kind.Group),
			served:     []string{kind.Version},
			storage:    kind.Version,
			scheme:     scheme,
			types:      types,
		}
		if !r.custom {
			r.scale = builtinScale(r.name)
			r.fields, r.statusFields = table.Of(string(r.name)), table.OfStatus(string(r.name))
			r.coverage = table.Coverage(string(r.name))
		}
		if err := r.readEmptyStatus(); err != nil {
			return err
		}
		if err := g.add(r); err != nil {
			return err
		}
	}
	return nil
}

// readEmptyStatus finds out what a Go type shows of a status that is empty. Custom
// resources show nothing.
func (r *resource) readEmptyStatus() error {
	if !r.status || r.custom {
		return nil
	}
	typed, err := r.newTyped()
	if err != nil {
		return err
	}
	tree, err := jsontree.Of(typed)
	if err != nil {
		return err
	}
	r.emptyStatus, _ = tree["status"].(map[string]any)
	return nil
}

// isObject tells whether a type is that of objects, as opposed to lists and options.
func isObject(goType reflect.Type) bool {
	pointer := reflect.PointerTo(goType)
	return pointer.Implements(reflect.TypeFor[metav1.Object]()) && pointer.Implements(reflect.TypeFor[runtime.Object]())
}

func compareKinds(a, b schema.GroupKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
}
