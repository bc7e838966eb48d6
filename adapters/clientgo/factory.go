package clientgo

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube"
)

// servedType is a Go type of the scheme whose objects the API server serves.
type servedType struct {
	example client.Object
	kind    schema.GroupVersionKind
}

// typesOf returns the Go types of the kinds that a server serves, each once and in order.
func typesOf(server *kube.Server) []servedType {
	var all []servedType
	for kind, goType := range server.Scheme().AllKnownTypes() {
		example, ok := reflect.New(goType).Interface().(client.Object)
		if ok && server.Serves(kind) == nil {
			all = append(all, servedType{example, kind})
		}
	}
	slices.SortFunc(all, func(a, b servedType) int { return cmp.Compare(a.kind.String(), b.kind.String()) })
	seen := map[reflect.Type]bool{}
	return slices.DeleteFunc(all, func(t servedType) bool {
		known := seen[reflect.TypeOf(t.example)]
		seen[reflect.TypeOf(t.example)] = true
		return known
	})
}

// filled is a factory with what it has its informers in.
type filled struct {
	factory   any
	informers reflect.Value
	// started are those of them that were started, not valid if the factory does not say.
	started reflect.Value
}

// Fill puts informers into factories, which must be new: generated ones, such as those of [k8s.io/client-go/informers],
// and those of dynamicinformer and metadatainformer. The informers show what the factory was made for: its namespace,
// what its options select, transformed as it says. There are no resyncs. Of a struct that has such factories in its
// fields, those are filled.
func (e *Environment) Fill(factories ...any) error {
	for _, factory := range factories {
		if err := e.fill(factory); err != nil {
			return fmt.Errorf("a %T cannot be filled with informers: %w", factory, err)
		}
	}
	return nil
}

func (e *Environment) fill(factory any) error {
	v := reflect.ValueOf(factory)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("it is no informer factory: pass what NewSharedInformerFactory has returned")
	}
	if !mapNamed(v.Elem(), "informers").IsValid() {
		if within := factoriesIn(v.Elem()); len(within) > 0 {
			return e.Fill(within...)
		}
	}
	settings, err := settingsOf(v.Elem())
	if err != nil {
		return err
	}
	group := e.group()
	if v.MethodByName("InformerFor").IsValid() {
		err = e.fillGenerated(settings, group)
	} else {
		err = e.fillGeneric(settings, group)
	}
	e.filled = append(e.filled, filled{factory, settings.informers, mapNamed(v.Elem(), "startedInformers")})
	return err
}

// factoriesIn returns what is in the fields of a struct that starts informers and waits for them, as factories do.
func factoriesIn(structure reflect.Value) []any {
	var within []any
	for i := range structure.NumField() {
		field := fieldNamed(structure, structure.Type().Field(i).Name)
		if kind := field.Kind(); kind != reflect.Interface && kind != reflect.Pointer || field.IsNil() {
			continue
		}
		if factory, ok := field.Interface().(interface{ Start(<-chan struct{}) }); ok && reflect.ValueOf(factory).MethodByName("WaitForCacheSync").IsValid() {
			within = append(within, factory)
		}
	}
	return within
}

// settings are what a factory makes its informers with.
type settings struct {
	scope     *informer.Scope
	transform cache.TransformFunc
	// informers is the map of those that it has.
	informers reflect.Value
	// as is how objects are shown by a factory that is not generated.
	as informer.Representation
}

// mapNamed returns the field of a struct that is a map, the zero Value if there is none.
func mapNamed(structure reflect.Value, name string) reflect.Value {
	if field := fieldNamed(structure, name); field.IsValid() && field.Kind() == reflect.Map {
		return field
	}
	return reflect.Value{}
}

// settingsOf reads the fields of a factory, which code generators have called the same for years.
func settingsOf(factory reflect.Value) (settings, error) {
	var s settings
	if s.informers = mapNamed(factory, "informers"); !s.informers.IsValid() {
		return s, fmt.Errorf("it has no map called informers, as factories have that this version of the adapter knows: make informers with Environment.Informer instead")
	}
	if s.informers.Len() > 0 {
		return s, fmt.Errorf("it has informers already: call Fill as soon as the factory is made")
	}
	namespace, ok := fieldNamed(factory, "namespace").Interface().(string)
	if !ok {
		return s, fmt.Errorf("it does not say of which namespace it is: make informers with Environment.Informer instead")
	}
	var options metav1.ListOptions
	tweak := fieldNamed(factory, "tweakListOptions")
	if !tweak.IsValid() || !tweak.Type().ConvertibleTo(reflect.TypeFor[func(*metav1.ListOptions)]()) {
		return s, fmt.Errorf("it does not say what its lists select: make informers with Environment.Informer instead")
	}
	if !tweak.IsNil() {
		tweak.Call([]reflect.Value{reflect.ValueOf(&options)})
	}
	if transform := fieldNamed(factory, "transform"); transform.IsValid() { // which older ones do not have
		s.transform, _ = transform.Interface().(cache.TransformFunc)
	}
	s.as = informer.Untyped
	if factory.Type().PkgPath() == "k8s.io/client-go/metadata/metadatainformer" {
		s.as = informer.MetadataOnly
	}
	var err error
	s.scope, err = informer.NewScope(namespace, options)
	return s, err
}

// fillGenerated puts informers of all types into a generated factory that it may be asked for. It looks there before it
// makes one.
func (e *Environment) fillGenerated(s settings, group int) error {
	all, ok := s.informers.Interface().(map[reflect.Type]cache.SharedIndexInformer)
	if !ok {
		return fmt.Errorf("its informers are a %s, which this version of the adapter does not know: make informers with Environment.Informer instead", s.informers.Type())
	}
	types := e.process.types
	made := make([]sharedInformer, len(types)) // at once: most of them are never asked for
	e.informers = slices.Grow(e.informers, len(types))
	for n, served := range types {
		all[reflect.TypeOf(served.example)] = e.informerAt(&made[n], informer.Form{Kind: served.kind, As: informer.Typed}, s.scope, s.transform, group)
	}
	return nil
}

// fillGeneric puts informers of all resources into a factory of untyped objects, or of metadata.
func (e *Environment) fillGeneric(s settings, group int) error {
	if s.informers.Type() != reflect.TypeFor[map[schema.GroupVersionResource]informers.GenericInformer]() {
		return fmt.Errorf("its informers are a %s, which this version of the adapter does not know: make informers with Environment.Informer instead", s.informers.Type())
	}
	mapper := e.view.Server.RESTMapper()
	for _, kind := range e.view.Server.Kinds() {
		mappings, err := mapper.RESTMappings(schema.ParseGroupKind(string(kind)))
		if err != nil {
			return err
		}
		for _, m := range mappings {
			i := e.informer(informer.Form{Kind: m.GroupVersionKind, As: s.as}, s.scope, s.transform, group)
			s.informers.SetMapIndex(reflect.ValueOf(m.Resource), reflect.ValueOf(genericInformer{i, m}))
		}
	}
	return nil
}

// genericInformer is an informer of a factory of untyped objects, or of metadata.
type genericInformer struct {
	informer *sharedInformer
	mapping  *meta.RESTMapping
}

var _ informers.GenericInformer = genericInformer{}

// Informer implements [informers.GenericInformer].
func (g genericInformer) Informer() cache.SharedIndexInformer { return g.informer }

// Lister implements [informers.GenericInformer].
func (g genericInformer) Lister() cache.GenericLister {
	if g.informer.form.As == informer.MetadataOnly {
		return metadatalister.NewRuntimeObjectShim(metadatalister.New(&g.informer.store, g.mapping.Resource))
	}
	return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(&g.informer.store, g.mapping.Resource))
}

// unfilled returns an error if a factory has made an informer of its own, of what was not known when it was filled.
func (e *Environment) unfilled() error {
	for _, f := range e.filled {
		for entries := f.informers.MapRange(); entries.Next(); {
			value := entries.Value().Interface()
			if generic, ok := value.(informers.GenericInformer); ok {
				value = generic.Informer()
			}
			if _, ours := value.(*sharedInformer); !ours {
				return fmt.Errorf("a %T was asked for informers of %v, which the API server does not serve: add its Go type to the scheme, or its custom resource definition with CRDs", f.factory, entries.Key())
			}
		}
	}
	return nil
}
