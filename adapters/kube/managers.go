package kube

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Who manages which fields of an object is recorded in its metadata.managedFields, by
// the real server's own library. An object gets the record with its first server-side
// apply, which finds the fields that are there in the hands of "before-first-apply";
// with [ManagedFields] it has one from the start. From then on every write keeps it.

// recordManagers brings the record of managers in an object that was sent up to date
// with the change that it makes to the live one. A record that is sent with an update
// replaces the one that is there.
func (op *operation) recordManagers(live, object *unstructured.Unstructured) error {
	known := live.GetUID() != "" && op.request.Subresource == "" && at(object, "metadata", "managedFields") != nil
	if !known && !op.server.managedFields && len(live.GetManagedFields()) == 0 {
		object.SetManagedFields(nil)
		return nil
	}
	manager, err := op.fieldManager(op.resource.resetFields(op.request.Subresource))
	if err != nil {
		return err
	}
	if _, err := manager.Update(live, object, op.request.FieldManager); err == nil {
		settleManagers(object)
		return nil
	}
	// The real server gives up the record as well.
	object.SetManagedFields(nil)
	return nil
}

// recordFirst starts the record of a live object that has none: somebody wrote all
// that is there, other than what the server sets.
func (op *operation) recordFirst(live *unstructured.Unstructured) error {
	if len(live.GetManagedFields()) > 0 {
		return nil
	}
	manager, err := op.fieldManager(nil)
	if err != nil {
		return err
	}
	written := live.DeepCopy()
	if isNew := op.resource.newStatus(live); isNew != nil && sameTree(live.Object["status"], isNew) {
		// The server itself has set it.
		delete(written.Object, "status")
	}
	if _, err := manager.Update(emptyOf(op.request.Kind), written, "before-first-apply"); err != nil {
		return err
	}
	entries := written.GetManagedFields()
	for i := range entries {
		entries[i].Subresource = ""
	}
	live.SetManagedFields(entries)
	return nil
}

// fieldManager returns the library's view on who manages what, for the version and
// the subresource of the request. Nobody comes to manage fields that are reset.
func (op *operation) fieldManager(reset map[fieldpath.APIVersion]*fieldpath.Set) (*managedfields.FieldManager, error) {
	r := op.resource
	types, err := r.types()
	if err != nil {
		return nil, fmt.Errorf("the fields of %s have no types: %w", r.name, err)
	}
	hub := schema.GroupVersion{Group: r.group, Version: r.storage}
	none := noConversion{resource: r}
	return managedfields.NewDefaultCRDFieldManager(types, none, none, none, op.request.Kind, hub, op.request.Subresource,
		fieldpath.NewExcludeFilterSetMap(reset))
}

// resetFields are the fields that a request for a subresource cannot set, so that it
// does not come to manage them.
func (r *resource) resetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	var paths []fieldpath.Path
	switch {
	case !r.status:
	case subresource != statusSubresource:
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	default:
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
		if r.custom {
			paths = append(paths, fieldpath.MakePathOrDie("metadata"))
		}
		switch r.name {
		case "Deployment.apps":
			paths = append(paths, fieldpath.MakePathOrDie("metadata", "labels"))
		case "Pod":
			paths = append(paths, fieldpath.MakePathOrDie("metadata", "deletionTimestamp"), fieldpath.MakePathOrDie("metadata", "ownerReferences"))
		}
	}
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range r.served {
		apiVersion := schema.GroupVersion{Group: r.group, Version: version}.String()
		sets[fieldpath.APIVersion(apiVersion)] = fieldpath.NewSet(paths...)
	}
	return sets
}

// settleManagers takes the real time from the record of managers, and orders it as the
// library does.
func settleManagers(object *unstructured.Unstructured) {
	entries := object.GetManagedFields()
	if len(entries) == 0 {
		object.SetManagedFields(nil)
		return
	}
	now := virtualTime()
	for i := range entries {
		entries[i].Time = &now
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(
			cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Manager, b.Manager),
			cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Subresource, b.Subresource),
		)
	})
	object.SetManagedFields(entries)
}

// noConversion is the conversion between versions whose objects look the same.
type noConversion struct{ resource *resource }

var (
	_ runtime.ObjectConvertor = noConversion{}
	_ runtime.ObjectDefaulter = noConversion{}
	_ runtime.ObjectCreater   = noConversion{}
)

// ConvertToVersion implements [runtime.ObjectConvertor]. It copies no more than it
// changes.
func (c noConversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	object, ok := in.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T is not a tree of fields", in)
	}
	kind := object.GroupVersionKind()
	into, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{kind})
	if !ok || !slices.Contains(c.resource.served, into.Version) && into.Version != c.resource.storage {
		return nil, runtime.NewNotRegisteredErrForTarget(string(c.resource.name), nil, target)
	}
	if into == kind {
		return object, nil
	}
	tree := maps.Clone(object.Object)
	tree["apiVersion"] = into.GroupVersion().String()
	return &unstructured.Unstructured{Object: tree}, nil
}

// Convert implements [runtime.ObjectConvertor].
func (c noConversion) Convert(any, any, any) error {
	return fmt.Errorf("objects of %s are converted to a version only", c.resource.name)
}

// ConvertFieldLabel implements [runtime.ObjectConvertor].
func (c noConversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements [runtime.ObjectDefaulter]. Defaults are set when the outcome is
// decoded.
func (c noConversion) Default(runtime.Object) {}

// New implements [runtime.ObjectCreater].
func (c noConversion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return emptyOf(kind), nil
}

// emptyOf is an object of which nothing but the kind is known.
func emptyOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object
}
