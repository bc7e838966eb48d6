package kinds

import (
	"slices"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// The types of fields say how values are merged: which lists are sets, and by which
// keys the items of others are told apart. They are made when they are first needed.

// fieldTypes makes the types of a kind's fields.
type fieldTypes func() (managedfields.TypeConverter, error)

// builtinTypes are those of Kubernetes' own kinds, from their OpenAPI description.
func builtinTypes(scheme *runtime.Scheme) fieldTypes {
	return sync.OnceValues(func() (managedfields.TypeConverter, error) {
		return liveTypes{TypeConverter: applyconfigurations.NewTypeConverter(scheme), scheme: scheme}, nil
	})
}

// liveTypes types objects that are in the store by way of their Go types, as a real
// server does: what a Go type always has is then nobody's.
type liveTypes struct {
	managedfields.TypeConverter
	scheme *runtime.Scheme
}

// ObjectToTyped implements [managedfields.TypeConverter]. Only what is in the store may
// have duplicates, and is read with that option.
func (t liveTypes) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	tree, ok := object.(*unstructured.Unstructured)
	if !ok || !slices.Contains(options, typed.AllowDuplicates) {
		return t.TypeConverter.ObjectToTyped(object, options...)
	}
	live, err := t.scheme.New(tree.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := jsontree.Into(tree.Object, live); err != nil {
		return nil, err
	}
	// Trees are compared and merged in a fraction of the time that Go types take.
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, err
	}
	return t.TypeConverter.ObjectToTyped(&unstructured.Unstructured{Object: fields}, options...)
}

// deducedTypes are those of a kind of which there is no description: every list is
// replaced as a whole.
func deducedTypes() (managedfields.TypeConverter, error) {
	return managedfields.NewDeducedTypeConverter(), nil
}

// customTypes are those that the schemas of a custom resource definition describe.
func (r *Resource) customTypes() fieldTypes {
	return sync.OnceValues(func() (managedfields.TypeConverter, error) {
		models := map[string]*spec.Schema{metadataModel: metadataSchema()}
		for version, s := range r.Schemas {
			model := s.Structural.ToKubeOpenAPI()
			describeEmbedded(model)
			describeObject(model)
			model.AddExtension("x-kubernetes-group-version-kind", []any{
				map[string]any{"group": r.Group, "version": version, "kind": r.Kind},
			})
			models[version+"."+r.Kind] = model
		}
		return managedfields.NewTypeConverter(models, false)
	})
}

// scaleTypes are those of a scale.
func scaleTypes() (managedfields.TypeConverter, error) {
	model := objectSchema(map[string]*spec.Schema{
		"spec":   objectSchema(map[string]*spec.Schema{"replicas": spec.Int32Property()}),
		"status": objectSchema(map[string]*spec.Schema{"replicas": spec.Int32Property(), "selector": spec.StringProperty()}),
	})
	describeObject(model)
	kind := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	model.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
	})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{metadataModel: metadataSchema(), kind.Version + "." + kind.Kind: model}, false)
}

// metadataModel is the name under which schemas refer to that of metadata.
const metadataModel = "ObjectMeta"

// describeObject adds to a schema what every object has.
func describeObject(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + metadataModel))
}

// describeEmbedded adds it to the schemas of objects inside of objects.
func describeEmbedded(s *spec.Schema) {
	for name, property := range s.Properties {
		describeEmbedded(&property)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		describeEmbedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		describeEmbedded(s.AdditionalProperties.Schema)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); embedded {
		describeObject(s)
	}
}

// metadataSchema describes the metadata of objects.
func metadataSchema() *spec.Schema {
	texts := spec.MapProperty(spec.StringProperty())
	finalizers := spec.ArrayProperty(spec.StringProperty())
	finalizers.AddExtension("x-kubernetes-list-type", "set")

	owner := objectSchema(map[string]*spec.Schema{
		"apiVersion":         spec.StringProperty(),
		"kind":               spec.StringProperty(),
		"name":               spec.StringProperty(),
		"uid":                spec.StringProperty(),
		"controller":         spec.BooleanProperty(),
		"blockOwnerDeletion": spec.BooleanProperty(),
	})
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})

	managed := spec.ArrayProperty(spec.MapProperty(nil))
	managed.AddExtension("x-kubernetes-list-type", "atomic")

	return objectSchema(map[string]*spec.Schema{
		"name":                       spec.StringProperty(),
		"generateName":               spec.StringProperty(),
		"namespace":                  spec.StringProperty(),
		"uid":                        spec.StringProperty(),
		"resourceVersion":            spec.StringProperty(),
		"selfLink":                   spec.StringProperty(),
		"generation":                 spec.Int64Property(),
		"creationTimestamp":          spec.StringProperty(),
		"deletionTimestamp":          spec.StringProperty(),
		"deletionGracePeriodSeconds": spec.Int64Property(),
		"labels":                     texts,
		"annotations":                texts,
		"finalizers":                 finalizers,
		"ownerReferences":            owners,
		"managedFields":              managed,
	})
}

// objectSchema describes an object with the given fields.
func objectSchema(fields map[string]*spec.Schema) *spec.Schema {
	s := &spec.Schema{}
	s.Typed("object", "")
	for name, field := range fields {
		s.SetProperty(name, *field)
	}
	return s
}
