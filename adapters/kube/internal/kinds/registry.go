package kinds

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
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
	"github.com/orrery-dev/orrery/core"
)

// Resource is a kind of object as the server serves it.
type Resource struct {
	Name             core.Kind
	Group, Kind      string
	Plural, singular string
	ListKind         string
	Namespaced       bool
	// Status tells that there is a status subresource, in the storage version if requests may use others.
	Status bool
	// Scale says where the scale is, nil if there is no such subresource.
	Scale *scalePaths
	// subresources are those of the versions of a custom resource definition, and in is the resource as requests of a
	// version see it that has others than the storage version.
	subresources map[string]subresources
	in           map[string]*Resource
	// EmptyStatus is what is there of the status of a new object, nil if nothing.
	EmptyStatus map[string]any
	// Protection is the finalizer that every new object gets, empty for none.
	Protection string
	// Custom tells that the kind is not one of Kubernetes' own.
	Custom bool

	// Served are the versions that requests may use, the preferred one first.
	Served []string
	// Storage is the version in which objects are stored.
	Storage string

	// Rules are those that objects follow.
	Rules kindrules.Rules
	// scheme has the Go type of the storage version, nil if there is none to use.
	scheme *runtime.Scheme
	// Fields are the rules for the fields of one of Kubernetes' own kinds, and statusFields those
	// for updates of its status; nil for others.
	Fields, StatusFields *fieldrules.Rules
	// Coverage knows which of its fields are checked, nil if all are.
	Coverage *fieldrules.Coverage
	// Schemas are those of a custom resource definition, by version; nil without.
	Schemas map[string]*Schema
	// Types are those of the fields.
	Types fieldTypes
	// selectable are the field selectors of a custom resource definition, by version.
	selectable map[string][]string
}

// subresources are those of a version of a custom resource definition.
type subresources struct {
	status bool
	scale  *scalePaths
}

// In returns the resource as requests of a version see it: each has subresources of its own.
func (r *Resource) In(version string) *Resource {
	if of := r.in[version]; of != nil {
		return of
	}
	return r
}

// divide makes the resources of the versions that have other subresources than the storage version.
func (r *Resource) divide(own func(*Resource) kindrules.Rules) {
	r.in = map[string]*Resource{}
	for version, its := range r.subresources {
		if its.status == r.Status && reflect.DeepEqual(its.scale, r.Scale) {
			continue
		}
		of := *r
		of.Status, of.Scale = its.status, its.scale
		of.Rules = own(&of)
		r.in[version] = &of
	}
}

// Registry knows the kinds that a server serves.
type Registry struct {
	// own returns the rules of a kind, unless others are to be followed.
	own       func(*Resource) kindrules.Rules
	resources map[schema.GroupKind]*Resource
	// paths are the resources by the group and the plural that their paths name.
	paths map[schema.GroupResource]*Resource
	// sent are the kinds that are only ever sent, never stored, by what their paths name. Clients know them, and
	// requests for them are not modelled.
	sent map[schema.GroupVersionResource]schema.GroupVersionKind
	// mapper returns the REST mapper of the kinds that there are, which is made when it is first asked for.
	mapper func() meta.RESTMapper
}

// NewRegistry returns a registry of kinds that follow own rules.
func NewRegistry(own func(*Resource) kindrules.Rules) *Registry {
	g := &Registry{
		own:       own,
		resources: map[schema.GroupKind]*Resource{},
		paths:     map[schema.GroupResource]*Resource{},
		sent:      map[schema.GroupVersionResource]schema.GroupVersionKind{},
	}
	g.resetMapper()
	return g
}

// Add registers a kind that is not registered yet.
func (g *Registry) Add(r *Resource) error {
	kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
	if _, known := g.resources[kind]; known {
		return fmt.Errorf("%s is defined twice: give one custom resource definition for each kind", r.Name)
	}
	path := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	if other := g.paths[path]; other != nil {
		return fmt.Errorf("%s and %s are both served as %s: give a custom resource definition for the one whose plural is another", other.Name, r.Name, path)
	}
	r.Rules = g.own(r)
	r.divide(g.own)
	g.resources[kind], g.paths[path] = r, r
	g.resetMapper()
	return nil
}

// Find returns the resource for requests in the version of the kind.
func (g *Registry) Find(kind schema.GroupVersionKind) (*Resource, error) {
	r, known := g.resources[kind.GroupKind()]
	switch {
	case !known && virtual(kind.Kind):
		return nil, fmt.Errorf("%s is not a kind of stored objects and is not modelled", kind.Kind)
	case !known:
		return nil, fmt.Errorf("kind %s is not registered: add its Go type to the scheme, or its custom resource definition with CRDs", kind.GroupKind())
	case !slices.Contains(r.Served, kind.Version):
		return nil, r.notServed(kind.Version)
	}
	return r.In(kind.Version), nil
}

// notServed is the error of a request in a version that is not served.
func (r *Resource) notServed(version string) error {
	return fmt.Errorf("%s is not served in version %q, only in %s: use one of these, or add the version to its custom resource definition",
		r.Name, version, strings.Join(r.Served, ", "))
}

// Named returns the resource of a kind, nil if it is not registered.
func (g *Registry) Named(kind core.Kind) *Resource {
	return g.resources[schema.ParseGroupKind(string(kind))]
}

// Kinds returns the names of all kinds, in order.
func (g *Registry) Kinds() []core.Kind {
	names := make([]core.Kind, 0, len(g.resources))
	for _, r := range g.resources {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// sorted returns all resources in the order of their names.
func (g *Registry) sorted() []*Resource {
	return slices.SortedFunc(maps.Values(g.resources), func(a, b *Resource) int { return cmp.Compare(a.Name, b.Name) })
}

// AddScheme registers the stored kinds of a scheme that are not registered by a
// custom resource definition. Of Kubernetes' own kinds the scope is known. Other
// kinds are taken to be namespaced. A kind has a status subresource if its Go type
// has a field Status. Where a scheme has several versions of a kind, only the one
// that Kubernetes prefers (v2 before v1 before v1beta1) is served, since the
// conversion between them is not known.
func (g *Registry) AddScheme(scheme *runtime.Scheme) error {
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
			g.resetMapper()
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
		r := &Resource{
			Name:       Name(groupKind),
			Group:      kind.Group,
			Kind:       kind.Kind,
			Plural:     plural.Resource,
			singular:   singular.Resource,
			ListKind:   kind.Kind + "List",
			Namespaced: !clusterScoped(groupKind),
			Status:     status,
			Custom:     !builtinGroup(kind.Group),
			Served:     []string{kind.Version},
			Storage:    kind.Version,
			scheme:     scheme,
			Types:      types,
		}
		if !r.Custom {
			r.Scale = builtinScale(r.Name)
			r.Fields, r.StatusFields = table.Of(string(r.Name)), table.OfStatus(string(r.Name))
			r.Coverage = table.Coverage(string(r.Name))
		}
		if err := r.readEmptyStatus(); err != nil {
			return err
		}
		if err := g.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// readEmptyStatus finds out what a Go type shows of a status that is empty. Custom
// resources show nothing.
func (r *Resource) readEmptyStatus() error {
	if !r.Status || r.Custom {
		return nil
	}
	typed, err := r.NewTyped()
	if err != nil {
		return err
	}
	tree, err := jsontree.Of(typed)
	if err != nil {
		return err
	}
	r.EmptyStatus, _ = tree["status"].(map[string]any)
	return nil
}

// isObject reports whether a type is that of objects, as opposed to lists and options.
func isObject(goType reflect.Type) bool {
	pointer := reflect.PointerTo(goType)
	return pointer.Implements(reflect.TypeFor[metav1.Object]()) && pointer.Implements(reflect.TypeFor[runtime.Object]())
}

func compareKinds(a, b schema.GroupKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
}

// Follow makes every built-in kind that is covered follow rules.
func (g *Registry) Follow(rules kindrules.Rules) {
	for _, r := range g.resources {
		if kind := r.StorageKind(); !r.Custom && rules.Covers(kind) {
			r.Rules, r.Coverage = rules, nil
		}
	}
}

// StorageKind is the kind with the version in which objects are stored.
func (r *Resource) StorageKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Storage, Kind: r.Kind}
}
