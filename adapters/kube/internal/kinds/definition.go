package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Custom is the resource that a definition defines.
func Custom(d *apiextensionsv1.CustomResourceDefinition) (*Resource, error) {
	fail := func(format string, args ...any) (*Resource, error) {
		return nil, fmt.Errorf("custom resource definition %q: %w", d.Name, fmt.Errorf(format, args...))
	}
	names := d.Spec.Names
	switch {
	case d.Spec.Group == "":
		return fail("spec.group is empty")
	case names.Kind == "" || names.Plural == "":
		return fail("spec.names needs kind and plural")
	case d.Name != names.Plural+"."+d.Spec.Group:
		return fail("metadata.name must be %q", names.Plural+"."+d.Spec.Group)
	case d.Spec.Scope != apiextensionsv1.NamespaceScoped && d.Spec.Scope != apiextensionsv1.ClusterScoped:
		return fail("spec.scope must be Namespaced or Cluster, not %q", d.Spec.Scope)
	}
	r := &Resource{
		Name:       Name(schema.GroupKind{Group: d.Spec.Group, Kind: names.Kind}),
		Group:      d.Spec.Group,
		Kind:       names.Kind,
		Plural:     names.Plural,
		singular:   names.Singular,
		ListKind:   names.ListKind,
		Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Custom:     true,
		Schemas:    map[string]*Schema{},
		selectable: map[string][]string{},

		subresources: map[string]subresources{},
	}
	r.Types = r.customTypes()
	if r.singular == "" {
		r.singular = strings.ToLower(names.Kind)
	}
	if r.ListKind == "" {
		r.ListKind = names.Kind + "List"
	}
	for _, v := range d.Spec.Versions {
		its := subresources{status: v.Subresources != nil && v.Subresources.Status != nil}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			its.scale = customScale(v.Subresources.Scale)
		}
		r.subresources[v.Name] = its
		if v.Storage {
			r.Storage, r.Status, r.Scale = v.Name, its.status, its.scale
		}
		if !v.Served {
			continue
		}
		if slices.Contains(r.Served, v.Name) {
			return fail("version %q is defined twice", v.Name)
		}
		r.Served = append(r.Served, v.Name)
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return fail("version %q has no schema", v.Name)
		}
		s, err := newSchema(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return fail("version %q: %w", v.Name, err)
		}
		r.Schemas[v.Name] = s
		for _, f := range v.SelectableFields {
			r.selectable[v.Name] = append(r.selectable[v.Name], strings.TrimPrefix(f.JSONPath, "."))
		}
	}
	slices.SortFunc(r.Served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	switch {
	case r.Storage == "":
		return fail("no version is the storage version")
	case converts(d):
		if !slices.Contains(r.Served, r.Storage) {
			return fail("the storage version %q is not served, and conversion by webhook is not modelled", r.Storage)
		}
		r.Served = []string{r.Storage}
	}
	return r, nil
}

// converts reports whether a webhook converts between the versions. Then only the
// storage version can be served.
func converts(d *apiextensionsv1.CustomResourceDefinition) bool {
	return d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// Established returns a definition as an API server shows it that serves the kind since a time: with defaults, and the
// status of one whose names were accepted.
func Established(d *apiextensionsv1.CustomResourceDefinition, since metav1.Time) *apiextensionsv1.CustomResourceDefinition {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	d = d.DeepCopy()
	d.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	scheme.Default(d)
	condition := func(of apiextensionsv1.CustomResourceDefinitionConditionType, reason, message string) apiextensionsv1.CustomResourceDefinitionCondition {
		return apiextensionsv1.CustomResourceDefinitionCondition{Type: of, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: since, Reason: reason, Message: message}
	}
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{
		AcceptedNames: d.Spec.Names,
		Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			condition(apiextensionsv1.NamesAccepted, "NoConflicts", "no conflicts found"),
			condition(apiextensionsv1.Established, "InitialNamesAccepted", "the initial names have been accepted"),
		},
	}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			d.Status.StoredVersions = []string{v.Name}
		}
	}
	return d
}

// ValidateDefinition returns an error if a real server refuses to create the definition.
func ValidateDefinition(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	d = d.DeepCopy()
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	scheme.Default(d)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(d, internal, nil); err != nil {
		return fmt.Errorf("custom resource definition %q cannot be read: %w", d.Name, err)
	}
	for _, v := range internal.Spec.Versions {
		if v.Storage {
			internal.Status.StoredVersions = []string{v.Name}
		}
	}
	if errs := validation.ValidateCustomResourceDefinition(ctx, internal); len(errs) > 0 {
		return fmt.Errorf("custom resource definition %q: an API server refuses it: %w", d.Name, errs.ToAggregate())
	}
	return nil
}
