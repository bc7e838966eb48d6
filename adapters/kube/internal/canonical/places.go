package canonical

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// place is what is known of the values at one place in the objects of a kind: of a field, of the items of a list or of
// the values of a map. No place is one of which nothing is known. It is known from the Go types and the apply
// configurations of Kubernetes' own kinds, from the schemas of definitions, and from the Go types of other kinds; never
// from a name that a user chose.
type place struct {
	// time tells that the values are times.
	time bool
	// integer tells that they are whole numbers, and list that they are lists.
	integer, list bool
	// open tells that an object may have fields besides the declared ones.
	open bool
	// listed is how the items of a list belong together.
	listed listing
	// fields are the declared fields of an object.
	fields map[string]*place
	// items are the items of a list, or the values of a map whose keys are free.
	items *place
}

// listing is how the items of a list belong together.
type listing struct {
	// unordered tells that the order of the items means nothing.
	unordered bool
	// keys are the fields that tell the items apart, none if they are told apart by all that they are.
	keys []string
	// expands tells that an item may refer to those before it, as $(NAME).
	expands bool
}

// field returns what is known of a field, nil if nothing is.
func (p *place) field(name string) *place {
	if p == nil || p.list {
		return nil
	}
	if field, declared := p.fields[name]; declared {
		return field
	}
	return p.items
}

// item returns what is known of the items of a list.
func (p *place) item() *place {
	if p == nil {
		return nil
	}
	return p.items
}

// listing returns how the items of a list belong together.
func (p *place) listing() listing {
	if p == nil {
		return listing{}
	}
	return p.listed
}

// conditions reports whether the values are lists of conditions, as the API conventions have them: objects with a type
// and a status.
func (p *place) conditions() bool {
	item := p.item()
	return item != nil && item.fields["type"] != nil && item.fields["status"] != nil
}

// structuralPlace is the place that a schema of a definition describes.
func structuralPlace(s *structuralschema.Structural) *place {
	if s == nil {
		return nil
	}
	p := &place{integer: s.Type == "integer", list: s.Type == "array", open: s.XPreserveUnknownFields}
	p.time = s.Type == "string" && s.ValueValidation != nil && s.ValueValidation.Format == "date-time"
	if s.XListType != nil {
		p.listed.unordered = *s.XListType == "set" || *s.XListType == "map"
		p.listed.keys = s.XListMapKeys
	}
	if len(s.Properties) > 0 {
		p.fields = make(map[string]*place, len(s.Properties))
		for name, property := range s.Properties {
			p.fields[name] = structuralPlace(&property)
		}
	}
	switch {
	case s.Items != nil:
		p.items = structuralPlace(s.Items)
	case s.AdditionalProperties != nil:
		p.items = structuralPlace(s.AdditionalProperties.Structural)
	case s.XPreserveUnknownFields && len(s.Properties) == 0:
		return nil
	}
	return p
}

// goPlaces are the places that Go types describe.
type goPlaces struct {
	// known are those of structs, which may contain themselves.
	known map[reflect.Type]*place
	// merged is how lists of Kubernetes' own types are merged.
	merged *schema.Schema
}

// newGoPlaces reads how the lists of Kubernetes' own types are merged.
func newGoPlaces() (*goPlaces, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	of, err := applyconfigurations.NewTypeConverter(scheme).ObjectToTyped(kinds.EmptyOf(corev1.SchemeGroupVersion.WithKind("ConfigMap")))
	if err != nil {
		return nil, err
	}
	return &goPlaces{known: map[reflect.Type]*place{}, merged: of.Schema()}, nil
}

// of returns the place of the values of a type, nil if the type writes itself as it likes.
func (g *goPlaces) of(t reflect.Type) *place {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return &place{time: true}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return g.ofStruct(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &place{}
		}
		return &place{list: true, items: g.of(t.Elem())}
	case reflect.Map:
		return &place{items: g.of(t.Elem())}
	case reflect.Interface:
		return nil
	}
	return &place{integer: t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64}
}

func (g *goPlaces) ofStruct(t reflect.Type) *place {
	if p, known := g.known[t]; known {
		return p
	}
	p := &place{fields: map[string]*place{}}
	g.known[t] = p
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inline := field.Anonymous && name == "" || strings.Contains(options, "inline")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
		case inline:
			if embedded := g.of(field.Type); embedded != nil {
				for name, below := range embedded.fields {
					p.fields[name] = below
				}
			}
		default:
			if name == "" {
				name = field.Name
			}
			below := g.of(field.Type)
			if below != nil && below.list {
				below.listed = g.listingOf(t, name, field.Tag)
			}
			p.fields[name] = below
		}
	}
	return p
}

// listingOf returns how the items of a list in a field of a struct belong together.
func (g *goPlaces) listingOf(t reflect.Type, name string, tag reflect.StructTag) listing {
	model := modelName(t)
	if known, documented := documentedListing(model, name); documented {
		return known
	}
	if atom, known := g.merged.Resolve(schema.TypeRef{NamedType: &model}); known && atom.Map != nil {
		if field, declared := atom.Map.FindField(name); declared {
			list, _ := g.merged.Resolve(field.Type)
			if list.List != nil && list.List.ElementRelationship == schema.Associative {
				return listing{unordered: true, keys: list.List.Keys}
			}
		}
	}
	if !slices.Contains(strings.Split(tag.Get("patchStrategy"), ","), "merge") {
		return listing{}
	}
	merged := listing{unordered: true}
	if key := tag.Get("patchMergeKey"); key != "" {
		merged.keys = []string{key}
	}
	return merged
}

// modelName is how descriptions of Kubernetes' own API call a Go type, such as "io.k8s.api.core.v1.PodSpec".
func modelName(t reflect.Type) string {
	rest, own := strings.CutPrefix(t.PkgPath(), "k8s.io/")
	if !own {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

// places returns what is known of the fields of a kind in the version that is stored.
func places(r *kinds.Resource, all *goPlaces) *place {
	metadata := all.of(reflect.TypeFor[metav1.ObjectMeta]())
	p := &place{open: true}
	if r.Schemas != nil {
		if s := r.Schemas[r.Storage]; s != nil {
			if described := structuralPlace(s.Structural); described != nil {
				p = described
			}
		}
	} else if typed, err := r.NewTyped(); err == nil {
		if described := all.of(reflect.TypeOf(typed)); described != nil {
			p = &place{fields: described.fields}
		}
	}
	fields := map[string]*place{"metadata": metadata}
	for name, field := range p.fields {
		if name != "metadata" {
			fields[name] = field
		}
	}
	return &place{fields: fields, items: p.items, open: p.open}
}

// kindPlaces are the places of all kinds. They are made when they are first needed.
type kindPlaces struct {
	mu   sync.Mutex
	all  *goPlaces
	made map[core.Kind]*place
}

// of returns the places of a kind, nil if it is not known.
func (k *kindPlaces) of(r *kinds.Resource) *place {
	if r == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, made := k.made[r.Name]; made {
		return p
	}
	if k.all == nil {
		all, err := newGoPlaces()
		if err != nil {
			panic("kube: Kubernetes' own types are not as they describe themselves: " + err.Error())
		}
		k.all, k.made = all, map[core.Kind]*place{}
	}
	p := places(r, k.all)
	k.made[r.Name] = p
	return p
}
