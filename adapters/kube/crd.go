package kube

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// customResource is the resource that a definition defines.
func customResource(d *apiextensionsv1.CustomResourceDefinition) (*resource, error) {
	fail := func(format string, args ...any) (*resource, error) {
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
	r := &resource{
		name:       KindOf(schema.GroupKind{Group: d.Spec.Group, Kind: names.Kind}),
		group:      d.Spec.Group,
		kind:       names.Kind,
		plural:     names.Plural,
		singular:   names.Singular,
		listKind:   names.ListKind,
		namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		custom:     true,
		schemas:    map[string]*schemaOf{},
		selectable: map[string][]string{},
	}
	r.types = r.customTypes()
	if r.singular == "" {
		r.singular = strings.ToLower(names.Kind)
	}
	if r.listKind == "" {
		r.listKind = names.Kind + "List"
	}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			r.storage = v.Name
		}
		if !v.Served {
			continue
		}
		if slices.Contains(r.served, v.Name) {
			return fail("version %q is defined twice", v.Name)
		}
		r.served = append(r.served, v.Name)
		status := v.Subresources != nil && v.Subresources.Status != nil
		if len(r.served) > 1 && status != r.status {
			return fail("version %q differs from the others in having a status subresource, which is not modelled", v.Name)
		}
		r.status = status
		var scale *scalePaths
		if v.Subresources != nil && v.Subresources.Scale != nil {
			scale = customScale(v.Subresources.Scale)
		}
		if len(r.served) > 1 && !reflect.DeepEqual(scale, r.scale) {
			return fail("version %q differs from the others in its scale subresource, which is not modelled", v.Name)
		}
		r.scale = scale
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return fail("version %q has no schema", v.Name)
		}
		s, err := newSchema(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return fail("version %q: %w", v.Name, err)
		}
		r.schemas[v.Name] = s
		for _, f := range v.SelectableFields {
			r.selectable[v.Name] = append(r.selectable[v.Name], strings.TrimPrefix(f.JSONPath, "."))
		}
	}
	slices.SortFunc(r.served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	switch {
	case len(r.served) == 0:
		return fail("no version is served")
	case r.storage == "":
		return fail("no version is the storage version")
	case converts(d):
		if !slices.Contains(r.served, r.storage) {
			return fail("the storage version %q is not served, and conversion by webhook is not modelled", r.storage)
		}
		r.served = []string{r.storage}
	}
	return r, nil
}

// converts tells whether a webhook converts between the versions. Then only the
// storage version can be served.
func converts(d *apiextensionsv1.CustomResourceDefinition) bool {
	return d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// loadDefinitions returns the definitions that were given, and those in the files.
func (s *settings) loadDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	definitions := slices.Clone(s.definitions)
	for _, path := range s.paths {
		documents, err := readDocuments(path)
		if err != nil {
			return nil, err
		}
		before := len(definitions)
		for _, doc := range documents {
			kind := doc.object.GroupVersionKind()
			if kind.Kind != "CustomResourceDefinition" {
				continue
			}
			if kind.GroupVersion() != apiextensionsv1.SchemeGroupVersion {
				return nil, doc.fail(fmt.Errorf("a CustomResourceDefinition of version %s cannot be read: write it as %s", kind.GroupVersion(), apiextensionsv1.SchemeGroupVersion))
			}
			d := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(doc.object.Object, d); err != nil {
				return nil, doc.fail(err)
			}
			definitions = append(definitions, d)
		}
		if len(definitions) == before {
			return nil, fmt.Errorf("%s: %w", path, errors.New("there is no CustomResourceDefinition in it: give a file or directory that has some"))
		}
	}
	return definitions, nil
}
